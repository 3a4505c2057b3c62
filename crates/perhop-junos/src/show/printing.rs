//! `show interfaces queue` with the counters of a run.

use std::collections::BTreeMap;

use perhop_device::show::{CountedPort, QueueCounters, ShownPort, Traffic};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::{DropCause, QueueSize};
use serde_json::{Value, json};

use super::applied::Applied;
use super::layout::{Depth, Drops};
use crate::cos::LossPriority;

/// The queues of a port.
pub(super) const QUEUES: usize = 8;
/// The prefix of the name of a unit's node.
const UNIT: &str = "unit ";
const AT_LIMIT: [DropCause; 3] = [DropCause::QueueFull, DropCause::SharedMemory, DropCause::PortMemory];
const BY_PROFILE: [DropCause; 2] = [DropCause::EarlyRandom, DropCause::EarlyForced];
const LOSS_PRIORITIES: [&str; 4] = ["Low", "Medium-low", "Medium-high", "High"];

/// Returns the output for a port: its own queues, and the queues of each of its nodes.
pub(super) fn port(applied: &Applied, port: &CountedPort) -> ShownPort {
    let (mut lines, mut documents) = (Vec::new(), Vec::new());
    for node in nodes(port) {
        let name = heading(applied, port, &node, &mut lines);
        let queues: Vec<Value> = applied
            .cos
            .classes
            .queues()
            .into_iter()
            .map(|number| Queue::new(applied, port, &node, number).print(&mut lines))
            .collect();
        documents.push(json!({"interface": name, "queues": queues}));
    }
    let document = json!({"name": port.port.name, "link_to": port.link_to, "nodes": documents});
    ShownPort { text: lines.join("\n") + "\n", document }
}

/// The names of the enclosing nodes of some queues.
type Path = Vec<String>;

/// Returns the nodes with queues: the nodes with counted packets, otherwise the configured nodes.
fn nodes(port: &CountedPort) -> Vec<Path> {
    let counted = port.counters.queues.keys().filter(|name| !name.starts_with('('));
    let mut found: Vec<Path> = counted.map(|name| around(name)).collect();
    if found.is_empty() {
        let classes = port.port.output.queueing.iter().flat_map(|queueing| leaves(queueing, &[]));
        found = classes.map(|(path, _)| path).collect();
    }
    // The port, then its units in the order of their numbers.
    let number = |path: &Path| path.last().and_then(|name| name.strip_prefix(UNIT)?.parse::<u32>().ok());
    found.sort_by_key(|path| (number(path), path.clone()));
    found.dedup();
    found
}

fn around(queue: &str) -> Path {
    let mut names: Path = queue.split('/').map(str::to_owned).collect();
    names.pop();
    names
}

/// Returns the classes without inner classes, each with the names of its enclosing classes.
fn leaves<'q>(queueing: &'q QueueingConfig, around: &[String]) -> Vec<(Path, &'q ClassConfig)> {
    let inside = |class: &'q ClassConfig| match &class.queueing {
        Some(inner) => leaves(inner, &[around, std::slice::from_ref(&class.name)].concat()),
        None => vec![(around.to_vec(), class)],
    };
    queueing.classes.iter().flat_map(inside).collect()
}

/// Returns the names of the interfaces and units whose queues appear in the output of a port.
pub(super) fn names(port: &CountedPort) -> Vec<String> {
    nodes(port).iter().map(|node| name(port, node)).collect()
}

fn unit(node: &Path) -> Option<&str> {
    node.last().and_then(|name| name.strip_prefix(UNIT))
}

fn name(port: &CountedPort, node: &Path) -> String {
    let interface = &port.port.interface;
    unit(node).map_or_else(|| interface.clone(), |unit| format!("{interface}.{unit}"))
}

/// Iterates over the queues of a port and of its nodes.
pub(super) fn queues_of<'a>(applied: &'a Applied, port: &'a CountedPort) -> impl Iterator<Item = Queue<'a>> {
    nodes(port).into_iter().flat_map(move |node| {
        let numbers = applied.cos.classes.queues().into_iter();
        numbers.map(move |number| Queue::new(applied, port, &node, number))
    })
}

/// Appends the lines above the queues of a node. Returns the name of the node's interface.
fn heading(applied: &Applied, port: &CountedPort, node: &Path, lines: &mut Vec<String>) -> String {
    let interface = &port.port.interface;
    let name = name(port, node);
    if unit(node).is_some() {
        lines.push(format!("  Logical interface {name} (Index 0) (SNMP ifIndex 0)"));
    } else {
        let (state, link) = if port.port.shutdown {
            ("Administratively down", "Down")
        } else {
            (applied.layout.enabled, "Up")
        };
        lines.push(format!("Physical interface: {name}, {state}, Physical link is {link}"));
        lines.push("  Interface index: 0, SNMP ifIndex: 0".to_owned());
        let described = applied.interface(interface).and_then(|known| known.description.as_ref());
        lines.extend(described.map(|text| format!("  Description: {text}")));
    }
    let classes = &applied.cos.classes;
    if let Some(supported) = applied.layout.classes {
        let used = classes.iter().count();
        lines.push(format!("Forwarding classes: {supported} supported, {used} in use"));
    }
    lines.push(format!("Egress queues: {QUEUES} supported, {} in use", classes.queues().len()));
    name
}

/// The numbers of a queue, in the bytes that the device counts.
pub(super) struct Queue<'a> {
    pub(super) number: u8,
    classes: Vec<&'a str>,
    drops: Drops,
    /// The duration of the counting, seconds.
    seconds: f64,
    /// The packets that arrived after `rate-limit`, including packets that the queue dropped.
    pub(super) queued: Traffic,
    pub(super) sent: Traffic,
    full: Traffic,
    limited: Traffic,
    /// The drops by profiles, for each loss priority.
    early: [Traffic; 4],
    /// The bytes that waited at the end, with the same overhead as `limit`.
    depth: Option<u64>,
    /// Bytes.
    limit: Option<u64>,
}

impl<'a> Queue<'a> {
    fn new(applied: &'a Applied, port: &CountedPort, node: &Path, number: u8) -> Queue<'a> {
        let classes = applied.classes_of(number);
        // The name of the queue is the name of its first class.
        let name = classes.first().copied().unwrap_or_default();
        let path: Vec<&str> = node.iter().map(String::as_str).chain([name]).collect();
        let counters = port.counters.queue(&path.join("/"));
        let overhead = port.port.counted_bytes.map_or(0, |counted| counted.queues);
        let QueueCounters { precedences, .. } = counters.with_overhead(overhead);
        let sum = |causes: &[DropCause]| precedences.values().map(|own| own.drops(causes)).sum();
        let limited: Traffic = sum(&[DropCause::Policed]);
        let mut early = [Traffic::default(); 4];
        for (precedence, own) in &precedences {
            let place = (*precedence as usize).min(LossPriority::ALL.len() - 1);
            early[place] = early[place] + own.drops(&BY_PROFILE);
        }
        let leaves = port.port.output.queueing.iter().flat_map(|queueing| leaves(queueing, &[]));
        let class = leaves.map(|(_, class)| class).find(|class| class.name == name);
        Queue {
            number,
            classes,
            drops: applied.layout.drops,
            seconds: port.counters.seconds,
            queued: precedences.values().map(|own| own.arrived).sum::<Traffic>() - limited,
            sent: precedences.values().map(|own| own.sent).sum(),
            full: sum(&AT_LIMIT),
            limited,
            early,
            depth: counters.sample.map(|sample| sample.bytes),
            limit: class.and_then(limit),
        }
    }

    /// Returns all drops: at the limit, by `rate-limit` and by profiles.
    pub(super) fn dropped(&self) -> Traffic {
        self.early.into_iter().fold(self.full + self.limited, |sum, own| sum + own)
    }

    /// Appends the lines of the queue. Returns the numbers of the queue by the names that the reader uses.
    fn print(&self, lines: &mut Vec<String>) -> Value {
        lines.push(format!("Queue: {}, Forwarding classes: {}", self.number, self.classes.join(", ")));
        lines.push("  Queued:".to_owned());
        self.both(self.queued, lines);
        lines.push("  Transmitted:".to_owned());
        self.both(self.sent, lines);
        let red: Traffic = self.early.into_iter().sum();
        self.packets("    Tail-dropped packets", self.full, lines);
        match self.drops {
            Drops::Sums => {
                self.bytes("    Tail-dropped bytes", self.full, lines);
                self.packets("    RED-dropped packets", red, lines);
                self.bytes("    RED-dropped bytes", red, lines);
            }
            Drops::ByLossPriority(depth) => {
                self.packets("    RL-dropped packets", self.limited, lines);
                self.bytes("    RL-dropped bytes", self.limited, lines);
                self.packets("    RED-dropped packets", red, lines);
                for (name, own) in LOSS_PRIORITIES.iter().zip(self.early) {
                    self.packets(&format!("     {name}"), own, lines);
                }
                self.bytes("    RED-dropped bytes", red, lines);
                for (name, own) in LOSS_PRIORITIES.iter().zip(self.early) {
                    self.bytes(&format!("     {name}"), own, lines);
                }
                if depth == Depth::Printed {
                    self.print_depth(lines);
                }
            }
        }
        self.document(red)
    }

    /// Appends the depth of the queue. A run does not have its average and its peak, so they are omitted.
    fn print_depth(&self, lines: &mut Vec<String>) {
        let rows = [("    Current", self.depth), ("    Maximum", self.limit)];
        if rows.iter().any(|(_, bytes)| bytes.is_some()) {
            lines.push("  Queue-depth bytes      : ".to_owned());
        }
        for (label, bytes) in rows {
            lines.extend(bytes.map(|bytes| format!("{label:<25}:{bytes:>22}")));
        }
    }

    fn both(&self, traffic: Traffic, lines: &mut Vec<String>) {
        self.packets("    Packets", traffic, lines);
        self.bytes("    Bytes", traffic, lines);
    }

    fn packets(&self, label: &str, traffic: Traffic, lines: &mut Vec<String>) {
        lines.push(format!("{label:<25}:{:>22}{:>22} pps", traffic.packets, self.pps(traffic)));
    }

    fn bytes(&self, label: &str, traffic: Traffic, lines: &mut Vec<String>) {
        lines.push(format!("{label:<25}:{:>22}{:>22} bps", traffic.whole_bytes(), self.bps(traffic)));
    }

    fn pps(&self, traffic: Traffic) -> u64 {
        self.rate(traffic.packets as f64)
    }

    fn bps(&self, traffic: Traffic) -> u64 {
        self.rate(8.0 * traffic.bytes)
    }

    fn rate(&self, count: f64) -> u64 {
        if self.seconds > 0.0 { (count / self.seconds).round() as u64 } else { 0 }
    }

    fn document(&self, red: Traffic) -> Value {
        let both = |traffic: Traffic| {
            json!({
                "packets": traffic.packets,
                "bytes": traffic.whole_bytes(),
                "pps": self.pps(traffic),
                "bps": self.bps(traffic),
            })
        };
        let early: BTreeMap<&str, Value> =
            LossPriority::ALL.iter().zip(self.early).map(|(loss, own)| (loss.name(), both(own))).collect();
        json!({
            "queue": self.number,
            "classes": self.classes,
            "queued": both(self.queued),
            "transmitted": both(self.sent),
            "tail_dropped": both(self.full),
            "rl_dropped": both(self.limited),
            "red_dropped": both(red),
            "red_dropped_by_loss_priority": early,
            "depth_bytes": self.depth,
            "limit_bytes": self.limit,
        })
    }
}

fn limit(class: &ClassConfig) -> Option<u64> {
    let limit = match class.buffer.as_ref()? {
        BufferConfig::TailDrop(tail) => tail.limit,
        BufferConfig::FillProfile(profile) => profile.limit,
        _ => return None,
    };
    match limit {
        QueueSize::Bytes(bytes) => Some(bytes),
        QueueSize::Packets(_) => None,
    }
}
