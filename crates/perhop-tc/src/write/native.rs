//! Writing of ports whose scheduler Linux has, HTB or HFSC. Each class becomes one class.

use perhop_device::comment;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ServiceCurveConfig, ShareConfig};
use perhop_qos::{QueueSize, Rate};

use super::classes::Classes;
use super::htb;
use super::words::microseconds;

/// A discipline that can represent the classes of a port directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    Htb,
    Hfsc,
}

impl Native {
    /// Returns the discipline of a port, if it limits the rate of the port or an enclosing class can limit
    /// it; `None` for other ports.
    pub(super) fn of_port(queueing: &QueueingConfig, rate_bps: u64) -> Option<Native> {
        if !is_all(queueing, queueing.scheduler) {
            return None;
        }
        match queueing.scheduler {
            SchedulerConfig::Hfsc => Some(Native::Hfsc),
            // HTB lends rate among inner classes, but not among outermost classes. With an additional
            // enclosing class, all classes would be inner classes.
            SchedulerConfig::Htb if is_bounded(queueing, rate_bps) => Some(Native::Htb),
            _ => None,
        }
    }
    /// Returns the name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Native::Htb => "htb",
            Native::Hfsc => "hfsc",
        }
    }
}

/// Whether all classes, at any depth, have this scheduler and no other features.
fn is_all(queueing: &QueueingConfig, scheduler: SchedulerConfig) -> bool {
    queueing.classes.iter().all(|class| {
        let inner = class.queueing.as_ref();
        class.police.is_none()
            && class.shape.is_none()
            && inner.is_none_or(|inner| inner.scheduler == scheduler && is_all(inner, scheduler))
    })
}

/// Whether one class contains all other classes, except the direct class, and sends at most at the port's
/// rate.
fn is_bounded(queueing: &QueueingConfig, rate_bps: u64) -> bool {
    let mut classes = queueing.classes.iter().filter(|class| !is_direct(class));
    let (Some(class), None) = (classes.next(), classes.next()) else { return false };
    if class.queueing.is_none() {
        return false;
    }
    match queueing.scheduler {
        SchedulerConfig::Htb => htb::rates(&class.share, rate_bps).1 <= rate_bps,
        _ => class
            .share
            .upper_limit
            .is_some_and(|limit| limit.m2.max(limit.m1.unwrap_or_default()).as_bits_per_second() <= rate_bps),
    }
}

/// Whether a class is the direct queue of HTB for unclassified packets.
pub(super) fn is_direct(class: &ClassConfig) -> bool {
    class.share.direct == Some(true) && class.matches.is_none()
}

/// Adds the classes of a port. Returns the options of the discipline.
pub(super) fn add_classes(classes: &mut Classes, queueing: &QueueingConfig, native: Native) -> String {
    let rate_bps = classes.rate_bps;
    let mut parent = 0;
    if native == Native::Hfsc && !is_bounded(queueing, rate_bps) {
        parent = classes.next_number();
        classes.lines.push("# the rate of the port".to_owned());
        let words = format!("ls m2 {rate_bps}bit ul m2 {rate_bps}bit");
        classes.lines.push(format!("tc class add dev \"$DEV\" parent 1: classid 1:1 hfsc {words}"));
    }
    add(classes, &queueing.classes, native, parent, &[]);
    let mut words = match queueing.rate_to_quantum {
        Some(divisor) if native == Native::Htb => format!(" r2q {divisor}"),
        _ => String::new(),
    };
    for class in queueing.classes.iter().filter(|class| is_direct(class)) {
        let limit = match &class.buffer {
            Some(BufferConfig::TailDrop(config)) => config.limit,
            _ => QueueSize::Packets(64),
        };
        if let QueueSize::Packets(packets) = limit {
            words = format!("{words} direct_qlen {packets}");
        }
    }
    words
}

fn add(classes: &mut Classes, configs: &[ClassConfig], native: Native, parent: u32, around: &[MatchConfig]) {
    for class in configs.iter().filter(|class| !is_direct(class)) {
        let minor = classes.next_number();
        let matches = [around, class.matches.as_slice()].concat();
        let (words, rate) = words(class, native, classes.rate_bps);
        let place = if parent == 0 { String::new() } else { format!("{parent:x}") };
        let kind = native.name();
        classes.lines.push(format!("# {}", comment(&class.name)));
        classes
            .lines
            .push(format!("tc class add dev \"$DEV\" parent 1:{place} classid 1:{minor:x} {kind} {words}"));
        if let Some(inner) = &class.queueing {
            add(classes, &inner.classes, native, minor, &matches);
        } else {
            let place = format!("{}, class {}", classes.place, class.name);
            classes.add_leaf(class, minor, rate, &place, matches);
        }
    }
}

/// Returns the parameters of a class, and its approximate rate, bits per second.
fn words(class: &ClassConfig, native: Native, rate_bps: u64) -> (String, u64) {
    let share = &class.share;
    if native == Native::Htb {
        let (rate, ceil) = htb::rates(share, rate_bps);
        let turns = if class.queueing.is_none() { htb::written_turns(share) } else { String::new() };
        return (format!("{}{turns}", htb::words(share, rate, ceil)), rate);
    }
    let curves = curves(share);
    let words: Vec<String> =
        curves.iter().map(|(word, curve)| format!("{word} {}", written(*curve))).collect();
    let most = curves.iter().map(|(_, curve)| curve.m2.as_bits_per_second()).max().unwrap_or(0);
    (words.join(" "), if most == 0 { rate_bps } else { most })
}

/// Returns the curves of a class with their names in tc-hfsc(7).
fn curves(share: &ShareConfig) -> Vec<(&'static str, ServiceCurveConfig)> {
    [("rt", share.real_time), ("ls", share.link_share), ("ul", share.upper_limit)]
        .into_iter()
        .filter_map(|(word, curve)| Some((word, curve?)))
        .collect()
}

/// Returns a service curve in bits per second and microseconds.
fn written(curve: ServiceCurveConfig) -> String {
    let bits = Rate::as_bits_per_second;
    match (curve.m1, curve.d) {
        (Some(m1), Some(d)) => {
            format!("m1 {}bit d {} m2 {}bit", bits(m1), microseconds(d), bits(curve.m2))
        }
        _ => format!("m2 {}bit", bits(curve.m2)),
    }
}
