//! Policies of firewalls without their mandatory parts, and zones that drop packets of routing protocols.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::forwarding::addresses;
use crate::rules;

/// The mandatory criteria of a policy between zones, and its possible actions, of which one is mandatory.
const CRITERIA: [&str; 3] = ["source-address", "destination-address", "application"];
const ACTIONS: [&str; 3] = ["permit", "deny", "reject"];

/// A BGP neighbor: its address, its line, and whether it has BFD.
struct Neighbor<'t> {
    address: &'t str,
    line: usize,
    has_detection: bool,
}

/// Reports incomplete policies between zones, and ports whose zone drops BGP or BFD of a neighbor.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let Some(security) = block(nodes, &["security"]) else { continue };
        if let Some(policies) =
            block(&security.inner, &["policies"]).filter(|_| !can_inherit(nodes, "policies"))
        {
            for policy in inside(policies, "policy") {
                check_policy(snapshot, device, policy, found);
            }
        }
        let (Some(zones), Some(bgp)) =
            (block(&security.inner, &["zones"]), block(nodes, &["protocols", "bgp"]))
        else {
            continue;
        };
        // A configuration without any list is probably only a part.
        // A device that forwards packets without sessions has no zones in effect.
        let has_sessions = !inside(security, "mode").iter().any(|mode| words(mode).contains(&"packet-based"));
        let is_whole = has_sessions && !can_inherit(nodes, "zones");
        if inside(zones, "host-inbound-traffic").is_empty() || !is_whole {
            continue;
        }
        for neighbor in neighbors(bgp) {
            check_neighbor(snapshot, device, zones, &neighbor, found);
        }
    }
}

fn check_policy(snapshot: &Snapshot, device: usize, policy: &Node, found: &mut Vec<NetworkFinding>) {
    let Some(missing) = missing(policy) else { return };
    let message =
        format!("`{}` of {} has no `{missing}`", words(policy).join(" "), snapshot.devices[device].name);
    let effect = "the device rejects the configuration, or packets between the zones are dropped".to_owned();
    let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
    found.push(snapshot.finding(device, rule, policy.line.0, (message, effect)));
}

/// Returns a mandatory part that a policy lacks (Juniper, "Security Policies User Guide").
fn missing(policy: &Node) -> Option<&'static str> {
    let has = |part: &str, name: &str| {
        let parts = policy.inner.iter().map(|inner| (words(inner), inner));
        parts.into_iter().any(|(own, inner)| match own.as_slice() {
            [first, second, ..] => *first == part && *second == name,
            [first] => *first == part && inner.inner.iter().any(|node| words(node).first() == Some(&name)),
            [] => false,
        })
    };
    // Unified policies can have other criteria in place of the application (Juniper, "Unified Policies").
    let has_application = ["dynamic-application", "url-category"].into_iter().any(|name| has("match", name));
    let is_present = |name: &&str| has("match", name) || (*name == "application" && has_application);
    let criterion = CRITERIA.into_iter().find(|name| !is_present(name));
    criterion.or_else(|| (!ACTIONS.into_iter().any(|name| has("then", name))).then_some("then permit"))
}

/// Returns the neighbors of all groups.
fn neighbors<'t>(bgp: &Node<'t>) -> Vec<Neighbor<'t>> {
    let has_detection =
        |node: &Node| node.inner.iter().any(|inner| words(inner).first() == Some(&"bfd-liveness-detection"));
    let mut found = Vec::new();
    for group in inside(bgp, "group") {
        for neighbor in inside(group, "neighbor") {
            let Some(address) = words(neighbor).get(1).copied() else { continue };
            let has_detection = has_detection(bgp) || has_detection(group) || has_detection(neighbor);
            found.push(Neighbor { address, line: neighbor.line.0, has_detection });
        }
    }
    found
}

/// Reports a neighbor in the subnet of a port if the zone of the port does not accept the packets of the
/// neighbor.
fn check_neighbor(
    snapshot: &Snapshot,
    device: usize,
    zones: &Node,
    neighbor: &Neighbor,
    found: &mut Vec<NetworkFinding>,
) {
    let Ok(address) = neighbor.address.parse::<IpAddr>() else { return };
    let contains = |own: perhop_device::InterfaceAddress| {
        own.subnet().is_some_and(|subnet| subnet.contains(address.into()))
    };
    let mut ports = snapshot.router(device).ports.iter();
    let Some(port) = ports.find(|port| addresses(port).any(contains)) else { return };
    let Some((line, accepted)) = accepted(zones, &port.name) else { return };
    let needed = ["bgp"].into_iter().chain(neighbor.has_detection.then_some("bfd"));
    for protocol in needed.filter(|protocol| !accepted.contains(protocol) && !accepted.contains("all")) {
        let message = format!(
            "{} of {} does not accept {protocol} in its zone, but line {} has the neighbor {address}",
            port.name, snapshot.devices[device].name, neighbor.line
        );
        let effect = "the device drops the packets of the neighbor, so the session does not come up";
        let rule = &rules::NETWORK_PROTOCOL_DENIED;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Returns the line of a port in its zone, and the protocols that the port accepts. The list of a port
/// replaces the list of its zone.
fn accepted<'t>(zones: &Node<'t>, name: &str) -> Option<(usize, BTreeSet<&'t str>)> {
    for zone in inside(zones, "security-zone") {
        let interfaces = zone.inner.iter().filter(|inner| words(inner).first() == Some(&"interfaces"));
        let named = interfaces.flat_map(|node| std::iter::once(node).chain(&node.inner));
        let port = named.into_iter().find(|node| words(node).last() == Some(&name));
        let Some(port) = port else { continue };
        let of_zone = || zone.inner.iter().find(|inner| is_list(inner));
        let list = port.inner.iter().find(|inner| is_list(inner)).or_else(of_zone);
        let protocols = list.map_or_else(Vec::new, |list| inside(list, "protocols"));
        let of_blocks = protocols
            .iter()
            .flat_map(|node| &node.inner)
            .filter_map(|protocol| words(protocol).first().copied());
        let of_lines = protocols.iter().filter_map(|node| words(node).get(1).copied());
        return Some((port.line.0, of_blocks.chain(of_lines).collect()));
    }
    None
}

fn is_list(node: &Node) -> bool {
    words(node) == ["host-inbound-traffic"]
}

#[cfg(test)]
mod tests {
    use super::super::braces::{block, inside, read};
    use super::{accepted, missing, neighbors};

    #[test]
    fn a_policy_needs_criteria_and_an_action() {
        let whole = "policy P {\n    match {\n        source-address any;\n        destination-address any;\n        \
                     application any;\n    }\n    then {\n        permit;\n    }\n}";
        assert_eq!(missing(&read(whole)[0]), None);
        assert_eq!(missing(&read(&whole.replace("        permit;\n", ""))[0]), Some("then permit"));
        assert_eq!(
            missing(&read(&whole.replace("application any", "source-identity any"))[0]),
            Some("application")
        );
        assert_eq!(missing(&read(&whole.replace("application any", "dynamic-application any"))[0]), None);
    }

    #[test]
    fn the_list_of_a_port_replaces_the_list_of_its_zone() {
        let text = "zones {\n    security-zone wan {\n        host-inbound-traffic {\n            protocols {\n                \
                    bgp;\n            }\n        }\n        interfaces {\n            ge-0/0/0.0;\n            ge-0/0/1.0 \
                    {\n                host-inbound-traffic {\n                    protocols bfd;\n                \
                    }\n            }\n        }\n    }\n}";
        let zones = &read(text)[0];
        let protocols = |name| accepted(zones, name).map(|(_, found)| found.into_iter().collect::<Vec<_>>());
        assert_eq!(protocols("ge-0/0/0.0"), Some(vec!["bgp"]));
        assert_eq!(protocols("ge-0/0/1.0"), Some(vec!["bfd"]));
        assert_eq!(protocols("ge-0/0/2.0"), None);
    }

    #[test]
    fn a_group_turns_on_detection_for_its_neighbors() {
        let text = "protocols {\n    bgp {\n        group A {\n            bfd-liveness-detection {\n                \
                    minimum-interval 300;\n            }\n            neighbor 10.0.0.1;\n        }\n        group B {\n            \
                    neighbor 10.0.0.2;\n        }\n    }\n}";
        let nodes = read(text);
        let found = neighbors(block(&nodes, &["protocols", "bgp"]).unwrap());
        let found: Vec<_> = found.iter().map(|own| (own.address, own.has_detection)).collect();
        assert_eq!(found, [("10.0.0.1", true), ("10.0.0.2", false)]);
        assert_eq!(inside(&nodes[0], "neighbor").len(), 2);
    }
}
