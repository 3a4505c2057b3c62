//! Interfaces without an address that have no other task.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::rules;

/// Words of lines that let an interface work without an address.
const WITHOUT_ADDRESS: [&str; 19] = [
    "ambiguous",
    "bridge-domain",
    "bridge-group",
    "dhcp",
    "forward",
    "ipsubscriber",
    "ipv6",
    "l2transport",
    "mpls",
    "native",
    "negotiated",
    "ppp",
    "pppoe",
    "pppoe-client",
    "private-vlan",
    "service",
    "shutdown",
    "unnumbered",
    "xconnect",
];
/// The minimum number of other interfaces of the same kind with an address.
const LEAST_OTHERS: usize = 2;

/// Reports the only VLAN interface, loopback, tunnel or sub-interface of a device without an address, and
/// units of Junos with an empty family.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let all = trees.iter().flatten().filter_map(interface).filter(|(.., has_address)| !has_address);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, node, _) in all {
        *names.entry(node.line.1).or_default() += 1;
    }
    for (device, nodes) in trees.iter().enumerate() {
        let mut bare: Vec<(usize, String)> = Vec::new();
        let mut kinds: BTreeMap<&str, Vec<(&Node, bool)>> = BTreeMap::new();
        for (kind, node, has_address) in nodes.iter().filter_map(interface) {
            kinds.entry(kind).or_default().push((node, has_address));
        }
        for interfaces in kinds.values() {
            let mut lacking = interfaces.iter().filter(|(_, has_address)| !has_address);
            if let (Some((node, _)), None) = (lacking.next(), lacking.next())
                && interfaces.len() > LEAST_OTHERS
                // If several devices have an interface of this name without an address, this is intended.
                && names[node.line.1] == 1
            {
                let others = interfaces.len() - 1;
                bare.push((node.line.0, format!("has no address, unlike {others} others of its kind")));
            }
        }
        let interfaces = block(nodes, &["interfaces"]).map_or(&[][..], |node| &node.inner);
        if !can_inherit(nodes, "inet") {
            bare.extend(interfaces.iter().flat_map(empty_families));
        }
        for (line, what) in bare {
            let text =
                snapshot.devices[device].device.line_text(line).trim().trim_end_matches(" {").to_owned();
            let message = format!("`{text}` of {} {what}", snapshot.devices[device].name);
            let effect = "the interface carries no IPv4 packets, so its subnet is not reachable".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_PORT_INCOMPLETE, line, (message, effect)));
        }
    }
}

/// Returns the kind of an interface that needs an address, and whether it has one.
fn interface<'n, 't>(node: &'n Node<'t>) -> Option<(&'t str, &'n Node<'t>, bool)> {
    let ["interface", name, ..] = *node.words().as_slice() else { return None };
    let letters = name.trim_end_matches(|letter: char| !letter.is_ascii_alphabetic());
    let kind = match letters.to_ascii_lowercase().as_str() {
        // The switch uses VLAN 1 without an address by default.
        "vlan" if name.len() > letters.len() && &name[letters.len()..] != "1" => letters,
        "loopback" | "tunnel" => letters,
        _ if name.contains('.') => letters,
        _ => return None,
    };
    let lines = || node.inner.iter().map(Node::words);
    let is_free = is_free(node);
    let has_address = lines().any(
        |own| matches!(own.as_slice(), ["ip" | "ipv4", "address", address, ..] if !address.starts_with('n')),
    );
    (has_address || !is_free).then_some((kind, node, has_address))
}

/// Whether a line of a block lets the interface work without an address.
fn is_free(node: &Node) -> bool {
    let words = node.words();
    // The firewalls of Cisco do not use a port without a name.
    words == ["no", "nameif"]
        || words.iter().any(|word| WITHOUT_ADDRESS.contains(word))
        || node.inner.iter().any(is_free)
}

/// Returns the units of an interface with an empty block for IPv4, if the interface has a description.
fn empty_families(node: &Node) -> Vec<(usize, String)> {
    let describes = |node: &Node| node.inner.iter().any(|inner| words(inner).first() == Some(&"description"));
    let is_up = |node: &Node| !node.is_shut();
    let units = inside(node, "unit").into_iter().filter(|unit| is_up(unit) && is_up(node));
    let units = units.filter(|unit| describes(unit) || describes(node));
    let families = units.flat_map(|unit| &unit.inner).filter(|family| {
        // A family without a block, `family inet;`, is a port without an address by intent.
        words(family) == ["family", "inet"]
            && family.line.1.trim_end().ends_with('{')
            && family.inner.is_empty()
    });
    families.map(|family| (family.line.0, "has no address".to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{empty_families, interface};

    #[test]
    fn interfaces_of_some_kinds_need_addresses() {
        let state = |text: &str| interface(&read(text)[0]).map(|(kind, _, has)| (kind.to_owned(), has));
        let vlan = |has| Some(("Vlan".to_owned(), has));
        assert_eq!(state("interface Vlan10\n ip address 10.0.0.1 255.0.0.0\n"), vlan(true));
        assert_eq!(state("interface Vlan10\n description desks\n"), vlan(false));
        assert_eq!(state("interface Vlan10\n no ip address\n"), vlan(false));
        assert_eq!(state("interface Vlan10\n shutdown\n"), None);
        assert_eq!(
            state("interface Vlan10\n vrf member RED\n ip forward\n"),
            None,
            "a VLAN of a VRF (NX-OS)"
        );
        assert_eq!(state("interface Te0/0/0/1.10 l2transport\n encapsulation dot1q 10\n"), None);
        assert_eq!(state("interface Te0/0/0/1.10\n encapsulation ambiguous dot1q any\n"), None);
        assert_eq!(state("interface Gi0/1.98\n vlan 98\n no nameif\n no ip address\n"), None);
        assert_eq!(state("interface Gi0/1.99\n encapsulation dot1Q 99 native\n"), None);
        assert_eq!(state("interface ATM0.1\n pvc 8/35\n  pppoe-client dial-pool-number 1\n"), None);
        assert_eq!(state("interface Vlan1\n no ip address\n"), None);
        assert_eq!(state("interface GigabitEthernet0/1\n no ip address\n"), None);
    }

    #[test]
    fn a_family_in_a_block_has_an_address() {
        let text = "xe-0/0/0 {\n    description \"to p\";\n    unit 0 {\n        family inet {\n        }\n        family mpls;\n    \
                    }\n}";
        assert_eq!(empty_families(&read(text)[0]).len(), 1);
        let filled = text.replace("inet {\n", "inet {\n            address 10.0.0.1/30;\n");
        assert!(empty_families(&read(&filled)[0]).is_empty());
        assert!(empty_families(&read(&text.replace("inet {\n        }", "inet;"))[0]).is_empty());
    }
}
