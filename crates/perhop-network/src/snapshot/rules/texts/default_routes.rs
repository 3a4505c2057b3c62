//! Routes that a routing protocol announces only if the device has them: default and static routes.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// Parts of lines by which a device learns routes that are not in the text: DHCP and PPP.
const LEARNING: [&str; 6] = [
    "ip address dhcp",
    "ip address negotiated",
    "ipv4 address dhcp",
    "ip default-network",
    "ipcp",
    "ip dhcp client",
];

/// Reports `default-information originate` without a default route, and `redistribute static` without a
/// static route.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        if nodes.iter().any(learns) {
            continue;
        }
        let processes: Vec<&Node> = nodes.iter().filter(|node| is_process(node)).collect();
        let [process] = processes.as_slice() else { continue };
        let routes = &snapshot.router(device).forwarding.routes;
        let configured = || routes.iter().filter(|route| route.vrf.is_none());
        let has_default = configured().any(|route| route.prefix.length() == 0) || has_line(nodes, "0.0.0.0");
        let has_static = configured().next().is_some() || has_line(nodes, "");
        for line in lines(process) {
            let (missing, route) = match line.words().as_slice() {
                ["default-information", "originate", rest @ ..]
                    if !has_default && !rest.contains(&"always") && !rest.contains(&"route-map") =>
                {
                    ("default route", "the default route")
                }
                ["redistribute", "static", ..] if !has_static => ("static route", "the routes"),
                _ => continue,
            };
            let name = &snapshot.devices[device].name;
            let message = format!("{name} has no {missing}, so `{}` announces nothing", line.line.1.trim());
            let effect = format!("the other routers do not learn {route} that they send packets along");
            found.push(snapshot.finding(
                device,
                &rules::NETWORK_ROUTE_MISSING,
                line.line.0,
                (message, effect),
            ));
        }
    }
}

/// Whether a block is a process of OSPF, IS-IS or EIGRP in the global table.
fn is_process(node: &Node) -> bool {
    ["router ospf ", "router isis", "router eigrp "].iter().any(|start| node.begins_with(start))
}

/// Whether a device may learn a default route: from BGP or RIP, from a provider, or in a VRF.
fn learns(node: &Node) -> bool {
    let is_protocol = ["router bgp", "router rip"].iter().any(|start| node.begins_with(start));
    let is_of_vrf = is_process(node) && node.words().contains(&"vrf");
    let is_learned = |inner: &Node| LEARNING.iter().any(|part| inner.line.1.contains(part));
    is_protocol
        || is_of_vrf
        || is_learned(node)
        || (node.begins_with("interface ") && node.inner.iter().any(is_learned))
}

/// Whether a static route begins with a text, in the block of IOS XR or NX-OS that the device model may lack.
fn has_line(nodes: &[Node], start: &str) -> bool {
    nodes.iter().filter(|node| node.begins_with("router static")).flat_map(lines).any(|line| {
        line.begins_with(start)
            && line.line.1.trim_start().starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// Returns all lines of a block.
fn lines<'n, 't>(node: &'n Node<'t>) -> Vec<&'n Node<'t>> {
    node.inner.iter().flat_map(|inner| std::iter::once(inner).chain(lines(inner))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{has_line, learns};

    #[test]
    fn providers_and_bgp_give_routes() {
        let learned = |text: &str| learns(&read(text)[0]);
        assert!(learned("router bgp 1\n") && learned("interface Gi0/0\n ip address dhcp\n"));
        assert!(!learned("router ospf 1\n") && !learned("interface Gi0/0\n ip address 10.0.0.1 255.0.0.0\n"));
        assert!(learned("router ospf 1 vrf A\n"));
    }

    #[test]
    fn static_routes_can_be_in_a_block() {
        let nodes = read("router static\n address-family ipv4 unicast\n  0.0.0.0/0 10.0.0.1\n");
        assert!(has_line(&nodes, "0.0.0.0") && has_line(&nodes, ""));
        assert!(!has_line(&read("router static\n address-family ipv4 unicast\n"), ""));
    }
}
