//! Filters in order as conditions of classes: a packet goes where the first filter that takes it says, and
//! the classes of perhop are asked in an order of their own.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_device::intent::Condition;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};

use crate::model::{self, Family};

/// A filter: the packets it takes, and where they go.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) family: Family,
    pub(super) matches: MatchConfig,
    pub(super) target: u32,
}

impl Rule {
    /// The rule of a condition that some packet meets.
    pub(super) fn new(condition: &model::Condition, target: u32) -> Option<Rule> {
        let is_known = !condition.is_never && !condition.is_unseen;
        is_known.then(|| Rule { family: condition.family, matches: condition.matches.clone(), target })
    }
    /// This rule for the packets that `other` takes as well; `None` where there are none.
    pub(super) fn within(&self, other: &Rule) -> Option<Rule> {
        let family = match (self.family, other.family) {
            (one, Family::Any) | (Family::Any, one) => one,
            (one, another) if one == another => one,
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
    /// Whether it takes every packet.
    fn is_all(&self) -> bool {
        self.family == Family::Any && is_empty(&self.matches)
    }
    /// The condition in perhop's words; none for all packets.
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
    /// Whether no packet meets both, as far as single fields tell.
    pub(super) fn excludes(&self, other: &Rule) -> bool {
        fn apart<T: PartialEq>(one: Option<&OneOrMany<T>>, other: Option<&OneOrMany<T>>) -> bool {
            one.zip(other).is_some_and(|(one, other)| !one.0.iter().any(|value| other.0.contains(value)))
        }
        let (one, two) = (&self.matches, &other.matches);
        let families =
            matches!((self.family, other.family), (Family::Four, Family::Six) | (Family::Six, Family::Four));
        families
            || apart(one.dscp.as_ref(), two.dscp.as_ref())
            || apart(one.label.as_ref(), two.label.as_ref())
            || apart(one.protocol.as_ref(), two.protocol.as_ref())
    }
}

pub(super) fn is_empty(matches: &MatchConfig) -> bool {
    *matches == MatchConfig::default()
}

/// Rules beyond are not looked at: exclusions would grow with the square of their number.
pub(super) const MOST_RULES: usize = 400;

/// The rules that can be met, with filters for both versions of IP joined where they say the same of each.
pub(super) fn joined(rules: Vec<Rule>) -> Vec<Rule> {
    let mut found: Vec<Rule> = Vec::new();
    let mut run = 0;
    for rule in rules {
        if found.last().is_none_or(|last| last.target != rule.target) {
            run = found.len();
        }
        let twin = found[run..].iter_mut().find(|one| {
            one.matches == rule.matches
                && (one.family == rule.family || one.family == Family::Any || one.excludes(&rule))
        });
        match twin {
            Some(one) if one.family != rule.family => one.family = Family::Any,
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

/// The packets that a class takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Taken {
    Nothing,
    All,
    Those(Box<MatchConfig>),
}

impl Taken {
    /// The condition of the class; none where it takes all packets or none.
    pub(super) fn condition(self) -> Option<MatchConfig> {
        match self {
            Taken::Nothing | Taken::All => None,
            Taken::Those(matches) => Some(*matches),
        }
    }
}

/// What the packets of `target` meet, where classes are asked in the order of `order` and those of a target
/// that is not in it are taken by none.
pub(super) fn condition_of(rules: &[Rule], order: &[u32], target: u32) -> Taken {
    let place = |of: u32| order.iter().position(|one| *one == of);
    let own = place(target);
    let mut parts: Vec<MatchConfig> = Vec::new();
    for (index, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.target == target) {
        // A class that is asked before has taken its own already.
        let is_in_the_way = |other: &&Rule| {
            other.target != target
                && !other.excludes(rule)
                && place(other.target).is_none_or(|place| own.is_none_or(|own| place > own))
        };
        let others: Vec<MatchConfig> =
            rules[..index].iter().filter(is_in_the_way).filter_map(Rule::condition).collect();
        match (rule.condition(), except(others)) {
            (None, None) => return Taken::All,
            (Some(one), None) | (None, Some(one)) => parts.push(one),
            (Some(one), Some(not)) => {
                // Filters before may take all packets of this one: no condition says so.
                let both = Condition::all(vec![Condition::when(one), Condition::when(not)]);
                parts.extend(both.into_match().flatten());
            }
        }
    }
    any(parts).map_or(Taken::Nothing, |matches| Taken::Those(Box::new(matches)))
}

fn except(others: Vec<MatchConfig>) -> Option<MatchConfig> {
    any(others).map(|any| MatchConfig { not: Some(Box::new(any)), ..MatchConfig::default() })
}

/// One of them; `None` where there are none.
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
