//! The share of a queue: its guarantee, its priorities, and its weight in the excess.

use perhop_qos::scheduler::{LinkLayerConfig, ShareConfig};
use perhop_qos::{ByteSize, Rate};

use super::device::Device;
use crate::cos::{ExcessPriority, ExcessRate, Limit, Priority, Scheduler};
use crate::families::{ExcessOrder, Levels, Weights};

/// The minimum rate of a queue, bits per second.
const LEAST_RATE: u64 = 8;
/// Weights in hardware are multiples of 1/125, and at least 1/125 (`show cos scheduler-map` of an MX960,
/// 23.2R2).
const HARDWARE_WEIGHT: f64 = 125.0;
/// The sum of the weights of an IQE PIC before they are truncated.
const WHOLE_WEIGHT: f64 = 127.0;
/// The burst of a guarantee, milliseconds of its rate. No document states it.
const GUARANTEE_MS: u64 = 10;
/// The minimum burst, bytes: a few packets.
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
    // A strict-high queue has no excess region (Juniper techpost, "Wholistic Design Approach for MPLS
    // Backbone CoS").
    let guarantee = match device.rules.excess_order {
        _ if is_strict(device, queue.priority) => queue.maximum,
        ExcessOrder::PriorityAlone => 0,
        _ => queue.guarantee,
    };
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

/// Whether queues of a priority have no excess region: the scheduler serves them at any rate up to their
/// maximum.
pub(super) fn is_strict(device: Device, priority: Priority) -> bool {
    match device.rules.excess_order {
        // Juniper JVD, low latency queueing: priorities preempt each other without credit, and low queues
        // share by weight.
        ExcessOrder::Preemptive => priority != Priority::Low,
        _ => matches!(priority, Priority::StrictHigh | Priority::LowLatency),
    }
}

/// Returns the levels of a queue below and above its guarantee.
fn levels(device: Device, queue: &Queue, is_in_node: bool) -> (u16, u16) {
    let within = match device.rules.levels {
        Levels::Own => queue.priority as u16,
        // TechLibrary hw-cos-trio-scheduling-hierarchical: strict-high and high share a level, and so do the
        // two medium priorities. A node above its guarantee keeps only the priority of strict-high
        // (TechLibrary hierarchical-scheduler-priority-propagation).
        Levels::Pairs => match queue.priority {
            Priority::LowLatency | Priority::StrictHigh => 0,
            Priority::High => u16::from(is_in_node),
            Priority::MediumHigh | Priority::MediumLow => 2,
            Priority::LowHigh | Priority::LowMedium | Priority::Low => 3,
        },
        Levels::Table(levels) => match queue.priority {
            Priority::LowLatency | Priority::StrictHigh => levels[0],
            Priority::High => levels[1],
            Priority::MediumHigh => levels[2],
            Priority::MediumLow => levels[3],
            Priority::LowHigh | Priority::LowMedium | Priority::Low => levels[4],
        },
    };
    let beyond = match device.rules.excess_order {
        // TechLibrary cos-transmission-scheduling-security-overview, priority-scheduling-overview.
        ExcessOrder::Priority | ExcessOrder::PriorityAlone => within,
        // TechLibrary cos-excess-rate-ptx-configuring.
        ExcessOrder::OneLevel | ExcessOrder::Preemptive => 0,
        ExcessOrder::TwoLevels => u16::from(queue.excess != ExcessPriority::High),
    };
    (within, beyond)
}

/// Returns the weights above the guarantees, by queue.
///
/// If any queue has an excess rate, queues without one have the weight 1 percent. Otherwise transmit rates
/// are the weights (Juniper techpost, "Wholistic Design Approach for MPLS Backbone CoS"). In hardware every
/// queue has at least 1/125.
pub(super) fn weights(device: Device, queues: &[Queue], reference: Rate) -> Vec<f64> {
    let written = |queue: &Queue| queue.scheduler.and_then(|own| own.excess_rate).map(|at| at.value);
    let percent = |excess: ExcessRate| match excess {
        ExcessRate::Percent(percent) => f64::from(percent).max(0.1),
        ExcessRate::Proportion(number) => (number as f64 / 10.0).max(0.1),
    };
    let has_excess_rate = queues.iter().any(|queue| written(queue).is_some());
    if device.rules.weights != Weights::TransmitRates && has_excess_rate {
        let all: Vec<f64> = queues.iter().map(|queue| written(queue).map_or(1.0, percent)).collect();
        return if device.rules.weights == Weights::WholeParts { whole_parts(&all) } else { all };
    }
    if device.rules.weights == Weights::WholeParts {
        let has_rate = |queue: &Queue| queue.scheduler.is_some_and(|own| own.transmit.is_some());
        let by_rate = queues.iter().any(has_rate);
        let rate = |queue: &Queue| if by_rate { queue.guarantee } else { queue.maximum };
        return whole_parts(&queues.iter().map(|queue| rate(queue) as f64).collect::<Vec<f64>>());
    }
    let rate = reference.as_bits_per_second().max(1) as f64;
    let has_rates = queues.iter().any(|queue| queue.guarantee > 0);
    let least = 1.0 / HARDWARE_WEIGHT;
    let weight = |queue: &Queue| if has_rates { (queue.guarantee as f64 / rate).max(least) } else { 1.0 };
    queues.iter().map(weight).collect()
}

/// Returns weights of an IQE card as whole numbers that sum to about 127, each at least 1 (Junos 9.3,
/// "Examples of Excess Bandwidth Sharing Calculations on the IQE PIC", table 78).
fn whole_parts(rates: &[f64]) -> Vec<f64> {
    let sum: f64 = rates.iter().sum();
    rates.iter().map(|rate| (WHOLE_WEIGHT * rate / sum.max(1.0)).floor().max(1.0)).collect()
}
