//! [`queues_by_class`]: the queues of each traffic class, if its codepoint determines them.
//!
//! `python/perhop/verdicts/classifying.py` applies the same rules for the verdicts of the command line.
//! `tests/test_playground_parity.py` compares both implementations.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::action::Action;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::packet::Dscp;
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_scenario::Scenario;
use serde::Deserialize;

/// A queue of a port, by the names in results.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Place {
    /// The name of the port.
    pub port: String,
    /// The name of the queue.
    pub queue: String,
}

/// Returns the queues of each traffic class of a resolved scenario. A class is omitted if its queues are not
/// certain. The queues are certain if the network is a tree, nothing changes codepoints, policies match only
/// codepoints, and all traffic of the class uses the same queues.
pub fn queues_by_class(scenario: &Scenario) -> BTreeMap<&str, Vec<Place>> {
    if changes_codepoints(scenario) || !is_tree(scenario) {
        return BTreeMap::new();
    }
    let mut found: BTreeMap<&str, Option<Vec<Place>>> = BTreeMap::new();
    for traffic in &scenario.traffic {
        let name = traffic.class.as_ref().unwrap_or(&traffic.name).as_str();
        let steps = tree_path(scenario, &traffic.from, &traffic.to).into_iter();
        let ports = steps.filter_map(|[from, to]| Some((from, to, queueing_at(scenario, from, to)?)));
        let queues = ports
            .map(|(from, to, queueing)| {
                let queue = queue_of(queueing, traffic.dscp, "")?;
                Some(Place { port: format!("{from}->{to}"), queue })
            })
            .collect::<Option<Vec<Place>>>();
        match found.get_mut(name) {
            Some(known) if *known != queues => *known = None,
            Some(_) => {}
            None => _ = found.insert(name, queues),
        }
    }
    let certain = found.into_iter().filter_map(|(name, queues)| Some((name, queues?)));
    certain.filter(|(_, queues)| !queues.is_empty()).collect()
}

/// Whether a conditioner marks packets, or a link adds headers that hide the codepoints.
fn changes_codepoints(scenario: &Scenario) -> bool {
    let stages = scenario.policies.values().flat_map(|policy| &policy.conditioners);
    let mut actions =
        stages.flat_map(|stage| [&stage.green, &stage.yellow, &stage.red, &stage.actions]).flatten();
    let marks = |action: &Action| {
        matches!(
            action,
            Action::Mark(_)
                | Action::MarkPrecedence(_)
                | Action::MarkCos(_)
                | Action::MarkExp(_)
                | Action::Copy(_)
        )
    };
    actions.any(marks) || scenario.links.iter().any(|link| !link.headers.is_empty())
}

fn is_tree(scenario: &Scenario) -> bool {
    scenario.links.len() + 1 == scenario.hosts.len() + scenario.routers.len()
}

/// Returns the only path between two nodes of a tree, as a list of links. The list is empty if there is no
/// path.
fn tree_path<'s>(scenario: &'s Scenario, from: &'s str, to: &str) -> Vec<[&'s str; 2]> {
    let mut before: BTreeMap<&str, &str> = BTreeMap::new();
    let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
    while let Some(node) = left.pop() {
        for link in &scenario.links {
            let [a, b] = &link.between;
            for (near, far) in [(a, b), (b, a)] {
                if near == node && seen.insert(far) {
                    before.insert(far, near);
                    left.push(far);
                }
            }
        }
    }
    let mut steps = Vec::new();
    let mut at = to;
    while let Some((far, near)) = before.get_key_value(at) {
        steps.push([*near, *far]);
        at = near;
    }
    steps.reverse();
    steps
}

/// Returns the queueing policy at the port from `from` to `to`, if the port has one.
fn queueing_at<'s>(scenario: &'s Scenario, from: &str, to: &str) -> Option<&'s QueueingConfig> {
    let link = scenario.links.iter().find(|link| {
        let [a, b] = &link.between;
        (a == from && b == to) || (a == to && b == from)
    })?;
    scenario.policies.get(link.interfaces.get(from)?.output.as_ref()?)?.queueing.as_ref()
}

/// Returns the name of the queue of packets with `codepoint`; `None` if no queue matches them, or if the
/// queue is unknown.
fn queue_of(queueing: &QueueingConfig, codepoint: Dscp, prefix: &str) -> Option<String> {
    for class in &queueing.classes {
        if matches_codepoint(class.matches.as_ref(), codepoint)? {
            let name = format!("{prefix}{}", class.name);
            return match &class.queueing {
                Some(inner) => queue_of(inner, codepoint, &format!("{name}/")),
                None => Some(with_tin(class, name, codepoint)),
            };
        }
    }
    None
}

fn with_tin(class: &ClassConfig, name: String, codepoint: Dscp) -> String {
    let Some(BufferConfig::Cake(cake)) = &class.buffer else { return name };
    match cake.tins.names().as_slice() {
        [_] => name,
        tins => format!("{name}/{}", tins[cake.tins.tin_of(codepoint)]),
    }
}

/// Whether a class matches packets with `codepoint`; `None` if the class also matches other fields.
fn matches_codepoint(matches: Option<&MatchConfig>, codepoint: Dscp) -> Option<bool> {
    let Some(matches) = matches else { return Some(true) };
    let MatchConfig { dscp, precedence, .. } = matches;
    let rest = MatchConfig { dscp: None, precedence: None, ..matches.clone() };
    if rest != MatchConfig::default() {
        return None;
    }
    let is_dscp = dscp.as_ref().is_none_or(|OneOrMany(values)| values.contains(&codepoint));
    let has_precedence = |OneOrMany(values): &OneOrMany<_>| {
        values.iter().any(|value: &perhop_qos::packet::IpPrecedence| value.value() == codepoint.value() >> 3)
    };
    Some(is_dscp && precedence.as_ref().is_none_or(has_precedence))
}
