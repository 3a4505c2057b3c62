//! Static routes of Junos in routing instances whose next hop is in no subnet of the instance.

use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::forwarding::addresses;
use crate::rules;

/// Reports static routes of an instance whose next hop is outside of the subnets of its interfaces (Juniper,
/// `static`: without `resolve`, the next hop must be directly connected).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let Some(instances) = block(nodes, &["routing-instances"]) else { continue };
        // With these statements, an instance also has the subnets of other instances.
        let shares = ["rib-groups", "instance-import", "auto-export", "interface-routes"];
        if nodes.iter().any(|node| shares.iter().any(|name| !inside(node, name).is_empty())) {
            continue;
        }
        for instance in &instances.inner {
            let interfaces: Vec<&str> = instance
                .inner
                .iter()
                .filter_map(|inner| match *words(inner).as_slice() {
                    ["interface", name] => Some(name),
                    _ => None,
                })
                .collect();
            let ports = &snapshot.router(device).ports;
            let subnets = |name: &&str| {
                let port = ports.iter().find(|port| port.name == **name);
                port.map_or_else(Vec::new, |port| addresses(port).filter_map(|own| own.subnet()).collect())
            };
            let subnets: Vec<Vec<_>> = interfaces.iter().map(subnets).collect();
            // A port can receive its address at run time.
            let is_known = !subnets.is_empty() && subnets.iter().all(|own| !own.is_empty());
            for (line, hop) in next_hops(instance) {
                if !is_known || subnets.iter().flatten().any(|subnet| subnet.contains(hop.into())) {
                    continue;
                }
                let message = format!(
                    "the next hop {hop} in {} of {} is in no subnet of the instance",
                    words(instance).join(" "),
                    snapshot.devices[device].name
                );
                let effect = "the route is not used: packets take another path, or have none".to_owned();
                let rule = &rules::NETWORK_NEXT_HOP_UNKNOWN;
                found.push(snapshot.finding(device, rule, line, (message, effect)));
            }
        }
    }
}

/// Returns the lines and the next hops of the static routes of an instance.
fn next_hops(instance: &Node) -> Vec<(usize, IpAddr)> {
    let Some(options) = block(&instance.inner, &["routing-options", "static"]) else { return Vec::new() };
    let mut found = Vec::new();
    for route in inside(options, "route") {
        let resolves = words(route).contains(&"resolve") || !inside(route, "resolve").is_empty();
        let of_line = std::iter::once(route).chain(inside(route, "next-hop"));
        for line in of_line.filter(|_| !resolves) {
            let own = words(line);
            let place = own.iter().position(|word| *word == "next-hop");
            let hop = place.and_then(|place| own.get(place + 1)?.parse().ok());
            found.extend(hop.map(|hop| (line.line.0, hop)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::next_hops;

    #[test]
    fn routes_have_next_hops_in_two_forms() {
        let text = "RED {\n    routing-options {\n        static {\n            route 10.0.0.0/8 next-hop 192.0.2.1;\n            route \
                    10.1.0.0/16 {\n                next-hop 192.0.2.5;\n            }\n            route 10.2.0.0/16 \
                    discard;\n            route 10.3.0.0/16 {\n                next-hop 192.0.2.9;\n                resolve;\n            \
                    }\n        }\n    }\n}";
        let found = next_hops(&read(text)[0]);
        assert_eq!(found, [(4, "192.0.2.1".parse().unwrap()), (6, "192.0.2.5".parse().unwrap())]);
    }
}
