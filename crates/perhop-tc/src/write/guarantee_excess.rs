//! Conversion of classes with guarantee and excess to classes of HTB, which has a single priority for both.

use perhop_device::NotesAt;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{HTB_QUANTA, SchedulerConfig, ShareConfig};
use perhop_qos::{ByteSize, Rate};

use super::proportions::FRAME;

/// The rate of a class without a guarantee, bits per second, because every class of HTB must have a rate.
const LEAST: Rate = Rate::from_bits_per_second(8);

/// Replaces the scheduler guarantee-excess by HTB; `None` if no scheduler is guarantee-excess.
pub(super) fn as_htb(queueing: &QueueingConfig, rate: Rate, notes: &mut NotesAt) -> Option<QueueingConfig> {
    if queueing.scheduler != SchedulerConfig::GuaranteeExcess {
        return None;
    }
    notes.report(
        "scheduler guarantee-excess",
        "HTB has one priority for guarantee and excess, and serves classes within their guarantee even if an enclosing class is at its ceiling",
    );
    Some(converted(queueing, rate))
}

fn converted(queueing: &QueueingConfig, most: Rate) -> QueueingConfig {
    let weight = |class: &ClassConfig| class.share.weight.unwrap_or(1.0);
    let least = queueing.classes.iter().map(weight).fold(f64::INFINITY, f64::min);
    let promised =
        queueing.classes.iter().filter(|class| !is_within(class)).filter_map(|class| class.share.rate);
    let promised = promised.map(Rate::as_bits_per_second).fold(0, u64::saturating_add);
    let left = Rate::from_bits_per_second(most.as_bits_per_second().saturating_sub(promised)).max(LEAST);
    let class = |class: &ClassConfig| {
        let share = &class.share;
        let ceil = share.ceil.unwrap_or(most).min(most);
        let inner = class.link_shared(SchedulerConfig::GuaranteeExcess);
        // An outer class without a guarantee has its ceiling as rate, because its inner classes need this
        // rate.
        let rate = share.rate.unwrap_or(if inner.is_some() { ceil } else { LEAST }).min(ceil);
        // HTB would send all guarantees, even if their sum exceeds the rate of the enclosing class.
        let rate = if is_within(class) { rate.min(left) } else { rate };
        let level = if is_within(class) { share.level } else { share.excess_level };
        let quantum = (FRAME as f64 * weight(class) / least).min(*HTB_QUANTA.end() as f64) as u64;
        let is_queue = inner.is_none();
        ClassConfig {
            share: ShareConfig {
                rate: Some(rate),
                ceil: Some(ceil),
                burst: share.burst,
                ceil_burst: share.ceil_burst,
                level: level.filter(|_| is_queue),
                quantum: is_queue.then(|| ByteSize::from_bytes(quantum)),
                link_layer: share.link_layer,
                ..ShareConfig::default()
            },
            queueing: inner.map(|inner| converted(inner, ceil)).or_else(|| class.queueing.clone()),
            ..class.clone()
        }
    };
    QueueingConfig {
        scheduler: SchedulerConfig::Htb,
        classes: queueing.classes.iter().map(class).collect(),
        ..queueing.clone()
    }
}

/// Whether a class never exceeds its guarantee.
fn is_within(class: &ClassConfig) -> bool {
    class.share.rate.is_some_and(|rate| class.share.ceil.is_some_and(|ceil| rate >= ceil))
}
