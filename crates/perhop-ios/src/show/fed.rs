//! `show platform hardware fed switch active qos queue stats interface`: the counters of the queues of a
//! Catalyst with a UADP chip.
//!
//! Source of the layout: outputs of a 9500 in genieparser. Bytes count whole frames with header and check
//! sequence. A run counts neither queue entries nor the bytes that pass a policer, so these columns are zero.

use std::collections::BTreeMap;
use std::fmt::Write;

use perhop_device::intent::Direction;
use perhop_device::show::{CountedPort, QueueCounters, ShownPort, Traffic};
use perhop_device::{PortMemory, QueueMemory, SwitchMemory};
use perhop_qos::DropCause;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::QueueingConfig;
use serde_json::{Value, json};

use super::state::{ClassState, PolicyState, dropped_by};

/// The name of the command.
pub(super) const STATS: &str = "platform hardware fed switch active qos queue stats interface";
/// The number of thresholds of a queue.
pub(super) const THRESHOLDS: usize = 3;
/// The number of queues of a port.
const QUEUES: u8 = 8;
/// Bytes of a frame in addition to its packet: header and check sequence (IEEE 802.3).
const FRAME: i32 = 18;
/// The causes of drops at a threshold.
const BY_THRESHOLD: [DropCause; 3] = [DropCause::QueueFull, DropCause::EarlyRandom, DropCause::EarlyForced];
/// The causes of drops because the shared memory is full.
const BY_MEMORY: [DropCause; 2] = [DropCause::SharedMemory, DropCause::PortMemory];

/// The counters of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counted {
    /// Units of memory at the end of the run.
    units: u64,
    /// Bytes that entered the queue, by threshold.
    enqueued: [f64; THRESHOLDS],
    /// Bytes dropped at a threshold.
    dropped: [f64; THRESHOLDS],
    /// Bytes dropped because the shared memory is full.
    without_memory: f64,
    /// Bytes dropped by the policer of the class.
    policed: f64,
}

/// Returns the output for one port of a switch with `memory`.
pub(super) fn shown(
    memory: &SwitchMemory,
    port: &CountedPort,
    policies: &[(Direction, PolicyState)],
) -> ShownPort {
    let own = memory.port(&port.port.interface);
    let queues = own.map_or(&[][..], |own| &own.queues);
    let counting = Counting::new(memory, port, policies);
    let counted: BTreeMap<u8, Counted> =
        queues.iter().map(|queue| (queue.number, counting.counted(queue))).collect();
    ShownPort {
        text: text(memory, own, &counted),
        document: json!({
            "name": port.port.name,
            "link_to": port.link_to,
            "queues": queues.iter().map(|queue| document(queue, counted[&queue.number])).collect::<Vec<_>>(),
        }),
    }
}

/// The data from which the counters of a port are computed.
struct Counting<'a> {
    unit_bytes: u64,
    port: &'a CountedPort<'a>,
    classes: Vec<&'a ClassState<'a>>,
    /// The buffer managers by the name of the queue in the results.
    buffers: BTreeMap<String, &'a BufferConfig>,
}

impl<'a> Counting<'a> {
    fn new(
        memory: &SwitchMemory,
        port: &'a CountedPort<'a>,
        policies: &'a [(Direction, PolicyState<'a>)],
    ) -> Counting<'a> {
        let mut classes = Vec::new();
        for (_, policy) in policies.iter().filter(|(direction, _)| *direction == Direction::Output) {
            add_classes(policy, &mut classes);
        }
        let mut buffers = BTreeMap::new();
        add_buffers(port.port.output.queueing.as_ref(), "", &mut buffers);
        Counting { unit_bytes: memory.unit_bytes, port, classes, buffers }
    }

    fn counted(&self, queue: &QueueMemory) -> Counted {
        let class = self.classes.iter().find(|state| {
            let config = state.config;
            config.name == queue.class && (config.line == 0 || queue.line == Some(config.line))
        });
        let last = |path: &&String| path.rsplit('/').next() == Some(queue.class.as_str());
        let path = class.and_then(|state| state.config.queue.as_ref());
        let Some(path) = path.or_else(|| self.buffers.keys().find(last)) else { return Counted::default() };
        let counters = self.port.counters.queue(path).with_overhead(FRAME);
        let mut found = Counted { units: self.units(&counters), ..Counted::default() };
        for (precedence, counters) in &counters.precedences {
            let index = self.threshold(queue, path, *precedence);
            let dropped = counters.drops(&DropCause::ALL);
            found.enqueued[index] += (counters.arrived - dropped).bytes;
            found.dropped[index] += counters.drops(&BY_THRESHOLD).bytes;
            found.without_memory += counters.drops(&BY_MEMORY).bytes;
            found.policed += counters.drops(&[DropCause::Policed]).bytes;
        }
        found.policed += class.map_or(0.0, |state| policed(state).with_overhead(self.beyond()).bytes);
        found
    }

    /// Returns the number of bytes of a frame that the classes of the port do not count.
    fn beyond(&self) -> i32 {
        FRAME - self.port.port.counted_bytes.unwrap_or_default().classes
    }

    /// Returns the units of memory that a queue occupies.
    fn units(&self, counters: &QueueCounters) -> u64 {
        let Some(sample) = counters.sample.as_ref().filter(|sample| sample.packets > 0) else { return 0 };
        sample.packets * (sample.bytes / sample.packets).div_ceil(self.unit_bytes)
    }

    /// Returns the number of the threshold for packets with a drop precedence. Packets that no line names
    /// have the last threshold.
    fn threshold(&self, queue: &QueueMemory, path: &str, precedence: u64) -> usize {
        let limits = match self.buffers.get(path) {
            Some(BufferConfig::SharedMemory(config)) => config.thresholds.as_slice(),
            _ => &[],
        };
        let place = usize::try_from(precedence).unwrap_or(usize::MAX).min(limits.len().saturating_sub(1));
        let limit = limits.get(place).map(|units| u64::from(*units));
        let own = queue.thresholds.iter().rev().take(THRESHOLDS).rev();
        let own: Vec<Option<u64>> = own.map(|threshold| threshold.units).collect();
        let found = own.iter().rposition(|units| units.is_some() && *units == limit);
        found.map_or(THRESHOLDS - 1, |index| THRESHOLDS - own.len() + index)
    }
}

fn add_classes<'a>(policy: &'a PolicyState<'a>, found: &mut Vec<&'a ClassState<'a>>) {
    for class in &policy.classes {
        found.push(class);
        if let Some(inner) = &class.policy {
            add_classes(inner, found);
        }
    }
}

fn add_buffers<'a>(
    queueing: Option<&'a QueueingConfig>,
    prefix: &str,
    found: &mut BTreeMap<String, &'a BufferConfig>,
) {
    for class in queueing.into_iter().flat_map(|queueing| &queueing.classes) {
        let name = format!("{prefix}{}", class.name);
        match (&class.queueing, &class.buffer) {
            (Some(inner), _) => add_buffers(Some(inner), &format!("{name}/"), found),
            (None, Some(buffer)) => {
                found.insert(name, buffer);
            }
            (None, None) => {}
        }
    }
}

/// Returns the packets that the policer of a class dropped.
fn policed(state: &ClassState) -> Traffic {
    let found = state.config.police.as_ref().zip(state.police);
    found.map_or_else(Traffic::default, |(config, police)| dropped_by(config, police))
}

fn text(memory: &SwitchMemory, own: Option<&PortMemory>, counted: &BTreeMap<u8, Counted>) -> String {
    let hard_of = |number: u8| {
        own.and_then(|own| own.queues.iter().find(|queue| queue.number == number))
            .and_then(|queue| queue.hard)
            .unwrap_or(0)
    };
    let in_hard: u64 = counted.iter().map(|(number, queue)| queue.units.min(hard_of(*number))).sum();
    let in_soft: u64 = counted.values().map(|queue| queue.units).sum::<u64>() - in_hard;
    let hard: u64 = memory.ports.iter().flat_map(|port| &port.queues).filter_map(|queue| queue.hard).sum();
    let rule = "-".repeat(94);
    let mut text = format!("{rule}\nAQM Global counters\n");
    let _ = writeln!(text, "GlobalHardLimit: {hard}   |   GlobalHardBufCount: {in_hard}");
    let soft = memory.shared_units.unwrap_or(0);
    let _ = writeln!(text, "GlobalSoftLimit: {soft}   |   GlobalSoftBufCount: {in_soft}\n\n{rule}");
    let _ = writeln!(text, "Asic:0 Core:0 DATA Port:0 Hardware Enqueue Counters\n{rule}");
    let heads = ["Enqueue-TH0", "Enqueue-TH1", "Enqueue-TH2", "Qpolicer"];
    let _ = writeln!(text, " Q Buffers {}", columns(&heads));
    let _ = writeln!(text, "   (Count) {}", columns(&["(Bytes)"; 4]));
    let _ = writeln!(text, "-- ------- {}", columns(&["--------------------"; 4]));
    let queue = |number: u8| counted.get(&number).copied().unwrap_or_default();
    for number in 0..QUEUES {
        let Counted { units, enqueued, .. } = queue(number);
        let _ = writeln!(text, " {number} {units:>7} {} {:>20}", numbers(&enqueued), 0);
    }
    let _ = writeln!(text, "Asic:0 Core:0 DATA Port:0 Hardware Drop Counters\n{}", "-".repeat(128));
    let heads = ["Drop-TH0", "Drop-TH1", "Drop-TH2", "SBufDrop", "QebDrop", "QpolicerDrop"];
    let _ = writeln!(text, " Q {}", columns(&heads));
    let _ = writeln!(text, "   {}", columns(&["(Bytes)"; 6]));
    let _ = writeln!(text, "-- {}", columns(&["--------------------"; 6]));
    for number in 0..QUEUES {
        let Counted { dropped: [first, second, third], without_memory, policed, .. } = queue(number);
        let all = [first, second, third, without_memory, 0.0, policed];
        let _ = writeln!(text, " {number} {}", numbers(&all));
    }
    text
}

fn columns(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word:>20}")).collect::<Vec<_>>().join(" ")
}

fn numbers(bytes: &[f64]) -> String {
    bytes.iter().map(|bytes| format!("{:>20}", rounded(*bytes))).collect::<Vec<_>>().join(" ")
}

fn rounded(bytes: f64) -> u64 {
    Traffic::new(0, bytes).whole_bytes()
}

fn document(queue: &QueueMemory, counted: Counted) -> Value {
    json!({
        "number": queue.number,
        "class": queue.class,
        "units": counted.units,
        "enqueued_bytes": counted.enqueued,
        "dropped_bytes": {
            "threshold": counted.dropped,
            "memory": counted.without_memory,
            "policer": counted.policed,
        },
    })
}
