//! Loopback addresses of internal BGP neighbors that no routing protocol announces.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_device::RoutingProtocol;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::braces::{block, inside, words};
use crate::forwarding::addresses;
use crate::rules;

/// Reports loopback interfaces whose address other devices name as a BGP neighbor, if the routing protocol
/// between the devices does not announce the address.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut named: BTreeMap<IpAddr, (usize, usize)> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for (address, line) in neighbors(nodes) {
            named.entry(address).or_insert((device, line));
        }
    }
    let (mut announced, mut silent) = (0, Vec::new());
    for (device, nodes) in trees.iter().enumerate() {
        let Some(process) = process(nodes) else { continue };
        for (place, port) in snapshot.router(device).ports.iter().enumerate() {
            let is_loopback =
                port.name.to_ascii_lowercase().starts_with("lo") && port.forwarding.vrf.is_none();
            let mut own = addresses(port).filter(|own| own.address.is_ipv4() && own.prefix_length == 32);
            let used = own.find_map(|own| Some((own.address, *named.get(&own.address)?)));
            let Some((address, (other, line))) =
                used.filter(|(_, (other, _))| is_loopback && *other != device)
            else {
                continue;
            };
            let id = PortId { device, port: place };
            if is_announced(snapshot, id, process) {
                announced += 1;
                continue;
            }
            if is_routed(snapshot, device, address) {
                continue;
            }
            let message = format!(
                "the routing protocol of {} does not announce {address} of {}, the neighbor in {}",
                snapshot.devices[device].name,
                port.name,
                snapshot.place(other, line)
            );
            let effect = "the BGP session does not come up, so its routes are missing".to_owned();
            let rule = &rules::NETWORK_ROUTE_MISSING;
            silent.push(snapshot.finding(device, rule, process.line.0, (message, effect)));
        }
    }
    // If several devices are silent, their configurations are probably only parts.
    if silent.len() == 1 && announced > 0 {
        found.append(&mut silent);
    }
}

/// Returns the block of OSPF or IS-IS of a device.
fn process<'n, 't>(nodes: &'n [Node<'t>]) -> Option<&'n Node<'t>> {
    let is_process = |node: &&Node| {
        (node.begins_with("router isis") || node.begins_with("router ospf "))
            && !node.words().contains(&"vrf")
    };
    let with_braces = || ["isis", "ospf"].into_iter().find_map(|name| block(nodes, &["protocols", name]));
    let mut of_lines = nodes.iter().filter(is_process);
    match (of_lines.next(), of_lines.next()) {
        (Some(node), None) => Some(node),
        (None, _) => with_braces(),
        // With several processes, the process that announces the address is unknown.
        _ => None,
    }
}

/// Whether a process announces the address of a loopback interface.
fn is_announced(snapshot: &Snapshot, id: PortId, process: &Node) -> bool {
    let port = snapshot.port(id);
    let known = &snapshot.router(id.device).forwarding.processes;
    let is_link_state = |protocol| matches!(protocol, RoutingProtocol::Ospf | RoutingProtocol::Isis);
    port.forwarding.routing.iter().any(|part| is_link_state(known[part.process].protocol))
        || lists(process, &port.name)
        || has_unread_line(snapshot, id)
}

/// Whether the block of a port turns on a protocol with a command that the front end does not read.
fn has_unread_line(snapshot: &Snapshot, id: PortId) -> bool {
    let line = snapshot.port(id).line;
    let device = &snapshot.devices[id.device].device;
    ["ip router", "ip ospf", "isis"].iter().any(|command| device.line_in_block(line, command).is_some())
}

/// Whether a process lists a port, all ports, or announces connected subnets.
fn lists(process: &Node, name: &str) -> bool {
    let is_own = |node: &Node| match *words(node).as_slice() {
        ["interface" | "passive-interface", port, ..] => port == name || port == "all" || port == "default",
        ["redistribute", "connected", ..] | ["export" | "network", ..] | ["passive"] => true,
        _ => false,
    };
    let is_passive_port = |node: &&Node| words(node) != ["passive"];
    process.inner.iter().filter(is_passive_port).any(is_own)
        || process
            .inner
            .iter()
            .any(|inner| !matches!(words(inner).first(), Some(&"interface")) && lists(inner, name))
}

/// Whether another device has a static route to an address.
fn is_routed(snapshot: &Snapshot, device: usize, address: IpAddr) -> bool {
    let others = (0..snapshot.devices.len()).filter(|other| *other != device);
    let mut routes = others.flat_map(|other| &snapshot.router(other).forwarding.routes);
    routes.any(|route| route.prefix.length() > 0 && route.prefix.contains(address.into()))
}

/// Returns the addresses of internal BGP neighbors, with their lines.
fn neighbors(nodes: &[Node]) -> Vec<(IpAddr, usize)> {
    let mut found = Vec::new();
    for node in nodes {
        let ["router", "bgp", number] = *node.words().as_slice() else { continue };
        let groups = internal_groups(node, number);
        for inner in &node.inner {
            let (address, is_internal) = match *inner.words().as_slice() {
                ["neighbor", address, "remote-as", other] => (address, other == number),
                // A template contains the number (IOS XR).
                ["neighbor", address] => (address, is_internal(inner, number, &groups)),
                _ => continue,
            };
            found.extend(address.parse().ok().filter(|_| is_internal).map(|address| (address, inner.line.0)));
        }
    }
    let bgp = block(nodes, &["protocols", "bgp"]);
    for group in bgp.iter().flat_map(|bgp| inside(bgp, "group")) {
        if group.inner.iter().any(|inner| words(inner) == ["type", "internal"]) {
            let own = inside(group, "neighbor").into_iter();
            found.extend(own.filter_map(|node| Some((words(node).get(1)?.parse().ok()?, node.line.0))));
        }
    }
    found
}

/// Returns the groups of neighbors in the own AS (IOS XR).
fn internal_groups<'t>(process: &Node<'t>, number: &str) -> Vec<&'t str> {
    let groups = process.inner.iter().filter_map(|inner| match *inner.words().as_slice() {
        ["neighbor-group" | "session-group", name] if is_internal(inner, number, &[]) => Some(name),
        _ => None,
    });
    groups.collect()
}

fn is_internal(node: &Node, number: &str, groups: &[&str]) -> bool {
    node.inner.iter().any(|inner| match *inner.words().as_slice() {
        ["remote-as", other] => other == number,
        ["use", _, group] => groups.contains(&group),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{lists, neighbors, process};

    #[test]
    fn internal_neighbors_are_found_in_all_forms() {
        let lines = |text: &str| neighbors(&read(text)).into_iter().map(|(_, line)| line).collect::<Vec<_>>();
        let text = "router bgp 1\n neighbor 10.0.0.1 remote-as 1\n neighbor 10.0.0.2 remote-as 2\n";
        assert_eq!(lines(text), [2]);
        let text = "router bgp 1\n neighbor-group A\n  remote-as 1\n neighbor 10.0.0.1\n  use neighbor-group A\n neighbor \
                    10.0.0.2\n  remote-as 2\n";
        assert_eq!(lines(text), [4]);
        let text = "protocols {\n    bgp {\n        group A {\n            type internal;\n            neighbor 10.0.0.1;\n        \
                    }\n    }\n}";
        assert_eq!(lines(text), [5]);
    }

    #[test]
    fn a_process_lists_its_ports() {
        let text = "router isis A\n interface Loopback0\n  passive\n interface Te0/0\n  passive\n";
        let nodes = read(text);
        let own = process(&nodes).unwrap();
        assert!(lists(own, "Loopback0") && !lists(own, "Loopback1"));
        let nodes = read("router ospf 1\n area 0\n  interface Loopback0\n");
        assert!(lists(process(&nodes).unwrap(), "Loopback0"));
        let nodes = read("router ospf 1\nrouter ospf 2\n");
        assert!(process(&nodes).is_none());
    }
}
