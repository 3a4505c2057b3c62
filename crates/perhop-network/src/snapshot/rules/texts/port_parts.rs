//! Ports without the statement that gives their packets a tag, and tunnels without another end.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, can_inherit, inside, words};
use crate::rules;

/// The statements of interfaces whose frames have tags (Junos).
const TAGGING: [&str; 4] =
    ["vlan-tagging", "flexible-vlan-tagging", "stacked-vlan-tagging", "native-vlan-id"];
/// The tags of units (Junos).
const TAGS: [&str; 4] = ["vlan-id", "vlan-tags", "vlan-id-list", "vlan-id-range"];

/// Reports sub-interfaces, service instances and units without a tag, and tunnels without a destination.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let mut incomplete: Vec<(usize, String)> = nodes.iter().flat_map(of_lines).collect();
        if let Some(interfaces) = block(nodes, &["interfaces"]).filter(|_| !has_shared_tags(nodes)) {
            incomplete.extend(interfaces.inner.iter().flat_map(with_braces));
        }
        for (line, what) in incomplete {
            let text =
                snapshot.devices[device].device.line_text(line).trim().trim_end_matches(" {").to_owned();
            let message = format!("`{text}` of {} {what}", snapshot.devices[device].name);
            let effect = "the port carries no packets, or the device rejects the configuration".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_BLOCK_INCOMPLETE, line, (message, effect)));
        }
    }
}

/// Returns the incomplete parts of an interface of a Cisco device (Cisco, "Interface Command Reference": a
/// sub-interface of Ethernet needs `encapsulation` before it has an address).
fn of_lines(node: &Node) -> Vec<(usize, String)> {
    let ["interface", name, ..] = *node.words().as_slice() else { return Vec::new() };
    let has = |start: &str| node.inner.iter().any(|inner| inner.begins_with(start));
    if node.is_shut() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let is_ethernet =
        ["Ethernet", "GigE", "Port-channel", "Bundle-Ether"].iter().any(|kind| name.contains(kind));
    let has_address = node.inner.iter().any(|inner| {
        matches!(inner.words().as_slice(), ["ip" | "ipv4", "address", address, ..]
            if address.starts_with(|letter: char| letter.is_ascii_digit()))
    });
    // The firewalls of Cisco have the tag in `vlan`.
    if is_ethernet && name.contains('.') && has_address && !has("encapsulation ") && !has("vlan ") {
        found.push((node.line.0, "has an address, but no `encapsulation`".to_owned()));
    }
    for inner in node.inner.iter().filter(|inner| inner.begins_with("service instance ")) {
        let has_filter = inner.inner.iter().any(|part| part.begins_with("encapsulation "));
        if !has_filter && !inner.inner.is_empty() {
            found.push((inner.line.0, "has no `encapsulation`, so no frame belongs to it".to_owned()));
        }
    }
    // Templates get the other end with each session. Tunnels with several ends, and tunnels of other modes,
    // learn the other end.
    let is_tunnel = ["Tunnel", "tunnel-ip"].iter().any(|kind| name.starts_with(kind));
    let is_multipoint = node
        .inner
        .iter()
        .any(|inner| inner.begins_with("tunnel mode ") && inner.words() != ["tunnel", "mode", "gre", "ip"]);
    if is_tunnel && has("tunnel source ") && !has("tunnel destination ") && !is_multipoint {
        found.push((node.line.0, "has no `tunnel destination`".to_owned()));
    }
    found
}

/// Whether interfaces inherit tags from a group or from the range that contains them.
fn has_shared_tags(nodes: &[Node]) -> bool {
    TAGGING.iter().chain(&TAGS).any(|name| can_inherit(nodes, name))
}

/// Returns the incomplete units of an interface with braces (Juniper, "Interfaces User Guide": units have
/// tags if and only if the interface has `vlan-tagging`). The units of logical tunnels have their own
/// encapsulation.
fn with_braces(node: &Node) -> Vec<(usize, String)> {
    let [name] = *words(node).as_slice() else { return Vec::new() };
    if ["lt-", "rlt"].iter().any(|kind| name.starts_with(kind)) || !inside(node, "apply-groups").is_empty() {
        return Vec::new();
    }
    let has = |node: &Node, names: &[&str]| {
        node.inner.iter().any(|inner| words(inner).first().is_some_and(|first| names.contains(first)))
    };
    if node.is_shut() {
        return Vec::new();
    }
    let is_tagged = has(node, &TAGGING);
    let is_switched = has(node, &["encapsulation", "native-vlan-id"]);
    let mut found = Vec::new();
    for unit in node.inner.iter().filter(|inner| words(inner).first() == Some(&"unit") && !inner.is_shut()) {
        let has_own_frames = has(unit, &["encapsulation"]);
        let has_tag = has(unit, &TAGS) || has_own_frames;
        if is_tagged && !has_tag && !inside(unit, "address").is_empty() && !is_switched {
            found.push((unit.line.0, "has no `vlan-id`, but its interface has tags".to_owned()));
        }
        if !is_tagged && has(unit, &["vlan-id", "vlan-tags"]) && !has_own_frames && !is_switched {
            found.push((unit.line.0, "has a tag, but its interface has no `vlan-tagging`".to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{has_shared_tags, of_lines, with_braces};

    fn lines(text: &str) -> Vec<usize> {
        of_lines(&read(text)[0]).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn sub_interfaces_have_tags() {
        let port =
            "interface GigabitEthernet0/1.10\n encapsulation dot1Q 10\n ip address 10.0.0.1 255.0.0.0\n";
        assert!(lines(port).is_empty());
        assert_eq!(lines(&port.replace(" encapsulation dot1Q 10\n", "")), [1]);
        assert!(lines(&port.replace("encapsulation dot1Q", "vlan")).is_empty(), "a firewall");
        assert!(lines("interface Serial0/1.10\n ip address 10.0.0.1 255.0.0.0\n").is_empty());
        let instance = "interface Gi0/1\n service instance 1 ethernet\n  bridge-domain 1\n";
        assert_eq!(lines(instance), [2]);
    }

    #[test]
    fn tunnels_have_another_end() {
        let tunnel = "interface Tunnel1\n tunnel source Gi0/0\n tunnel destination 192.0.2.1\n";
        assert!(lines(tunnel).is_empty());
        assert_eq!(lines(&tunnel.replace(" tunnel destination 192.0.2.1\n", "")), [1]);
        let multipoint = tunnel.replace("destination 192.0.2.1", "mode gre multipoint");
        assert!(lines(&multipoint).is_empty());
        let template = "interface Virtual-Template1 type tunnel\n tunnel source Gi0/0\n";
        assert!(lines(template).is_empty(), "each session has its own destination");
    }

    #[test]
    fn units_have_tags_with_tagging() {
        let text = "ge-0/0/1 {\n    vlan-tagging;\n    unit 10 {\n        vlan-id 10;\n        family inet {\n            address \
                    10.0.0.1/24;\n        }\n    }\n}";
        let lines =
            |text: &str| with_braces(&read(text)[0]).into_iter().map(|(line, _)| line).collect::<Vec<_>>();
        assert!(lines(text).is_empty());
        assert_eq!(lines(&text.replace("        vlan-id 10;\n", "")), [3]);
        let without = text.replace("    vlan-tagging;\n", "");
        assert_eq!(lines(&without), [2]);
        assert!(lines(&without.replace("ge-0/0/1", "lt-0/0/1")).is_empty());
        assert!(lines(&text.replace("vlan-tagging;", "apply-groups TAGGED;")).is_empty());
        assert!(
            lines(&without.replace("vlan-id 10;", "vlan-id 10;\n        encapsulation vlan-bridge;"))
                .is_empty()
        );
    }

    #[test]
    fn groups_and_ranges_share_tags() {
        let group = "groups {\n    T {\n        <ge-*> {\n            vlan-tagging;\n        }\n    }\n}\n";
        let range = "interfaces {\n    interface-range R {\n        vlan-tagging;\n    }\n}\n";
        assert!(has_shared_tags(&read(group)) && has_shared_tags(&read(range)));
        assert!(!has_shared_tags(&read(&range.replace("vlan-tagging", "mtu 9000"))));
    }
}
