//! [`Class`]: a class of a policy-map while it is written. [`Choice`]: the lines that a policy omits.

use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::ClassConfig;

/// The class for all other packets.
pub(super) const CLASS_DEFAULT: &str = "class-default";

/// A class of a policy-map.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) name: String,
    /// The condition of the class; `None` for the packets that belong to no other class.
    pub(super) matches: Option<MatchConfig>,
    /// The lines that mark and police.
    pub(super) lines: Vec<String>,
    pub(super) queue: Option<ClassConfig>,
    /// The priority level of the class; `None` without priority.
    pub(super) level: Option<usize>,
    /// The classes of a nested policy that marks and polices first.
    pub(super) inside: Vec<Class>,
}

/// The form of a policy from which the writer generates the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The Intent of the policy.
    Demands,
    /// The lowered policy.
    Running(Choice),
}

/// The classes without a `bandwidth` line, among the classes that do not require a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Whether class-default has no `bandwidth` line.
    pub(super) leaves_default: bool,
    /// Whether classes with a shaper or fair queueing have no `bandwidth` line.
    pub(super) leaves_shaped: bool,
    /// Overhead of the first class with a rate, in addition to the overhead of the link, bytes.
    pub(super) account: i32,
}

impl Choice {
    /// All choices, the shortest first.
    pub(super) const ALL: [Choice; 4] = [
        Choice::leaving(true, true),
        Choice::leaving(true, false),
        Choice::leaving(false, true),
        Choice::leaving(false, false),
    ];

    const fn leaving(leaves_default: bool, leaves_shaped: bool) -> Choice {
        Choice { leaves_default, leaves_shaped, account: 0 }
    }

    /// Whether a class with this queue omits the `bandwidth` line under this choice.
    pub(super) fn is_silent(self, class: &Class, queue: &ClassConfig) -> bool {
        if class.matches.is_none() {
            return self.leaves_default;
        }
        let is_shaped = queue.shape.is_some() || queue.fair_queueing.is_some() || queue.queueing.is_some();
        is_shaped && self.leaves_shaped
    }
}
