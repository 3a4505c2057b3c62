//! Types of OSPF ports at both ends of a link, if one end has braces or lists its ports in blocks.

use perhop_device::RoutingProtocol;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The beginnings of the names of ports whose default is a broadcast network.
const ETHERNET: [&str; 12] = [
    "Vlan",
    "vlan",
    "Port-channel",
    "port-channel",
    "Bundle-Ether",
    "BVI",
    "BDI",
    "ae",
    "ge-",
    "xe-",
    "et-",
    "irb",
];

/// A port with neighbors in OSPF.
struct End {
    line: usize,
    is_point_to_point: bool,
    /// Whether the block of the process lists the port. The rule about settings does not read such ports.
    is_listed: bool,
}

/// Reports both ends of a link of which only one is a point-to-point port (RFC 2328 §9.4: the neighbors agree
/// on the type of the network, otherwise the shortest paths leave out the link).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let end = |id: PortId| end(snapshot, &trees[id.device], id);
        let (Some(near), Some(far)) = (end(own), end(other)) else { continue };
        if near.is_point_to_point == far.is_point_to_point || !(near.is_listed || far.is_listed) {
            continue;
        }
        let message = format!(
            "only one of {} and {} ({}) is a point-to-point port of OSPF",
            snapshot.port_name(own),
            snapshot.port_name(other),
            snapshot.place(other.device, far.line)
        );
        let effect =
            "the two routers do not use each other's routes: packets take another path, or have none";
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(own.device, rule, near.line, (message, effect.to_owned())));
    }
}

/// Returns a port with neighbors in OSPF.
fn end(snapshot: &Snapshot, nodes: &[Node], id: PortId) -> Option<End> {
    let port = snapshot.port(id);
    let listed = nodes
        .iter()
        .find(|node| node.begins_with("router ospf ") && !inside(node, "interface").is_empty())
        .or_else(|| block(nodes, &["protocols", "ospf"]));
    if let Some(process) = listed {
        return of_block(&path(process, &port.name)?).filter(|end| has_type(end, &port.name));
    }
    let processes = &snapshot.router(id.device).forwarding.processes;
    let mut parts = port.forwarding.routing.iter().filter(|part| part.passive.is_none());
    let part = parts.find(|part| processes[part.process].protocol == RoutingProtocol::Ospf)?;
    let member = &snapshot.devices[id.device].device;
    let own = member.line_in_block(port.line, "ip ospf network");
    let is_point_to_point = own.is_some_and(|line| member.line_text(line).trim().ends_with("point-to-point"));
    let end = End { line: own.unwrap_or(part.line), is_point_to_point, is_listed: false };
    Some(end).filter(|end| has_type(end, &port.name))
}

/// Whether the type of a port is known: it is configured, or the port is an Ethernet port. The default of
/// other ports depends on their encapsulation.
fn has_type(end: &End, name: &str) -> bool {
    let is_ethernet = || name.contains("Ethernet") || name.contains("GigE");
    end.is_point_to_point || is_ethernet() || ETHERNET.iter().any(|kind| name.starts_with(kind))
}

/// Returns the blocks from a process to one of its ports, the block of the port first.
fn path<'n, 't>(process: &'n Node<'t>, name: &str) -> Option<Vec<&'n Node<'t>>> {
    for inner in &process.inner {
        let own = words(inner);
        if own.first() == Some(&"inactive:") {
            continue;
        }
        if own.starts_with(&["interface", name]) {
            return Some(vec![inner, process]);
        }
        if let Some(mut below) = path(inner, name) {
            below.push(process);
            return Some(below);
        }
    }
    None
}

/// Reads the blocks of a port that is not passive. A process or an area of IOS XR has the settings of its
/// ports (Cisco, "Implementing OSPF": hierarchical inheritance). Returns `None` if a configuration of Junos
/// can inherit settings from groups.
fn of_block(blocks: &[&Node]) -> Option<End> {
    let (own, outer) = blocks.split_first()?;
    let is_passive =
        |inner: &Node| matches!(words(inner).first(), Some(&("passive" | "disable" | "shutdown")));
    let is_group = |inner: &Node| words(inner).first() == Some(&"apply-groups");
    let mut lines = blocks.iter().flat_map(|block| &block.inner);
    if own.inner.iter().any(is_passive)
        || outer.iter().any(|block| block.inner.iter().any(|inner| words(inner) == ["passive", "enable"]))
        || lines.any(is_group)
    {
        return None;
    }
    let kind = blocks.iter().flat_map(|block| &block.inner).find_map(|inner| {
        let ["interface-type" | "network", kind] = *words(inner).as_slice() else { return None };
        Some(matches!(kind, "p2p" | "point-to-point"))
    });
    Some(End { line: own.line.0, is_point_to_point: kind.unwrap_or(false), is_listed: true })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{End, has_type, of_block, path};

    #[test]
    fn a_port_inherits_the_type() {
        let text = [
            "router ospf 1",
            " network point-to-point",
            " area 0",
            "  interface Te0/0/0/0",
            "  interface Te0/0/0/1",
            "   network broadcast",
            " area 1",
            "  network broadcast",
            "  interface Te0/0/0/2\n",
        ]
        .join("\n");
        let text = text.as_str();
        let state = |text: &str, name: &str| {
            let nodes = read(text);
            of_block(&path(&nodes[0], name)?).map(|end| (end.line, end.is_point_to_point))
        };
        assert_eq!(state(text, "Te0/0/0/0"), Some((4, true)));
        assert_eq!(state(text, "Te0/0/0/1"), Some((5, false)));
        assert_eq!(state(text, "Te0/0/0/2"), Some((9, false)));
        assert_eq!(state(text, "Te0/0/0/3"), None);
        assert_eq!(state(&text.replace(" area 0\n", " area 0\n  passive enable\n"), "Te0/0/0/0"), None);
    }

    #[test]
    fn only_ethernet_has_a_known_default() {
        let end = |is_point_to_point| End { line: 1, is_point_to_point, is_listed: true };
        assert!(has_type(&end(false), "GigabitEthernet0/0") && has_type(&end(true), "Tunnel1"));
        assert!(!has_type(&end(false), "Tunnel1") && !has_type(&end(false), "gr-0/0/0.0"));
    }

    #[test]
    fn blocks_name_the_type() {
        let state = |text: &str| of_block(&[&read(text)[0]]).map(|end| end.is_point_to_point);
        assert_eq!(state("interface ge-0/0/0.0 {\n    interface-type p2p;\n}"), Some(true));
        assert_eq!(state("interface TenGigE0/0/0/0\n network point-to-point\n"), Some(true));
        assert_eq!(state("interface ge-0/0/0.0 {\n    metric 10;\n}"), Some(false));
        assert_eq!(state("interface lo0.0 {\n    passive;\n}"), None);
    }
}
