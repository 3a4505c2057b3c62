//! Classes of circuits of frame relay that have no effect, because their interface does not shape.

use std::collections::BTreeSet;

use super::super::super::tree::{Node, policy_map};
use super::super::super::{NetworkFinding, Snapshot};
use super::circuits::{Circuit, Circuits, setting};
use crate::rules;

/// Commands of a class that need shaping at the interface.
const COMMANDS: [&str; 8] = [
    "frame-relay cir",
    "frame-relay bc",
    "frame-relay be",
    "frame-relay mincir",
    "frame-relay traffic-rate",
    "frame-relay adaptive-shaping",
    "frame-relay ip rtp priority",
    "frame-relay fragment",
];

/// Reports interfaces without `frame-relay traffic-shaping` whose circuits have classes with rates.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    circuits: &Circuits,
    found: &mut Vec<NetworkFinding>,
) {
    let mut seen = BTreeSet::new();
    for own in &circuits.0 {
        let device = own.port.device;
        // With `frame-relay policing`, the class limits packets that arrive at a switch of frame relay.
        let is_known = ["frame-relay traffic-shaping", "frame-relay policing"]
            .iter()
            .any(|command| setting(own.main, command).is_some());
        if is_known || shapes_by_policy(&trees[device], own) {
            continue;
        }
        let Some((line, words)) = COMMANDS.iter().find_map(|command| of_output(own, command)) else {
            continue;
        };
        if !seen.insert((device, own.main.line.0)) {
            continue;
        }
        let message = format!(
            "{} of {} lacks `frame-relay traffic-shaping`, so class {} of circuit {} has no effect (`{}`, \
             line {line})",
            own.main.words()[1..].join(" "),
            snapshot.devices[device].name,
            own.class.unwrap_or_default(),
            own.number,
            words.join(" ")
        );
        // Cisco, "Wide-Area Networking Configuration Guide: Frame Relay", "Enabling Frame Relay Traffic
        // Shaping on the Interface": the rates of a map class need `frame-relay traffic-shaping`.
        let effect = "the circuits send at the rate of the line, without the queues and fragments of their \
                      classes, and the carrier drops packets above the CIR";
        let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
        found.push(snapshot.finding(device, rule, own.main.line.0, (message, effect.to_owned())));
    }
}

/// Returns a command of the class that applies to packets that leave.
fn of_output<'t>(own: &Circuit<'_, 't>, command: &str) -> Option<(usize, Vec<&'t str>)> {
    own.setting(command).filter(|(_, words)| words.get(2) != Some(&"in"))
}

/// Whether the class of a circuit has a policy that shapes. Such a class does not need shaping at the
/// interface.
fn shapes_by_policy(nodes: &[Node], own: &Circuit) -> bool {
    let Some((_, words)) = own.setting("service-policy output") else { return false };
    let policy = words.last().and_then(|name| policy_map(nodes, name));
    policy.is_some_and(|policy| {
        policy.inner.iter().flat_map(|class| &class.inner).any(|inner| inner.begins_with("shape "))
    })
}
