//! [`ResolvedPolicy`]: a policy-map as a port carries it out, every percentage a rate and every default a
//! number.
//!
//! Queues, conditioners and what `show policy-map interface` prints all follow from it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::condition::Condition;
use super::fields::Fields;
use crate::ast::{Action, Basis, Combination, Field, Marking};

/// A policy-map as a port carries it out.
#[derive(Clone, Debug, PartialEq, Serialize)]
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

/// The limit of the queue of one level of priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PriorityLimit {
    /// 1 to 7.
    pub level: u8,
    /// Its limit.
    #[serde(flatten)]
    pub limit: Limit,
}

/// One class of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip)]
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
    #[serde(skip)]
    pub(super) has_written_limit: bool,
    /// Limits of packets with some values of a field.
    #[serde(skip)]
    pub(super) value_limits: Option<ValueLimits>,
    /// The label by which its queue knows its packets, where the DS field no longer tells.
    #[serde(skip)]
    pub(super) label: Option<u8>,
    /// Fair queueing of its flows.
    pub fair_queue: Option<ResolvedFairQueue>,
    /// WRED on its queue.
    pub random_detect: Option<ResolvedRandomDetect>,
    /// What it writes into every packet.
    #[serde(serialize_with = "printed")]
    pub marks: Vec<Marking>,
    /// Whether it drops every packet.
    pub drop: bool,
    /// The policy inside it.
    pub policy: Option<ResolvedPolicy>,
    #[serde(skip)]
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

/// How a guarantee is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuaranteeKind {
    /// Kilobits per second.
    Kbps,
    /// Percent of the rate.
    Percent,
    /// Percent of what priority and other guarantees leave.
    RemainingPercent,
    /// A part of it, relative to the other classes' ratios.
    RemainingRatio,
}

/// `bandwidth` of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Guarantee {
    /// How it is written.
    pub kind: GuaranteeKind,
    /// The number as written.
    pub value: u64,
    /// Bits per second that it amounts to.
    pub rate_bps: u64,
}

/// How a priority is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityKind {
    /// Not at all, or by the class's own policer.
    Strict,
    /// In kilobits per second, under congestion.
    Kbps,
    /// In percent of the rate, under congestion.
    Percent,
}

/// `priority` of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedPriority {
    /// 1 to 7.
    pub level: u8,
    /// Whether `level` is written.
    pub has_level: bool,
    /// How it is bounded.
    pub kind: PriorityKind,
    /// The number as written, 0 where there is none.
    pub value: u64,
    /// Bits per second up to which it holds under congestion.
    pub rate_bps: Option<u64>,
    /// Burst of that policer, bytes.
    pub burst_bytes: Option<u64>,
}

/// How a policer's rate is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceKind {
    /// Bits per second.
    Bps,
    /// Percent of the rate above.
    Percent,
    /// Packets per second.
    Pps,
}

/// `police` of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    #[serde(skip)]
    pub(super) aware: Option<Awareness>,
    /// For conforming packets.
    #[serde(serialize_with = "printed")]
    pub conform: Vec<Action>,
    /// For exceeding packets.
    #[serde(serialize_with = "printed")]
    pub exceed: Vec<Action>,
    /// For violating packets, where there are three colors.
    #[serde(serialize_with = "printed")]
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

/// `shape` of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedShape {
    /// Which rate is kept.
    pub kind: crate::ast::ShapeKind,
    /// The rate as written, bits per second.
    pub cir_bps: u64,
    /// Committed burst, bits.
    pub bc_bits: u64,
    /// Excess burst, bits.
    pub be_bits: u64,
    /// The rate that is kept, bits per second.
    pub target_bps: u64,
    /// Percent as written, where it is a percentage.
    pub value_percent: Option<u64>,
}

/// The unit of a limit or threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Microseconds at the class's rate.
    Us,
    /// Milliseconds at the class's rate.
    Ms,
    /// Percent of the queue's limit.
    Percent,
}

/// A limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// Its unit.
    pub unit: Unit,
    /// The number.
    pub value: u64,
    /// The limit in bytes, where it is one of bytes or time.
    pub bytes: Option<u64>,
}

impl Limit {
    /// `value` packets.
    pub(super) fn packets(value: u64) -> Limit {
        Limit { unit: Unit::Packets, value, bytes: None }
    }
}

/// `queue-limit` for some values of a field: what the queue may hold when a packet with one of them comes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValueLimits {
    /// The field: precedence, codepoint, class of service or discard class.
    pub(super) field: Field,
    /// Limits by value.
    pub(super) limits: BTreeMap<u8, Limit>,
}

/// `fair-queue` of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ResolvedFairQueue {
    /// Packets that one flow may hold.
    pub flow_limit_packets: u64,
    /// Packets that all flows may hold together.
    pub limit_packets: u64,
    /// Queues for flows.
    pub queues: u16,
    /// Whether flows share by IP precedence, or equally.
    pub by_precedence: bool,
}

/// `random-detect` of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResolvedRandomDetect {
    /// What tells the drop precedence.
    pub basis: crate::ast::Basis,
    /// n in the weight 2⁻ⁿ of the average.
    pub exponent: u32,
    /// Whether packets that can be are marked in place of a random drop.
    pub ecn: bool,
    /// Thresholds by value, for values that the class can hold.
    pub rows: Vec<RandomDetectRow>,
}

/// Thresholds of one value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RandomDetectRow {
    /// The precedence's number, or the codepoint's name.
    pub value: String,
    /// The number behind that name.
    #[serde(skip)]
    pub(super) number: u8,
    /// Whether its thresholds are written.
    pub is_written: bool,
    /// From here on some are dropped.
    pub min: u64,
    /// From here on all are dropped.
    pub max: u64,
    /// The unit of both.
    pub unit: Unit,
    /// One in how many is dropped just below `max`.
    pub mark_denominator: u64,
}

fn printed<T: fmt::Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}
