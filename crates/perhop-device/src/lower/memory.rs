//! [`MemoryShare`]: queues that share the packet memory of a switch.
//!
//! [`PortMemory`] has the division of the memory among the queues. `perhop buffers` prints it.

use perhop_qos::buffer::{BufferConfig, FallConfig, FallSlope, MemoryConfig, SharedMemoryConfig};
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};
use perhop_qos::{Color, Dscp};

use crate::intent::Class;
use crate::policy::{Basis, Limit, Unit};
use crate::switch_memory::{DefaultQueue, DropThreshold, MarkedField, PortGroup, PortMemory, QueueMemory};

/// The number of values of an IP precedence or a class of service.
const VALUES: u8 = 8;
/// The denominator of a dynamic factor: the factor 1 is 1024.
const ALPHA_PARTS: f64 = 1024.0;
/// Maximum size of a memory in the data plane, units.
const MOST_UNITS: u32 = 1 << 30;

/// The packet memory of the port for which a policy is lowered.
#[derive(Clone, Copy, Debug)]
pub struct MemoryShare<'a> {
    /// The size of a unit, bytes.
    pub unit_bytes: u64,
    /// The units that the soft parts of all ports share.
    pub shared_units: u64,
    /// The ports that share these units; `None` if only one port uses them.
    pub group: Option<PortGroup>,
    /// The division among the queues of the port.
    pub port: &'a PortMemory,
}

impl<'a> MemoryShare<'a> {
    /// Returns the memory of the port's scheduler.
    pub(super) fn config(self) -> MemoryConfig {
        let (start, end) = (units(self.port.soft_start), units(self.port.soft_end));
        MemoryConfig {
            unit_bytes: units(self.unit_bytes),
            overhead: MemoryConfig::ETHERNET,
            shared: units(self.shared_units),
            pool: self.group.map(|group| group.to_string()),
            reserved: 0,
            limit: None,
            // The limits fall only if queues have soft parts, because hard parts do not shrink.
            port_fall: (end > start).then_some(FallConfig { start, end, slope: FallSlope::Linear }),
            pool_fall: None,
        }
    }

    /// Returns the queue of `class`; `None` if its packets wait in another queue.
    pub(super) fn queue(self, class: &Class) -> Option<&'a QueueMemory> {
        self.named(&class.name, class.line)
    }

    /// Returns the queue of the class that `line` opens. The line is 0 for a class that the text does not
    /// contain.
    pub(super) fn named(self, name: &str, line: usize) -> Option<&'a QueueMemory> {
        let is_own = |queue: &&QueueMemory| {
            queue.default.is_none() && queue.class == name && (line == 0 || queue.line == Some(line))
        };
        self.port.queues.iter().find(is_own)
    }

    /// Returns the ceiling of a queue.
    pub(super) fn ceiling(self, queue: &QueueMemory) -> Limit {
        let bytes = queue.ceiling().unwrap_or(0) * self.unit_bytes;
        Limit { unit: Unit::Bytes, value: bytes, bytes: Some(bytes) }
    }

    /// Returns the queues of a port without a policy; `None` if a policy defines the queues of the port.
    pub(super) fn default_queueing(self) -> Option<QueueingConfig> {
        let queues: Option<Vec<ClassConfig>> = self
            .port
            .queues
            .iter()
            .map(|queue| Some(default_class(queue, queue.default.as_ref()?)))
            .collect();
        let (classes, memory) = (queues?, Some(self.config()));
        Some(QueueingConfig {
            scheduler: SchedulerConfig::Scfq,
            classes,
            memory,
            ..QueueingConfig::default()
        })
    }
}

fn default_class(queue: &QueueMemory, default: &DefaultQueue) -> ClassConfig {
    let codepoints = Some(default.codepoints.clone()).filter(|codepoints| !codepoints.is_empty());
    let matches = codepoints
        .map(|codepoints| MatchConfig { dscp: Some(OneOrMany(codepoints)), ..MatchConfig::default() });
    let (buffer, precedence) = buffer(queue);
    let share = ShareConfig { weight: queue.weight.map(f64::from), ..ShareConfig::default() };
    let name = default.name.to_owned();
    ClassConfig { name, matches, share, buffer: Some(buffer), precedence, ..ClassConfig::default() }
}

/// Returns the buffer manager of a queue, and the field that determines the drop precedence of a packet.
pub(super) fn buffer(queue: &QueueMemory) -> (BufferConfig, PrecedenceSource) {
    let (thresholds, precedence) = thresholds(queue);
    if let Some(factor) = queue.dynamic_factor {
        let alpha = Some(f64::from(factor) / ALPHA_PARTS);
        let config = SharedMemoryConfig { alpha, ..SharedMemoryConfig::default() };
        return (BufferConfig::SharedMemory(config), precedence);
    }
    // The parts are known, because the caller excludes queues of unknown memory.
    let (hard, soft) = (queue.hard.unwrap_or(0), queue.soft.unwrap_or(0));
    let config = SharedMemoryConfig {
        reserved: units(hard),
        limit: Some(units(soft)).filter(|limit| *limit > 0 || hard > 0),
        port_minimum: queue.port_soft_min.map(units).filter(|minimum| u64::from(*minimum) <= soft),
        thresholds,
        ..SharedMemoryConfig::default()
    };
    (BufferConfig::SharedMemory(config), precedence)
}

/// Returns the queue length above which a packet is dropped, by drop precedence, and the field that
/// determines the drop precedence. The last threshold applies to packets without their own.
fn thresholds(queue: &QueueMemory) -> (Vec<u32>, PrecedenceSource) {
    let all = &queue.thresholds;
    let ceiling = queue.ceiling().unwrap_or(0);
    let named: Vec<(MarkedField, u8, u64)> = all
        .iter()
        .flat_map(|threshold| {
            let units = threshold.units.unwrap_or(0);
            threshold.packets.iter().map(move |packets| (packets.field, packets.value, units))
        })
        // Queues with shaped round robin select packets by codepoint.
        .filter(|(field, _, _)| queue.srr.is_none() || *field == MarkedField::Mark(Basis::Dscp))
        .collect();
    let by_number = |field: MarkedField| {
        let named_threshold =
            |value: u8| named.iter().find(|(own, number, _)| *own == field && *number == value);
        (0..VALUES)
            .map(|value| threshold(named_threshold(value).map_or(ceiling, |(_, _, units)| *units)))
            .collect()
    };
    match named.first().map(|(field, _, _)| *field) {
        Some(MarkedField::Mark(Basis::Dscp)) => by_codepoint(all, ceiling),
        Some(field @ MarkedField::Mark(Basis::Precedence)) => {
            (by_number(field), PrecedenceSource::IpPrecedence)
        }
        Some(field @ MarkedField::Mark(Basis::Cos)) => (by_number(field), PrecedenceSource::Cos),
        Some(field @ MarkedField::Mark(Basis::DiscardClass)) => (by_number(field), PrecedenceSource::Color),
        Some(MarkedField::Group) | None => (vec![threshold(ceiling)], PrecedenceSource::default()),
    }
}

fn by_codepoint(all: &[DropThreshold], ceiling: u64) -> (Vec<u32>, PrecedenceSource) {
    let codepoints = |threshold: &DropThreshold| -> Vec<Dscp> {
        let of_dscp =
            threshold.packets.iter().filter(|packets| packets.field == MarkedField::Mark(Basis::Dscp));
        of_dscp.filter_map(|packets| Dscp::new(packets.value)).collect()
    };
    let mut groups: Vec<(u64, Vec<Dscp>)> = Vec::new();
    for (limit, codepoints) in
        all.iter().map(|threshold| (threshold.units.unwrap_or(0), codepoints(threshold)))
    {
        // The first threshold of a codepoint applies.
        let is_new = |dscp: &Dscp| !groups.iter().any(|(_, known)| known.contains(dscp));
        let own: Vec<Dscp> = codepoints.into_iter().filter(is_new).collect();
        if !own.is_empty() && groups.len() + 1 < Color::COUNT {
            groups.push((limit, own));
        }
    }
    let is_free = |dscp: &Dscp| !groups.iter().any(|(_, known)| known.contains(dscp));
    if let Some(other) = (0..64).filter_map(Dscp::new).find(is_free) {
        groups.push((ceiling, vec![other]));
    }
    let (limits, lists): (Vec<u64>, Vec<Vec<Dscp>>) = groups.into_iter().unzip();
    let limits = limits.into_iter().map(threshold).collect();
    (limits, PrecedenceSource::ByDscp(lists.into_iter().map(OneOrMany).collect()))
}

/// Returns a number of units in the type of the data plane.
fn units(units: u64) -> u32 {
    u32::try_from(units).unwrap_or(u32::MAX).min(MOST_UNITS)
}

/// Returns a threshold of at least 1, because the data plane has no threshold of 0.
fn threshold(written: u64) -> u32 {
    units(written).max(1)
}
