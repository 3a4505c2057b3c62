//! Network statements of BGP for which the device has no route.

use std::net::IpAddr;

use perhop_device::Router;
use perhop_qos::classifier::Prefix;

use super::super::bgp::families;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// Lines by which the routing table gets routes that perhop does not compute.
const LEARNING: &[&str] = &[
    "router eigrp ",
    "router isis",
    "router lisp",
    "router odr",
    "router ospf ",
    "router rip",
    "ip route vrf ",
];

/// Reports networks of BGP that are neither a subnet nor a static route of their device, if no other protocol
/// can provide a route to them.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let learns = |node: &Node| LEARNING.iter().any(|start| node.line.1.starts_with(start));
        if nodes.iter().any(learns) {
            continue;
        }
        let router = snapshot.router(device);
        let families = families(snapshot.devices[device].device.numbered_lines());
        for (line, prefix) in
            families.iter().filter(|family| family.vrf.is_none()).flat_map(|one| &one.networks)
        {
            let is_default = prefix.length() == 0;
            if is_default || !prefix.network().is_ipv4() || has(router, *prefix) {
                continue;
            }
            let message = format!(
                "BGP of {} names the network {prefix}, but no subnet or static route of the device has this prefix",
                snapshot.devices[device].name
            );
            let effect = "the device does not announce it: other sites do not reach this one".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_MISSING, *line, (message, effect)));
        }
    }
}

/// Whether a prefix is a subnet or a route of a device.
fn has(router: &Router, prefix: Prefix) -> bool {
    let is_subnet = |address: IpAddr, length: u8| address == prefix.network() && length == prefix.length();
    let mut subnets = router.ports.iter().flat_map(addresses).filter_map(|own| own.subnet());
    subnets.any(|own| is_subnet(own.network(), own.length()))
        || router
            .forwarding
            .routes
            .iter()
            .any(|route| is_subnet(route.prefix.network(), route.prefix.length()))
}
