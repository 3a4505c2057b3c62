//! Policies that one end of a link uses, and that the other end defines but does not use.

use super::super::{NetworkFinding, PortId, Snapshot};
use super::parts::Parts;
use crate::rules;

/// Reports ports without an output policy, if their device defines the output policy of the other end but
/// uses it at no port.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        if output(snapshot, own).is_some() {
            continue;
        }
        let parts = &devices[own.device];
        let far = output(snapshot, other);
        let line = far.and_then(|name| parts.policies.get(name));
        let (Some(name), Some(line)) = (far, line.filter(|_| !parts.used.contains(far.unwrap_or_default())))
        else {
            continue;
        };
        let message = format!(
            "{} has no output policy, but {} at the other end has {name}, which {} defines in line {line} and does \
             not use",
            snapshot.port_name(own),
            snapshot.port_name(other),
            snapshot.devices[own.device].name
        );
        let effect = "packets of all classes share one queue in this direction".to_owned();
        let at = snapshot.port(own).line;
        found.push(snapshot.finding(own.device, &rules::NETWORK_POLICY_MISSING, at, (message, effect)));
    }
}

/// Returns the output policy that the block of a port names.
fn output<'s>(snapshot: &'s Snapshot, id: PortId) -> Option<&'s str> {
    let member = &snapshot.devices[id.device].device;
    let line = member.line_in_block(snapshot.port(id).line, "service-policy output")?;
    member.line_text(line).split_whitespace().last()
}
