//! [`Class`]: a class of a policy-map in the making, and [`Choice`]: what its policy may leave unsaid.

use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::ClassConfig;

/// The class that takes the rest.
pub(super) const CLASS_DEFAULT: &str = "class-default";

/// A class of a policy-map.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    pub(super) name: String,
    /// Its packets; `None` for all that other classes leave.
    pub(super) matches: Option<MatchConfig>,
    /// The lines that mark and police.
    pub(super) lines: Vec<String>,
    pub(super) queue: Option<ClassConfig>,
    /// The level of its priority.
    pub(super) level: Option<usize>,
    /// The classes of a policy inside it that marks and polices before it does.
    pub(super) inside: Vec<Class>,
}

/// The source of a policy's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Its demands: Intent.
    Demands,
    /// The policy that runs.
    Running(Choice),
}

/// The classes without a need that have no `bandwidth` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Whether class-default is one.
    pub(super) leaves_default: bool,
    /// Whether classes that shape or queue flows fairly are.
    pub(super) leaves_shaped: bool,
    /// Bytes that the first class with a rate counts in addition to those of the link.
    pub(super) account: i32,
}

impl Choice {
    /// Every choice, the one that says least first.
    pub(super) const ALL: [Choice; 4] = [
        Choice::leaving(true, true),
        Choice::leaving(true, false),
        Choice::leaving(false, true),
        Choice::leaving(false, false),
    ];

    const fn leaving(leaves_default: bool, leaves_shaped: bool) -> Choice {
        Choice { leaves_default, leaves_shaped, account: 0 }
    }

    /// Whether a class with this queue has no `bandwidth` line.
    pub(super) fn is_silent(self, class: &Class, queue: &ClassConfig) -> bool {
        if class.matches.is_none() {
            return self.leaves_default;
        }
        let is_shaped = queue.shape.is_some() || queue.fair_queueing.is_some() || queue.queueing.is_some();
        is_shaped && self.leaves_shaped
    }
}
