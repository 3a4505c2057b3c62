//! Ports in VLANs that their switch does not define, although the switch defines other VLANs.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::super::vlan_ports::vlans;
use crate::rules;

/// The VLANs that a switch has without a line: the default VLAN, and the VLANs of Token Ring and FDDI.
const WITHOUT_LINES: [u16; 5] = [1, 1002, 1003, 1004, 1005];
/// The minimum number of defined VLANs. A switch that learns its VLANs from a server of VTP defines none.
const LEAST_DEFINED: usize = 2;

/// A use of a VLAN: the line, and the interface that uses the VLAN.
type Use<'t> = (usize, &'t str);

/// Reports access ports and virtual interfaces whose VLAN the switch does not define.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for (vlan, uses) in undefined(nodes) {
            let [(line, name), ..] = uses.as_slice() else { continue };
            let message = format!(
                "{name} of {} is in VLAN {vlan}, which no `vlan` line of the device defines ({} such ports)",
                snapshot.devices[device].name,
                uses.len()
            );
            let effect = "the switch drops the packets of the VLAN, at its ports and its trunks".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_VLAN_MISSING, *line, (message, effect)));
        }
    }
}

/// Returns the undefined VLANs and their uses, if the configuration contains the VLANs of the device.
fn undefined<'t>(nodes: &[Node<'t>]) -> BTreeMap<u16, Vec<Use<'t>>> {
    let learns = |node: &Node| matches!(*node.words().as_slice(), ["vtp", "mode", "client" | "server", ..]);
    let defined: BTreeSet<u16> =
        nodes.iter().filter(|node| node.line.1.starts_with("vlan ")).filter_map(defined).flatten().collect();
    if defined.len() < LEAST_DEFINED || nodes.iter().any(learns) {
        return BTreeMap::new();
    }
    let mut found: BTreeMap<u16, Vec<Use>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.line.1.starts_with("interface ")) {
        for (vlan, own) in used(node) {
            if !defined.contains(&vlan) && !WITHOUT_LINES.contains(&vlan) {
                found.entry(vlan).or_default().push(own);
            }
        }
    }
    found
}

/// Returns the VLANs of a line such as `vlan 10,20-22`.
fn defined(node: &Node) -> Option<BTreeSet<u16>> {
    match *node.words().as_slice() {
        ["vlan", list] => vlans(list),
        _ => None,
    }
}

/// Returns the VLANs of a port that is up and is neither a trunk nor a routed port.
fn used<'t>(node: &Node<'t>) -> Vec<(u16, Use<'t>)> {
    let lines: Vec<(usize, Vec<&str>)> =
        node.inner.iter().map(|inner| (inner.line.0, inner.words())).collect();
    let has = |text: &[&str]| lines.iter().any(|(_, words)| words == text);
    let Some(name) = node.words().get(1).copied() else { return Vec::new() };
    let without_vlan: [&[&str]; 3] = [&["shutdown"], &["switchport", "mode", "trunk"], &["no", "switchport"]];
    if without_vlan.into_iter().any(has) {
        return Vec::new();
    }
    let number = |line: usize, word: &str| Some((word.parse::<u16>().ok()?, (line, name)));
    let of_line = |(line, words): &(usize, Vec<&'t str>)| match *words.as_slice() {
        ["switchport", "access" | "voice", "vlan", vlan] => number(*line, vlan),
        ["ip", "address", ..] => number(node.line.0, name.strip_prefix("Vlan")?),
        _ => None,
    };
    lines.iter().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::undefined;

    const TEXT: &str = "vlan 10,20-21\n name A\nvlan internal allocation policy ascending\ninterface Gi0/1\n \
        switchport access vlan 10\n switchport voice vlan 30\ninterface Gi0/2\n switchport access vlan 99\n \
        shutdown\ninterface Vlan40\n ip address 192.0.2.1 255.255.255.0\ninterface Gi0/3\n switchport mode \
        trunk\n switchport access vlan 50";

    #[test]
    fn ports_that_are_up_need_the_vlan() {
        let found = undefined(&read(TEXT));
        let all: Vec<_> = found.iter().map(|(vlan, uses)| (*vlan, uses[0])).collect();
        assert_eq!(all, [(30, (6, "Gi0/1")), (40, (10, "Vlan40"))]);
    }

    #[test]
    fn routed_ports_have_no_vlan() {
        let text = TEXT.replace("switchport voice vlan 30", "no switchport");
        assert_eq!(undefined(&read(&text)).into_keys().collect::<Vec<_>>(), [40]);
    }

    #[test]
    fn the_vlans_of_a_server_are_not_in_the_configuration() {
        assert!(undefined(&read(&format!("vtp mode client\n{TEXT}"))).is_empty());
        assert!(undefined(&read(&TEXT.replace("vlan 10,20-21", "vlan 10"))).is_empty());
    }
}
