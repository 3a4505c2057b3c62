//! Spokes of tunnels that register with no hub.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of other spokes that register with a hub.
const LEAST_OTHERS: usize = 2;

/// Reports ends of a multipoint tunnel that are not the hub of another end, and have no `ip nhrp nhs`. A
/// spoke must register with a hub (RFC 2332 §5.2.3).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in snapshot.links.iter().filter(|link| link.is_tunnel && link.ends.len() > LEAST_OTHERS) {
        let servers: Vec<(PortId, usize, BTreeSet<&str>)> = link
            .ends
            .iter()
            .filter_map(|end| {
                let line = snapshot.port(end.id).line;
                let node = trees[end.id.device].iter().find(|node| node.line.0 == line)?;
                Some((end.id, line, servers(node)))
            })
            .collect();
        // With the word `dynamic`, the inner address of a hub is unknown.
        if servers.iter().any(|(.., own)| own.contains("dynamic")) {
            continue;
        }
        let hubs: BTreeSet<&str> = servers.iter().flat_map(|(.., own)| own).copied().collect();
        let spokes = servers.iter().filter(|(.., own)| !own.is_empty()).count();
        for (id, line, _) in servers.iter().filter(|(.., own)| own.is_empty()) {
            let is_hub = has_dynamic_spokes(&trees[id.device], *line)
                || addresses(snapshot.port(*id)).any(|own| hubs.contains(own.address.to_string().as_str()));
            if is_hub || spokes < LEAST_OTHERS {
                continue;
            }
            let message = format!(
                "{} has no `ip nhrp nhs`, but the {spokes} other spokes of its tunnel register with {}",
                snapshot.port_name(*id),
                hubs.iter().copied().collect::<Vec<_>>().join(" and ")
            );
            let effect =
                "the hub does not know the outer address of this spoke, so no packet reaches it".to_owned();
            let rule = &rules::NETWORK_TUNNEL_INCOMPLETE;
            found.push(snapshot.finding(id.device, rule, *line, (message, effect)));
        }
    }
}

/// Whether a tunnel sends multicasts to all spokes that register, as only a hub does.
fn has_dynamic_spokes(nodes: &[Node], line: usize) -> bool {
    let command = ["ip", "nhrp", "map", "multicast", "dynamic"];
    let node = nodes.iter().find(|node| node.line.0 == line);
    node.is_some_and(|node| node.inner.iter().any(|inner| inner.words() == command))
}

/// Returns the addresses of the hubs with which a tunnel registers.
fn servers<'t>(node: &Node<'t>) -> BTreeSet<&'t str> {
    let lines = node.inner.iter().filter_map(|inner| match *inner.words().as_slice() {
        ["ip", "nhrp", "nhs", address, ..] => Some(address),
        _ => None,
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{has_dynamic_spokes, servers};

    #[test]
    fn a_spoke_names_its_hubs() {
        let nodes = read(
            "interface Tunnel1\n ip nhrp nhs 172.16.0.1 nbma 203.0.113.1 multicast\n ip nhrp nhs 172.16.0.2\n",
        );
        assert_eq!(servers(&nodes[0]).into_iter().collect::<Vec<_>>(), ["172.16.0.1", "172.16.0.2"]);
        let nodes = read("interface Tunnel1\n ip nhrp map multicast dynamic\ninterface Tunnel2\n");
        assert!(has_dynamic_spokes(&nodes, 1) && !has_dynamic_spokes(&nodes, 3));
    }
}
