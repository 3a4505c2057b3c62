//! Ports of switches that lack the VLAN of all similar ports.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The minimum number of other ports with a VLAN.
const LEAST_OTHERS: usize = 2;

/// A port of a switch.
struct Port<'t> {
    name: &'t str,
    line: usize,
    /// The letters of the description of the port.
    description: String,
    has_vlan: bool,
    has_voice: bool,
}

/// Reports the only port without a VLAN for data or for voice among the ports of a switch with the same
/// description.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let uses_default = nodes.iter().any(is_default_in_use);
        let mut kinds: BTreeMap<String, Vec<Port>> = BTreeMap::new();
        let interfaces = block(nodes, &["interfaces"]).map_or(&[][..], |node| &node.inner);
        for port in nodes.iter().filter_map(of_lines).chain(interfaces.iter().filter_map(with_braces)) {
            kinds.entry(port.description.clone()).or_default().push(port);
        }
        // Ports whose descriptions have no letters can have any task.
        kinds.remove("");
        for ports in kinds.values() {
            if let Some(port) = without_voice(ports) {
                let message = format!(
                    "{} of {} has no VLAN for voice, but all other ports with the same description have one",
                    port.name, snapshot.devices[device].name
                );
                let effect = "the packets of a phone are in the VLAN of data, with other marks and queues";
                let rule = &rules::NETWORK_VLAN_MISSING;
                found.push(snapshot.finding(device, rule, port.line, (message, effect.to_owned())));
            }
            let mut lacking = ports.iter().filter(|port| !port.has_vlan);
            let (Some(port), None) = (lacking.next(), lacking.next()) else { continue };
            if ports.len() <= LEAST_OTHERS || uses_default {
                continue;
            }
            let message = format!(
                "{} of {} has no VLAN, but the {} other ports with the same description have one",
                port.name,
                snapshot.devices[device].name,
                ports.len() - 1
            );
            let effect = "the port is in the default VLAN: its hosts have no path to the others".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_VLAN_MISSING, port.line, (message, effect)));
        }
    }
}

/// Whether a block is the interface of VLAN 1 with an address. Ports without a VLAN line belong to VLAN 1.
fn is_default_in_use(node: &Node) -> bool {
    let name = node.words().concat().to_ascii_lowercase();
    name == "interfacevlan1"
        && !node.is_shut()
        && node.inner.iter().any(|inner| inner.begins_with("ip address "))
}

/// Returns the only port without a VLAN for voice.
fn without_voice<'p, 't>(ports: &'p [Port<'t>]) -> Option<&'p Port<'t>> {
    let mut lacking = ports.iter().filter(|port| !port.has_voice);
    match (lacking.next(), lacking.next()) {
        (Some(port), None) if ports.len() > LEAST_OTHERS => Some(port),
        _ => None,
    }
}

/// Returns an access port of a Cisco switch that is up.
fn of_lines<'t>(node: &Node<'t>) -> Option<Port<'t>> {
    let ["interface", name] = *node.words().as_slice() else { return None };
    let has = |start: &str| node.inner.iter().any(|inner| inner.begins_with(start));
    let is_access = has("switchport mode access") || has("switchport voice vlan ");
    if !is_access || node.is_shut() {
        return None;
    }
    let text = node.inner.iter().find_map(|inner| inner.line.1.trim().strip_prefix("description "))?;
    let has_voice = has("switchport voice vlan ");
    Some(Port {
        has_voice,
        name,
        line: node.line.0,
        description: letters(text),
        has_vlan: has("switchport access vlan "),
    })
}

/// Returns a switched port of Junos without trunks.
fn with_braces<'t>(node: &Node<'t>) -> Option<Port<'t>> {
    let [name] = *words(node).as_slice() else { return None };
    let family = inside(node, "family")
        .into_iter()
        .find(|family| words(family) == ["family", "ethernet-switching"])?;
    let is_trunk = inside(family, "interface-mode").iter().any(|mode| words(mode).last() == Some(&"trunk"));
    let description = node.inner.iter().find(|inner| words(inner).first() == Some(&"description"))?;
    let description = letters(&words(description)[1..].join(" "));
    let has_vlan = !inside(family, "vlan").is_empty();
    (!is_trunk && !node.is_shut()).then_some(Port {
        name,
        line: node.line.0,
        description,
        has_vlan,
        has_voice: false,
    })
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Port, is_default_in_use, of_lines, with_braces, without_voice};

    #[test]
    fn access_ports_have_vlans() {
        let has_vlan = |lines: &str| {
            let text = format!("interface Gi0/1\n description desk 4\n{lines}");
            of_lines(&read(&text)[0]).map(|port| (port.has_vlan, port.description))
        };
        let desk = |has_vlan| Some((has_vlan, "desk".to_owned()));
        assert_eq!(has_vlan(" switchport mode access\n switchport access vlan 10\n"), desk(true));
        assert_eq!(has_vlan(" switchport mode access\n"), desk(false));
        assert_eq!(has_vlan(" switchport mode trunk\n"), None);
        assert_eq!(has_vlan(" switchport mode access\n shutdown\n"), None);
    }

    #[test]
    fn an_addressed_vlan_1_is_in_use() {
        let is_used = |text: &str| is_default_in_use(&read(text)[0]);
        assert!(is_used("interface Vlan1\n ip address 10.0.0.1 255.255.255.0\n"));
        assert!(!is_used("interface Vlan1\n no ip address\n"));
        assert!(!is_used("interface Vlan1\n ip address 10.0.0.1 255.255.255.0\n shutdown\n"));
        assert!(!is_used("interface Vlan10\n ip address 10.0.0.1 255.255.255.0\n"));
    }

    #[test]
    fn phones_have_a_vlan() {
        let text = (1..4)
            .map(|number| {
                let voice = if number == 2 { "" } else { " switchport voice vlan 11\n" };
                format!("interface Gi0/{number}\n description desk\n switchport mode access\n{voice}")
            })
            .collect::<Vec<_>>()
            .concat();
        let nodes = read(&text);
        let ports: Vec<Port> = nodes.iter().filter_map(of_lines).collect();
        assert_eq!(without_voice(&ports).map(|port| port.name), Some("Gi0/2"));
        assert!(without_voice(&ports[..2]).is_none(), "two ports are too few");
    }

    #[test]
    fn ports_with_braces_have_members() {
        let text = "ge-0/0/1 {\n    description \"desk 1\";\n    unit 0 {\n        family ethernet-switching {\n            vlan \
                    {\n                members DATA;\n            }\n        }\n    }\n}";
        let has_vlan = |text: &str| with_braces(&read(text)[0]).map(|port| port.has_vlan);
        assert_eq!(has_vlan(text), Some(true));
        assert_eq!(
            has_vlan(&text.replace("vlan {\n                members DATA", "storm-control {\n x")),
            Some(false)
        );
        assert_eq!(has_vlan(&text.replace("vlan {", "interface-mode trunk;\n            vlan {")), None);
    }
}
