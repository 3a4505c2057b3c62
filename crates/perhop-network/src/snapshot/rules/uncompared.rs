//! Devices whose classes the rules about networks cannot compare.

use super::{NetworkFinding, Snapshot};
use crate::rules;
use crate::snapshot::model::{has_intent, has_policy};

/// Reports each device with a policy that perhop does not convert to an intent. The rules read classes and
/// rates from the intent.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for (device, member) in snapshot.devices.iter().enumerate() {
        let ports = &snapshot.router(device).ports;
        let Some(port) = ports.iter().find(|port| has_policy(port) && !has_intent(port)) else { continue };
        let message = format!("perhop does not compare the classes of {} with other devices", member.name);
        let effect = "`perhop trace` follows packets through the device: give a packet, or --matrix";
        let rule = &rules::NETWORK_DEVICE_NOT_COMPARED;
        found.push(snapshot.finding(device, rule, port.line, (message, effect.to_owned())));
    }
}
