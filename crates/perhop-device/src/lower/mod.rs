//! Lowering: conversion of [`intent`](crate::intent) to executable policies, by the rules of a platform's
//! profile.
//!
//! ```text
//! Policy → resolve (numbers) → ResolvedPolicy → labels → queueing, stages → PolicyConfig and Links
//! ```
//!
//! The [`Target`] supplies all numbers that the text does not set. [`Links`] keep the classes and lines of
//! queues and conditioners, so names are never parsed.

mod attached;
mod bandwidth;
mod conditioners;
mod guarantees;
mod labels;
mod limits;
mod links;
mod marking;
mod memory;
mod plain_queue;
mod queueing;
mod random_detect;
mod reference;
mod remark;
mod resolve;
mod resolved;
mod side;
mod srr;
mod stages;
mod target;
mod value_limits;

use perhop_qos::buffer::BufferConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

use conditioners::{
    concatenate_chains, drop_precedence_0, label_around, new_tag, queued_by_new_mark, stages_of_limiters,
    unique,
};
use labels::Markers;
use plain_queue::plain_queueing;
use queueing::{Placed, Queueing};
use resolve::resolve;
use stages::{Stage, stages_before, stages_of_policy};

use crate::intent::Direction;
use crate::profile::QueueSelection;

pub use conditioners::STAGES_OF_DEVICE;
pub use guarantees::{GuaranteeTotal, guarantee_total};
pub use labels::Labels;
pub use links::{ClassLinks, LimiterLinks, Links, PortLinks, QueuePath};
pub use marking::{Markings, Writer};
pub use memory::MemoryShare;
pub use reference::Reference;
pub use remark::Remark;
pub use resolved::{ResolvedClass, ResolvedPolice, ResolvedPolicy};
pub use side::{Side, SidePath};
pub use target::Target;

/// The lowered policy of one direction of a port.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// Conditioners and queues.
    pub config: PolicyConfig,
    /// The policy with all its numbers, and the names of its queues and conditioners.
    pub policy: Option<ResolvedPolicy>,
    /// The classes and lines of conditioners and queues.
    pub links: Links,
    /// Differences between the policy and its lowered form.
    pub remarks: Vec<Remark>,
}

/// Lowers one direction of a port to a configuration for `target`.
pub fn lower(side: &Side, target: Target) -> Lowered {
    let mut lowered = Lowered::default();
    if let Some((policy, reference)) = side.policy {
        lowered.policy = Some(resolve(policy, reference, target));
        lowered.links = Links::new([policy]);
        lowered.config.overhead = side.overhead;
    }
    lowered.config.queueing = queueing(side, target, &mut lowered);
    // A port with shaped round robin has the overhead even without a policy, because its queues count the
    // same bytes of a packet as the queues of a policy.
    let has_own_rates = target.memory.is_some_and(|memory| memory.port.srr.is_some());
    if has_own_rates && matches!(side.path, SidePath::Departure { .. }) {
        lowered.config.overhead = side.overhead;
    }
    let stages = stages(side, target, &mut lowered);
    for (index, stage) in stages.iter().enumerate() {
        if let Some(links) = stage.class.and_then(|class| lowered.links.of_class_mut(class)) {
            links.conditioner = Some(index);
        }
        lowered.links.limiters.extend(stage.limiter.map(|line| LimiterLinks { line, conditioner: index }));
    }
    lowered.config.conditioners = stages.into_iter().map(|stage| stage.config).collect();
    lowered
}

/// Returns the queueing of departing packets, and sets the queue name of each class.
fn queueing(side: &Side, target: Target, lowered: &mut Lowered) -> Option<QueueingConfig> {
    let SidePath::Departure { plain, .. } = side.path else { return None };
    let Some(policy) = lowered.policy.as_mut().filter(|policy| policy.contains_queue()) else {
        return Some(plain_queueing(plain, target));
    };
    let markers = match *target.rules.queue_selection {
        QueueSelection::ArrivingMark => Markers::All,
        QueueSelection::NewMark => Markers::Inside,
    };
    labels::assign(policy, side.labels, markers);
    let mut queueing = Queueing { target, remarks: &mut lowered.remarks };
    let (mut config, places) = queueing.of_policy(policy, "");
    config.memory = target.memory.filter(|_| draws_on_memory(&config)).map(MemoryShare::config);
    for Placed { class, path, is_queue, is_shaped } in places {
        if let Some(links) = lowered.links.of_class_mut(class) {
            links.queue = is_queue.then(|| path.clone());
            links.shaper = is_shaped.then(|| path.clone());
            links.node = Some(path);
        }
    }
    Some(config)
}

/// Whether any queue uses units of the memory of the port.
fn draws_on_memory(config: &QueueingConfig) -> bool {
    config.classes.iter().any(|class| {
        matches!(class.buffer, Some(BufferConfig::SharedMemory(_)))
            || class.queueing.as_ref().is_some_and(draws_on_memory)
    })
}

/// Returns the conditioners, and sets the conditioner name of each class.
fn stages(side: &Side, target: Target, lowered: &mut Lowered) -> Vec<Stage> {
    let direction = match side.path {
        SidePath::Arrival | SidePath::ToDevice => Direction::Input,
        SidePath::Departure { .. } => Direction::Output,
    };
    let mut stages = stages_of_limiters(side.limiters, side.markings);
    if let Some((policy, reference)) = side.before {
        stages.extend(stages_before(&mut resolve(policy, reference, target), side.markings));
    }
    let limiters = stages.iter().filter(|stage| stage.limiter.is_some()).count();
    if let Some(policy) = &mut lowered.policy {
        let queueing = lowered.config.queueing.as_ref();
        lowered.remarks.extend(queueing.and_then(|queueing| queued_by_new_mark(policy, queueing)));
        lowered.remarks.extend(label_around(policy, direction, side.labels, &stages));
        let of_policy = stages_of_policy(policy, side.markings);
        lowered
            .remarks
            .extend((limiters > 1 && !of_policy.is_empty()).then_some(Remark::LimitersBeforePolicy));
        stages = concatenate_chains(stages, of_policy);
    }
    let first = match side.path {
        SidePath::ToDevice => return stages,
        SidePath::Arrival => side.markings.resets_drop_precedence.then(drop_precedence_0),
        SidePath::Departure { has_new_tag, .. } => has_new_tag.then(new_tag),
    };
    unique(first.into_iter().chain(stages).collect())
}
