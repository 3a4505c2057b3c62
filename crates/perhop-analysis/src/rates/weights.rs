//! [`weight`]: the weights by which classes share the excess. Also the input and the result of a division.

use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{self, SchedulerConfig, ServiceCurveConfig};

use super::limits::{allotment, bits};

/// Bytes of the turn of a class without a configured quantum (`drr.rs` of `perhop-qos`).
const DRR_QUANTUM: f64 = 1500.0;
/// The level of an outermost class of HTB with inner classes. The inner classes are one level below.
pub(super) const HTB_OUTERMOST: u8 = 7;

/// A rate that classes share, and the rate of the wire.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    /// The rate that the classes share, bits per second.
    pub(super) rate: f64,
    /// The line rate, bits per second. Allotments of CBQ are fractions of this rate.
    pub(super) wire: f64,
}

/// The demand of a class: the maximum rate at which it sends, in bits per second; infinite without a limit.
#[derive(Clone, Debug)]
pub(super) struct Want {
    pub(super) rate: f64,
    /// The rate at which the class would send without the policers in front of its queue.
    pub(super) held: f64,
    /// The demands of the inner HTB classes, for a class of HTB.
    pub(super) inner: Vec<Want>,
}

/// The resulting rate of a class, in bits per second.
#[derive(Clone, Debug)]
pub(super) struct Got {
    pub(super) rate: f64,
    /// Whether the rate depends on bursts of HTB, which are not computed packet by packet.
    pub(super) is_approximate: bool,
    /// The rates of the inner HTB classes, for a class of HTB.
    pub(super) inner: Vec<Got>,
}

impl Got {
    pub(super) fn exact(rate: f64) -> Got {
        Got { rate, is_approximate: false, inner: Vec::new() }
    }
}

/// Returns the weights by which classes share the excess; 0 for a class without a share.
pub(super) fn weights_of_rest(queueing: &QueueingConfig, whole: Whole) -> Vec<f64> {
    let weight = |class| weight_of_rest(queueing.scheduler, queueing.rate_to_quantum, class, whole.wire);
    queueing.classes.iter().map(weight).collect()
}

/// Returns the weight by which a class and its siblings share the excess; `None` if the scheduler has no
/// weights, or the class has no rate. For CBQ, the weight is a rate, or a fraction of the wire.
pub fn weight(scheduler: SchedulerConfig, class: &ClassConfig) -> Option<f64> {
    Some(weight_of_rest(scheduler, None, class, 1.0)).filter(|weight| *weight > 0.0)
}

fn weight_of_rest(
    scheduler: SchedulerConfig,
    rate_to_quantum: Option<u32>,
    class: &ClassConfig,
    wire: f64,
) -> f64 {
    let share = &class.share;
    match scheduler {
        SchedulerConfig::Fifo | SchedulerConfig::Priority => 0.0,
        SchedulerConfig::ThreeParameter | SchedulerConfig::GuaranteeExcess => share.weight.unwrap_or(1.0),
        SchedulerConfig::Drr => share.quantum.map_or(DRR_QUANTUM, |quantum| quantum.as_bytes() as f64),
        SchedulerConfig::Wrr | SchedulerConfig::Scfq | SchedulerConfig::Wfq | SchedulerConfig::Wf2qPlus => {
            share.bandwidth.map(bits).or(share.weight).unwrap_or(1.0)
        }
        SchedulerConfig::Cbq if share.borrow == Some(false) => 0.0,
        SchedulerConfig::Cbq => allotment(class, Some(wire)).unwrap_or(0.0),
        SchedulerConfig::Hfsc => slope(share.link_share),
        SchedulerConfig::Htb if share.direct == Some(true) => 0.0,
        SchedulerConfig::Htb => htb_quantum(rate_to_quantum, class),
    }
}

/// Returns the bytes that a class of HTB sends in a turn. The turn of a class with inner classes is the sum
/// of their turns.
pub(super) fn htb_quantum(rate_to_quantum: Option<u32>, class: &ClassConfig) -> f64 {
    if let Some(inner) = class.link_shared(SchedulerConfig::Htb) {
        return inner.classes.iter().map(|class| htb_quantum(rate_to_quantum, class)).sum();
    }
    scheduler::htb_quantum(&class.share, rate_to_quantum).as_bytes() as f64
}

pub(super) fn slope(curve: Option<ServiceCurveConfig>) -> f64 {
    curve.map_or(0.0, |curve| bits(curve.m2))
}
