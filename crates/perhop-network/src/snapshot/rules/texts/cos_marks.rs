//! CoS values that a neighbor writes into frames, but no class of a switch matches.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The first words of commands that give a class a better treatment than other classes.
const BETTER: &[&str] = &["bandwidth", "priority"];

/// Reports policies for frames that have no class for a CoS value, if a neighbor writes this value into
/// frames of a class with priority or a guarantee.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let readers: Vec<BTreeMap<&str, BTreeSet<u8>>> =
        trees.iter().zip(parts).map(|(nodes, parts)| policies_of_frames(nodes, parts)).collect();
    if readers.iter().all(BTreeMap::is_empty) {
        return;
    }
    let mut seen = BTreeSet::new();
    for ends in snapshot.described_pairs() {
        for [near, far] in [ends, [ends[1], ends[0]]] {
            for (policy, matched) in &readers[near.device] {
                for (cos, line) in written(snapshot, trees, parts, far) {
                    if matched.contains(&cos) || !seen.insert((near.device, *policy, cos)) {
                        continue;
                    }
                    let Some(first) = parts[near.device].policies.get(policy) else { continue };
                    let message = format!(
                        "{policy} of {} has no class for CoS {cos}, which {} writes into frames of a class with \
                         priority or a guarantee ({})",
                        snapshot.devices[near.device].name,
                        snapshot.port_name(far),
                        snapshot.place(far.device, line)
                    );
                    let effect = "these frames wait in the default class, or in the class of another mark";
                    let rule = &rules::NETWORK_MARK_UNMATCHED;
                    found.push(snapshot.finding(near.device, rule, *first, (message, effect.to_owned())));
                }
            }
        }
    }
}

/// Returns the attached policies that classify frames: all classes except the default class match CoS values.
/// The value of the map is the set of these CoS values.
fn policies_of_frames<'t>(nodes: &[Node], parts: &Parts<'t>) -> BTreeMap<&'t str, BTreeSet<u8>> {
    let outputs = attached(nodes, "output");
    let mut found: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
    let mut others = BTreeSet::new();
    for class in parts.classes.iter().filter(|class| class.name != "class-default") {
        match parts.class_maps.get(class.name).and_then(|map| classes_of_service(&map.lines)) {
            Some(values) => found.entry(class.policy).or_default().extend(values),
            None => _ = others.insert(class.policy),
        }
    }
    let is_used = |policy: &str| parts.used.contains(policy) || outputs.contains(policy);
    found.retain(|policy, _| !others.contains(policy) && is_used(policy));
    found
}

/// Returns the CoS values that criteria match; `None` if a criterion matches another field.
fn classes_of_service(lines: &[(usize, Vec<&str>)]) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    for (_, words) in lines {
        let ["match", "cos", values @ ..] = words.as_slice() else { return None };
        found.extend(values.iter().filter_map(|value| value.parse::<u8>().ok()));
    }
    Some(found).filter(|found| !found.is_empty())
}

/// Returns the policies that blocks attach in a direction.
fn attached<'t>(nodes: &[Node<'t>], direction: &str) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Node> = nodes.iter().collect();
    while let Some(node) = open.pop() {
        if node.begins_with("service-policy")
            && let ["service-policy", way, policy] = *node.words().as_slice()
            && way == direction
        {
            found.insert(policy);
        }
        open.extend(&node.inner);
    }
    found
}

/// Returns the CoS values that output policies of a port and its sub-interfaces write into frames of classes
/// with priority or a guarantee, with their lines.
fn written(snapshot: &Snapshot, trees: &[Vec<Node>], parts: &[Parts], id: PortId) -> Vec<(u8, usize)> {
    let name = snapshot.port(id).name.as_str();
    let is_part = |node: &&Node| match *node.words().as_slice() {
        ["interface", own, ..] => {
            own == name || own.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        }
        _ => false,
    };
    let mut open: Vec<&str> = Vec::new();
    for node in trees[id.device].iter().filter(is_part).filter(|node| !node.is_shut()) {
        open.extend(attached(&node.inner, "output"));
    }
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(policy) = open.pop() {
        if !seen.insert(policy) {
            continue;
        }
        for class in parts[id.device].classes.iter().filter(|class| class.policy == policy) {
            let mut marks = Vec::new();
            let mut is_better = false;
            for (line, words) in &class.lines {
                match words.as_slice() {
                    ["service-policy", inner] => open.push(inner),
                    ["set", "cos", value] => marks.extend(value.parse::<u8>().map(|value| (value, *line))),
                    [command, ..] => is_better |= BETTER.contains(command),
                    [] => {}
                }
            }
            if is_better && class.name != "class-default" {
                found.extend(marks);
            }
        }
    }
    found
}
