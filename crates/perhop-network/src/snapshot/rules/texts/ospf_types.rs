//! Types of OSPF ports at both ends of a link, if one end has braces or lists its ports in blocks.

use perhop_device::RoutingProtocol;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// A port with neighbors in OSPF.
struct End {
    line: usize,
    is_point_to_point: bool,
    /// Whether the rule about settings does not read the port.
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
        let all = inside(process, "interface");
        let node = all.into_iter().find(|node| words(node).get(1) == Some(&port.name.as_str()))?;
        return of_block(node);
    }
    let processes = &snapshot.router(id.device).forwarding.processes;
    let mut parts = port.forwarding.routing.iter().filter(|part| part.passive.is_none());
    let part = parts.find(|part| processes[part.process].protocol == RoutingProtocol::Ospf)?;
    let member = &snapshot.devices[id.device].device;
    let own = member.line_in_block(port.line, "ip ospf network");
    let is_point_to_point = own.is_some_and(|line| member.line_text(line).trim().ends_with("point-to-point"));
    Some(End { line: own.unwrap_or(part.line), is_point_to_point, is_listed: false })
}

/// Reads the block of a port that is not passive.
fn of_block(node: &Node) -> Option<End> {
    let is_passive =
        |inner: &Node| matches!(words(inner).first(), Some(&("passive" | "disable" | "shutdown")));
    if node.inner.iter().any(is_passive) {
        return None;
    }
    let is_point_to_point = node.inner.iter().any(|inner| {
        matches!(words(inner).as_slice(), ["interface-type", "p2p"] | ["network", "point-to-point"])
    });
    Some(End { line: node.line.0, is_point_to_point, is_listed: true })
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::of_block;

    #[test]
    fn blocks_name_the_type() {
        let state = |text: &str| of_block(&read(text)[0]).map(|end| end.is_point_to_point);
        assert_eq!(state("interface ge-0/0/0.0 {\n    interface-type p2p;\n}"), Some(true));
        assert_eq!(state("interface TenGigE0/0/0/0\n network point-to-point\n"), Some(true));
        assert_eq!(state("interface ge-0/0/0.0 {\n    metric 10;\n}"), Some(false));
        assert_eq!(state("interface lo0.0 {\n    passive;\n}"), None);
    }
}
