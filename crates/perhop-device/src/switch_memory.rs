//! [`SwitchMemory`]: the division of a switch's packet memory among its ports and their queues.

use std::collections::BTreeMap;
use std::fmt;

use perhop_qos::{Dscp, Rate};
use serde::Serialize;
use serde::ser::Serializer;

use crate::platform_rule::{EvidenceKind, PlatformRule};
use crate::policy::Basis;
use crate::srr::{EgressMemory, SrrPort, SrrQueue, SrrQueueSet};

/// The options of the user for the memory of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryOptions {
    /// The product, such as `c9300-24t`; by default the product in the configuration.
    pub model: Option<String>,
    /// The memory of each port, in units of the chip; by default by product and rate.
    pub port_units: Option<u64>,
    /// The units that the soft parts of all ports of a chip share; by default by product.
    pub shared_units: Option<u64>,
    /// The number of neighboring ports that share `shared_units`; by default all ports of a module.
    pub pool_ports: Option<u64>,
}

/// Ports of a switch that share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortGroup {
    /// The member of a stack, or the slot of a module.
    pub module: u64,
    /// The first and the last port; `None` for all ports of the module.
    pub ports: Option<[u64; 2]>,
}

impl PortGroup {
    /// Returns the group of port number `port` of a module, of which `size` neighboring ports share memory.
    pub fn of_port(module: u64, port: u64, size: Option<u64>) -> PortGroup {
        let ports = size.filter(|size| *size > 0).map(|size| {
            let before = (port.max(1) - 1) / size * size;
            [before + 1, before + size]
        });
        PortGroup { module, ports }
    }
}

impl fmt::Display for PortGroup {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "module {}", self.module)?;
        match self.ports {
            Some([first, last]) => write!(formatter, ", ports {first}-{last}"),
            None => Ok(()),
        }
    }
}

/// The packet memory of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SwitchMemory {
    /// The product, or the command that printed the division.
    pub model: String,
    /// The name of the chip's family.
    pub chip: String,
    /// The size of a unit, bytes. A frame occupies whole units.
    pub unit_bytes: u64,
    /// The units that the soft parts of all ports of a chip share; `None` if the memory comes from an output,
    /// because outputs do not show this number.
    pub shared_units: Option<u64>,
    /// The ports, in the order of the text.
    pub ports: Vec<PortMemory>,
    /// Ports whose memory is unknown, with the reason.
    pub unknown: Vec<UnknownPort>,
    /// The rules from which the numbers follow, with their evidence.
    pub rules: Vec<PlatformRule>,
    /// Lines of the configuration that the division ignores.
    pub not_modeled: Vec<LineLeftOut>,
    /// The published size of the memory for departing packets, if the division among the ports is not
    /// published.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub egress_memory: Vec<EgressMemory>,
    /// The queues of arriving packets in front of the switch's ring.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_queues: Vec<InputQueue>,
    /// The settings by which ports divide their memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queue_sets: Vec<SrrQueueSet>,
    /// The mutation maps, by name: the new value for each value of a field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub maps: BTreeMap<&'static str, Vec<u8>>,
}

/// A line of a configuration that the division of the memory ignores or that the switch refuses. It
/// serializes as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineLeftOut {
    /// The line, from 1.
    pub line: usize,
    /// The class and the command, or the reason.
    pub text: String,
}

impl Serialize for LineLeftOut {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("line {}: {}", self.line, self.text))
    }
}

/// A port whose memory is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownPort {
    /// The full name of the interface.
    pub interface: String,
    /// The reason why the memory is unknown.
    pub reason: String,
}

/// The memory of a port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortMemory {
    /// The full name of the interface; empty if an output does not show it.
    pub interface: String,
    /// The rate of the line, bit/s; `None` if an output does not show it.
    pub rate_bps: Option<u64>,
    /// The memory that the rules divide, units; `None` if an output shows only the result.
    pub units: Option<u64>,
    /// The name of the output policy.
    pub policy: Option<String>,
    /// The factor by which the shared parts of the queues are multiplied, percent.
    pub multiplier_percent: Option<u64>,
    /// The shared memory that all queues of the port use, units, above which the limits of the queues fall.
    pub soft_start: u64,
    /// The shared memory that all queues of the port use, units, at which the limits reach their minimum.
    pub soft_end: u64,
    /// The queues, the first to be served first.
    pub queues: Vec<QueueMemory>,
    /// Assumptions for this port.
    pub assumed: Vec<String>,
    /// The line because of which the switch refuses the policy, with the reason. `queues` then has the queues
    /// as configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<LineLeftOut>,
    /// The reason why no packet waits in these queues, if another rule reports it.
    #[serde(skip)]
    pub without_queues: Option<String>,
    /// The settings of a port with shaped round robin.
    #[serde(flatten)]
    pub srr: Option<SrrPort>,
}

/// The memory of a queue, in units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueueMemory {
    /// The number of the queue in outputs.
    pub number: u8,
    /// The class or the packets of the queue.
    pub class: String,
    /// The line that opens the class in its policy.
    pub line: Option<usize>,
    /// The packets of a queue that no policy defines; `None` for the queue of a class.
    #[serde(skip)]
    pub default: Option<DefaultQueue>,
    /// The priority level; `None` for a queue that shares the remaining rate.
    pub priority_level: Option<u8>,
    /// The weight that the switch prints; `None` if it is not known.
    pub weight: Option<u32>,
    /// The reserved part; `None` if the memory of the port is not known.
    pub hard: Option<u64>,
    /// The limit of the soft part while the port uses little of the shared memory.
    pub soft: Option<u64>,
    /// The dynamic factor, in parts of 1024: the limit of the soft part is this factor times the free shared
    /// memory. `soft` is then the limit while all other queues are empty. `None` for a fixed limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic_factor: Option<u32>,
    /// The limit of the soft part when the port uses its whole shared memory; `None` if it is not known.
    pub port_soft_min: Option<u64>,
    /// The limit of the soft part when the shared memory of the chip is used up; `None` if it is not known.
    pub global_soft_min: Option<u64>,
    /// The lengths at which packets are dropped, in ascending order; the last one applies to packets without
    /// their own threshold.
    pub thresholds: Vec<DropThreshold>,
    /// The settings of a queue with shaped round robin.
    #[serde(flatten)]
    pub srr: Option<SrrQueue>,
}

/// A queue of a port without a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultQueue {
    /// The name in results.
    pub name: &'static str,
    /// The codepoints of the packets of the queue; empty for the queue of all packets that no other queue
    /// matches.
    pub codepoints: Vec<Dscp>,
}

/// The length of a queue at which some packets are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DropThreshold {
    /// The length, units; `None` if the memory of the port is not known.
    pub units: Option<u64>,
    /// The length, percent of the memory of the queue; `None` if units are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u64>,
    /// The packets, serialized as `dscp af31`; empty for packets without their own threshold.
    pub packets: Vec<MarkedPackets>,
    /// The line of the threshold.
    pub line: Option<usize>,
}

/// A queue of arriving packets in front of the ring of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputQueue {
    /// The number of the queue.
    pub number: u8,
    /// The share of the input memory, percent.
    pub buffers_percent: u64,
    /// The weight of this queue for the ring rate that priority leaves, relative to the other queue.
    pub bandwidth_weight: u64,
    /// The share of the ring rate with priority over the other queue, percent.
    pub priority_bandwidth_percent: u64,
    /// The lengths at which packets are dropped.
    pub thresholds: Vec<DropThreshold>,
}

/// Packets with one value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkedPackets {
    /// The field.
    pub field: MarkedField,
    /// The value.
    pub value: u8,
}

/// A field whose value selects the threshold of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkedField {
    /// A field that drop profiles also use.
    Mark(Basis),
    /// A group (`qos-group`), which exists only inside the device.
    Group,
}

impl fmt::Display for MarkedPackets {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let value = self.value;
        match self.field {
            MarkedField::Mark(Basis::Dscp) => match Dscp::new(value) {
                Some(dscp) => write!(formatter, "dscp {dscp}"),
                None => write!(formatter, "dscp {value}"),
            },
            MarkedField::Mark(Basis::Precedence) => write!(formatter, "precedence {value}"),
            MarkedField::Mark(Basis::DiscardClass) => write!(formatter, "discard-class {value}"),
            MarkedField::Mark(Basis::Cos) => write!(formatter, "cos {value}"),
            MarkedField::Group => write!(formatter, "qos-group {value}"),
        }
    }
}

impl Serialize for MarkedPackets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl QueueMemory {
    /// Returns the maximum length of the queue, units; `None` if the memory of the port is not known.
    pub fn most_units(&self) -> Option<u64> {
        Some(self.hard? + self.soft?)
    }

    /// Returns the length, units, at which packets without their own threshold are dropped.
    pub fn ceiling(&self) -> Option<u64> {
        self.thresholds.last().map_or(self.most_units(), |threshold| threshold.units)
    }
}

impl SwitchMemory {
    /// Returns the memory of the port called `interface`.
    pub fn port(&self, interface: &str) -> Option<&PortMemory> {
        self.ports.iter().find(|port| port.interface == interface)
    }

    /// Returns the names of the rules by evidence.
    pub fn rules_by_evidence(&self) -> BTreeMap<EvidenceKind, Vec<String>> {
        let mut found: BTreeMap<EvidenceKind, Vec<String>> = BTreeMap::new();
        for rule in &self.rules {
            found.entry(rule.certainty).or_default().push(rule.rule.clone());
        }
        found
    }

    /// Returns the reason why the memory of the port `interface` is unknown.
    pub fn reason_unknown(&self, interface: &str) -> Option<&str> {
        let unknown = self.unknown.iter().find(|port| port.interface == interface);
        unknown.map(|port| port.reason.as_str())
    }
}

/// The frames and bytes that fit into some units of the memory, and the time that the port needs to send
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    /// Whole frames.
    pub frames: u64,
    /// The bytes of these frames, including Ethernet header and check sequence.
    pub bytes: u64,
    /// The time in which the port sends these frames with preamble and gap, ns; `None` without a rate.
    pub drain_ns: Option<u64>,
}

/// Bytes of a frame on the line that occupy no memory: preamble and gap between frames (IEEE 802.3, 4.4.2).
const PREAMBLE_AND_GAP: u64 = 20;

impl Room {
    /// Returns the room of `units` for frames of `frame_bytes`.
    pub fn for_frames(units: u64, unit_bytes: u64, frame_bytes: u64, rate: Option<Rate>) -> Room {
        let frames = units / frame_bytes.div_ceil(unit_bytes);
        let drain_ns = rate.filter(|rate| rate.as_bits_per_second() > 0).map(|rate| {
            let bits = u128::from(frames) * u128::from(frame_bytes + PREAMBLE_AND_GAP) * 8;
            let nanoseconds = bits * 1_000_000_000 / u128::from(rate.as_bits_per_second());
            u64::try_from(nanoseconds).unwrap_or(u64::MAX)
        });
        Room { frames, bytes: frames * frame_bytes, drain_ns }
    }

    /// Returns the longest burst at the rate `arrival` without a loss, while the port sends only from this
    /// queue, at the rate `line`. `None` if a rate is not known, or if the port is at least as fast as the
    /// arrivals.
    pub fn burst(self, line: Option<Rate>, arrival: Option<Rate>) -> Option<Burst> {
        let (line, arrival) = (line?.as_bits_per_second(), arrival?.as_bits_per_second());
        let growth = u128::from(arrival.checked_sub(line).filter(|growth| *growth > 0)?);
        let limited = |value: u128| u64::try_from(value).unwrap_or(u64::MAX);
        Some(Burst {
            bytes: limited(u128::from(self.bytes) * u128::from(arrival) / growth),
            duration_ns: limited(u128::from(self.bytes) * 8 * 1_000_000_000 / growth),
        })
    }
}

/// A burst that fits into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Burst {
    /// The bytes of the frames.
    pub bytes: u64,
    /// The duration of the burst at the rate of arrival, ns.
    pub duration_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighboring_ports_form_a_group() {
        let name = |port, size| PortGroup::of_port(1, port, size).to_string();
        assert_eq!(name(48, None), "module 1");
        assert_eq!(
            [1, 24, 25, 48].map(|port| name(port, Some(24))),
            [
                "module 1, ports 1-24",
                "module 1, ports 1-24",
                "module 1, ports 25-48",
                "module 1, ports 25-48",
            ]
        );
    }

    #[test]
    fn a_frame_takes_whole_units() {
        let gigabit = Some(Rate::from_bits_per_second(1_000_000_000));
        // 64 bytes waste three quarters of a unit; 257 bytes take two.
        assert_eq!(Room::for_frames(720, 256, 64, None), Room { frames: 720, bytes: 46_080, drain_ns: None });
        assert_eq!(Room::for_frames(721, 256, 257, None).frames, 360);
        // 1518 bytes take six units: 120 frames of 1538 bytes on the line.
        let room = Room::for_frames(720, 256, 1518, gigabit);
        assert_eq!((room.frames, room.bytes, room.drain_ns), (120, 182_160, Some(1_476_480)));
    }

    #[test]
    fn a_burst_fills_a_queue_by_the_difference_of_the_rates() {
        let rate = |gigabits: u64| Some(Rate::from_bits_per_second(gigabits * 1_000_000_000));
        let room = Room { frames: 90, bytes: 90_000, drain_ns: None };
        // The queue grows at 9 Gb/s and reaches 90 000 bytes after 80 us. In this time, 100 000 bytes arrive
        // at 10 Gb/s.
        assert_eq!(room.burst(rate(1), rate(10)), Some(Burst { bytes: 100_000, duration_ns: 80_000 }));
        assert_eq!(room.burst(rate(10), rate(10)), None);
        assert_eq!(room.burst(None, rate(10)), None);
    }
}
