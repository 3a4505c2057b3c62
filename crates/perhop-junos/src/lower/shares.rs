//! The share of a queue: its guarantee, its priorities, and its weight in the excess.

use perhop_qos::scheduler::{LinkLayerConfig, ShareConfig};
use perhop_qos::{ByteSize, Rate};

use super::device::Device;
use crate::cos::{ExcessPriority, ExcessRate, Limit, Priority, Scheduler};
use crate::families::ExcessOrder;

/// The rate of a queue without any bandwidth, bits per second.
const LEAST_RATE: u64 = 8;
/// Weights in hardware are parts of 125, and at least 1 (`show cos scheduler-map` of an MX960, 23.2R2).
const HARDWARE_WEIGHT: f64 = 125.0;
/// Milliseconds of its guarantee that a queue can save up; the value is not documented.
const GUARANTEE_MS: u64 = 10;
/// The least burst, bytes: a few packets.
pub(super) const LEAST_BURST: u64 = 15_000;

/// One queue with its resolved numbers.
pub(super) struct Queue<'d> {
    pub(super) number: u8,
    pub(super) scheduler: Option<&'d Scheduler>,
    pub(super) lines: Vec<usize>,
    /// Bits per second.
    pub(super) guarantee: u64,
    pub(super) maximum: u64,
    pub(super) priority: Priority,
    pub(super) excess: ExcessPriority,
    pub(super) limit: Limit,
}

/// The surroundings of a queue.
#[derive(Clone, Copy)]
pub(super) struct Around {
    /// The rate that percentages refer to.
    pub(super) reference: Rate,
    /// Whether the queue is in a node of a hierarchy.
    pub(super) is_in_node: bool,
    pub(super) link_layer: LinkLayerConfig,
}

/// Returns the share of a queue with `weight`.
pub(super) fn share(device: Device, queue: &Queue, weight: f64, around: Around) -> ShareConfig {
    let (level, excess_level) = levels(device, queue, around.is_in_node);
    let rate = |bits: u64| Rate::from_bits_per_second(bits.max(LEAST_RATE));
    let burst = |bits: u64, ms: u64| ByteSize::from_bytes((bits / 8 * ms / 1000).max(LEAST_BURST));
    // Strict-high has no excess region (Juniper techpost, "Wholistic Design Approach for MPLS Backbone CoS").
    let guarantee = if is_strict(device, queue.priority) { queue.maximum } else { queue.guarantee };
    let is_limited = queue.maximum < around.reference.as_bits_per_second() || guarantee >= queue.maximum;
    ShareConfig {
        rate: (guarantee > 0).then(|| rate(guarantee)),
        burst: (guarantee > 0).then(|| burst(guarantee, GUARANTEE_MS)),
        ceil: is_limited.then(|| rate(queue.maximum)),
        ceil_burst: is_limited.then(|| {
            let own = queue.scheduler.and_then(|scheduler| scheduler.shaping_burst);
            let default = burst(queue.maximum, device.rules.shaper_burst_ms);
            own.map_or(default, |at| ByteSize::from_bytes(at.value.max(LEAST_BURST)))
        }),
        level: Some(level),
        excess_level: Some(excess_level),
        weight: Some(weight),
        link_layer: Some(around.link_layer),
        ..ShareConfig::default()
    }
}

/// Whether a priority has no excess region: its queue is served at any rate up to its maximum.
pub(super) fn is_strict(device: Device, priority: Priority) -> bool {
    match device.rules.excess_order {
        // Juniper JVD, low latency queueing: priorities preempt each other, without credit; low queues share.
        ExcessOrder::Preemptive => priority != Priority::Low,
        _ => matches!(priority, Priority::StrictHigh | Priority::LowLatency),
    }
}

/// Returns the priorities of a queue below and above its guarantee.
fn levels(device: Device, queue: &Queue, is_in_node: bool) -> (u16, u16) {
    let own = queue.priority as u16;
    match device.rules.excess_order {
        // TechLibrary cos-transmission-scheduling-security-overview.
        ExcessOrder::Priority => (own, own),
        // TechLibrary cos-excess-rate-ptx-configuring.
        ExcessOrder::OneLevel | ExcessOrder::Preemptive => (own, 0),
        // TechLibrary hw-cos-trio-scheduling-hierarchical: strict-high and high are one level, and the two
        // medium priorities are one level. A node above its guarantee keeps only the priority of strict-high
        // (TechLibrary hierarchical-scheduler-priority-propagation).
        ExcessOrder::TwoLevels => {
            let level = match queue.priority {
                Priority::LowLatency | Priority::StrictHigh => 0,
                Priority::High => u16::from(is_in_node),
                Priority::MediumHigh | Priority::MediumLow => 2,
                Priority::LowHigh | Priority::LowMedium | Priority::Low => 3,
            };
            (level, u16::from(queue.excess != ExcessPriority::High))
        }
    }
}

/// Returns the weights above the guarantees, by queue.
///
/// If a queue has an excess rate, queues without one count 1 percent; otherwise transmit rates count (Juniper
/// techpost, "Wholistic Design Approach for MPLS Backbone CoS"). Hardware gives every queue at least a part
/// of 125.
pub(super) fn weights(device: Device, queues: &[Queue], reference: Rate) -> Vec<f64> {
    let has_weights = device.rules.excess_order != ExcessOrder::Priority;
    let written = |queue: &Queue| queue.scheduler.and_then(|own| own.excess_rate).map(|at| at.value);
    let has_excess_rate = has_weights && queues.iter().any(|queue| written(queue).is_some());
    let rate = reference.as_bits_per_second().max(1) as f64;
    let has_rates = queues.iter().any(|queue| queue.guarantee > 0);
    let weight = |queue: &Queue| match written(queue) {
        Some(ExcessRate::Percent(percent)) if has_weights => f64::from(percent).max(0.1),
        Some(ExcessRate::Proportion(number)) if has_weights => (number as f64 / 10.0).max(0.1),
        _ if has_excess_rate || !has_rates => 1.0,
        _ => (queue.guarantee as f64 / rate).max(1.0 / HARDWARE_WEIGHT),
    };
    queues.iter().map(weight).collect()
}
