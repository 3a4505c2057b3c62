//! [`Finding`]: the result of a rule for a part of a policy.

use std::collections::BTreeMap;

use perhop_qos::Rate;
use perhop_qos::policy::{PolicyConfig, WireConfig};

use crate::Rule;

/// The policy of one interface in one direction, and the known properties of the interface.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The policy.
    pub policy: &'a PolicyConfig,
    /// The rate that the classes share, bits per second, if known.
    pub rate: Option<Rate>,
    /// The wire, if all its properties are known.
    pub wire: Option<&'a WireConfig>,
    /// Rates to which policers outside of the policy limit the packets of queues, bits per second, by queue
    /// name.
    pub limits: &'a BTreeMap<String, Rate>,
    /// The names of the node's interfaces, for conditions.
    pub interfaces: &'a [String],
}

/// A part of a policy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The conditioner with this index.
    Conditioner(usize),
    /// A class: the index of the outermost class, then of the class inside it, and so on.
    Class(Vec<usize>),
    /// The whole policy.
    Policy,
}

/// The result of a rule for a part of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The part of the policy.
    pub place: Place,
    /// The fault, with the numbers that cause it.
    pub message: String,
    /// The consequence or the correction.
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
