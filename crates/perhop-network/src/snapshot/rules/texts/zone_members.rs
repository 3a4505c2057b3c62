//! Interfaces of a zone-based firewall that belong to no zone.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The statement that puts an interface into a zone.
const MEMBER: &str = "zone-member security ";
/// The minimum number of interfaces with a zone.
const LEAST: usize = 2;
/// The kind of tunnels. One other tunnel with a zone is sufficient, because tunnels of a device have the same
/// task. A virtual LAN or sub-interface can be for management, so two others are necessary.
const TUNNEL: &str = "Tunnel";

/// Reports the only tunnel, virtual LAN or sub-interface without a zone, if all others of its kind on the
/// device have one. The device drops packets between an interface with a zone and an interface without
/// (Cisco, "Zone-Based Policy Firewall").
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let routed: Vec<(&str, &Node)> = nodes.iter().filter_map(routed).collect();
        let has_zone = |node: &Node| node.inner.iter().any(|inner| inner.begins_with(MEMBER));
        if nodes.iter().filter(|node| has_zone(node)).count() < LEAST {
            continue;
        }
        for (kind, node) in routed.iter().filter(|(_, node)| !has_zone(node)) {
            let is_sibling = |other: &&(&str, &Node)| other.0 == *kind && other.1.line.0 != node.line.0;
            let siblings: Vec<_> = routed.iter().filter(is_sibling).collect();
            let least = if *kind == TUNNEL { 1 } else { LEAST };
            if siblings.len() < least || !siblings.iter().all(|(_, other)| has_zone(other)) {
                continue;
            }
            let message = format!(
                "`{}` of {} has no `zone-member`, unlike all other interfaces of its kind",
                node.line.1.trim(),
                snapshot.devices[device].name
            );
            let effect =
                "the device drops packets between this interface and interfaces with a zone".to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(device, rule, node.line.0, (message, effect)));
        }
    }
}

/// Returns an interface that is up and has an address, with its kind: the letters of a tunnel or virtual LAN,
/// or the parent of a sub-interface. `None` for other interfaces, whose tasks differ.
fn routed<'n, 't>(node: &'n Node<'t>) -> Option<(&'t str, &'n Node<'t>)> {
    let name = node.line.1.trim().strip_prefix("interface ")?;
    let (kind, number) = name.split_at(name.find(|letter: char| letter.is_ascii_digit())?);
    let kind = match number.split_once('.') {
        Some((parent, _)) => &name[..kind.len() + parent.len()],
        None if matches!(kind, TUNNEL | "Vlan") => kind,
        None => return None,
    };
    let has_address = node.inner.iter().any(|inner| inner.begins_with("ip address "));
    let is_table =
        |inner: &Node| ["vrf forwarding ", "ip vrf forwarding "].iter().any(|start| inner.begins_with(start));
    let has_table = node.inner.iter().any(is_table);
    (has_address && !has_table && !node.is_shut()).then_some((kind, node))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::routed;

    #[test]
    fn kinds_are_letters_or_parents() {
        let text = "interface Tunnel10\n ip address 192.0.2.1 255.255.255.0\ninterface GigabitEthernet0/1.20\n ip \
                    address 192.0.2.1 255.255.255.0\ninterface GigabitEthernet0/2\n ip address 192.0.2.1 \
                    255.255.255.0\ninterface Vlan5\n ip address 192.0.2.1 255.255.255.0\n shutdown";
        let nodes = read(text);
        let kinds: Vec<_> = nodes.iter().map(|node| routed(node).map(|(kind, _)| kind)).collect();
        assert_eq!(kinds, [Some("Tunnel"), Some("GigabitEthernet0/1"), None, None]);
    }
}
