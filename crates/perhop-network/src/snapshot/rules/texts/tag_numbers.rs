//! A sub-interface whose number differs from its VLAN, if the number of all other sub-interfaces is their
//! VLAN.

use super::super::tree::Node;
use super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::braces::{block, words};
use crate::rules;

/// The minimum number of other sub-interfaces whose number is their VLAN.
const LEAST: usize = 4;

/// The words that precede the number of a VLAN.
const OF_VLANS: &[&str] = &["dot1Q", "dot1q", "vlan", "vlan-id"];

/// A sub-interface with one tag: the device, the line of the tag, and the name, the number and the VLAN of
/// the sub-interface.
type Part = (usize, usize, String, u32, u32);

/// Reports the only sub-interface of the network whose number differs from its VLAN.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let parts: Vec<Part> =
        trees.iter().enumerate().flat_map(|(device, nodes)| parts(device, nodes)).collect();
    let odd: Vec<&Part> = parts.iter().filter(|(.., number, vlan)| number != vlan).collect();
    let [(device, line, name, number, vlan)] = odd.as_slice() else { return };
    // If another device has this VLAN and no other device has a VLAN with the number of the sub-interface,
    // the VLAN is correct: the sub-interface only kept its name when the VLAN changed.
    let has = |wanted: u32| {
        let mut others = trees.iter().enumerate().filter(|(other, _)| other != device);
        others.any(|(_, nodes)| has_vlan(nodes, wanted))
    };
    if parts.len() <= LEAST || has(*vlan) && !has(*number) {
        return;
    }
    let message = format!(
        "{}:{name} has VLAN {vlan}, but the numbers of all {} other sub-interfaces equal their VLANs",
        snapshot.devices[*device].name,
        parts.len() - 1
    );
    let effect = "the other end uses another VLAN, so the ends do not reach each other";
    let rule = &rules::NETWORK_TAG_DIFFERS;
    let finding = snapshot.finding(*device, rule, *line, (message, effect.to_owned()));
    found.push(finding.about(Topic::Tag, Precision::Comparison));
}

/// Whether a line of a device names a VLAN.
fn has_vlan(nodes: &[Node], wanted: u32) -> bool {
    nodes.iter().any(|node| {
        let words = words(node);
        let mut pairs = words.windows(2).filter(|pair| OF_VLANS.contains(&pair[0]));
        pairs.any(|pair| pair[1].parse() == Ok(wanted)) || has_vlan(&node.inner, wanted)
    })
}

fn parts(device: usize, nodes: &[Node]) -> Vec<Part> {
    let mut found = Vec::new();
    for node in nodes {
        let ["interface", name, ..] = *node.words().as_slice() else { continue };
        let Some(number) = name.rsplit_once('.').and_then(|(_, number)| number.parse().ok()) else {
            continue;
        };
        for inner in &node.inner {
            if let ["encapsulation", "dot1Q" | "dot1q", vlan] = *inner.words().as_slice()
                && let Ok(vlan) = vlan.parse()
            {
                found.push((device, inner.line.0, name.to_owned(), number, vlan));
            }
        }
    }
    for interface in block(nodes, &["interfaces"]).map_or(&[][..], |node| &node.inner) {
        for unit in &interface.inner {
            let ["unit", number] = *words(unit).as_slice() else { continue };
            for inner in &unit.inner {
                if let ["vlan-id", vlan] = *words(inner).as_slice()
                    && let (Ok(number), Ok(vlan)) = (number.parse(), vlan.parse())
                {
                    let name = format!("{}.{number}", words(interface).join(" "));
                    found.push((device, inner.line.0, name, number, vlan));
                }
            }
        }
    }
    found
}
