//! Ports of Junos that exchange labels, but lack a part: `protocols mpls`, or the whole block of LDP.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::rules;

/// Reports ports that LDP lists and `protocols mpls` does not, and devices without LDP that have a port for
/// labels whose other end runs LDP.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let effect = "labeled packets do not pass: VPNs lose their routes over this link";
    for (device, nodes) in trees.iter().enumerate() {
        let Some(protocols) = block(nodes, &["protocols"]) else { continue };
        let [ldp, mpls] = ["ldp", "mpls"].map(|name| listed(protocols, name));
        if mpls.contains("all") || ["mpls", "ldp"].iter().any(|name| can_inherit(nodes, name)) {
            continue;
        }
        for port in
            ldp.iter().filter(|port| !port.starts_with("lo0") && *port != "all" && !mpls.contains(*port))
        {
            let message = format!(
                "LDP of {} lists {port}, but `protocols mpls` does not",
                snapshot.devices[device].name
            );
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, protocols.line.0, (message, effect.to_owned())));
        }
    }
    for [own, other] in snapshot.wires() {
        let ldp =
            |device: usize| block(&trees[device], &["protocols"]).map(|protocols| listed(protocols, "ldp"));
        if can_inherit(&trees[own.device], "ldp") {
            continue;
        }
        let (Some(near), Some(far)) = (ldp(own.device), ldp(other.device)) else { continue };
        let uses_other = !inside_protocols(&trees[own.device], &["rsvp", "source-packet-routing"]).is_empty();
        if !near.is_empty() || uses_other || !far.contains(snapshot.port(other).name.as_str()) {
            continue;
        }
        let Some(unit) = unit_with_labels(&trees[own.device], &snapshot.port(own).name) else { continue };
        let message = format!(
            "{} carries labels, but {} has no LDP, which {} at the other end has",
            snapshot.port_name(own),
            snapshot.devices[own.device].name,
            snapshot.port_name(other)
        );
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(own.device, rule, unit, (message, effect.to_owned())));
    }
}

/// Returns the ports on which a protocol runs. A name without a unit means unit 0.
fn listed(protocols: &Node, name: &str) -> BTreeSet<String> {
    let interfaces = block(&protocols.inner, &[name]).map_or_else(Vec::new, |node| inside(node, "interface"));
    let active = interfaces.into_iter().filter(|line| !line.is_shut() && !words(line).contains(&"disable"));
    let names = active.filter_map(|line| words(line).get(1).copied());
    names
        .map(|name| if name == "all" || name.contains('.') { name.to_owned() } else { format!("{name}.0") })
        .collect()
}

fn inside_protocols<'n, 't>(nodes: &'n [Node<'t>], names: &[&str]) -> Vec<&'n Node<'t>> {
    let protocols = block(nodes, &["protocols"]);
    names.iter().flat_map(|name| protocols.map_or_else(Vec::new, |node| inside(node, name))).collect()
}

/// Returns the line of a unit with `family mpls`.
fn unit_with_labels(nodes: &[Node], name: &str) -> Option<usize> {
    let (interface, unit) = name.rsplit_once('.')?;
    let own = block(nodes, &["interfaces", interface])?;
    let unit = own.inner.iter().find(|inner| words(inner) == ["unit", unit])?;
    let has_labels = unit.inner.iter().any(|family| words(family) == ["family", "mpls"]);
    has_labels.then_some(unit.line.0)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{listed, unit_with_labels};

    #[test]
    fn protocols_list_ports() {
        let text = "protocols {\n    ldp {\n        interface ge-0/0/0.0;\n        interface \
            lo0;\n        interface fxp0.0 {\n            \
                    disable;\n        }\n    }\n    mpls {\n        interface \
                    all;\n    }\n}";
        let nodes = read(text);
        assert_eq!(listed(&nodes[0], "ldp").into_iter().collect::<Vec<_>>(), ["ge-0/0/0.0", "lo0.0"]);
        assert!(listed(&nodes[0], "mpls").contains("all") && listed(&nodes[0], "rsvp").is_empty());
    }

    #[test]
    fn a_unit_carries_labels_by_its_family() {
        let text = "interfaces {\n    ge-0/0/0 {\n        unit 0 {\n            family mpls;\n        \
            }\n        unit 1 {\n            \
                    family inet;\n        }\n    }\n}";
        let nodes = read(text);
        assert_eq!(unit_with_labels(&nodes, "ge-0/0/0.0"), Some(3));
        assert_eq!(unit_with_labels(&nodes, "ge-0/0/0.1"), None);
    }
}
