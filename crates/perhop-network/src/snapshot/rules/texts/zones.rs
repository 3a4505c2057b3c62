//! Ports of a firewall that belong to no security zone.

use std::collections::BTreeSet;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use crate::rules;

/// The names of interfaces that may be outside of all zones: management interfaces, the loopback, and the
/// links of a cluster.
const WITHOUT_ZONE: &[&str] = &["em", "fab", "fxp", "lo", "me"];

/// Reports ports with an IPv4 address that are in no security zone, on devices with zones.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let Some(zones) = block(nodes, &["security", "zones"]) else { continue };
        let units = units(nodes);
        let named = named(zones);
        if named.is_empty() || named.iter().any(|(name, _)| *name == "all") {
            continue;
        }
        let known: BTreeSet<&str> = named.iter().map(|(name, _)| *name).collect();
        let strange = named.iter().find(|(name, _)| !units.iter().any(|(unit, ..)| unit == name));
        for (name, line, has_address) in &units {
            let is_free = WITHOUT_ZONE.iter().any(|kind| {
                name.strip_prefix(kind)
                    .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
            });
            if !has_address || is_free || known.contains(name.as_str()) {
                continue;
            }
            let instead = strange.map_or_else(String::new, |(other, line)| {
                format!("; line {line} names {other}, which does not exist")
            });
            let message =
                format!("{name} of {} belongs to no security zone{instead}", snapshot.devices[device].name);
            let effect =
                "the device drops all packets that arrive at this port or leave through it".to_owned();
            let rule = &rules::NETWORK_PORT_INCOMPLETE;
            found.push(snapshot.finding(device, rule, *line, (message, effect)));
        }
    }
}

/// Returns the units of all interfaces, each with its line and whether it has an IPv4 address.
fn units(nodes: &[Node]) -> Vec<(String, usize, bool)> {
    let interfaces = block(nodes, &["interfaces"]).map_or(&[][..], |node| &node.inner);
    let mut found = Vec::new();
    for interface in interfaces {
        let [name] = *words(interface).as_slice() else { continue };
        for unit in &interface.inner {
            let ["unit", number] = *words(unit).as_slice() else { continue };
            let family = unit.inner.iter().find(|inner| words(inner) == ["family", "inet"]);
            let has_address = family.is_some_and(|family| !inside(family, "address").is_empty());
            found.push((format!("{name}.{number}"), unit.line.0, has_address));
        }
    }
    found
}

/// Returns the ports that zones list, with their lines.
fn named<'t>(zones: &Node<'t>) -> Vec<(&'t str, usize)> {
    let mut found = Vec::new();
    for zone in inside(zones, "security-zone") {
        for interfaces in zone.inner.iter().filter(|inner| words(inner).first() == Some(&"interfaces")) {
            let own = words(interfaces);
            found.extend(own.get(1).map(|name| (*name, interfaces.line.0)));
            found.extend(
                interfaces.inner.iter().filter_map(|inner| Some((*words(inner).first()?, inner.line.0))),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::{block, read};
    use super::{named, units};

    #[test]
    fn zones_name_ports_with_and_without_a_block() {
        let text = "security {\n    zones {\n        security-zone a {\n            interfaces {\n                \
                    ge-0/0/0.0;\n                ge-0/0/1.7 {\n                    host-inbound-traffic;\n                \
                    }\n            }\n        }\n    }\n}";
        let nodes = read(text);
        let zones = block(&nodes, &["security", "zones"]).unwrap();
        assert_eq!(named(zones), [("ge-0/0/0.0", 5), ("ge-0/0/1.7", 6)]);
    }

    #[test]
    fn units_without_an_address_carry_frames() {
        let text = "interfaces {\n    ge-0/0/0 {\n        unit 0 {\n            family inet {\n                \
                    address 192.0.2.1/30;\n            }\n        }\n        unit 1 {\n            family \
                    ethernet-switching;\n        }\n    }\n}";
        let found = units(&read(text));
        assert_eq!(found, [("ge-0/0/0.0".to_owned(), 3, true), ("ge-0/0/0.1".to_owned(), 8, false)]);
    }
}
