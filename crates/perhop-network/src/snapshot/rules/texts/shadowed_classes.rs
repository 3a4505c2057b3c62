//! Classes that match packets by access list, although an earlier class matches the codepoint that the device
//! writes into these packets.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::Dscp;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::parts::{ClassPart, Parts, list_of};
use crate::rules;

/// Reports classes that match packets by access list, if the device writes a codepoint into these packets and
/// an earlier class of the policy matches this codepoint.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, parts) in devices.iter().enumerate() {
        let marks = marks(parts, &input_policies(&trees[device]));
        for (policy, line) in &parts.policies {
            if !parts.used.contains(policy) {
                continue;
            }
            let classes: Vec<&ClassPart> = parts.classes_of(policy).collect();
            for (place, class) in classes.iter().enumerate().filter(|(_, class)| !writes_mark(class)) {
                let Some(lists) = lists(parts, class.name) else { continue };
                let Some(written) = written(&marks, &lists) else { continue };
                let takes = |earlier: &&&ClassPart| {
                    let own = parts.codepoints(earlier.name);
                    own.is_some_and(|own| written.iter().all(|mark| own.contains(mark)))
                };
                let Some(earlier) = classes[..place].iter().find(takes) else { continue };
                let own_line = line_of(&trees[device], *line, class.name).unwrap_or(*line);
                let names: Vec<String> =
                    written.iter().filter_map(|mark| Dscp::new(*mark)).map(|mark| mark.to_string()).collect();
                let message = format!(
                    "class {} of {policy} matches no packets: {} writes {} into the packets of its list, and the earlier \
                     class {} matches this codepoint",
                    class.name,
                    snapshot.devices[device].name,
                    names.join(" or "),
                    earlier.name
                );
                let effect = "these packets get the treatment of the earlier class".to_owned();
                let rule = &rules::NETWORK_CLASS_SHADOWED;
                found.push(snapshot.finding(device, rule, own_line, (message, effect)));
            }
        }
    }
}

/// Returns the input policies of interfaces.
fn input_policies<'t>(nodes: &[Node<'t>]) -> BTreeSet<&'t str> {
    let lines =
        nodes.iter().filter(|node| node.line.1.starts_with("interface ")).flat_map(|node| &node.inner);
    lines
        .filter_map(|line| match *line.words().as_slice() {
            ["service-policy", "input", name] => Some(name),
            _ => None,
        })
        .collect()
}

/// Returns the codepoints that input policies write into packets, by the access list that matches the
/// packets.
fn marks<'t>(parts: &Parts<'t>, inputs: &BTreeSet<&str>) -> BTreeMap<&'t str, BTreeSet<u8>> {
    let mut found: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
    let mut unknown: BTreeSet<&str> = BTreeSet::new();
    for class in parts.classes.iter().filter(|class| inputs.contains(class.policy)) {
        let Some(map) = parts.class_maps.get(class.name) else { continue };
        let lists: Vec<&str> = map.lines.iter().filter_map(|(_, words)| list_of(words)).collect();
        let mark = class.lines.iter().find_map(|(_, words)| match *words.as_slice() {
            ["set", "dscp", value] | ["set", "ip", "dscp", value] => value.parse::<Dscp>().ok(),
            _ => None,
        });
        for list in lists {
            match mark {
                Some(mark) if map.lines.len() == 1 => _ = found.entry(list).or_default().insert(mark.value()),
                _ => _ = unknown.insert(list),
            }
        }
    }
    found.retain(|list, _| !unknown.contains(list));
    found
}

/// Returns the access lists of a class whose only criteria are access lists, if a packet needs to match only
/// one of them.
fn lists<'t>(parts: &Parts<'t>, class: &str) -> Option<Vec<&'t str>> {
    let map = parts.class_maps.get(class)?;
    let found: Option<Vec<&str>> = map.lines.iter().map(|(_, words)| list_of(words)).collect();
    found.filter(|found| !found.is_empty() && (found.len() == 1 || map.kind == "match-any"))
}

/// Returns the codepoints in the packets of all lists; `None` if the device does not mark the packets of one
/// of the lists.
fn written(marks: &BTreeMap<&str, BTreeSet<u8>>, lists: &[&str]) -> Option<BTreeSet<u8>> {
    let mut found = BTreeSet::new();
    for list in lists {
        found.extend(marks.get(list)?);
    }
    Some(found)
}

fn writes_mark(class: &ClassPart) -> bool {
    class.lines.iter().any(|(_, words)| words.first() == Some(&"set"))
}

/// Returns the line of a class in the policy whose block begins at the line `policy`.
fn line_of(nodes: &[Node], policy: usize, class: &str) -> Option<usize> {
    let node = nodes.iter().find(|node| node.line.0 == policy)?;
    let own = node.inner.iter().find(|inner| inner.words().starts_with(&["class", class]))?;
    Some(own.line.0)
}
