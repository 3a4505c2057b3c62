//! The only queue of a port without classes.

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::queue::FairQueueingConfig;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::units::QueueSize;

use super::limits::{limit_by_rule, queue_size, stored};
use super::random_detect::{Queue, random_detect, wred};
use super::reference::Reference;
use super::srr;
use super::target::Target;
use crate::intent::{Condition, Discipline, DropProfile, FairQueue, PlainQueue};
use crate::policy::Limit;

/// Returns the queueing of a port without classes.
pub(super) fn plain_queueing(plain: &PlainQueue, target: Target) -> QueueingConfig {
    if let Some(memory) = target.memory {
        let by_weights = memory.port.srr.as_ref().map(|settings| srr::queueing(memory, settings));
        if let Some(queueing) = by_weights.or_else(|| memory.default_queueing()) {
            return queueing;
        }
    }
    let class = ClassConfig { name: "fifo".to_owned(), ..ClassConfig::default() };
    let fair_bps = *target.rules.fair_interface_bps;
    let class = match &plain.discipline {
        Discipline::Random(detect) => random_drops(class, detect, plain, target),
        Discipline::Fair(fair) => fair_flows(class, fair, plain.limit),
        Discipline::OfSerialLine if plain.rate.as_bits_per_second() <= fair_bps => {
            fair_flows(class, &FairQueue::default(), plain.limit)
        }
        Discipline::OfSerialLine | Discipline::Fifo => {
            let limit = queue_size(limit_of(plain, target));
            ClassConfig { buffer: Some(BufferConfig::TailDrop(TailDropConfig { limit })), ..class }
        }
    };
    QueueingConfig { scheduler: SchedulerConfig::Fifo, classes: vec![class], ..QueueingConfig::default() }
}

/// Returns the limit of the queue: configured, or by the rule of the profile.
fn limit_of(plain: &PlainQueue, target: Target) -> Limit {
    let by_rule = || {
        let reference = Reference::top(plain.rate, 100);
        limit_by_rule(*target.rules.interface_queue_limit, plain.rate, plain.rate, reference)
    };
    stored(plain.limit.map_or_else(by_rule, |packets| Limit::packets(packets.max(1))), target.rules)
}

fn random_drops(class: ClassConfig, detect: &DropProfile, plain: &PlainQueue, target: Target) -> ClassConfig {
    let queue = Queue { limit: limit_of(plain, target), rate: plain.rate };
    let detect = random_detect(detect, &Condition::Always, queue, target);
    let (buffer, precedence) = wred(&detect, plain.limit.map(QueueSize::Packets), target);
    ClassConfig { name: "random-detect".to_owned(), buffer: Some(buffer), precedence, ..class }
}

/// Returns fair queueing of the flows of a port, with equal weights on all platforms. I. Pepelnjak measured
/// on 15.0M that the weights ignore the IP precedence: "HQF intra-class WFQ ignores IP precedence",
/// blog.ipspace.net 2009.
fn fair_flows(class: ClassConfig, fair: &FairQueue, hold: Option<u64>) -> ClassConfig {
    let default = FairQueueingConfig::default();
    let flows = FairQueueingConfig {
        queues: fair.dynamic_queues.map_or(default.queues, |queues| queues.clamp(1, 4096) as u16),
        flow_limit: fair.congestive_discard.map_or(default.flow_limit, QueueSize::Packets),
        limit: hold.map_or(default.limit, QueueSize::Packets),
        ..default
    };
    ClassConfig { name: "fair-queue".to_owned(), fair_queueing: Some(flows), ..class }
}
