//! Speed and duplex of the two ends of a cable.

use std::collections::BTreeSet;

use perhop_device::PortRole;

use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;

/// The minimum number of other links with a fixed duplex at both ends. With fewer, the rule reports no end
/// that negotiates.
const LEAST_FIXED: usize = 2;

/// The speed and duplex of a port, each with its line. `None` means that the port negotiates the value.
struct Written<'s> {
    id: PortId,
    duplex: (Option<&'s str>, usize),
    speed: (Option<&'s str>, usize),
    /// Whether a line enables negotiation.
    negotiates: bool,
}

impl Written<'_> {
    fn is_fixed(&self) -> bool {
        self.duplex.0.is_some() || self.speed.0.is_some()
    }

    /// Whether the port negotiates the duplex, and either negotiates the speed or has the speed of the other
    /// end.
    fn fits_speed(&self, far: &Written) -> bool {
        self.duplex.0.is_none() && self.speed.0.is_none_or(|speed| far.speed.0 == Some(speed))
    }

    /// Whether the port has full duplex and a fixed speed of at most 100 Mb/s. At 1 Gb/s, ports negotiate
    /// even with a fixed speed (IEEE 802.3 §40.5.1).
    fn is_slow_and_full(&self) -> bool {
        self.duplex.0 == Some("full") && matches!(self.speed.0, Some("10" | "100"))
    }
}

/// Reports ports whose speed or duplex differs from the other end. Also reports ports that negotiate, if the
/// other end has a fixed duplex and both ends of other links have a fixed duplex.
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
        for (near, far) in [(own, other), (other, own)] {
            if near.negotiates && near.fits_speed(far) && far.is_slow_and_full() {
                report_fallback(snapshot, near, far, found);
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
    let is_known = own.negotiates && other.is_slow_and_full();
    if is_known || fixed < LEAST_FIXED || other.duplex.0 != Some("full") {
        return;
    }
    let message = format!(
        "{} negotiates, but {} at the other end has a fixed duplex, as both ends of {fixed} other links",
        snapshot.port_name(own.id),
        snapshot.port_name(other.id)
    );
    // IEEE 802.3 §28.2.3.1: parallel detection detects the speed, but not the duplex.
    let effect = "the end that negotiates falls back to half duplex: collisions destroy packets under load";
    let rule = &rules::NETWORK_SETTING_DIFFERS;
    found.push(snapshot.finding(own.id.device, rule, own.duplex.1, (message, effect.to_owned())));
}

/// Reports both ends of a cable if one end negotiates and the other end has a fixed speed and duplex.
fn report_fallback(snapshot: &Snapshot, near: &Written, far: &Written, found: &mut Vec<NetworkFinding>) {
    let [own, other] = [near, far].map(|end| snapshot.port_name(end.id));
    // IEEE 802.3 §28.2.3.1: parallel detection detects the speed, but not the duplex.
    let effect = "the end that negotiates falls back to half duplex: collisions destroy packets under load";
    let rule = &rules::NETWORK_SETTING_DIFFERS;
    let what = if near.speed.0.is_some() { "the duplex" } else { "speed and duplex" };
    let message = format!("{own} negotiates {what}, but {other} at the other end has fixed values");
    let finding = snapshot.finding(near.id.device, rule, near.duplex.1, (message, effect.to_owned()));
    found.push(finding.about(Topic::Setting("duplex"), Precision::Exact));
    let message =
        format!("{other} has a fixed speed and duplex, but {own} at the other end negotiates {what}");
    found.push(snapshot.finding(far.id.device, rule, far.duplex.1, (message, effect.to_owned())));
}

/// Returns the links between two ports without tags, which can be cables.
fn cables<'s>(snapshot: &'s Snapshot) -> Vec<[Written<'s>; 2]> {
    let is_hardware = |id: &PortId| {
        let port = &snapshot.port(*id).forwarding;
        port.role == PortRole::Interface && port.parent.is_none() && port.below.is_empty()
    };
    let wires = snapshot.wires().filter(|[own, other]| own < other);
    let suggested = snapshot.guesses().into_iter().map(|guess| guess.ends.map(|end| end.id));
    let described = snapshot.described_pairs().into_iter();
    let all: BTreeSet<[PortId; 2]> = wires
        .chain(suggested)
        .chain(described)
        .map(|[own, other]| [own.min(other), own.max(other)])
        .collect();
    let both = all.into_iter().filter(|ends| ends.iter().all(is_hardware));
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
    // Cisco, "Interface Configuration Guide": some ports have `full-duplex` instead of `duplex full`.
    let of_old_form = [("full", "full-duplex"), ("half", "half-duplex")]
        .into_iter()
        .find_map(|(duplex, command)| Some((Some(duplex), device.line_in_block(first, command)?)));
    let is_auto = |line: usize| device.line_text(line).split_whitespace().last() == Some("auto");
    let negotiates = ["duplex", "negotiation"]
        .iter()
        .any(|command| device.line_in_block(first, command).is_some_and(is_auto));
    let duplex = of_old_form.unwrap_or_else(|| value("duplex"));
    Written { id, duplex, speed: value("speed"), negotiates }
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
