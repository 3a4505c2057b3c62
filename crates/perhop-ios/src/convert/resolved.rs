//! [`ResolvedPolicy`]: a policy-map as a port carries it out, every percentage a rate and every default a
//! number.
//!
//! Queues, conditioners and what `show policy-map interface` prints all follow from it.

use std::collections::BTreeMap;

pub use perhop_device::{
    FairQueueing as ResolvedFairQueue, Guarantee, GuaranteeKind, Limit, PoliceKind,
    Priority as ResolvedPriority, PriorityKind, PriorityLimit, RandomDetect as ResolvedRandomDetect,
    RandomDetectRow, Shaper as ResolvedShape, Unit,
};

use super::condition::Condition;
use super::fields::Fields;
use crate::ast::{Action, Basis, Combination, Field, Marking};

/// A policy-map as a port carries it out.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPolicy {
    /// Its name.
    pub name: String,
    /// The line that opened it.
    pub line: usize,
    /// Bits per second that percentages of bandwidth refer to.
    pub rate_bps: u64,
    /// Its classes in order, class-default last if the policy says something about it or queues.
    pub classes: Vec<ResolvedClass>,
    /// The queue limit that all priority classes of a level share.
    pub priority_limits: Vec<PriorityLimit>,
}

impl ResolvedPolicy {
    /// Whether a class of it, or of a policy inside it, has a queue.
    pub(super) fn holds_queue(&self) -> bool {
        self.classes.iter().any(ResolvedClass::holds_queue)
    }
}

/// One class of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedClass {
    /// The class-map's name, or `class-default`.
    pub name: String,
    /// The line of the policy that opened it; 0 for a class-default that the policy does not mention.
    pub line: usize,
    /// How its match lines combine.
    pub combination: Combination,
    /// Its match lines as the router prints them.
    pub matches: Vec<String>,
    /// The name of its queue in results; `None` where its packets wait in another class's queue.
    pub queue: Option<String>,
    /// The name of the conditioner that marks and polices its packets.
    pub conditioner: Option<String>,
    /// Its guarantee.
    pub bandwidth: Option<Guarantee>,
    /// What it weighs among its siblings where the scheduler weighs classes.
    pub(super) share: Share,
    /// Its priority.
    pub priority: Option<ResolvedPriority>,
    /// Its policer.
    pub police: Option<ResolvedPolice>,
    /// Its shaper.
    pub shape: Option<ResolvedShape>,
    /// The limit of its queue.
    pub queue_limit: Option<Limit>,
    /// Whether that limit is written.
    pub(super) has_written_limit: bool,
    /// Limits of packets with some values of a field.
    pub(super) value_limits: Option<ValueLimits>,
    /// The label by which its queue knows its packets, where the DS field no longer tells.
    pub(super) label: Option<u8>,
    /// Fair queueing of its flows.
    pub fair_queue: Option<ResolvedFairQueue>,
    /// WRED on its queue.
    pub random_detect: Option<ResolvedRandomDetect>,
    /// What it writes into every packet.
    pub marks: Vec<Marking>,
    /// Whether it drops every packet.
    pub drop: bool,
    /// The policy inside it.
    pub policy: Option<ResolvedPolicy>,
    pub(super) condition: Condition,
}

impl ResolvedClass {
    /// Whether it, or a class inside it, has a queue.
    pub(super) fn holds_queue(&self) -> bool {
        self.queue_limit.is_some() || self.policy.as_ref().is_some_and(ResolvedPolicy::holds_queue)
    }
    /// Whether it marks, polices or drops packets itself.
    pub(super) fn acts(&self) -> bool {
        self.police.is_some() || !self.marks.is_empty() || self.drop
    }
    /// What it and its policer set.
    fn markings(&self) -> impl Iterator<Item = &Marking> {
        let police = self.police.iter();
        let actions = police.flat_map(|police| [&police.conform, &police.exceed, &police.violate]).flatten();
        self.marks.iter().chain(actions.filter_map(|action| action.marking.as_ref()))
    }
    /// Whether it or its policer sets `field`.
    pub(super) fn sets(&self, field: Field) -> bool {
        self.markings().any(|marking| marking.field() == Some(field))
    }
    /// What it writes into packets, as perhop has it.
    pub(super) fn written(&self) -> Fields {
        let by_cos = self.random_detect.as_ref().is_some_and(|detect| detect.basis == Basis::Cos);
        let colors = self.police.is_some() || by_cos;
        self.markings().flat_map(fields).chain(colors.then_some(Fields::COLOR)).collect()
    }
}

/// The fields that a marking writes.
fn fields(marking: &Marking) -> Vec<Fields> {
    match marking.field() {
        Some(Field::Precedence) => vec![Fields::CODEPOINT],
        // An AF codepoint is a color as well.
        Some(Field::Dscp) => vec![Fields::CODEPOINT, Fields::COLOR],
        Some(Field::Cos) => vec![Fields::COS],
        Some(Field::MplsImposition | Field::MplsTopmost) => vec![Fields::EXP],
        Some(Field::DiscardClass) => vec![Fields::COLOR],
        Some(Field::QosGroup | Field::TrafficClass) => vec![Fields::LABEL],
        Some(Field::CosInner | Field::TunnelDscp | Field::TunnelPrecedence) | None => Vec::new(),
    }
}

/// What a class weighs among its siblings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Bits per second: its weight where one number shares all of the rate, its minimum where excess is
    /// shared by another.
    pub(super) rate_bps: u64,
    /// Its part of what the minima leave.
    pub(super) excess: Option<f64>,
}

/// `police` of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPolice {
    /// How its rate is written.
    pub kind: PoliceKind,
    /// The number as written.
    pub value: u64,
    /// Committed rate: bits per second, or packets per second where written so.
    pub cir_bps: u64,
    /// Committed burst: bytes, or packets.
    pub bc_bytes: u64,
    /// Peak rate of two-rate policing, bits per second.
    pub pir_bps: Option<u64>,
    /// Excess or peak burst where there is a second bucket, bytes.
    pub be_bytes: Option<u64>,
    /// Two or three.
    pub colors: u8,
    /// With which colors packets come, where the policer is aware of them.
    pub(super) aware: Option<Awareness>,
    /// For conforming packets.
    pub conform: Vec<Action>,
    /// For exceeding packets.
    pub exceed: Vec<Action>,
    /// For violating packets, where there are three colors.
    pub violate: Vec<Action>,
}

/// `conform-color` and `exceed-color` of a policer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Awareness {
    /// The packets that come as conforming.
    pub(super) conform: Condition,
    /// Those that come as exceeding. Without such a class all others do; with one, the rest comes as
    /// violating.
    pub(super) exceed: Option<Condition>,
}

/// `queue-limit` for some values of a field: what the queue may hold when a packet with one of them comes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueLimits {
    /// The field: precedence, codepoint, class of service or discard class.
    pub(super) field: Field,
    /// Limits by value.
    pub(super) limits: BTreeMap<u8, Limit>,
}
