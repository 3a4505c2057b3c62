//! Circuits of frame relay that fragment packets at one end only.

use super::super::super::{NetworkFinding, Snapshot};
use super::circuits::{Circuit, Circuits, setting};
use crate::rules;

/// Reports circuits without fragments whose other end fragments packets.
pub(super) fn check(snapshot: &Snapshot, circuits: &Circuits, found: &mut Vec<NetworkFinding>) {
    for (own, far) in circuits.pairs(snapshot) {
        let (None, Some(line)) = (fragments(own), fragments(far)) else { continue };
        if own.lacks_class() {
            continue;
        }
        let message = format!(
            "circuit {} of {} lacks `frame-relay fragment`, which circuit {} of {} at the other end has ({})",
            own.number,
            snapshot.port_name(own.port),
            far.number,
            snapshot.port_name(far.port),
            snapshot.place(far.port.device, line)
        );
        // FRF.12 §5: both ends of a circuit fragment end to end. Cisco, "Wide-Area Networking Command
        // Reference", `frame-relay fragment`: fragmentation must be enabled on both sides of the PVC.
        let effect =
            "this end does not reassemble fragments: long packets do not pass, and voice waits behind others";
        let line = own.blocks.first().map_or(own.line, |class| class.line.0);
        let rule = &rules::NETWORK_SETTING_DIFFERS;
        found.push(snapshot.finding(own.port.device, rule, line, (message, effect.to_owned())));
    }
}

/// Returns the line that fragments the packets of a circuit.
fn fragments(own: &Circuit) -> Option<usize> {
    let line = own.setting("frame-relay fragment").or_else(|| setting(own.main, "frame-relay fragment"));
    line.map(|(line, _)| line)
}
