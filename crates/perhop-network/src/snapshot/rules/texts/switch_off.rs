//! Switches whose QoS lines have no effect because the line that enables QoS is missing.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The line that enables QoS.
const ON: &str = "mls qos";
/// The lines of ports that need it.
const OF_PORTS: &[&str] =
    &["mls qos trust", "mls qos cos", "mls qos vlan-based", "priority-queue out", "srr-queue "];

/// Reports switches with `mls qos` in lines of their ports, but without the line that enables QoS.
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
        // Routers also have `mls qos`, but no such lines at their ports.
        let is_of_switch = |node: &&Node| node.line.1.starts_with("mls qos ");
        let global = nodes.iter().find(is_of_switch).map(|node| node.line.0);
        let Some(first) = of_ports.first() else { continue };
        let message = format!(
            "{} has no line `{ON}`: {} lines of its ports about trust and queues have no effect",
            snapshot.devices[device].name,
            of_ports.len()
        );
        let effect =
            "the switch keeps all marks, and sends all packets from one queue of each port".to_owned();
        let rule = &rules::NETWORK_SERVICE_OFF;
        found.push(snapshot.finding(device, rule, global.unwrap_or(*first), (message, effect)));
    }
}
