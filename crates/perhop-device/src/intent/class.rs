//! [`Policy`] and [`Class`]: the tree of Intent.

use super::at::At;
use super::condition::Condition;
use super::drop_profile::DropProfile;
use super::fields::Fields;
use super::marks::{Field, Mark, Then};
use super::police::Police;
use super::queue::{FairQueue, QueueLimit, ValueLimits};
use super::rates::{Guarantee, Priority, Shape};
use crate::policy::Combination;

use super::class_id::ClassId;

/// A policy: an ordered list of classes. A packet belongs to the first class that matches. [`Then::Continue`]
/// passes the packet to later classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The name of the policy.
    pub name: String,
    /// The line that opens the policy.
    pub line: usize,
    /// Whether a class of this policy or of a nested policy needs a queue. A class that the text uses but
    /// does not define also counts.
    pub queues: bool,
    /// The classes in order. The last class of a queueing policy is the class for all other packets.
    pub classes: Vec<Class>,
}

/// The match set of a class as the device prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintedMatches {
    /// Whether a packet must match all lines or one of them.
    pub combination: Combination,
    /// The lines.
    pub lines: Vec<String>,
}

/// The policy inside a class.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Children {
    /// No nested policy.
    #[default]
    None,
    /// A policy that the configuration uses but does not define.
    Undefined,
    /// A nested policy.
    Policy(Policy),
}

/// The policies of a port for each direction, in the order in which packets pass them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortIntent {
    /// The policies of arriving packets.
    pub input: Vec<Policy>,
    /// The policies of departing packets; the last one queues.
    pub output: Vec<Policy>,
}

/// A class of a policy and the demands for its packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The index of the class in the tree of policies.
    pub id: ClassId,
    /// The name of the class.
    pub name: String,
    /// The line that opens the class; 0 for a class that the text does not contain.
    pub line: usize,
    /// Whether the class matches all packets that no other class matches.
    pub takes_rest: bool,
    /// The packets that the class matches.
    pub condition: Condition,
    /// The condition on the visible headers; `None` if neither a tunnel nor encryption hides headers from the
    /// port.
    pub seen: Option<Condition>,
    /// The match set as the device prints it.
    pub matches: PrintedMatches,
    /// The configured minimum, or the share of the excess if the class has no minimum.
    pub guarantee: Option<At<Guarantee>>,
    /// The share of the excess in addition to a minimum. Without a minimum, `guarantee` has the share.
    pub excess: Option<At<Guarantee>>,
    /// The priority level with its rate; `None` for a class without priority.
    pub priority: Option<At<Priority>>,
    /// The configured policer.
    pub police: Option<At<Police>>,
    /// The configured shaper.
    pub shape: Option<At<Shape>>,
    /// The configured limit of the queue.
    pub queue_limit: Option<At<QueueLimit>>,
    /// The queue lengths above which packets with some values of a field are dropped.
    pub value_limits: Option<At<ValueLimits>>,
    /// The configured random drops from the queue.
    pub drop_profile: Option<At<DropProfile>>,
    /// The configured fair queueing of flows.
    pub fair_queue: Option<At<FairQueue>>,
    /// The marks that the class writes into every packet, in order.
    pub marks: Vec<At<Mark>>,
    /// The next step of the packets if the class has no policer.
    pub then: Then,
    /// The nested policy.
    pub children: Children,
}

impl Policy {
    /// Returns the class with the index `id`.
    pub fn class(&self, id: ClassId) -> Option<&Class> {
        self.classes.iter().find_map(|class| {
            if class.id == id { Some(class) } else { class.children().and_then(|inner| inner.class(id)) }
        })
    }
}

impl Class {
    /// Returns the nested policy.
    pub fn children(&self) -> Option<&Policy> {
        match &self.children {
            Children::Policy(policy) => Some(policy),
            Children::None | Children::Undefined => None,
        }
    }

    /// Returns the nested policy mutably.
    pub fn children_mut(&mut self) -> Option<&mut Policy> {
        match &mut self.children {
            Children::Policy(policy) => Some(policy),
            Children::None | Children::Undefined => None,
        }
    }

    /// Returns the condition on the headers that the port can read.
    pub fn visible(&self) -> &Condition {
        self.seen.as_ref().unwrap_or(&self.condition)
    }

    /// Iterates over the marks of the class and of its policer.
    pub fn all_marks(&self) -> impl Iterator<Item = &Mark> {
        let police = self.police.iter().map(|at| &at.value);
        let actions = police.flat_map(|police| [&police.conform, &police.exceed, &police.violate]).flatten();
        let own = self.marks.iter().map(|at| &at.value);
        own.chain(actions.filter_map(|action| action.mark.as_ref()))
    }

    /// Whether the class or its policer writes `field`.
    pub fn sets(&self, field: Field) -> bool {
        self.all_marks().any(|mark| mark.field() == Some(field))
    }

    /// Returns the lines of the class and of all its demands.
    pub fn lines(&self) -> Vec<usize> {
        let nodes = [
            self.guarantee.map(|at| at.line),
            self.excess.map(|at| at.line),
            self.priority.map(|at| at.line),
            self.police.as_ref().map(|at| at.line),
            self.shape.map(|at| at.line),
            self.queue_limit.map(|at| at.line),
            self.value_limits.as_ref().map(|at| at.line),
            self.drop_profile.as_ref().map(|at| at.line),
            self.fair_queue.map(|at| at.line),
        ];
        let marks = self.marks.iter().map(|at| at.line);
        let mut lines: Vec<usize> =
            std::iter::once(self.line).chain(nodes.into_iter().flatten()).chain(marks).collect();
        lines.retain(|line| *line > 0);
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// Returns the fields that `condition` matches.
pub fn matched_fields(condition: &Condition) -> Fields {
    match condition {
        Condition::When(config) => super::condition::fields_of_match(config),
        Condition::Always | Condition::Never => Fields::default(),
    }
}
