//! Links on which only one end distributes labels, on devices whose block of LDP lists the ports.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The ports that a block of LDP lists, and the line of the block.
struct Labels<'t> {
    line: usize,
    ports: BTreeSet<&'t str>,
}

/// Reports ports that the block of LDP does not list, if the other end of the link distributes labels.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let listed: Vec<Option<Labels>> = trees.iter().map(|nodes| labels(nodes)).collect();
    for [own, other] in snapshot.wires() {
        let Some(near) = &listed[own.device] else { continue };
        let far = match &listed[other.device] {
            Some(far) => has(snapshot, far, other),
            None => has_line(snapshot, other),
        };
        if !far || has(snapshot, near, own) || near.ports.is_empty() {
            continue;
        }
        let message = format!(
            "{} does not exchange labels, because line {} lists other ports only, but {} at the other end does",
            snapshot.port_name(own),
            near.line,
            snapshot.port_name(other)
        );
        let effect = "labeled packets do not pass: VPNs lose their routes over this link".to_owned();
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(own.device, rule, near.line, (message, effect)));
    }
}

fn has(snapshot: &Snapshot, labels: &Labels, id: PortId) -> bool {
    let port = snapshot.port(id);
    labels.ports.iter().any(|name| *name == "all" || *name == port.name || *name == port.interface)
}

/// Whether the block of a port enables labels.
fn has_line(snapshot: &Snapshot, id: PortId) -> bool {
    let member = &snapshot.devices[id.device].device;
    let line = member.line_in_block(snapshot.port(id).line, "mpls ip");
    line.is_some_and(|line| member.line_text(line).trim() == "mpls ip")
}

/// Returns the ports that `mpls ldp` (IOS XR) or `protocols ldp` (Junos) lists. `None` if the routing
/// protocol selects the ports.
fn labels<'t>(nodes: &[Node<'t>]) -> Option<Labels<'t>> {
    if nodes.iter().any(|node| node.inner.iter().any(is_automatic)) {
        return None;
    }
    let lines = nodes.iter().find(|node| node.line.1.trim_end() == "mpls ldp" && !node.inner.is_empty());
    let node = lines.or_else(|| block(nodes, &["protocols", "ldp"]))?;
    let ports = node.inner.iter().filter_map(|inner| match *words(inner).as_slice() {
        ["interface", name] => Some(name),
        _ => None,
    });
    Some(Labels { line: node.line.0, ports: ports.collect() })
}

/// Whether a line of a routing process enables labels at all its ports.
fn is_automatic(node: &Node) -> bool {
    node.line.1.trim_start().starts_with("mpls ldp auto") || node.inner.iter().any(is_automatic)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::labels;

    #[test]
    fn blocks_list_the_ports_with_labels() {
        let xr = "mpls ldp\n router-id 10.0.0.1\n interface TenGigE0/0/0/0\n !\n interface TenGigE0/0/0/1";
        assert_eq!(labels(&read(xr)).unwrap().ports.len(), 2);
        let automatic = format!("router isis A\n address-family ipv4 unicast\n  mpls ldp auto-config\n{xr}");
        assert!(labels(&read(&automatic)).is_none());
        let braces = "protocols {\n    ldp {\n        interface ge-0/0/0.0;\n    }\n}";
        assert!(labels(&read(braces)).unwrap().ports.contains("ge-0/0/0.0"));
    }
}
