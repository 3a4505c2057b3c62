//! Switches whose QoS lines have no effect because the line that enables QoS is missing.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The line that enables QoS.
const ON: &str = "mls qos";
/// The beginnings of port lines that have no effect without [`ON`].
const OF_PORTS: &[&str] =
    &["mls qos trust", "mls qos cos", "mls qos vlan-based", "priority-queue out", "srr-queue "];

/// Reports switches whose ports have lines about QoS, but that lack the line that enables QoS.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        if nodes.iter().any(|node| node.line.1 == ON) {
            continue;
        }
        let interfaces = nodes.iter().filter(|node| node.line.1.starts_with("interface "));
        let of_ports: Vec<usize> = interfaces
            .flat_map(|node| &node.inner)
            .filter(|inner| OF_PORTS.iter().any(|start| inner.line.1.trim_start().starts_with(start)))
            .map(|inner| inner.line.0)
            .collect();
        // Routers can have `mls qos` lines too, but not in the blocks of their ports.
        let is_of_switch = |node: &&Node| node.line.1.starts_with("mls qos ");
        let global = nodes.iter().find(is_of_switch).map(|node| node.line.0);
        let Some(first) = of_ports.first() else { continue };
        let message = format!(
            "{} has no line `{ON}`, so {} lines of its ports about trust and queues have no effect",
            snapshot.devices[device].name,
            of_ports.len()
        );
        let effect = "the switch does not change marks, and all packets of a port share one queue".to_owned();
        let rule = &rules::NETWORK_SERVICE_OFF;
        found.push(snapshot.finding(device, rule, global.unwrap_or(*first), (message, effect)));
    }
}
