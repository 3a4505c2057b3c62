//! Conversion of ordered filters to conditions of classes. The first matching filter selects the class of a
//! packet, but perhop compares packets with classes in another order than the order of the filters.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_device::intent::Condition;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};

use crate::model::{self, Family};

/// A filter: the packets that match it, and the class that it selects.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) family: Family,
    pub(super) matches: MatchConfig,
    pub(super) target: u32,
}

impl Rule {
    /// Creates the rule of a condition; `None` if no packet matches the condition.
    pub(super) fn new(condition: &model::Condition, target: u32) -> Option<Rule> {
        let is_known = !condition.is_never && !condition.is_unseen;
        is_known.then(|| Rule { family: condition.family, matches: condition.matches.clone(), target })
    }
    /// Returns this rule restricted to the packets of `other`; `None` if no packet remains.
    pub(super) fn within(&self, other: &Rule) -> Option<Rule> {
        let family = match (self.family, other.family) {
            (family, Family::Any) | (Family::Any, family) => family,
            (family, other) if family == other => family,
            _ => return None,
        };
        let matches = match (is_empty(&self.matches), is_empty(&other.matches)) {
            (_, true) => self.matches.clone(),
            (true, _) => other.matches.clone(),
            _ => MatchConfig {
                all: Some(vec![other.matches.clone(), self.matches.clone()]),
                ..MatchConfig::default()
            },
        };
        Some(Rule { family, matches, target: self.target })
    }
    /// Whether every packet matches.
    fn is_all(&self) -> bool {
        self.family == Family::Any && is_empty(&self.matches)
    }
    /// Returns the condition; `None` for all packets.
    pub(super) fn condition(&self) -> Option<MatchConfig> {
        if self.is_all() {
            return None;
        }
        let has_address = self.matches.source.is_some() || self.matches.destination.is_some();
        let address = match self.family {
            Family::Four if !has_address => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            Family::Six if !has_address => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
            _ => None,
        };
        let mut matches = self.matches.clone();
        if let Some(prefix) = address.and_then(|address| Prefix::new(address, 0).ok()) {
            matches.source = Some(OneOrMany::from(prefix));
        }
        Some(matches)
    }
    /// Whether a comparison of single fields proves that no packet matches both rules.
    pub(super) fn excludes(&self, other: &Rule) -> bool {
        fn apart<T: PartialEq>(values: Option<&OneOrMany<T>>, other: Option<&OneOrMany<T>>) -> bool {
            values
                .zip(other)
                .is_some_and(|(values, other)| !values.0.iter().any(|value| other.0.contains(value)))
        }
        let (own, others) = (&self.matches, &other.matches);
        let families =
            matches!((self.family, other.family), (Family::Four, Family::Six) | (Family::Six, Family::Four));
        families
            || apart(own.dscp.as_ref(), others.dscp.as_ref())
            || apart(own.label.as_ref(), others.label.as_ref())
            || apart(own.protocol.as_ref(), others.protocol.as_ref())
    }
}

pub(super) fn is_empty(matches: &MatchConfig) -> bool {
    *matches == MatchConfig::default()
}

/// Limit on the rules, because the number of exclusions grows quadratically.
pub(super) const MOST_RULES: usize = 400;

/// Returns the rules that can match. Joins two filters that have the same condition for IPv4 and IPv6.
pub(super) fn joined(rules: Vec<Rule>) -> Vec<Rule> {
    let mut found: Vec<Rule> = Vec::new();
    let mut run = 0;
    for rule in rules {
        if found.last().is_none_or(|last| last.target != rule.target) {
            run = found.len();
        }
        let twin = found[run..].iter_mut().find(|branch| {
            branch.matches == rule.matches
                && (branch.family == rule.family || branch.family == Family::Any || branch.excludes(&rule))
        });
        match twin {
            Some(known) if known.family != rule.family => known.family = Family::Any,
            Some(_) => {}
            None => found.push(rule),
        }
        if found.last().is_some_and(Rule::is_all) {
            break;
        }
    }
    let end = found.iter().position(Rule::is_all).map_or(found.len(), |at| at + 1);
    found.truncate(end);
    found
}

/// The packets that belong to a class.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Taken {
    Nothing,
    All,
    Those(Box<MatchConfig>),
}

impl Taken {
    /// Returns the condition of the class; `None` if all packets or no packets belong to the class.
    pub(super) fn condition(self) -> Option<MatchConfig> {
        match self {
            Taken::Nothing | Taken::All => None,
            Taken::Those(matches) => Some(*matches),
        }
    }
}

/// Returns the condition of the packets of `target`, if packets are compared with classes in the order of
/// `order`. The packets of targets that `order` does not contain belong to no class.
pub(super) fn condition_of(rules: &[Rule], order: &[u32], target: u32) -> Taken {
    let place = |of: u32| order.iter().position(|id| *id == of);
    let own = place(target);
    let mut parts: Vec<MatchConfig> = Vec::new();
    for (index, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.target == target) {
        // Packets of earlier classes do not reach this class, so only filters of later classes matter.
        let is_in_the_way = |other: &&Rule| {
            other.target != target
                && !other.excludes(rule)
                && place(other.target).is_none_or(|place| own.is_none_or(|own| place > own))
        };
        let others: Vec<MatchConfig> =
            rules[..index].iter().filter(is_in_the_way).filter_map(Rule::condition).collect();
        match (rule.condition(), except(others)) {
            (None, None) => return Taken::All,
            (Some(condition), None) | (None, Some(condition)) => parts.push(condition),
            (Some(condition), Some(not)) => {
                // All packets of this filter may match earlier filters, so the condition can be empty.
                let both = Condition::all(vec![Condition::when(condition), Condition::when(not)]);
                parts.extend(both.into_match().flatten());
            }
        }
    }
    any(parts).map_or(Taken::Nothing, |matches| Taken::Those(Box::new(matches)))
}

fn except(others: Vec<MatchConfig>) -> Option<MatchConfig> {
    any(others).map(|any| MatchConfig { not: Some(Box::new(any)), ..MatchConfig::default() })
}

/// Returns the disjunction of `parts`; `None` for no parts.
pub(super) fn any(mut parts: Vec<MatchConfig>) -> Option<MatchConfig> {
    let mut seen: Vec<MatchConfig> = Vec::new();
    parts.retain(|part| {
        let is_new = !seen.contains(part);
        if is_new {
            seen.push(part.clone());
        }
        is_new
    });
    match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(MatchConfig { any: Some(parts), ..MatchConfig::default() }),
    }
}
