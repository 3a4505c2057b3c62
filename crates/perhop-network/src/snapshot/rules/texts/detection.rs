//! Links of which only one end detects failures with BFD.

use perhop_device::RoutingProtocol;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::braces::words;
use crate::rules;

/// The end of a link in a routing protocol.
struct End {
    /// The line of the port.
    line: usize,
    /// The line that enables BFD.
    detection: Option<usize>,
}

/// Reports both ends of a link, if only one end has BFD for OSPF or IS-IS.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        for (protocol, name) in [(RoutingProtocol::Ospf, "OSPF"), (RoutingProtocol::Isis, "IS-IS")] {
            let end = |id: PortId| end(snapshot, &trees[id.device], id, protocol);
            let (Some(near), Some(far)) = (end(own), end(other)) else { continue };
            let ([here, there], line) = match (near.detection, far.detection) {
                (Some(line), None) => (["BFD", "no BFD"], line),
                (None, Some(_)) => (["no BFD", "BFD"], near.line),
                _ => continue,
            };
            let message = format!(
                "{} has {here} for {name}, but {} at the other end of the link has {there} ({}): BFD needs both \
                 ends",
                snapshot.port_name(own),
                snapshot.port_name(other),
                snapshot.place(other.device, far.detection.unwrap_or(far.line))
            );
            let effect = "BFD does not come up: packets are lost until the hold time ends".to_owned();
            let rule = &rules::NETWORK_SETTING_DIFFERS;
            found.push(snapshot.finding(own.device, rule, line, (message, effect)));
        }
    }
}

/// Returns the end of a link at a port, if the port has neighbors in a protocol.
fn end(snapshot: &Snapshot, nodes: &[Node], id: PortId, protocol: RoutingProtocol) -> Option<End> {
    let port = snapshot.port(id);
    let processes = &snapshot.router(id.device).forwarding.processes;
    let mut all = port.forwarding.routing.iter().filter(|own| own.passive.is_none());
    let known = all.find_map(|own| {
        let process = processes.get(own.process)?;
        (process.protocol == protocol).then_some((own.line, process.line))
    });
    let block = find(nodes, port.line);
    let own_line = || named_by_port(nodes, block?, protocol);
    let (own, process) = known.or_else(|| listed(nodes, &port.name, protocol)).or_else(own_line)?;
    // The block of the process may have a block for the port.
    let is_part = |node: &&Node| words(node).first() == Some(&"interface");
    let part = find(nodes, own).filter(is_part);
    let line = part.or(block).map_or(port.line, |node| node.line.0);
    let lines = block.into_iter().chain(part).flat_map(|node| &node.inner);
    // Junos has BFD of IS-IS in the block of a family.
    let of_port = lines.flat_map(|inner| std::iter::once(inner).chain(family(inner)));
    let switch =
        of_port.filter_map(|inner| Some((inner.line.0, at_port(&words(inner), protocol)?))).next_back();
    let detection = match switch {
        Some((line, Switch::On)) => Some(line),
        Some((_, Switch::Off)) => None,
        None => find(nodes, process).and_then(of_process),
    };
    let lacks_timers = part.is_none() && block.is_some_and(|block| lacks_timers(nodes, block));
    Some(End { line, detection: detection.filter(|_| !lacks_timers) })
}

/// Returns the lines inside a block `family`; empty for other lines.
fn family<'n, 't>(node: &'n Node<'t>) -> &'n [Node<'t>] {
    if words(node).first() == Some(&"family") { &node.inner } else { &[] }
}

/// Returns the lines of a port and of a process (IOS XR), if a block of the process lists the port and the
/// port is not passive.
fn listed(nodes: &[Node], name: &str, protocol: RoutingProtocol) -> Option<(usize, usize)> {
    let start = if protocol == RoutingProtocol::Ospf { "router ospf " } else { "router isis " };
    let is_own = |inner: &&Node| inner.words() == ["interface", name];
    nodes.iter().filter(|node| node.begins_with(start)).find_map(|node| {
        let areas = node.inner.iter().filter(|inner| inner.begins_with("area ")).flat_map(|area| &area.inner);
        let port = node.inner.iter().chain(areas).find(is_own)?;
        let is_passive = port.inner.iter().any(|inner| inner.begins_with("passive"));
        (!is_passive).then_some((port.line.0, node.line.0))
    })
}

/// Returns the line of a port that names a process, and the line of the process (NX-OS), if the port is not
/// passive.
fn named_by_port(nodes: &[Node], block: &Node, protocol: RoutingProtocol) -> Option<(usize, usize)> {
    let name = if protocol == RoutingProtocol::Ospf { "ospf" } else { "isis" };
    let is_passive = |inner: &Node| inner.begins_with("ip ") && inner.line.1.contains(" passive-interface");
    if block.inner.iter().any(is_passive) {
        return None;
    }
    block.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["ip", "router", own, process, ..] if own == name => {
            let start = ["router", name, process];
            let node = nodes.iter().find(|node| node.words().starts_with(&start))?;
            Some((inner.line.0, node.line.0))
        }
        _ => None,
    })
}

/// Whether a port of IOS lacks the timers that a BFD session requires (Cisco, "IP Routing: BFD Configuration
/// Guide"). NX-OS has default timers; its configurations have `feature` lines.
fn lacks_timers(nodes: &[Node], block: &Node) -> bool {
    let has_timers = |inner: &Node| inner.begins_with("bfd interval ") || inner.begins_with("bfd template ");
    block.begins_with("interface ")
        && !nodes.iter().any(|node| node.begins_with("feature "))
        && !block.inner.iter().any(has_timers)
}

/// The effect of a line: it enables or disables BFD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// Reads a line in the block of a port.
fn at_port(words: &[&str], protocol: RoutingProtocol) -> Option<Switch> {
    let rest = match words {
        ["ip", "ospf", "bfd", rest @ ..] | ["ospf", "bfd", rest @ ..]
            if protocol == RoutingProtocol::Ospf =>
        {
            rest
        }
        ["isis", "bfd", rest @ ..] if protocol == RoutingProtocol::Isis => rest,
        ["bfd", "fast-detect", rest @ ..] | ["bfd-liveness-detection", rest @ ..] => rest,
        _ => return None,
    };
    Some(if rest.contains(&"disable") { Switch::Off } else { Switch::On })
}

/// Returns the line that enables BFD for all ports of a process or of an area.
fn of_process(node: &Node) -> Option<usize> {
    node.inner.iter().find_map(|inner| match *words(inner).as_slice() {
        ["bfd"] | ["bfd", "all-interfaces" | "fast-detect", ..] => Some(inner.line.0),
        ["area" | "address-family", ..] => of_process(inner),
        _ => None,
    })
}

/// Returns the statement of a line.
fn find<'n, 't>(nodes: &'n [Node<'t>], line: usize) -> Option<&'n Node<'t>> {
    // The statements are sorted by line, and each block contains all lines up to the next statement.
    let place = nodes.partition_point(|node| node.line.0 <= line).checked_sub(1)?;
    let node = &nodes[place];
    if node.line.0 == line { Some(node) } else { find(&node.inner, line) }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Switch, at_port, find, lacks_timers, listed, named_by_port, of_process};
    use perhop_device::RoutingProtocol::{Isis, Ospf};

    #[test]
    fn lines_turn_detection_on_or_off() {
        assert_eq!(at_port(&["ip", "ospf", "bfd"], Ospf), Some(Switch::On));
        assert_eq!(at_port(&["ip", "ospf", "bfd"], Isis), None);
        assert_eq!(at_port(&["isis", "bfd", "disable"], Isis), Some(Switch::Off));
        assert_eq!(at_port(&["bfd", "interval", "50"], Ospf), None, "timers alone start no session");
    }

    #[test]
    fn a_port_names_its_process() {
        let text = "interface Eth1/1\n ip router ospf 1 area 0\nrouter ospf 1\n bfd\n";
        let nodes = read(text);
        assert_eq!(named_by_port(&nodes, &nodes[0], Ospf), Some((2, 3)));
        assert_eq!(named_by_port(&nodes, &nodes[0], Isis), None);
        let passive = text.replace("router ospf 1\n", " ip ospf passive-interface\nrouter ospf 1\n");
        let nodes = read(&passive);
        assert_eq!(named_by_port(&nodes, &nodes[0], Ospf), None);
    }

    #[test]
    fn a_process_turns_detection_on_for_its_ports() {
        let text = "interface Te0/1\n mtu 9000\nrouter isis A\n address-family ipv4\n  bfd all-interfaces\nrouter \
                    ospf 1\n area 0\n  interface Te0/2\n   bfd fast-detect";
        let nodes = read(text);
        assert_eq!(of_process(find(&nodes, 3).unwrap()), Some(5));
        assert_eq!(of_process(find(&nodes, 6).unwrap()), None, "the line is of one port");
        assert_eq!((listed(&nodes, "Te0/2", Ospf), listed(&nodes, "Te0/1", Isis)), (Some((8, 6)), None));
        assert!(lacks_timers(&nodes, &nodes[0]));
        assert_eq!(find(&nodes, 9).unwrap().line.1.trim(), "bfd fast-detect");
    }
}
