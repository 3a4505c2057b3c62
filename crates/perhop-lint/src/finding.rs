//! [`Finding`]: what a rule finds in a policy, and where.

use std::collections::BTreeMap;

use perhop_qos::Rate;
use perhop_qos::policy::{PolicyConfig, WireConfig};

use crate::Rule;

/// The policy of one interface in one direction, and what is known of the interface.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The policy.
    pub policy: &'a PolicyConfig,
    /// Bits per second that its classes share; none where nothing says it.
    pub rate: Option<Rate>,
    /// The wire; none where it is not known as a whole.
    pub wire: Option<&'a WireConfig>,
    /// Bits per second to which classes are held before their queue, by the name of the queue, where the
    /// policy itself does not show it.
    pub limits: &'a BTreeMap<String, Rate>,
    /// The names of the node's interfaces, as conditions ask for them.
    pub interfaces: &'a [String],
}

/// A part of a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The conditioner of this index.
    Conditioner(usize),
    /// A class: the index of its outermost class, of the class in that one, and so on.
    Class(Vec<usize>),
    /// All of it.
    Policy,
}

/// What a rule finds in a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Where.
    pub place: Place,
    /// What was found, with the numbers that tell.
    pub message: String,
    /// What comes of it, or what to do.
    pub remedy: String,
}

impl Finding {
    pub(crate) fn new(
        rule: &'static Rule,
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding { rule, place, message: message.into(), remedy: remedy.into() }
    }
}
