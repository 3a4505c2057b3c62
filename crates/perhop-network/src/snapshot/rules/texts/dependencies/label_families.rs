//! Units of Junos that a protocol lists, but that lack the address family of the protocol.

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::super::braces::{block, inside, words};
use crate::rules;

/// Protocols, and the family that a unit needs for each.
const FAMILIES: [(&str, &str); 4] = [("mpls", "mpls"), ("ldp", "mpls"), ("rsvp", "mpls"), ("isis", "iso")];
/// Statements by which a port is listed, but does not exchange packets of the protocol.
const SILENT: [&str; 2] = ["passive", "disable"];

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
    // Configuration groups can add families, and this reader does not apply them.
    let may_add = block(nodes, &["groups"]).is_some_and(|groups| !inside(groups, "interfaces").is_empty());
    if may_add || !inside(interfaces, "apply-groups").is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (protocol, family) in FAMILIES {
        let own = block(&protocols.inner, &[protocol]);
        for line in own.map_or(&[][..], |node| &node.inner) {
            let ["interface", port] = *words(line).as_slice() else { continue };
            let is_silent =
                line.inner.iter().any(|inner| words(inner).first().is_some_and(|word| SILENT.contains(word)));
            let Some((name, unit)) = port.rsplit_once('.').filter(|_| !is_silent && !port.starts_with("lo"))
            else {
                continue;
            };
            let unit = block(&interfaces.inner, &[name])
                .and_then(|own| own.inner.iter().find(|inner| words(inner) == ["unit", unit]));
            let Some(unit) = unit else { continue };
            if !unit.inner.iter().any(|inner| words(inner) == ["family", family]) {
                found.push((unit.line.0, port, protocol, family));
            }
        }
    }
    found
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
    fn groups_can_add_families() {
        assert!(
            lacking(&read(&TEXT.replace("    ge-0/0/0 {", "    apply-groups CORE;\n    ge-0/0/0 {")))
                .is_empty()
        );
    }
}
