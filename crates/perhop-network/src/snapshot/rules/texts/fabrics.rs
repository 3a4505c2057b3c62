//! Settings of VXLAN that differ between the switches of a fabric: the multicast group of a VNI, and the MAC
//! address of the gateways.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::vlans::cables;
use crate::rules;

/// A switch with tunnel ends of VXLAN (NX-OS).
#[derive(Default)]
struct Switch {
    device: usize,
    /// The VNIs of the VLANs.
    numbers: BTreeSet<String>,
    /// The method that distributes broadcasts of each VNI, with the line.
    floods: BTreeMap<String, (usize, String)>,
    /// The MAC address of the anycast gateways in lower case without separators, with the line.
    gateway: Option<(usize, String)>,
    /// Whether the switch connects sites, whose groups can differ.
    has_sites: bool,
}

/// Reports VNIs with different groups, and switches with common VNIs and different MAC addresses of gateways.
/// If most switches agree, reports only the others. Two fabrics can use the same VNIs independently.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let switches: Vec<Switch> =
        trees.iter().enumerate().filter_map(|(device, nodes)| read(device, nodes)).collect();
    if switches.iter().any(|own| own.has_sites) || switches.len() < 2 {
        return;
    }
    let fabrics = fabrics(snapshot, trees);
    let mut members: BTreeMap<usize, Vec<Switch>> = BTreeMap::new();
    for own in switches {
        members.entry(fabrics[own.device]).or_default().push(own);
    }
    for switches in members.values() {
        check_fabric(snapshot, switches, found);
    }
}

/// Returns the fabric of each device: the index of the first among the switches of NX-OS that cables connect.
/// Routers do not connect fabrics.
fn fabrics(snapshot: &Snapshot, trees: &[Vec<Node>]) -> Vec<usize> {
    let is_switch = |nodes: &[Node]| {
        nodes.iter().any(|node| node.begins_with("feature ") || node.begins_with("nv overlay"))
    };
    let is_switch: Vec<bool> = trees.iter().map(|nodes| is_switch(nodes)).collect();
    let mut found: Vec<usize> = (0..trees.len()).collect();
    for ends in cables(snapshot) {
        let [own, other] = ends.map(|end| end.device);
        if is_switch[own] && is_switch[other] && found[own] != found[other] {
            let (kept, joined) = (found[own].min(found[other]), found[own].max(found[other]));
            found.iter_mut().filter(|fabric| **fabric == joined).for_each(|fabric| *fabric = kept);
        }
    }
    found
}

fn check_fabric(snapshot: &Snapshot, switches: &[Switch], found: &mut Vec<NetworkFinding>) {
    let numbers: BTreeSet<&String> = switches.iter().flat_map(|own| own.floods.keys()).collect();
    for number in numbers {
        let floods = switches.iter().filter_map(|own| Some((own.device, own.floods.get(number)?.clone())));
        let effect = "broadcasts of the VNI do not reach all switches: hosts do not find each other";
        report(snapshot, &format!("VNI {number}"), effect, &floods.collect::<Vec<_>>(), found);
    }
    for own in switches {
        let has_common = |other: &&Switch| !own.numbers.is_disjoint(&other.numbers);
        let near: Vec<&Switch> = switches.iter().filter(has_common).collect();
        let gateways = near.iter().filter_map(|other| Some((other.device, other.gateway.clone()?)));
        let effect = "hosts lose their gateway when they move to another switch";
        let mut all = Vec::new();
        report(snapshot, "the anycast gateway", effect, &gateways.collect::<Vec<_>>(), &mut all);
        let name = &snapshot.devices[own.device].name;
        found.extend(all.into_iter().filter(|finding| finding.device == *name));
    }
}

fn report(
    snapshot: &Snapshot,
    what: &str,
    effect: &str,
    values: &[(usize, (usize, String))],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, line, value, (other, there, theirs)) in odd(values) {
        let message = format!(
            "{what} has `{value}` at {}, but `{theirs}` at {} ({})",
            snapshot.devices[device].name,
            snapshot.devices[other].name,
            snapshot.place(other, there)
        );
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// A device with a rare value, its line, the value, and an example of the usual value.
type Odd<'v> = (usize, usize, &'v str, (usize, usize, &'v str));

/// Returns the devices that do not have the value of most devices; all devices if no value prevails.
fn odd(values: &[(usize, (usize, String))]) -> Vec<Odd<'_>> {
    let count = |value: &str| values.iter().filter(|(_, (_, own))| own == value).count();
    let is_most = |value: &str| count(value) * 2 > values.len();
    let rare = values.iter().filter(|(_, (_, value))| !is_most(value));
    let compared = rare.filter_map(|(device, (line, value))| {
        let others = values.iter().filter(|(_, (_, other))| other != value);
        let (other, (there, theirs)) = others.max_by_key(|(_, (_, other))| count(other))?;
        Some((*device, *line, value.as_str(), (*other, *there, theirs.as_str())))
    });
    compared.collect()
}

/// Reads a switch that has VNIs.
fn read(device: usize, nodes: &[Node]) -> Option<Switch> {
    let mut found = Switch { device, ..Switch::default() };
    for node in nodes {
        match *node.words().as_slice() {
            ["vlan", _] => {
                let words = node.inner.iter().map(Node::words);
                let numbers = words.filter_map(|words| match words.as_slice() {
                    ["vn-segment", number] => Some((*number).to_owned()),
                    _ => None,
                });
                found.numbers.extend(numbers);
            }
            ["fabric", "forwarding", "anycast-gateway-mac", address] => {
                let address: String = address.chars().filter(char::is_ascii_hexdigit).collect();
                found.gateway = Some((node.line.0, address.to_ascii_lowercase()));
            }
            ["evpn", "multisite", ..] => found.has_sites = true,
            ["interface", name] if name.starts_with("nve") => read_tunnels(node, &mut found),
            _ => {}
        }
    }
    (!found.numbers.is_empty() || !found.floods.is_empty()).then_some(found)
}

/// Reads the VNIs of the interface for tunnels. Only VNIs with their own line are read.
fn read_tunnels(interface: &Node, found: &mut Switch) {
    let flood = |node: &Node| {
        node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
            ["mcast-group", group, ..] => Some((inner.line.0, format!("mcast-group {group}"))),
            ["ingress-replication", "protocol", "bgp"] => {
                Some((inner.line.0, "ingress-replication protocol bgp".to_owned()))
            }
            _ => None,
        })
    };
    for member in &interface.inner {
        if let ["member", "vni", number] = *member.words().as_slice()
            && let Some(own) = flood(member)
        {
            found.floods.insert(number.to_owned(), own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read as nodes;
    use super::{odd, read};

    const SWITCH: &str = "fabric forwarding anycast-gateway-mac 0000.AAAA.0001\nvlan 5\n  vn-segment 7005\ninterface \
                          nve1\n  member vni 7005\n    mcast-group 239.9.0.5\n  member vni 9 associate-vrf\n";

    #[test]
    fn switches_have_groups_and_a_gateway() {
        let found = read(0, &nodes(SWITCH)).unwrap();
        assert_eq!(found.floods["7005"], (6, "mcast-group 239.9.0.5".to_owned()));
        assert_eq!(found.gateway, Some((1, "0000aaaa0001".to_owned())));
        assert_eq!((found.numbers.len(), found.floods.len(), found.has_sites), (1, 1, false));
        assert!(read(0, &nodes("vlan 5\n  name X\n")).is_none());
    }

    #[test]
    fn the_majority_is_right() {
        let value = |device, value: &str| (device, (9, value.to_owned()));
        let devices = |values: &[_]| odd(values).into_iter().map(|(device, ..)| device).collect::<Vec<_>>();
        assert_eq!(devices(&[value(0, "a"), value(1, "b"), value(2, "a")]), [1]);
        assert_eq!(devices(&[value(0, "a"), value(1, "b")]), [0, 1]);
        assert!(devices(&[value(0, "a"), value(1, "a")]).is_empty());
    }
}
