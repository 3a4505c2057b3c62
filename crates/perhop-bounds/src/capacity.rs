//! The limits on the contents of queues.

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::units::QueueSize;

use crate::lengths::{Lengths, Measure};

/// Returns the limits of the queue of `class` itself.
pub fn limits_of(class: &ClassConfig) -> Vec<QueueSize> {
    let fair = class.fair_queueing.as_ref().map(|fair| fair.limit);
    let buffer = match (&class.buffer, fair) {
        (Some(buffer), _) => buffer_limit(buffer),
        (None, None) => Some(TailDropConfig::default().limit),
        (None, Some(_)) => None,
    };
    buffer.into_iter().chain(fair).collect()
}

/// Returns the limit that a buffer manager sets for its queue, if it sets one.
fn buffer_limit(buffer: &BufferConfig) -> Option<QueueSize> {
    match buffer {
        BufferConfig::TailDrop(config) => Some(config.limit),
        BufferConfig::FillProfile(config) => Some(config.limit),
        // The limit is always respected. The target delay is not a bound.
        BufferConfig::Pie(config) => Some(config.limit),
        BufferConfig::DualPi2(config) => config.fixed_limit(),
        // The bound is the largest limit of all drop precedences.
        BufferConfig::WeightedTailDrop(config) => {
            let same_unit = config.limits.windows(2).all(|pair| pair[0].same_unit(pair[1]));
            config.limits.iter().copied().max_by_key(|limit| limit.count()).filter(|_| same_unit)
        }
        BufferConfig::Red(config)
        | BufferConfig::Wred(config)
        | BufferConfig::RioC(config)
        | BufferConfig::RioDc(config)
        | BufferConfig::Mred(config) => config.queue_limit(),
        BufferConfig::Codel(config) => Some(config.limit),
        BufferConfig::FqCodel(config) => Some(config.limit),
        BufferConfig::FqPie(config) => Some(config.limit),
        // These limits are amounts of memory, not of packets or bytes in the queue.
        BufferConfig::Cake(_) | BufferConfig::SharedMemory(_) => None,
    }
}

/// Returns the limits of every queue of `config`, depth first. Each queue has its own limits and the limits
/// of the schedulers around it.
pub fn limits_of_all(config: &QueueingConfig) -> Vec<(&ClassConfig, Vec<QueueSize>)> {
    let mut all = Vec::new();
    for class in &config.classes {
        match &class.queueing {
            Some(inner) => all.extend(limits_of_all(inner)),
            None => all.extend(std::iter::repeat_n((class, limits_of(class)), class.queues())),
        }
    }
    for (_, limits) in &mut all {
        limits.extend(config.limit);
    }
    all
}

/// Returns the largest amount, in `measure`, of packets of `lengths` in a queue with `limits`; `None` if it
/// is unbounded.
pub fn largest_content(limits: &[QueueSize], lengths: &Lengths, measure: Measure) -> Option<f64> {
    let content = |limit: &QueueSize| match *limit {
        // This number means that the number of packets is not limited.
        QueueSize::Packets(u64::MAX) => f64::INFINITY,
        QueueSize::Packets(packets) => packets as f64 * measure.most(lengths),
        QueueSize::Bytes(bytes) => bytes as f64 * measure.per(Measure::Ip, lengths),
    };
    let least = limits.iter().map(content).fold(f64::INFINITY, f64::min);
    least.is_finite().then_some(least)
}
