//! Devices (Junos) on which only one port has no classifier.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The minimum number of other ports with the classifier. With fewer, the rule reports no port without it.
const LEAST_OTHERS: usize = 2;
/// The names of interfaces without hosts and neighbors: loopbacks, management interfaces and tunnels.
const APART: &[&str] = &["em", "fxp", "irb", "lo", "me", "st", "vme"];

/// Reports the only interface of a device that has IPv4 addresses and no block in `class-of-service`, if all
/// other interfaces with IPv4 addresses have the same classifier of codepoints.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let Some(service) = block(nodes, &["class-of-service", "interfaces"]) else { continue };
        let interfaces = block(nodes, &["interfaces"]).map_or(&[][..], |node| &node.inner);
        let (mut bare, mut names, mut count) = (Vec::new(), BTreeSet::new(), 0);
        for interface in interfaces {
            let [name] = *words(interface).as_slice() else { continue };
            let kind = name.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic());
            if APART.contains(&kind) || !has_address(interface) || interface.is_shut() {
                continue;
            }
            match service.inner.iter().find(|inner| words(inner) == [name]) {
                None => bare.push((name, interface.line.0)),
                Some(own) => {
                    count += 1;
                    names.extend(classifiers(own));
                }
            }
        }
        // A pattern such as `ge-*` can name any port.
        let has_pattern = service.inner.iter().any(|inner| inner.line.1.contains('*'));
        let ([(name, line)], Some(Some(usual)), 1) = (bare.as_slice(), names.first(), names.len()) else {
            continue;
        };
        if count < LEAST_OTHERS || has_pattern {
            continue;
        }
        let message = format!(
            "{name} of {} has no classifier, but all {count} other ports with addresses have {usual}",
            snapshot.devices[device].name
        );
        let effect = "arriving packets get the default classes, regardless of their codepoint".to_owned();
        found.push(snapshot.finding(device, &rules::NETWORK_PORT_INCOMPLETE, *line, (message, effect)));
    }
}

fn has_address(interface: &Node) -> bool {
    let families =
        inside(interface, "family").into_iter().filter(|family| words(family) == ["family", "inet"]);
    families.into_iter().any(|family| !inside(family, "address").is_empty())
}

/// Returns the classifier of codepoints for each unit of an interface; `None` for a classifier of another
/// kind.
fn classifiers<'t>(interface: &Node<'t>) -> Vec<Option<&'t str>> {
    let blocks = inside(interface, "classifiers");
    let own: Vec<Option<&str>> = blocks
        .iter()
        .flat_map(|block| &block.inner)
        .map(|inner| match *words(inner).as_slice() {
            ["dscp", name] => Some(name),
            _ => None,
        })
        .collect();
    if own.is_empty() { vec![None] } else { own }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::classifiers;

    #[test]
    fn another_kind_of_classifier_is_no_peer() {
        let text = "ge-0/0/0 {\n    unit 0 {\n        classifiers {\n            dscp IN;\n        }\n    }\n    unit 1 \
                    {\n        classifiers {\n            exp CORE;\n        }\n    }\n}";
        assert_eq!(classifiers(&read(text)[0]), [Some("IN"), None]);
        assert_eq!(classifiers(&read("ge-0/0/1 {\n    unit 0;\n}")[0]), [None]);
    }
}
