//! Serial lines whose ends have different encapsulations.

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::circuits::{block, setting};
use crate::rules;

/// The encapsulation of a serial interface without a line for it (Cisco, "Interface and Hardware Component
/// Command Reference", `encapsulation`).
const HDLC: &str = "hdlc";

/// Reports serial interfaces whose encapsulation differs from the other end.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let node = |id: PortId| block(&trees[id.device], snapshot.port(id).line).filter(|node| is_line(node));
        let (Some(near), Some(far)) = (node(own), node(other)) else { continue };
        let (Some((line, here)), Some((_, there))) = (encapsulation(near), encapsulation(far)) else {
            continue;
        };
        if here == there {
            continue;
        }
        let message = format!(
            "{}: encapsulation is {here}, but {there} at the other end of the link, {}",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        // RFC 1661 §3.4, RFC 2427: an end drops the frames of another encapsulation.
        let effect = "the line protocol stays down: no packet passes".to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_SETTING_DIFFERS, line, (message, effect)));
    }
}

/// Whether a block is a serial interface, and not one of its parts.
fn is_line(node: &Node) -> bool {
    node.begins_with("interface Serial") && !node.line.1.contains('.')
}

/// Returns the line and the name of the encapsulation; `None` if other lines about PPP show that a line is
/// missing, which another rule reports.
fn encapsulation<'t>(node: &Node<'t>) -> Option<(usize, &'t str)> {
    match setting(node, "encapsulation") {
        Some((line, words)) => Some((line, words.get(1).copied()?)),
        None if node.inner.iter().any(|inner| inner.begins_with("ppp ")) => None,
        None => Some((node.line.0, HDLC)),
    }
}
