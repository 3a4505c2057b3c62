//! Static routes in a VRF whose next hop is not reachable, and tunnels without a route to their other end in
//! their VRF.

use std::collections::BTreeSet;
use std::net::IpAddr;

use perhop_device::{Port, Route, RouteOrigin, RouteTarget, Tunnel, TunnelEnds, TunnelSource};

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// Reports static routes of a VRF whose next hop is not reachable, and tunnels without a route to their other
/// end.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    // In configurations with braces, the sources of the routes of a table are in other lines, which this rule
    // does not read.
    let is_lines = |nodes: &[Node]| !nodes.iter().any(|node| node.line.1.trim_end().ends_with('{'));
    for (device, nodes) in trees.iter().enumerate().filter(|(_, nodes)| is_lines(nodes)) {
        let learning = learning(snapshot, device, nodes);
        check_next_hops(snapshot, device, &learning, found);
        check_tunnels(snapshot, device, &learning, found);
    }
}

/// Generates the ports of a device in a VRF.
fn ports_in<'s>(snapshot: &'s Snapshot, device: usize, vrf: &'s str) -> impl Iterator<Item = &'s Port> {
    let is_in = move |port: &&Port| port.forwarding.vrf.as_ref().is_some_and(|own| own.value == vrf);
    snapshot.router(device).ports.iter().filter(is_in)
}

/// Whether a subnet of a VRF contains an address.
fn is_connected(snapshot: &Snapshot, device: usize, vrf: &str, address: IpAddr) -> bool {
    ports_in(snapshot, device, vrf).flat_map(addresses).any(|own| own.is_neighbor(address))
}

/// Reports static routes of a VRF whose next hop is in no subnet and no other route of the VRF.
fn check_next_hops(
    snapshot: &Snapshot,
    device: usize,
    learning: &BTreeSet<&str>,
    found: &mut Vec<NetworkFinding>,
) {
    let routes = &snapshot.router(device).forwarding.routes;
    for route in routes.iter().filter(|route| route.origin == RouteOrigin::Configured) {
        let (Some(vrf), RouteTarget::NextHop(hop)) = (route.vrf.as_deref(), &route.via) else { continue };
        let resolves = |other: &Route| {
            other.line != route.line && is_of(other, vrf) && other.prefix.contains((*hop).into())
        };
        let has_subnets = ports_in(snapshot, device, vrf).flat_map(addresses).next().is_some();
        let text = snapshot.devices[device].device.line_text(route.line);
        let is_global = text.split_whitespace().any(|word| word == "global");
        if is_global
            || learning.contains(vrf)
            || !has_subnets
            || is_connected(snapshot, device, vrf, *hop)
            || routes.iter().any(resolves)
        {
            continue;
        }
        let message = format!(
            "the next hop {hop} of {} is in no subnet and no route of the VRF {vrf}",
            snapshot.devices[device].name
        );
        let effect = "the route is not in use: its packets are dropped".to_owned();
        let rule = &rules::NETWORK_NEXT_HOP_UNKNOWN;
        found.push(snapshot.finding(device, rule, route.line, (message, effect)));
    }
}

fn is_of(route: &Route, vrf: &str) -> bool {
    route.vrf.as_deref() == Some(vrf)
}

/// Reports tunnels whose outer packets have no route in their VRF.
fn check_tunnels(
    snapshot: &Snapshot,
    device: usize,
    learning: &BTreeSet<&str>,
    found: &mut Vec<NetworkFinding>,
) {
    let router = snapshot.router(device);
    for (port, own) in router.ports.iter().enumerate() {
        let Some(tunnel) = own.forwarding.tunnel.as_ref() else { continue };
        let Some(vrf) = tunnel.vrf.as_ref().filter(|vrf| !learning.contains(vrf.value.as_str())) else {
            continue;
        };
        let has_route = |to: &IpAddr| {
            let covers = |route: &Route| is_of(route, &vrf.value) && route.prefix.contains((*to).into());
            is_connected(snapshot, device, &vrf.value, *to) || router.forwarding.routes.iter().any(covers)
        };
        let mut ends = far_ends(snapshot, PortId { device, port }, tunnel).into_iter();
        let Some(lost) = ends.find(|to| !has_route(to)) else { continue };
        let message = format!(
            "{} sends its packets in the VRF {}, which has no route to the other end {lost}",
            snapshot.port_name(PortId { device, port }),
            vrf.value
        );
        let effect = "the tunnel stays down: its packets take another path, or have no path".to_owned();
        found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_MISSING, vrf.line, (message, effect)));
    }
}

/// Returns the outer addresses of the other ends of a tunnel: the addresses that the tunnel names, and the
/// sources of the tunnels that name the source of this tunnel.
fn far_ends(snapshot: &Snapshot, id: PortId, tunnel: &Tunnel) -> BTreeSet<IpAddr> {
    let mut found: BTreeSet<IpAddr> = named(tunnel).collect();
    let own: BTreeSet<IpAddr> = sources(snapshot, id.device, tunnel).collect();
    if tunnel.ends == TunnelEnds::One {
        return found;
    }
    for device in (0..snapshot.devices.len()).filter(|device| *device != id.device) {
        let tunnels = snapshot.router(device).ports.iter().filter_map(|port| port.forwarding.tunnel.as_ref());
        for other in tunnels.filter(|other| named(other).any(|to| own.contains(&to))) {
            found.extend(sources(snapshot, device, other));
        }
    }
    found
}

/// Returns the outer addresses that a tunnel names.
fn named(tunnel: &Tunnel) -> impl Iterator<Item = IpAddr> {
    let maps = tunnel.maps.iter().filter(|map| map.line > 0).map(|map| map.outside);
    tunnel.destination.as_ref().map(|to| to.value).into_iter().chain(maps)
}

/// Returns the source addresses of the outer packets of a tunnel.
fn sources<'s>(
    snapshot: &'s Snapshot,
    device: usize,
    tunnel: &'s Tunnel,
) -> impl Iterator<Item = IpAddr> + 's {
    let (address, name) = match tunnel.source.as_ref().map(|source| &source.value) {
        Some(TunnelSource::Address(address)) => (Some(*address), None),
        Some(TunnelSource::Interface(name)) => (None, Some(name)),
        None => (None, None),
    };
    let ports = snapshot.router(device).ports.iter().filter(move |port| Some(&port.name) == name);
    let of_ports = ports.flat_map(addresses).map(|own| own.address).filter(|own| !own.is_unspecified());
    address.into_iter().chain(of_ports)
}

/// Returns the VRFs that have routes which perhop does not compute, from DHCP, PPP or a routing protocol.
fn learning<'n>(snapshot: &'n Snapshot, device: usize, nodes: &[Node<'n>]) -> BTreeSet<&'n str> {
    let processes = snapshot.router(device).forwarding.processes.iter();
    let mut found: BTreeSet<&str> = processes.filter_map(|process| process.vrf.as_deref()).collect();
    for node in nodes {
        if node.begins_with("router ") && !node.begins_with("router static") {
            add_named(node, &mut found);
        }
        // A VRF that imports routes can have a route to the next hop from another table.
        if let ["vrf", "definition" | "context", name] | ["vrf", name] | ["ip", "vrf", name] =
            *node.words().as_slice()
            && node.inner.iter().any(imports)
        {
            found.insert(name);
        }
        let vrf = node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["vrf", "forwarding" | "member", name] | ["ip", "vrf", "forwarding", name] | ["vrf", name] => {
                Some(name)
            }
            _ => None,
        });
        let is_learned = |inner: &Node| {
            let text = inner.line.1.trim();
            ["ip address dhcp", "ipv4 address dhcp", "ppp ipcp route default", "ip dhcp client"]
                .iter()
                .any(|start| text.starts_with(start))
        };
        if node.begins_with("interface ") && node.inner.iter().any(is_learned) {
            found.extend(vrf);
        }
    }
    found
}

/// Whether a VRF imports routes of another table.
fn imports(node: &Node) -> bool {
    let words = node.words();
    words.first() == Some(&"import")
        || (words.first() == Some(&"route-target") && words.get(1) != Some(&"export"))
        || (words.first() == Some(&"route-replicate"))
        || node.inner.iter().any(imports)
}

/// Adds the VRFs that a line of a routing process names, at any depth.
fn add_named<'t>(node: &Node<'t>, found: &mut BTreeSet<&'t str>) {
    let words = node.words();
    if let Some(place) = words.iter().position(|word| *word == "vrf") {
        found.extend(words.get(place + 1));
    }
    for inner in &node.inner {
        add_named(inner, found);
    }
}
