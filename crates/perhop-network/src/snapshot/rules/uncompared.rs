//! Devices whose policies the rules about networks cannot read.

use super::{NetworkFinding, Snapshot};
use crate::rules;
use crate::snapshot::model::{has_intent, has_policy};

/// Reports each device with a policy that is not in Intent, from which the rules take classes and rates.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for (device, member) in snapshot.devices.iter().enumerate() {
        let ports = &snapshot.router(device).ports;
        let Some(port) = ports.iter().find(|port| has_policy(port) && !has_intent(port)) else { continue };
        let message = format!("perhop does not compare the classes of {} with other devices", member.name);
        let effect = "perhop trace shows them: trace a packet, or use --matrix";
        let rule = &rules::NETWORK_DEVICE_NOT_COMPARED;
        found.push(snapshot.finding(device, rule, port.line, (message, effect.to_owned())));
    }
}
