//! [`DeviceCounters`]: counters of disciplines and classes, derived from counters of queues.

use perhop_device::show::{CountedPort, PrecedenceCounters, QueueCounters, Traffic};
use perhop_qos::DropCause;
use serde_json::{Map, Value, json};

use crate::model::{Device, Place, Qdisc};
use crate::units::shown_id;

/// The name of the row of unclassified packets.
const NO_QUEUE: &str = "(none)";
/// The name of the queue of unclassified packets of `htb`.
const DIRECT: &str = "direct";
const BY_QUEUE: [DropCause; 5] = [
    DropCause::QueueFull,
    DropCause::EarlyRandom,
    DropCause::EarlyForced,
    DropCause::SharedMemory,
    DropCause::PortMemory,
];

/// The counters of a device.
pub(super) struct DeviceCounters<'a> {
    device: &'a Device,
    /// The counters of the queues by path: the numbers of the enclosing classes, then the number of the
    /// queue.
    queues: Vec<(Vec<&'a str>, QueueCounters)>,
    /// Unclassified packets, which the root drops.
    unclassified: u64,
}

/// The counters of a discipline or class.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) sent: Traffic,
    pub(super) backlog: Traffic,
    pub(super) arrived: u64,
    /// The packets that were dropped because the queue was full.
    pub(super) full: u64,
    /// The packets that the buffer manager dropped before the queue was full.
    pub(super) early: u64,
    /// The packets that were dropped for other reasons.
    pub(super) others: u64,
    pub(super) marked: u64,
}

impl<'a> DeviceCounters<'a> {
    pub(super) fn new(device: &'a Device, port: &'a CountedPort) -> DeviceCounters<'a> {
        let overhead = port.port.output.overhead;
        let all = port.counters.queues.iter().filter(|(name, _)| !name.starts_with('('));
        let queues =
            all.map(|(name, counters)| (name.split('/').collect(), counters.with_overhead(overhead)));
        let without = port.counters.queue(NO_QUEUE);
        let dropped = without.sum(|queue| queue.drops(&[DropCause::NoClass]));
        DeviceCounters { device, queues: queues.collect(), unclassified: dropped.packets }
    }

    /// Returns the counters of a discipline; `None` if perhop does not count its packets.
    pub(super) fn of_qdisc(&self, qdisc: &Qdisc) -> Option<Counters> {
        match qdisc.place {
            Place::Root => {
                let found = self.sum(|_| true).unwrap_or_default();
                Some(Counters { others: self.unclassified, ..found })
            }
            Place::Class(id) => self.of_class(id),
            Place::Hooks => None,
        }
    }

    /// Returns the counters of a class, which are zero without packets; `None` if perhop does not count its
    /// packets.
    pub(super) fn of_class(&self, id: u32) -> Option<Counters> {
        let name = shown_id(id);
        self.sum(|path| path.contains(&name.as_str())).or_else(|| {
            let around = self.device.of_major(id).map(|index| &self.device.qdiscs[index]);
            match around {
                // All packets of tbf are in its only class.
                Some(qdisc) if qdisc.kind.name == "tbf" => self.of_qdisc(qdisc),
                Some(qdisc) if qdisc.kind.name != "mq" => Some(Counters::default()),
                // perhop sends all packets of `mq` through its first queue.
                _ => {
                    let is_child = |qdisc: &&Qdisc| matches!(qdisc.place, Place::Class(_));
                    let first = self.device.qdiscs.iter().find(is_child);
                    first.filter(|qdisc| qdisc.place == Place::Class(id)).and_then(|_| self.sum(|_| true))
                }
            }
        })
    }

    /// Returns the number of packets sent without a class.
    pub(super) fn direct(&self) -> u64 {
        self.sum(|path| path == [DIRECT]).map_or(0, |found| found.sent.packets)
    }

    fn sum(&self, is_meant: impl Fn(&[&str]) -> bool) -> Option<Counters> {
        let queues = self.queues.iter().filter(|(path, _)| is_meant(path));
        queues.map(|(_, counters)| of_queue(counters)).reduce(Counters::and)
    }
}

impl Counters {
    fn and(self, other: Counters) -> Counters {
        Counters {
            sent: self.sent + other.sent,
            backlog: self.backlog + other.backlog,
            arrived: self.arrived + other.arrived,
            full: self.full + other.full,
            early: self.early + other.early,
            others: self.others + other.others,
            marked: self.marked + other.marked,
        }
    }

    /// Returns the number of all dropped packets.
    pub(super) fn dropped(self) -> u64 {
        self.full + self.early + self.others
    }

    /// Appends the lines common to disciplines and classes, with `overlimits` if perhop counts them. Requeues
    /// are always 0, because devices in perhop never return a packet to a queue.
    pub(super) fn print(self, overlimits: Option<u64>, lines: &mut Vec<String>) {
        let (bytes, packets, dropped) = (self.sent.whole_bytes(), self.sent.packets, self.dropped());
        let over = overlimits.map(|count| format!("overlimits {count} ")).unwrap_or_default();
        lines.push(format!(" Sent {bytes} bytes {packets} pkt (dropped {dropped}, {over}requeues 0) "));
        let (bytes, packets) = (self.backlog.whole_bytes(), self.backlog.packets);
        lines.push(format!(" backlog {bytes}b {packets}p requeues 0"));
    }

    /// Returns the counters by name. The reader of outputs uses the same names.
    pub(super) fn document(self) -> Map<String, Value> {
        let numbers = [
            ("sent_bytes", self.sent.whole_bytes()),
            ("sent_packets", self.sent.packets),
            ("queue_drops", self.dropped()),
            ("depth_bytes", self.backlog.whole_bytes()),
            ("depth", self.backlog.packets),
        ];
        numbers.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }
}

fn of_queue(counters: &QueueCounters) -> Counters {
    let sum = |part: fn(&PrecedenceCounters) -> Traffic| counters.sum(part);
    let [arrived, sent] = [sum(|queue| queue.arrived), sum(|queue| queue.sent)];
    let dropped = sum(|queue| queue.drops(&BY_QUEUE));
    let count = |causes: &[DropCause]| -> u64 { counters.sum(|counter| counter.drops(causes)).packets };
    let sample = counters.sample.as_ref();
    let sampled = sample.map(|sample| Traffic::new(sample.packets, sample.bytes as f64));
    Counters {
        sent,
        backlog: sampled.unwrap_or(arrived - sent - dropped),
        arrived: arrived.packets,
        full: count(&[DropCause::QueueFull, DropCause::SharedMemory, DropCause::PortMemory]),
        early: count(&[DropCause::EarlyRandom, DropCause::EarlyForced]),
        others: 0,
        marked: counters.precedences.values().map(|precedence| precedence.marked_packets).sum(),
    }
}
