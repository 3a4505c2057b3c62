//! Sets of codepoints that share a class on all devices except one. On that device, the class has a different
//! codepoint in place of one of them.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::Dscp;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use super::parts::Parts;
use crate::rules;

/// The minimum number of other devices that have a class with the usual set of codepoints.
const LEAST_OTHERS: usize = 2;

/// The codepoints of a class, with its device, line and name.
struct Group<'t> {
    device: usize,
    line: usize,
    name: &'t str,
    codepoints: BTreeSet<u8>,
}

/// Reports a class that has a codepoint which no other device names, in place of a codepoint that other
/// devices have in the class.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let mut groups = Vec::new();
    for (device, (nodes, parts)) in trees.iter().zip(parts).enumerate() {
        for (name, class) in &parts.class_maps {
            if let Some(codepoints) = parts.codepoints(name) {
                let codepoints = codepoints.into_iter().collect();
                groups.push(Group { device, line: class.line, name, codepoints });
            }
        }
        add_classifiers(&mut groups, device, nodes);
    }
    // The devices that have a class with each set, and the devices that name each codepoint.
    let mut holders: BTreeMap<&BTreeSet<u8>, BTreeSet<usize>> = BTreeMap::new();
    let mut named: BTreeMap<u8, BTreeSet<usize>> = BTreeMap::new();
    for group in &groups {
        holders.entry(&group.codepoints).or_default().insert(group.device);
        for codepoint in &group.codepoints {
            named.entry(*codepoint).or_default().insert(group.device);
        }
    }
    for group in groups.iter().filter(|group| group.codepoints.len() > 1) {
        let extra: BTreeSet<u8> =
            group.codepoints.iter().copied().filter(|codepoint| named[codepoint].len() == 1).collect();
        let shared: BTreeSet<u8> = group.codepoints.difference(&extra).copied().collect();
        if extra.is_empty() || shared.is_empty() {
            continue;
        }
        let is_instead = |(set, devices): &(&&BTreeSet<u8>, &BTreeSet<usize>)| {
            let is_absent = |codepoint: &u8| !named[codepoint].contains(&group.device);
            let missing: Vec<&u8> = set.difference(&shared).collect();
            shared.is_subset(set)
                && missing.len() == extra.len()
                && missing.into_iter().all(is_absent)
                && devices.iter().filter(|device| **device != group.device).count() >= LEAST_OTHERS
        };
        let Some((usual, devices)) = holders.iter().find(is_instead) else { continue };
        let message = format!(
            "class {} of {} has {}, but {} devices have {} in a class",
            group.name,
            snapshot.devices[group.device].name,
            text(&group.codepoints),
            devices.len(),
            text(usual)
        );
        let effect = "packets with the missing codepoint are in another class at this device".to_owned();
        let rule = &rules::NETWORK_MARK_UNMATCHED;
        found.push(snapshot.finding(group.device, rule, group.line, (message, effect)));
    }
}

/// Adds the codepoints that classifiers assign to each forwarding class.
fn add_classifiers<'t>(groups: &mut Vec<Group<'t>>, device: usize, nodes: &[Node<'t>]) {
    let classifiers = block(nodes, &["class-of-service", "classifiers"]).map_or(&[][..], |node| &node.inner);
    for classifier in classifiers {
        let ["dscp", _] = *words(classifier).as_slice() else { continue };
        for class in &classifier.inner {
            let ["forwarding-class", name] = *words(class).as_slice() else { continue };
            let mut found = Group { device, line: class.line.0, name, codepoints: BTreeSet::new() };
            for priority in &class.inner {
                let own = words(priority);
                let values = own.iter().skip_while(|word| **word != "code-points").skip(1);
                let codepoints: Vec<u8> = values.filter_map(|word| codepoint(word)).collect();
                if codepoints.len() > 1 {
                    found.line = priority.line.0;
                }
                found.codepoints.extend(codepoints);
            }
            groups.push(found);
        }
    }
}

fn codepoint(word: &str) -> Option<u8> {
    let word = if word == "be" { "default" } else { word };
    let is_bits = word.len() == 6 && word.bytes().all(|digit| matches!(digit, b'0' | b'1'));
    if is_bits { u8::from_str_radix(word, 2).ok() } else { Some(word.parse::<Dscp>().ok()?.value()) }
}

fn text(codepoints: &BTreeSet<u8>) -> String {
    let words = codepoints.iter().filter_map(|value| Some(Dscp::new(*value)?.to_string()));
    words.collect::<Vec<_>>().join(", ")
}
