//! Scheduler maps in which the class of EF has a lower priority than the class of other packets (Junos).

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The priorities of schedulers, from the lowest. A scheduler without one has the first.
const LEVELS: [&str; 5] = ["low", "medium-low", "medium-high", "high", "strict-high"];
/// EF, as a name and in bits.
const EXPEDITED: [&str; 2] = ["ef", "101110"];
const CONTROL: [&str; 8] = ["cs6", "cs7", "nc1", "nc2", "110000", "111000", "110", "111"];
/// The class that default classifiers assign to network control (Juniper, "Default Forwarding Classes").
const CONTROL_CLASS: &str = "network-control";

/// A scheduler: the name, the line of the priority (otherwise the first line), and the index of the priority
/// in [`LEVELS`].
type Scheduler<'t> = (&'t str, usize, usize);

/// Reports maps whose class for EF has a lower priority than another class, except those for network control.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let classes_of = |codepoints: &[&str]| -> BTreeSet<&str> {
            ["classifiers", "rewrite-rules"]
                .iter()
                .flat_map(|part| classes_of(nodes, part, codepoints))
                .collect()
        };
        let expedited = classes_of(&EXPEDITED);
        let mut control = classes_of(&CONTROL);
        control.insert(CONTROL_CLASS);
        // EF in several classes has several meanings.
        let [ef] = expedited.iter().copied().collect::<Vec<_>>()[..] else { continue };
        let schedulers: Vec<Scheduler> = part(nodes, "schedulers").iter().filter_map(scheduler).collect();
        for map in part(nodes, "scheduler-maps") {
            let entries: Vec<(&str, &Scheduler)> =
                map.inner.iter().filter_map(|inner| entry(inner, &schedulers)).collect();
            let Some((_, own)) = entries.iter().find(|(class, _)| *class == ef) else { continue };
            let higher = entries
                .iter()
                .find(|(class, other)| other.2 > own.2 && *class != ef && !control.contains(class));
            let Some((other, theirs)) = higher else { continue };
            let message = format!(
                "{}: class {ef} of EF has priority {} (scheduler {}), but class {other} has {} (scheduler \
                 {})",
                snapshot.devices[device].name, LEVELS[own.2], own.0, LEVELS[theirs.2], theirs.0
            );
            let effect = format!("packets of {other} leave before voice: its delay has no bound");
            let rule = &rules::NETWORK_PRIORITY_INVERTED;
            found.push(snapshot.finding(device, rule, own.1, (message, effect)));
        }
    }
}

fn part<'n, 't>(nodes: &'n [Node<'t>], name: &str) -> &'n [Node<'t>] {
    block(nodes, &["class-of-service", name]).map_or(&[][..], |node| &node.inner)
}

/// Returns the forwarding classes of codepoints in classifiers or rewrite rules.
fn classes_of<'t>(nodes: &[Node<'t>], name: &str, codepoints: &[&str]) -> Vec<&'t str> {
    let mut found = Vec::new();
    for class in part(nodes, name).iter().flat_map(|rule| &rule.inner) {
        let ["forwarding-class", own] = *words(class).as_slice() else { continue };
        let is_of = |inner: &Node<'t>| words(inner).iter().skip(3).any(|word| codepoints.contains(word));
        if class.inner.iter().any(is_of) {
            found.push(own);
        }
    }
    found
}

fn scheduler<'t>(node: &Node<'t>) -> Option<Scheduler<'t>> {
    let [name] = *words(node).as_slice() else { return None };
    let priority = node.inner.iter().find_map(|inner| match *words(inner).as_slice() {
        ["priority", level] => Some((inner.line.0, LEVELS.iter().position(|known| *known == level)?)),
        _ => None,
    });
    let (line, level) = priority.unwrap_or((node.line.0, 0));
    Some((name, line, level))
}

fn entry<'n, 't>(node: &Node<'t>, schedulers: &'n [Scheduler<'t>]) -> Option<(&'t str, &'n Scheduler<'t>)> {
    let ["forwarding-class", class, "scheduler", name] = *words(node).as_slice() else { return None };
    Some((class, schedulers.iter().find(|(own, ..)| *own == name)?))
}
