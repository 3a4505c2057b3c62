//! Tracked objects of HSRP and VRRP whose decrement does not change the active router.

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The decrement of a tracked object without a number (Cisco, "Configuring HSRP").
const USUAL_DECREMENT: u16 = 10;

/// Reports the tracked objects of the active router of a group, if its priority is still the highest after
/// all decrements. The router then stays active although its uplink is down (Cisco, "Configuring HSRP";
/// RFC 5798 §6.1: the highest priority).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in &snapshot.links {
        for end in &link.ends {
            for shared in &snapshot.port(end.id).forwarding.shared_addresses {
                let others = link.ends.iter().filter(|other| other.id != end.id);
                let theirs = others.flat_map(|other| &snapshot.port(other.id).forwarding.shared_addresses);
                let highest =
                    theirs.filter(|other| other.group == shared.group).map(|other| other.priority).max();
                let Some(highest) = highest.filter(|highest| *highest < shared.priority) else { continue };
                let tracks = tracks(port_node(snapshot, trees, end.id), shared.group);
                let sum: u16 = tracks.iter().map(|(_, decrement)| decrement).sum();
                let remaining = u16::from(shared.priority).saturating_sub(sum);
                let Some((line, _)) = tracks.last().filter(|_| remaining > highest.into()) else { continue };
                let message = format!(
                    "the decrement of {sum} leaves {} with priority {remaining} in group {}, above the priority \
                     {highest} of the other routers",
                    snapshot.port_name(end.id),
                    shared.group
                );
                let effect = "the router stays active after a failure of the tracked object: packets take a \
                              longer path or are dropped"
                    .to_owned();
                let rule = &rules::NETWORK_GROUP_DIFFERS;
                found.push(snapshot.finding(end.id.device, rule, *line, (message, effect)));
            }
        }
    }
}

/// Returns the statements of an interface; empty if the port has no block.
fn port_node<'n, 't>(snapshot: &Snapshot, trees: &'n [Vec<Node<'t>>], id: PortId) -> &'n [Node<'t>] {
    let line = snapshot.port(id).line;
    let node = trees[id.device].iter().find(|node| node.line.0 == line);
    node.map_or(&[], |node| &node.inner)
}

/// Returns the lines and decrements of the tracked objects of a group. An object that shuts the group down
/// lowers every priority to 0.
fn tracks(nodes: &[Node], group: u16) -> Vec<(usize, u16)> {
    let number = group.to_string();
    let decrement = |node: &Node| {
        let words = node.words();
        let rest = match *words.as_slice() {
            ["standby" | "vrrp", own, "track", ref rest @ ..] if own == number => rest.to_vec(),
            ["standby", "track", ref rest @ ..] if group == 0 => rest.to_vec(),
            _ => return None,
        };
        match rest.as_slice() {
            [_, "shutdown", ..] => Some((node.line.0, u16::from(u8::MAX))),
            [_, "decrement", value, ..] => Some((node.line.0, value.parse().ok()?)),
            // The name of a tracked interface can be two words.
            [_, value] | [_, _, value] => Some((node.line.0, value.parse().unwrap_or(USUAL_DECREMENT))),
            [_] => Some((node.line.0, USUAL_DECREMENT)),
            _ => None,
        }
    };
    nodes.iter().filter_map(decrement).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::tracks;

    #[test]
    fn decrements_have_a_default() {
        let text = "interface Vlan10\n standby 10 track 1 decrement 20\n standby 10 track Serial0/0\n standby 10 \
                    track Serial0/1 30\n standby 20 track 1 decrement 5\n standby 10 track 2 shutdown";
        let nodes = read(text);
        assert_eq!(tracks(&nodes[0].inner, 10), [(2, 20), (3, 10), (4, 30), (6, 255)]);
        assert_eq!(tracks(&nodes[0].inner, 20), [(5, 5)]);
        assert_eq!(tracks(&nodes[0].inner, 30), []);
    }
}
