//! [`ResolvedPolicy`]: a policy as a port applies it. Every percentage is a rate, and every default is a
//! number.
//!
//! The queues, the conditioners and the counters that a device prints derive from this policy.

use std::collections::BTreeMap;

use crate::intent::{Action, Awareness, ClassId, Condition, Fields, InsideColors, Mark};
use crate::policy::{
    Basis, Combination, FairQueueing, Guarantee, Limit, PoliceKind, Priority, PriorityLimit, RandomDetect,
    Shaper,
};

/// A policy as a port applies it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPolicy {
    /// The name of the policy.
    pub name: String,
    /// The line that opens the policy.
    pub line: usize,
    /// The rate to which percentages of bandwidth refer, bits per second.
    pub rate_bps: u64,
    /// The classes in order; the class for all other packets is last.
    pub classes: Vec<ResolvedClass>,
    /// The queue limit that all priority classes of a level share.
    pub priority_limits: Vec<PriorityLimit>,
}

impl ResolvedPolicy {
    /// Whether a class of this policy, or of a nested policy, has a queue.
    pub(super) fn contains_queue(&self) -> bool {
        self.classes.iter().any(ResolvedClass::contains_queue)
    }
}

/// One class of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedClass {
    /// The index of the class in the tree of Intent.
    pub id: ClassId,
    /// The name of the class.
    pub name: String,
    /// Whether the class matches all packets that no other class matches.
    pub(super) takes_rest: bool,
    /// The line of the policy that opens the class; 0 for a class-default that the policy does not contain.
    pub line: usize,
    /// Whether a packet must match all criteria or one of them.
    pub combination: Combination,
    /// The match lines as the device prints them.
    pub matches: Vec<String>,
    /// The name of the queue in results; `None` if the packets of the class wait in the queue of another
    /// class.
    pub queue: Option<String>,
    /// The name of the conditioner that marks and polices the packets of the class.
    pub conditioner: Option<String>,
    /// The configured guarantee (`bandwidth`); `None` without it.
    pub bandwidth: Option<Guarantee>,
    /// The weight of the class among its siblings, if the scheduler uses weights.
    pub(super) share: Share,
    /// The priority level with its rate; `None` for a class without priority.
    pub priority: Option<Priority>,
    /// The policer with its rates and bursts as numbers.
    pub police: Option<ResolvedPolice>,
    /// The shaper with its rate and bursts as numbers.
    pub shape: Option<Shaper>,
    /// The limit of the queue; `None` for a class without a queue.
    pub queue_limit: Option<Limit>,
    /// Whether the configuration sets the queue limit.
    pub(super) has_written_limit: bool,
    /// The queue lengths above which packets with some values of a field are dropped.
    pub(super) value_limits: Option<ResolvedValueLimits>,
    /// The label by which the queue of the class selects packets, if the policy rewrites a field that the
    /// class matches.
    pub(super) label: Option<u8>,
    /// The fair queueing of flows.
    pub fair_queue: Option<FairQueueing>,
    /// The WRED of the queue.
    pub random_detect: Option<RandomDetect>,
    /// The marks that the class writes into every packet.
    pub marks: Vec<Mark>,
    /// Whether the class drops every packet.
    pub drop: bool,
    /// The nested policy.
    pub policy: Option<ResolvedPolicy>,
    pub(super) condition: Condition,
}

impl ResolvedClass {
    /// Whether the class or an inner class has a queue.
    pub(super) fn contains_queue(&self) -> bool {
        self.queue_limit.is_some() || self.policy.as_ref().is_some_and(ResolvedPolicy::contains_queue)
    }
    /// Whether the class itself marks, polices or drops packets.
    pub(super) fn acts(&self) -> bool {
        self.police.is_some() || !self.marks.is_empty() || self.drop
    }
    /// Returns the fields of perhop's packets that the class and its policer write.
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
    /// Bits per second: the weight of the class if one number divides the whole rate, and the minimum of the
    /// class if `excess` divides the rate above the minima.
    pub(super) rate_bps: u64,
    /// The share of the class in the rate above the minima.
    pub(super) excess: Option<f64>,
}

/// The policer of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedPolice {
    /// The notation of the rate.
    pub kind: PoliceKind,
    /// The configured number.
    pub value: u64,
    /// Committed rate: packets per second for [`PoliceKind::Pps`], otherwise bits per second.
    pub cir_bps: u64,
    /// Committed burst: packets for [`PoliceKind::Pps`], otherwise bytes.
    pub bc_bytes: u64,
    /// Peak rate of two-rate policing, bits per second.
    pub pir_bps: Option<u64>,
    /// Excess or peak burst of a second bucket, bytes.
    pub be_bytes: Option<u64>,
    /// The number of colors: two or three.
    pub colors: u8,
    /// The colors of arriving packets, for a color-aware policer.
    pub(super) aware: Option<Awareness>,
    /// The colors that policers of inner classes give to the packets that this policer meters.
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
    /// The field whose values have limits.
    pub(super) basis: Basis,
    /// The limit for each value of the field.
    pub(super) limits: BTreeMap<u8, Limit>,
}
