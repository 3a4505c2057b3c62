//! Ports with the same name and description on several devices, of which one lacks a policy.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The minimum number of other devices whose port has a policy.
const LEAST_OTHERS: usize = 2;

/// A port of a device, with the policy of a direction.
struct Port<'t> {
    device: usize,
    line: usize,
    policy: Option<&'t str>,
}

/// Reports the only port of its name and description without the policy that all others have, if its device
/// has this policy.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let mut all: BTreeMap<(&str, String, &str), Vec<Port>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            let Some((name, description)) = named(node) else { continue };
            for direction in ["input", "output"] {
                let policy = policy(node, direction);
                let ports = all.entry((name, description.clone(), direction)).or_default();
                ports.push(Port { device, line: node.line.0, policy });
            }
        }
    }
    for ((name, _, direction), ports) in &all {
        let mut lacking = ports.iter().filter(|own| own.policy.is_none());
        let mut others = ports.iter().filter_map(|own| own.policy);
        let (Some(own), None, Some(policy)) = (lacking.next(), lacking.next(), others.next()) else {
            continue;
        };
        let has_policy = devices[own.device].policies.contains_key(policy);
        if ports.len() <= LEAST_OTHERS || !has_policy || !others.all(|other| other == policy) {
            continue;
        }
        let message = format!(
            "{name} of {} has no {direction} policy, but {name} of {} other devices with the same description has \
             {policy}",
            snapshot.devices[own.device].name,
            ports.len() - 1
        );
        let effect = "its packets get neither the marks nor the queues of this policy".to_owned();
        let rule = &rules::NETWORK_POLICY_MISSING;
        found.push(snapshot.finding(own.device, rule, own.line, (message, effect)));
    }
}

/// Returns the name of a port that is up, and the letters of its description.
fn named<'t>(node: &Node<'t>) -> Option<(&'t str, String)> {
    let ["interface", name, ..] = *node.words().as_slice() else { return None };
    if node.inner.iter().any(|inner| inner.line.1.trim() == "shutdown") {
        return None;
    }
    let text = node.inner.iter().find_map(|inner| inner.line.1.trim().strip_prefix("description "))?;
    Some((name, text.chars().filter(|letter| letter.is_alphabetic()).collect()))
}

/// Returns the policy of a port in a direction.
fn policy<'t>(node: &Node<'t>, direction: &str) -> Option<&'t str> {
    node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["service-policy", own, name] if own == direction => Some(name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{named, policy};

    #[test]
    fn a_port_has_a_name_and_a_description() {
        let nodes = read("interface Gi0/1.10\n description data 10\n service-policy input IN\n");
        assert_eq!(named(&nodes[0]), Some(("Gi0/1.10", "data".to_owned())));
        assert_eq!((policy(&nodes[0], "input"), policy(&nodes[0], "output")), (Some("IN"), None));
        assert_eq!(named(&read("interface Gi0/1\n description data\n shutdown\n")[0]), None);
    }
}
