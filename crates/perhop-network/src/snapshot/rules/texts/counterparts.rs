//! Ports with a policy in one direction only, although other lines of the device show that a policy for the
//! other direction exists.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use super::port_pairs::description_kind;
use crate::rules;

/// The words for the two directions in names.
const DIRECTIONS: [[&str; 2]; 5] =
    [["IN", "OUT"], ["INPUT", "OUTPUT"], ["INGRESS", "EGRESS"], ["INBOUND", "OUTBOUND"], ["FROM", "TO"]];
/// The minimum number of other ports that have both policies.
const LEAST_OTHERS: usize = 2;

/// A port with its input and its output policy.
struct Port<'t> {
    line: usize,
    name: &'t str,
    kind: String,
    policies: [Option<&'t str>; 2],
}

/// Reports ports with a policy in only one direction, if a policy for the other direction exists. This is a
/// policy that no line uses and whose name differs only in the direction, or the policy that all other ports
/// with the same attached policy have.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, (nodes, parts)) in trees.iter().zip(devices).enumerate() {
        let ports: Vec<Port> = nodes.iter().filter_map(read).collect();
        for port in &ports {
            let (attached, direction) = match port.policies {
                [Some(name), None] => (name, 0),
                [None, Some(name)] => (name, 1),
                _ => continue,
            };
            let unused = parts.policies.keys().find(|name| {
                !parts.used.contains(*name) && name_of_other(attached, direction).as_deref() == Some(*name)
            });
            let Some(missing) = unused.copied().or_else(|| usual_other(&ports, attached, direction)) else {
                continue;
            };
            let direction = ["output", "input"][direction];
            let message = format!(
                "{} of {} has policy-map {attached}, but no {direction} policy such as {missing}",
                port.name, snapshot.devices[device].name
            );
            let effect =
                "packets of this direction get neither the marks nor the queues of a policy".to_owned();
            found.push(snapshot.finding(
                device,
                &rules::NETWORK_POLICY_MISSING,
                port.line,
                (message, effect),
            ));
        }
    }
}

/// Reads the policies of a port in use; `None` for other blocks and for ports without a policy.
fn read<'t>(node: &Node<'t>) -> Option<Port<'t>> {
    let name = node.line.1.strip_prefix("interface ")?.trim();
    let mut policies = [None, None];
    for inner in &node.inner {
        match inner.words().as_slice() {
            ["shutdown"] => return None,
            ["service-policy", "input", policy] => policies[0] = Some(*policy),
            ["service-policy", "output", policy] => policies[1] = Some(*policy),
            _ => {}
        }
    }
    let kind = description_kind(node);
    policies.iter().any(Option::is_some).then_some(Port { line: node.line.0, name, kind, policies })
}

/// Returns the name of the policy for the other direction; `None` if `name` states no direction, or several
/// directions.
fn name_of_other(name: &str, direction: usize) -> Option<String> {
    let parts: Vec<&str> = name.split_inclusive(['-', '_', '.']).collect();
    let mut changed = parts.iter().enumerate().filter_map(|(place, part)| {
        let word = part.trim_end_matches(['-', '_', '.']);
        let pair = DIRECTIONS.iter().find(|pair| pair[direction].eq_ignore_ascii_case(word))?;
        Some((place, part.replacen(word, pair[1 - direction], 1)))
    });
    let (Some((place, part)), None) = (changed.next(), changed.next()) else { return None };
    let mut other: Vec<&str> = parts;
    other[place] = &part;
    Some(other.concat())
}

/// Returns the policy that all other ports with the policy `attached` have in the other direction, if only
/// one port has no policy in that direction. Requires that another port has a description of the same kind.
fn usual_other<'t>(ports: &[Port<'t>], attached: &str, direction: usize) -> Option<&'t str> {
    let mut others: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for port in ports.iter().filter(|port| port.policies[direction] == Some(attached)) {
        *others.entry(port.policies[1 - direction]).or_default() += 1;
    }
    let (whole, bare): (Vec<&Port>, Vec<&Port>) = ports
        .iter()
        .filter(|port| port.policies[direction] == Some(attached))
        .partition(|port| port.policies[1 - direction].is_some());
    let is_alike = |port: &&Port| whole.iter().any(|other| other.kind == port.kind);
    let is_only_exception = others.len() == 2 && others.get(&None) == Some(&1) && bare.iter().all(is_alike);
    let usual = others.into_iter().find_map(|(other, count)| Some((other?, count)));
    usual.filter(|(_, count)| is_only_exception && *count >= LEAST_OTHERS).map(|(other, _)| other)
}
