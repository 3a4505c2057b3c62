//! [`ResolvedPolicy`]: a policy as a port applies it. Every percentage is a rate, and every default is a
//! number.
//!
//! The queues, the conditioners and the counters that a device prints derive from it.

use std::collections::BTreeMap;

use crate::intent::{Action, Awareness, ClassId, Condition, Fields, InsideColors, Mark};
use crate::policy::{
    Basis, Combination, FairQueueing, Guarantee, Limit, PoliceKind, Priority, PriorityLimit, RandomDetect,
    Shaper,
};

/// A policy as a port applies it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPolicy {
    /// Its name.
    pub name: String,
    /// The line that opens it.
    pub line: usize,
    /// Bits per second that percentages of bandwidth refer to.
    pub rate_bps: u64,
    /// Its classes in order; the class for all other packets is last.
    pub classes: Vec<ResolvedClass>,
    /// The queue limit that all priority classes of a level share.
    pub priority_limits: Vec<PriorityLimit>,
}

impl ResolvedPolicy {
    /// Whether one of its classes, or of a nested policy, has a queue.
    pub(super) fn contains_queue(&self) -> bool {
        self.classes.iter().any(ResolvedClass::contains_queue)
    }
}

/// One class of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedClass {
    /// Its place in the tree of Intent.
    pub id: ClassId,
    /// Its name.
    pub name: String,
    /// Whether it matches the packets that no other class matches.
    pub(super) takes_rest: bool,
    /// The line of the policy that opens it; 0 for a class-default that the policy does not contain.
    pub line: usize,
    /// Whether a packet must match all criteria or one of them.
    pub combination: Combination,
    /// Its match lines as the device prints them.
    pub matches: Vec<String>,
    /// The name of its queue in results; `None` if its packets wait in the queue of another class.
    pub queue: Option<String>,
    /// The name of the conditioner that marks and polices its packets.
    pub conditioner: Option<String>,
    /// Its guarantee.
    pub bandwidth: Option<Guarantee>,
    /// Its weight among its siblings, if the scheduler uses weights.
    pub(super) share: Share,
    /// Its priority.
    pub priority: Option<Priority>,
    /// Its policer.
    pub police: Option<ResolvedPolice>,
    /// Its shaper.
    pub shape: Option<Shaper>,
    /// The limit of its queue.
    pub queue_limit: Option<Limit>,
    /// Whether the configuration sets that limit.
    pub(super) has_written_limit: bool,
    /// The queue lengths above which packets with some values of a field are dropped.
    pub(super) value_limits: Option<ResolvedValueLimits>,
    /// The label by which its queue selects its packets, if the policy rewrites a field that the class
    /// matches.
    pub(super) label: Option<u8>,
    /// Fair queueing of its flows.
    pub fair_queue: Option<FairQueueing>,
    /// WRED on its queue.
    pub random_detect: Option<RandomDetect>,
    /// The marks that it writes into every packet.
    pub marks: Vec<Mark>,
    /// Whether it drops every packet.
    pub drop: bool,
    /// The policy inside it.
    pub policy: Option<ResolvedPolicy>,
    pub(super) condition: Condition,
}

impl ResolvedClass {
    /// Whether the class or an inner class has a queue.
    pub(super) fn contains_queue(&self) -> bool {
        self.queue_limit.is_some() || self.policy.as_ref().is_some_and(ResolvedPolicy::contains_queue)
    }
    /// Whether it marks, polices or drops packets itself.
    pub(super) fn acts(&self) -> bool {
        self.police.is_some() || !self.marks.is_empty() || self.drop
    }
    /// The fields of perhop's packets that it and its policer write.
    pub(super) fn written(&self) -> Fields {
        let police = self.police.iter();
        let actions = police.flat_map(|police| [&police.conform, &police.exceed, &police.violate]).flatten();
        let marks = self.marks.iter().chain(actions.filter_map(|action| action.mark.as_ref()));
        let by_cos = self.random_detect.as_ref().is_some_and(|detect| detect.basis == Basis::Cos);
        let colors = self.police.is_some() || by_cos;
        marks.map(Mark::fields).chain(colors.then_some(Fields::COLOR)).collect()
    }
}

/// The weight of a class among its siblings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Bits per second. The weight of the class if one number divides the whole rate. The minimum of the
    /// class if `excess` divides the rate above the minima.
    pub(super) rate_bps: u64,
    /// Its share of the rate above the minima.
    pub(super) excess: Option<f64>,
}

/// The policer of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPolice {
    /// The form of its rate.
    pub kind: PoliceKind,
    /// The configured number.
    pub value: u64,
    /// Committed rate: bits per second, or packets per second if configured so.
    pub cir_bps: u64,
    /// Committed burst: bytes, or packets.
    pub bc_bytes: u64,
    /// Peak rate of two-rate policing, bits per second.
    pub pir_bps: Option<u64>,
    /// Excess or peak burst of a second bucket, bytes.
    pub be_bytes: Option<u64>,
    /// The number of colors: two or three.
    pub colors: u8,
    /// The colors of arriving packets, for a color-aware policer.
    pub(super) aware: Option<Awareness>,
    /// The colors that inner policers have given to its packets.
    pub(super) inside: InsideColors,
    /// The actions for conforming packets.
    pub conform: Vec<Action>,
    /// The actions for exceeding packets.
    pub exceed: Vec<Action>,
    /// The actions for violating packets, if there are three colors.
    pub violate: Vec<Action>,
}

/// The queue lengths above which packets with some values of a field are dropped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResolvedValueLimits {
    /// The field.
    pub(super) basis: Basis,
    /// Limits by value.
    pub(super) limits: BTreeMap<u8, Limit>,
}
