//! Routing instances of VPNs without a mandatory part.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// Reports routing instances without the statements that a VPN needs.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let mut incomplete = Vec::new();
        if let Some(instances) = block(nodes, &["routing-instances"]) {
            let has_distinguishers = block(nodes, &["routing-options"]).is_some_and(|options| {
                options.inner.iter().any(|inner| words(inner).first() == Some(&"route-distinguisher-id"))
            });
            let all = instances.inner.iter();
            incomplete.extend(all.filter_map(|instance| {
                let missing = missing_in_instance(instance)?;
                (missing != "route-distinguisher" || !has_distinguishers).then_some((instance, missing))
            }));
        }
        incomplete.extend(without_distinguisher(nodes).into_iter().map(|node| (node, "rd")));
        for (node, missing) in incomplete {
            let (what, effect) = match missing {
                "instance-type" => (
                    "has no `instance-type vrf`, but statements of a VPN",
                    "the device rejects the configuration, or the instance is no VPN",
                ),
                "vrf-target" => ("has no `vrf-target`", "the VPN exchanges no routes with its other sites"),
                _ => ("has no route distinguisher", "the VPN exchanges no routes with its other sites"),
            };
            let name = words(node).join(" ");
            let message = format!("`{name}` of {} {what}", snapshot.devices[device].name);
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, node.line.0, (message, effect.to_owned())));
        }
    }
}

/// Returns the mandatory statement that an instance with braces lacks (Juniper, "Layer 3 VPNs User Guide").
fn missing_in_instance(instance: &Node) -> Option<&'static str> {
    let has = |start: &str| {
        instance.inner.iter().any(|inner| words(inner).first().is_some_and(|first| first.starts_with(start)))
    };
    let is_vpn = instance.inner.iter().any(|inner| words(inner) == ["instance-type", "vrf"]);
    if !is_vpn {
        let has_parts = has("route-distinguisher") && (has("vrf-target") || has("vrf-import"));
        return (has_parts && !has("instance-type")).then_some("instance-type");
    }
    if !has("route-distinguisher") {
        return Some("route-distinguisher");
    }
    (!has("vrf-target") && !has("vrf-import")).then_some("vrf-target")
}

/// Returns the VRFs of Cisco devices that BGP names, but that have no route distinguisher. Without a route
/// distinguisher, the device refuses the address family of the VRF (RFC 4364 §4.2; Cisco, "MPLS Layer 3 VPNs
/// Configuration Guide").
fn without_distinguisher<'n, 't>(nodes: &'n [Node<'t>]) -> Vec<&'n Node<'t>> {
    let mut of_bgp: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    let has = |node: &Node| node.inner.iter().any(|inner| inner.begins_with("rd "));
    let defined: BTreeSet<&str> =
        nodes.iter().filter(|node| has(node)).filter_map(|node| node.words().last().copied()).collect();
    for inner in nodes.iter().filter(|node| node.begins_with("router bgp ")).flat_map(|node| &node.inner) {
        match *inner.words().as_slice() {
            ["address-family", _, "vrf", name] | ["address-family", _, _, "vrf", name] => {
                of_bgp.insert(name);
            }
            // IOS XR has the distinguisher in the block of BGP.
            ["vrf", name] if !has(inner) && !defined.contains(name) && exchanges_labels(nodes) => {
                found.push(inner);
            }
            _ => {}
        }
    }
    for node in nodes {
        if let ["vrf", "definition", name] | ["ip", "vrf", name] = *node.words().as_slice()
            && of_bgp.contains(name)
            && !has(node)
        {
            found.push(node);
        }
    }
    found
}

/// Whether a device of IOS XR exchanges routes of VPNs: its BGP has a family for them. NX-OS has the
/// distinguisher in the block of the VRF.
fn exchanges_labels(nodes: &[Node]) -> bool {
    let processes = nodes.iter().filter(|node| node.begins_with("router bgp "));
    let is_vpn = |inner: &Node| inner.line.1.trim() == "address-family vpnv4 unicast";
    !nodes.iter().any(|node| node.begins_with("feature "))
        && processes.flat_map(|node| &node.inner).any(is_vpn)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{missing_in_instance, without_distinguisher};

    #[test]
    fn an_instance_of_a_vpn_needs_its_parts() {
        let whole =
            "RED {\n    instance-type vrf;\n    route-distinguisher 1:1;\n    vrf-target target:1:1;\n}";
        let missing = |text: &str| missing_in_instance(&read(text)[0]);
        assert_eq!(missing(whole), None);
        assert_eq!(missing(&whole.replace("    instance-type vrf;\n", "")), Some("instance-type"));
        assert_eq!(
            missing(&whole.replace("    route-distinguisher 1:1;\n", "")),
            Some("route-distinguisher")
        );
        assert_eq!(missing(&whole.replace("vrf-target target:1:1", "vrf-table-label")), Some("vrf-target"));
        assert_eq!(missing("RED {\n    instance-type virtual-router;\n}"), None);
    }

    #[test]
    fn a_vrf_of_bgp_needs_a_distinguisher() {
        let text = "vrf definition A\n rd 1:1\nvrf definition B\nvrf definition C\nrouter bgp 1\n address-family ipv4 vrf \
                    A\n address-family ipv4 unicast vrf B\n";
        let lines: Vec<usize> = without_distinguisher(&read(text)).iter().map(|node| node.line.0).collect();
        assert_eq!(lines, [3]);
        let text = "router bgp 1\n address-family vpnv4 unicast\n vrf A\n  rd 1:1\n vrf B\n  address-family ipv4 \
                    unicast\n";
        let lines: Vec<usize> = without_distinguisher(&read(text)).iter().map(|node| node.line.0).collect();
        assert_eq!(lines, [5]);
    }
}
