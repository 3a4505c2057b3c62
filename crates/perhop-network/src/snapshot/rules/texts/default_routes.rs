//! Routes that a routing protocol announces only if the device has them: default and static routes.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// Parts of lines by which a device learns routes that are not in the text: DHCP, PPP, and IPsec, whose peers
/// announce subnets (Cisco, "Reverse Route Injection" and "Configuring IKEv2": authorization sets routes).
const LEARNING: [&str; 9] = [
    "aaa authorization group ",
    "crypto ikev2 authorization policy ",
    "ip address dhcp",
    "ip address negotiated",
    "ipv4 address dhcp",
    "ip default-network",
    "ipcp",
    "ip dhcp client",
    "reverse-route",
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
                // IS-IS announces the route in any case (Cisco, "default-information originate (IS-IS)").
                ["default-information", "originate", rest @ ..]
                    if !process.begins_with("router isis")
                        && !has_default
                        && !rest.contains(&"always")
                        && !rest.contains(&"route-map") =>
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
        || (["interface ", "crypto "].iter().any(|start| node.begins_with(start))
            && lines(node).into_iter().any(is_learned))
}

/// Whether a static route begins with a text, in the block of IOS XR or NX-OS that the device model may lack.
fn has_line(nodes: &[Node], start: &str) -> bool {
    nodes.iter().filter(|node| node.begins_with("router static")).flat_map(lines).any(|line| {
        line.begins_with(start)
            && line.line.1.trim_start().starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// Returns all lines of a block that are not about a VRF.
fn lines<'n, 't>(node: &'n Node<'t>) -> Vec<&'n Node<'t>> {
    let is_of_vrf = |inner: &&Node| match *inner.words().as_slice() {
        ["address-family", ref rest @ ..] => rest.contains(&"vrf"),
        ["vrf", ..] => true,
        _ => false,
    };
    let own = node.inner.iter().filter(|inner| !is_of_vrf(inner));
    own.flat_map(|inner| std::iter::once(inner).chain(lines(inner))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{has_line, learns, lines};

    #[test]
    fn providers_and_bgp_give_routes() {
        let learned = |text: &str| learns(&read(text)[0]);
        assert!(learned("router bgp 1\n") && learned("interface Gi0/0\n ip address dhcp\n"));
        assert!(!learned("router ospf 1\n") && !learned("interface Gi0/0\n ip address 10.0.0.1 255.0.0.0\n"));
        assert!(learned("router ospf 1 vrf A\n"));
    }

    #[test]
    fn peers_of_ipsec_give_routes() {
        let learned = |text: &str| learns(&read(text)[0]);
        assert!(learned("crypto map M 10 ipsec-isakmp\n set peer 192.0.2.1\n reverse-route static\n"));
        assert!(learned("crypto ikev2 authorization policy P\n route set interface\n"));
        assert!(!learned("crypto map M 10 ipsec-isakmp\n set peer 192.0.2.1\n"));
    }

    #[test]
    fn lines_of_vrfs_are_left_out() {
        let text = "router ospf 1\n default-information originate\n vrf A\n  default-information originate\n";
        assert_eq!(lines(&read(text)[0]).len(), 1);
        let text = "router eigrp N\n address-family ipv4 vrf A autonomous-system 1\n  redistribute static\n";
        assert!(lines(&read(text)[0]).is_empty());
    }

    #[test]
    fn static_routes_can_be_in_a_block() {
        let nodes = read("router static\n address-family ipv4 unicast\n  0.0.0.0/0 10.0.0.1\n");
        assert!(has_line(&nodes, "0.0.0.0") && has_line(&nodes, ""));
        assert!(!has_line(&read("router static\n address-family ipv4 unicast\n"), ""));
    }
}
