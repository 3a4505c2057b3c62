//! Policies attached in another direction or at another kind of port than most policies with the same name.

use std::collections::BTreeMap;

use perhop_device::LineKind;
use perhop_device::intent::Direction;

use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;

/// The minimum number of attachments of a policy, and the minimum fraction of them with the usual direction
/// and kind of port. Below these minimums, the rule reports no attachment of the policy.
const LEAST: usize = 3;
const NEARLY_ALL: f64 = 0.75;

/// The place of an attachment: its direction, and whether the port reaches another device.
type Place = (bool, bool);

/// An attachment of a policy.
struct Attachment {
    id: PortId,
    line: usize,
    place: Place,
}

/// Reports attachments of a policy whose direction or kind of port differs from nearly all others.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for (name, attachments) in by_policy(snapshot) {
        let mut counts: BTreeMap<Place, usize> = BTreeMap::new();
        for attachment in &attachments {
            *counts.entry(attachment.place).or_default() += 1;
        }
        let Some((usual, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else { continue };
        let is_usual = count >= LEAST && count as f64 >= NEARLY_ALL * attachments.len() as f64;
        // Two or more attachments at unusual places are an intended variant, so only a single one is
        // reported.
        let is_usual = is_usual && attachments.len() - count == 1;
        for attachment in attachments.iter().filter(|own| is_usual && own.place != usual) {
            // A policy at all ports of a device is intended.
            if !lacks_policy(snapshot, attachment.id.device, usual) {
                continue;
            }
            let message = format!(
                "{name} applies to {} of {}, but {count} of {} policies with this name apply to {}",
                words(attachment.place),
                snapshot.port_name(attachment.id),
                attachments.len(),
                words(usual)
            );
            let effect = "packets are marked or queued at the wrong port, and not at the intended port";
            let rule = &rules::NETWORK_ATTACHMENT_UNUSUAL;
            let device = attachment.id.device;
            let finding = snapshot.finding(device, rule, attachment.line, (message, effect.to_owned()));
            found.push(finding.about(Topic::Attachment, Precision::Exact));
        }
    }
}

/// Whether a device has a port at this place without a policy. The member ports of a bundle have the policy
/// of the bundle.
fn lacks_policy(snapshot: &Snapshot, device: usize, (is_output, is_inside): Place) -> bool {
    ports(snapshot).any(|(id, inside)| {
        let port = snapshot.port(id);
        let policies = if is_output { &port.intent.output } else { &port.intent.input };
        let is_own = id.device == device && inside == is_inside;
        let has_wire = port.kind != Some(LineKind::Virtual) && port.forwarding.below.is_empty();
        is_own && policies.is_empty() && has_wire
    })
}

/// Returns the ports that reach another device and the ports with hosts, and whether each reaches a device.
fn ports(snapshot: &Snapshot) -> impl Iterator<Item = (PortId, bool)> {
    let inside = snapshot.inside_ports().map(|(id, _)| (id, !snapshot.is_gateway(id)));
    inside.chain(snapshot.host_ports().into_iter().map(|id| (id, false)))
}

fn words((is_output, is_inside): Place) -> &'static str {
    match (is_output, is_inside) {
        (false, false) => "packets from hosts",
        (false, true) => "packets from other devices",
        (true, false) => "packets to hosts",
        (true, true) => "packets to other devices",
    }
}

/// Returns the attachments of each policy to ports that reach another device and to ports with hosts.
fn by_policy<'s>(snapshot: &'s Snapshot) -> BTreeMap<&'s str, Vec<Attachment>> {
    let mut found: BTreeMap<&str, Vec<Attachment>> = BTreeMap::new();
    for (id, is_inside) in ports(snapshot) {
        let port = snapshot.port(id);
        for direction in [Direction::Input, Direction::Output] {
            let (policies, line) = match direction {
                Direction::Input => (&port.intent.input, port.forwarding.input_line),
                Direction::Output => (&port.intent.output, port.forwarding.output_line),
            };
            let (Some(policy), Some(line)) = (policies.last(), line) else { continue };
            let place = (direction == Direction::Output, is_inside);
            found.entry(&policy.name).or_default().push(Attachment { id, line, place });
        }
    }
    found
}
