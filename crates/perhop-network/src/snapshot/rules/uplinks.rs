//! Ports towards a provider without queues per class.

use perhop_device::{LineKind, Port, PortRole};

use super::treatment::{has_configured_queues, leads_out, queueing_policy};
use super::treatments::line_of_queues;
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;
use crate::snapshot::carries_packets;

/// The minimum number and fraction of ports towards a provider that have queues. Below these minimums, the
/// rule reports no port without queues.
const LEAST: usize = 3;
const NEARLY_ALL: f64 = 0.75;

/// Reports the only port towards a provider that sends all classes through one queue.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let mut uplinks = uplinks(snapshot);
    let with = uplinks.extract_if(.., |id| has_port_or_tunnel(snapshot, *id, has_configured_queues)).count();
    uplinks.retain(|id| !has_port_or_tunnel(snapshot, *id, |port| queueing_policy(port).is_some()));
    let [id] = uplinks.as_slice() else { return };
    let count = with + 1;
    if with < LEAST || (with as f64) < NEARLY_ALL * count as f64 {
        return;
    }
    let message = format!(
        "{} has one queue for all classes, but {with} of {count} ports towards a provider have queues",
        snapshot.port_name(*id),
    );
    let effect = "packets of all classes wait in the same queue, or the provider drops them".to_owned();
    let line = line_of_queues(snapshot, *id);
    let finding = snapshot.finding(id.device, &rules::NETWORK_POLICY_MISSING, line, (message, effect));
    found.push(finding.about(Topic::Queues, Precision::Comparison));
}

/// Returns the ports through which the default route or a tunnel leads to a device outside of the folder.
fn uplinks(snapshot: &Snapshot) -> Vec<PortId> {
    let mut found = Vec::new();
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        for (port, own) in router.ports.iter().enumerate() {
            let id = PortId { device, port };
            let is_wire = own.forwarding.role == PortRole::Interface
                && own.forwarding.tunnel.is_none()
                && own.kind != Some(LineKind::Virtual);
            let is_last = snapshot.link_of(id).is_none() && carries_packets(router, own);
            if is_wire && is_last && leads_out(snapshot, id) {
                found.push(id);
            }
        }
    }
    found
}

/// Whether a port, or a tunnel of its device, meets a `condition`.
fn has_port_or_tunnel(snapshot: &Snapshot, id: PortId, condition: impl Fn(&Port) -> bool) -> bool {
    let mut tunnels = snapshot.router(id.device).ports.iter().filter(|port| port.forwarding.tunnel.is_some());
    condition(snapshot.port(id)) || tunnels.any(condition)
}
