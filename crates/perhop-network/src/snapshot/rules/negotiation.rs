//! Speed and duplex of the two ends of a cable.

use perhop_device::PortRole;

use super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other links with a fixed duplex at both ends. With fewer, an end that negotiates is
/// not an exception.
const LEAST_FIXED: usize = 2;

/// The speed and duplex of a port, each with its line. `None` means that the port negotiates the value.
struct Written<'s> {
    id: PortId,
    duplex: (Option<&'s str>, usize),
    speed: (Option<&'s str>, usize),
}

impl Written<'_> {
    fn is_fixed(&self) -> bool {
        self.duplex.0.is_some() || self.speed.0.is_some()
    }
}

/// Reports ports whose speed or duplex differs from the other end. Also reports ports that negotiate with an
/// end of fixed duplex, if both ends of other links have a fixed duplex.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let cables = cables(snapshot);
    let mut mixed = Vec::new();
    let mut fixed = 0;
    for [own, other] in &cables {
        for (what, here, there) in [("duplex", own.duplex, other.duplex), ("speed", own.speed, other.speed)] {
            if let (Some(first), Some(second)) = (here.0, there.0)
                && first != second
            {
                report(snapshot, what, (own.id, first, here.1), (other.id, second), found);
                report(snapshot, what, (other.id, second, there.1), (own.id, first), found);
            }
        }
        match (own.is_fixed(), other.is_fixed()) {
            (true, true) => fixed += 1,
            (true, false) => mixed.push((other, own)),
            (false, true) => mixed.push((own, other)),
            (false, false) => {}
        }
    }
    let [(own, other)] = mixed.as_slice() else { return };
    if fixed < LEAST_FIXED || other.duplex.0 != Some("full") {
        return;
    }
    let message = format!(
        "{} negotiates, but {} at the other end has a fixed duplex, as both ends of {fixed} other links",
        snapshot.port_name(own.id),
        snapshot.port_name(other.id)
    );
    // IEEE 802.3 §28.2.3.1: parallel detection finds the speed, but not the duplex.
    let effect = "the end that negotiates falls back to half duplex: collisions destroy packets under load";
    let rule = &rules::NETWORK_SETTING_DIFFERS;
    found.push(snapshot.finding(own.id.device, rule, own.duplex.1, (message, effect.to_owned())));
}

/// Returns the links between two ports without tags, which can be cables.
fn cables<'s>(snapshot: &'s Snapshot) -> Vec<[Written<'s>; 2]> {
    let is_hardware = |id: &PortId| {
        let port = &snapshot.port(*id).forwarding;
        port.role == PortRole::Interface && port.parent.is_none() && port.below.is_empty()
    };
    let wires = snapshot.wires().filter(|[own, other]| own < other);
    let suggested = snapshot.guesses().into_iter().map(|guess| guess.ends.map(|end| end.id));
    let both = wires.chain(suggested).filter(|ends| ends.iter().all(is_hardware));
    both.map(|ends| ends.map(|id| written(snapshot, id))).collect()
}

fn written<'s>(snapshot: &'s Snapshot, id: PortId) -> Written<'s> {
    let device = &snapshot.devices[id.device].device;
    let first = snapshot.port(id).line;
    let negotiates = device.line_in_block(first, "negotiation");
    let value = |command: &str| {
        let line = device.line_in_block(first, command);
        let text = line.and_then(|line| device.line_text(line).split_whitespace().nth(1));
        (text.filter(|text| *text != "auto"), line.or(negotiates).unwrap_or(first))
    };
    Written { id, duplex: value("duplex"), speed: value("speed") }
}

fn report(
    snapshot: &Snapshot,
    what: &str,
    (id, own, line): (PortId, &str, usize),
    (far, other): (PortId, &str),
    found: &mut Vec<NetworkFinding>,
) {
    let message = format!(
        "{}: {what} is {own}, but {other} at the other end of the link, {}",
        snapshot.port_name(id),
        snapshot.port_name(far)
    );
    let effect = if what == "duplex" {
        "the end with half duplex sees collisions and destroys packets under load"
    } else {
        "the link is down"
    };
    let rule = &rules::NETWORK_SETTING_DIFFERS;
    found.push(snapshot.finding(id.device, rule, line, (message, effect.to_owned())));
}
