//! Rules about quanta and priorities of the classes of `htb`, which the kernel limits.

use perhop_qos::Rate;
use perhop_qos::scheduler::{HTB_QUANTA, HTB_RATE_TO_QUANTUM, htb_rate_quantum};

use crate::log::Log;
use crate::model::{Class, Device, Qdisc};
use crate::rules;
use crate::units::shown_id;

/// The lowest priority: `TC_HTB_NUMPRIO` - 1 of `sch_htb.c`.
pub(super) const LAST_PRIORITY: u64 = 7;
/// Limit on the classes that a message names.
const MOST_NAMED: usize = 3;
/// The quantum, bytes, that perhop recommends for the fastest class. It is the limit of HTB 2, which the
/// LARTC HOWTO and its FAQ still recommend ("Quantum & r2q").
const ADVISED_QUANTUM: u64 = 60_000;
/// The fraction by which shares may differ from the rates, because quanta are whole bytes.
const DISTORTION: f64 = 0.01;

/// Checks the classes with queues of each `htb` of `devices`.
pub(super) fn check(devices: &[Device], log: &mut Log) {
    for device in devices {
        for qdisc in device.qdiscs.iter().filter(|qdisc| qdisc.kind.name == "htb") {
            let has_inner = |id| qdisc.classes.iter().any(|class| class.parent == Some(id));
            let leaves: Vec<&Class> = qdisc.classes.iter().filter(|class| !has_inner(class.id)).collect();
            for class in &leaves {
                priority(class, device, log);
                written_quantum(class, device, log);
            }
            quanta_of_rates(device, qdisc, &leaves, log);
        }
    }
}

fn priority(class: &Class, device: &Device, log: &mut Log) {
    let Some(prio) = class.options.number("prio").filter(|prio| *prio > LAST_PRIORITY) else { return };
    log.found(
        &rules::TC_HTB_PRIO,
        class.line,
        format!("class {}: prio {prio} is above {LAST_PRIORITY}, on {}", shown_id(class.id), device.name),
        format!(
            "Linux uses prio {LAST_PRIORITY} instead: write priorities from 0, served first, to \
                 {LAST_PRIORITY}"
        ),
    );
}

fn written_quantum(class: &Class, device: &Device, log: &mut Log) {
    let written = class.options.number("quantum").filter(|quantum| *quantum > 0);
    let Some(quantum) = written.filter(|quantum| !HTB_QUANTA.contains(quantum)) else { return };
    let (least, most) = (HTB_QUANTA.start(), HTB_QUANTA.end());
    let (limit, linux) = if quantum < *least {
        let frame = device.frame();
        let linux = format!(
            "Linux accepts the quantum, but the class sends one packet of any length per turn; write {frame} \
             or more"
        );
        (format!("below {least}"), linux)
    } else {
        let rate = class.options.rate("ceil").or_else(|| class.options.rate("rate"));
        let turn = rate.filter(|rate| *rate > 0).map(|rate| quantum as f64 * 8e3 / rate as f64);
        let waits = turn.map_or_else(String::new, |turn| format!(" for {turn:.0} ms at its ceiling"));
        (
            format!("above {most}"),
            format!(
                "Linux accepts the quantum, but in each turn the class sends{waits} while the other classes \
                 wait"
            ),
        )
    };
    log.found(
        &rules::TC_HTB_QUANTUM,
        class.line,
        format!(
            "class {}: a quantum of {quantum} bytes is {limit} bytes, on {}",
            shown_id(class.id),
            device.name
        ),
        linux,
    );
}

/// A class whose quantum the kernel computes.
struct Computed {
    id: u32,
    rate: Rate,
    /// The quantum that follows from the rate of the class.
    quantum: u64,
    borrows: bool,
}

impl Computed {
    fn new(class: &Class, r2q: Option<u32>) -> Option<Computed> {
        let options = &class.options;
        let is_written = options.number("quantum").is_some_and(|quantum| quantum > 0);
        let rate = options.rate("rate").filter(|rate| *rate > 0 && !is_written)?;
        let borrows = options.rate("ceil").is_some_and(|ceil| ceil > rate);
        let rate = Rate::from_bits_per_second(rate);
        Some(Computed { id: class.id, rate, quantum: htb_rate_quantum(rate, r2q), borrows })
    }

    /// The quantum within the limits of the kernel.
    fn limited(&self) -> u64 {
        self.quantum.clamp(*HTB_QUANTA.start(), *HTB_QUANTA.end())
    }
}

/// Reports computed quanta that the kernel limits. The finding is at the discipline, which has r2q.
fn quanta_of_rates(device: &Device, qdisc: &Qdisc, leaves: &[&Class], log: &mut Log) {
    let r2q = qdisc.options.number("r2q").map(|divisor| divisor as u32);
    let computed: Vec<Computed> = leaves.iter().filter_map(|class| Computed::new(class, r2q)).collect();
    let cut: Vec<&Computed> = computed.iter().filter(|class| class.limited() != class.quantum).collect();
    if cut.is_empty() {
        return;
    }
    let words = |computed: &&Computed| {
        format!("{} bytes of class {} become {}", computed.quantum, shown_id(computed.id), computed.limited())
    };
    let mut named: Vec<String> = cut.iter().take(MOST_NAMED).map(words).collect();
    if cut.len() > MOST_NAMED {
        named.push(format!("{} more", cut.len() - MOST_NAMED));
    }
    let message = format!(
        "the quantum rate / r2q (r2q {}) is outside {} to {} bytes: {}, on {}",
        r2q.unwrap_or(HTB_RATE_TO_QUANTUM),
        HTB_QUANTA.start(),
        HTB_QUANTA.end(),
        named.join(", "),
        device.name
    );
    let effect = if keeps_proportions(&computed) {
        "Linux logs a warning; the shares of the classes do not change"
    } else {
        "the classes then do not borrow in proportion to their rates"
    };
    log.found(
        &rules::TC_HTB_QUANTUM,
        qdisc.line,
        message,
        format!("{effect}: {}", advice(device, &computed)),
    );
}

/// Whether the limited quanta of the borrowing classes are still in proportion to their rates.
fn keeps_proportions(computed: &[Computed]) -> bool {
    let mut borrowing = computed.iter().filter(|class| class.borrows);
    let Some(first) = borrowing.next() else { return true };
    let part = |computed: &Computed| computed.limited() as f64 / computed.rate.as_bits_per_second() as f64;
    borrowing.all(|class| (part(class) / part(first) - 1.0).abs() < DISTORTION)
}

/// Returns the help text: the r2q with which all quanta are within the limits, otherwise the advice to
/// configure quanta.
fn advice(device: &Device, computed: &[Computed]) -> String {
    let rates = || computed.iter().map(|class| class.rate.as_bits_per_second() / 8);
    let (slowest, fastest) = (rates().min().unwrap_or(0), rates().max().unwrap_or(0));
    let smallest_r2q = fastest.div_ceil(*HTB_QUANTA.end()).max(1);
    let with_frames = slowest / device.frame();
    let largest_r2q = if with_frames >= smallest_r2q { with_frames } else { slowest / HTB_QUANTA.start() };
    if largest_r2q < smallest_r2q {
        return format!(
            "write a `quantum` at each class, and for the slowest class a frame, {} bytes",
            device.frame()
        );
    }
    let r2q = fastest.div_ceil(ADVISED_QUANTUM).clamp(smallest_r2q, largest_r2q);
    format!("write `r2q {r2q}`, or a `quantum` at each class")
}
