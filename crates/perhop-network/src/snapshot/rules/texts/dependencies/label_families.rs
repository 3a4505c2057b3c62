//! Units of Junos that a protocol lists, but that lack the address family of the protocol.

use std::collections::BTreeSet;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::super::braces::{block, inside, words};
use crate::rules;

/// Protocols, and the family that a unit needs for each.
const FAMILIES: [(&str, &str); 4] = [("mpls", "mpls"), ("ldp", "mpls"), ("rsvp", "mpls"), ("isis", "iso")];
/// Statements with which a listed port does not exchange packets of the protocol.
const SILENT: [&str; 2] = ["passive", "disable"];
/// The levels of IS-IS.
const LEVELS: [&str; 2] = ["1", "2"];

/// Reports units without a family that a protocol needs, once for each unit and family.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let mut seen = Vec::new();
        for (line, port, protocol, family) in lacking(nodes) {
            if seen.contains(&(line, family)) {
                continue;
            }
            seen.push((line, family));
            let message = format!(
                "{}:{port} has no `family {family}`, but `protocols {protocol}` lists it",
                snapshot.devices[device].name
            );
            let effect = if family == "mpls" {
                "the unit drops labeled packets: VPNs and tunnels do not pass"
            } else {
                "the port has no neighbor: packets take another path, or have none"
            };
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Returns the units that lack a family: the line of the unit, the port, the protocol and the family.
fn lacking<'t>(nodes: &[Node<'t>]) -> Vec<(usize, &'t str, &'static str, &'static str)> {
    let (Some(interfaces), Some(protocols)) = (block(nodes, &["interfaces"]), block(nodes, &["protocols"]))
    else {
        return Vec::new();
    };
    if may_inherit(nodes) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (protocol, family) in FAMILIES {
        let Some(own) = block(&protocols.inner, &[protocol]).filter(|own| !is_off(own)) else { continue };
        let off = levels(own);
        for line in &own.inner {
            let ["interface", port] = *words(line).as_slice() else { continue };
            // IS-IS runs on both levels without a line that excludes a level.
            let is_silent = is_off(line) || off.union(&levels(line)).count() == LEVELS.len();
            let Some((name, unit)) = port.rsplit_once('.').filter(|_| !is_silent && !port.starts_with("lo"))
            else {
                continue;
            };
            let port_of_unit = block(&interfaces.inner, &[name]).filter(|own| !is_off(own));
            let unit = port_of_unit
                .and_then(|own| own.inner.iter().find(|inner| words(inner) == ["unit", unit]))
                .filter(|unit| !is_off(unit));
            let Some(unit) = unit else { continue };
            if !unit.inner.iter().any(|inner| words(inner).starts_with(&["family", family])) {
                found.push((unit.line.0, port, protocol, family));
            }
        }
    }
    found
}

/// Whether ports or protocols can inherit lines from configuration groups or ranges of interfaces. This
/// reader does not apply such lines.
pub(in super::super) fn may_inherit(nodes: &[Node]) -> bool {
    let contains = |name: &str, command: &str| {
        block(nodes, &[name]).is_some_and(|node| !inside(node, command).is_empty())
    };
    let ranges = block(nodes, &["interfaces"]).map_or_else(Vec::new, |own| inside(own, "interface-range"));
    // A group that another file defines can contain all lines.
    let applied = nodes.iter().filter(|node| words(node).first() == Some(&"apply-groups"));
    let names: Vec<&str> = applied.flat_map(|node| words(node).split_off(1)).collect();
    let is_defined = |name: &&str| {
        block(nodes, &["groups"]).is_some_and(|groups| block(&groups.inner, &[*name]).is_some())
    };
    contains("groups", "interfaces")
        || contains("groups", "protocols")
        || contains("interfaces", "apply-groups")
        || contains("protocols", "apply-groups")
        || ranges.iter().any(|range| !inside(range, "unit").is_empty())
        || !names.iter().all(is_defined)
}

/// Whether a block has a statement that turns it off.
fn is_off(node: &Node) -> bool {
    node.inner.iter().any(|inner| matches!(*words(inner).as_slice(), [word] if SILENT.contains(&word)))
}

/// Returns the levels of IS-IS without neighbors at a port, or at all ports of the process.
fn levels<'t>(node: &Node<'t>) -> BTreeSet<&'t str> {
    let levels = node.inner.iter().filter_map(|inner| match *words(inner).as_slice() {
        ["level", level, word] if SILENT.contains(&word) => Some(level),
        ["level", level] if is_off(inner) => Some(level),
        _ => None,
    });
    levels.filter(|level| LEVELS.contains(level)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::lacking;

    const TEXT: &str = "interfaces {\n    ge-0/0/0 {\n        unit 0 {\n            family inet;\n            family iso;\n        \
        }\n        unit 1 {\n            family mpls;\n        }\n    }\n}\nprotocols {\n    mpls {\n        interface ge-0/0/0.0;\n        \
        interface ge-0/0/0.1;\n        interface all;\n    }\n    isis {\n        interface ge-0/0/0.0;\n        interface \
        ge-0/0/0.1 {\n            passive;\n        }\n        interface lo0.0;\n    }\n}";

    #[test]
    fn units_need_the_family_of_the_protocol() {
        assert_eq!(lacking(&read(TEXT)), [(3, "ge-0/0/0.0", "mpls", "mpls")]);
        let text = TEXT.replace("passive", "point-to-point");
        assert_eq!(lacking(&read(&text))[1], (7, "ge-0/0/0.1", "isis", "iso"));
    }

    #[test]
    fn a_port_without_neighbors_needs_no_family() {
        let count = |own: &str| lacking(&read(&TEXT.replace("passive;", own))).len();
        assert_eq!(count("level 1 disable;"), 2, "the port has neighbors on level 2");
        assert_eq!(count("level 1 disable;\n            level 2 passive;"), 1);
        assert_eq!(
            count("level 1 disable;\n            level 2 {\n                passive;\n            }"),
            1
        );
        let silent = |old: &str, new: &str| lacking(&read(&TEXT.replace(old, new))).is_empty();
        assert!(silent("    mpls {", "    mpls {\n        disable;"));
        assert!(silent("        unit 0 {", "        unit 0 {\n            disable;"));
        assert!(silent("    ge-0/0/0 {", "    ge-0/0/0 {\n        disable;"));
    }

    #[test]
    fn ranges_can_add_families() {
        let range = |text: &str| {
            let block = format!("interfaces {{\n    interface-range CORE {{\n        {text}\n    }}\n    ge");
            lacking(&read(&TEXT.replacen("interfaces {\n    ge", &block, 1))).len()
        };
        assert_eq!(range("unit 0 {\n            family mpls;\n        }"), 0);
        assert_eq!(range("mtu 9192;"), 1);
    }

    #[test]
    fn groups_can_add_families() {
        assert!(
            lacking(&read(&TEXT.replace("    ge-0/0/0 {", "    apply-groups CORE;\n    ge-0/0/0 {")))
                .is_empty()
        );
    }
}
