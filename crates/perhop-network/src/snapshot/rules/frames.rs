//! Marks of frames (CoS) and of labels (EXP), if the next device or port reads these marks instead of the
//! codepoint.

use std::collections::BTreeSet;

use perhop_analysis::conditioned;
use perhop_device::intent::{Class, Field, Policy};
use perhop_qos::packet::LinkMark;
use perhop_qos::{Dscp, Packet};

use super::treatment::{
    Kind, Treatments, conforming, interfaces, packet, queueing_policy, reads_labels, treatment,
};
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;

/// The values of a field of 3 bits.
const VALUES: std::ops::Range<u8> = 0..8;

/// Reports classes whose frames have a CoS that makes the other end reset the codepoint. Also reports input
/// policies that write an EXP whose class differs from the class of the codepoint.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    for ends in snapshot.wires() {
        check_frames(snapshot, ends, treatments, found);
    }
    let named = named_codepoints(snapshot);
    for (id, _) in snapshot.inside_ports() {
        check_labels(snapshot, id, (treatments, &named), found);
    }
}

/// Returns a packet after the conditioners of one side of a port, if the packet conforms to all meters.
fn after(snapshot: &Snapshot, id: PortId, is_input: bool, packet: &Packet) -> Option<Packet> {
    let port = snapshot.port(id);
    let config = if is_input { &port.input } else { &port.output };
    let ways = conditioned(config, &interfaces(snapshot.router(id.device)), packet).ok()?;
    conforming(ways).map(|way| way.packet)
}

/// Returns a packet with a codepoint. Depending on `field`, its frame has the CoS `value` or its label has
/// the EXP `value`.
fn marked(dscp: Dscp, field: Field, value: u8) -> Option<Packet> {
    let mut packet = packet(dscp);
    let mark = LinkMark::new(value)?;
    if field == Field::Cos {
        packet.set_cos(mark);
    } else {
        packet.set_exp(mark);
    }
    Some(packet)
}

/// Reports a codepoint that the other end changes because of the CoS of the frame, if the other end would not
/// change it with another CoS.
fn check_frames(
    snapshot: &Snapshot,
    [sends, receives]: [PortId; 2],
    treatments: &Treatments,
    found: &mut Vec<NetworkFinding>,
) {
    if snapshot.port(receives).input.conditioners.is_empty() {
        return;
    }
    let mut seen = BTreeSet::new();
    for (dscp, kind) in &treatments.best {
        let kept = |value: u8| {
            let packet = marked(*dscp, Field::Cos, value)?;
            after(snapshot, receives, true, &packet).filter(|after| after.dscp == *dscp).map(|_| value)
        };
        let keeps: Vec<u8> = VALUES.filter_map(kept).collect();
        // If the other end changes the codepoint for every CoS value, or for no CoS value, the CoS does not
        // matter.
        if keeps.is_empty() || keeps.len() == VALUES.len() {
            continue;
        }
        let Some(sent) = after(snapshot, sends, false, &packet(*dscp)) else { continue };
        let value = sent.cos().map_or(0, LinkMark::value);
        if sent.dscp != *dscp || keeps.contains(&value) {
            continue;
        }
        let arrives =
            marked(*dscp, Field::Cos, value).and_then(|packet| after(snapshot, receives, true, &packet));
        let worse = arrives.is_none_or(|packet| treatments.kind(packet.dscp) < *kind);
        let Some(own) = treatments.at(snapshot, sends, *dscp).filter(|_| worse) else { continue };
        let line = mark_line(own.class, Field::Cos).unwrap_or(own.class.line);
        if !seen.insert(line) {
            continue;
        }
        let message = format!(
            "{} sends {dscp} in frames with CoS {value}, but {} at the other end keeps the codepoint only with CoS {}",
            snapshot.port_name(sends),
            snapshot.port_name(receives),
            keeps.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
        );
        let effect = "the other end does not trust the packets: they lose their class".to_owned();
        let finding = snapshot.finding(sends.device, &rules::NETWORK_MARK_CHANGED, line, (message, effect));
        found.push(finding.about(Topic::Mark, Precision::Effect));
    }
}

/// Returns the codepoints for which an input policy that writes the EXP has a class.
fn named_codepoints(snapshot: &Snapshot) -> BTreeSet<Dscp> {
    let mut found = BTreeSet::new();
    for (id, _) in snapshot.inside_ports() {
        let names = interfaces(snapshot.router(id.device));
        for policy in snapshot.port(id).intent.input.iter().filter(|policy| sets_labels(policy)) {
            let has_class = |dscp: &Dscp| {
                treatment(policy, &names, &packet(*dscp)).is_some_and(|own| !own.class.takes_rest)
            };
            found.extend((0..64).filter_map(Dscp::new).filter(has_class));
        }
    }
    found
}

/// Whether another end of a port's link has a class for a codepoint.
fn is_sent(snapshot: &Snapshot, id: PortId, dscp: Dscp, treatments: &Treatments) -> bool {
    let has_class =
        |other: PortId| treatments.at(snapshot, other, dscp).is_some_and(|own| own.kind > Kind::Rest);
    let link = snapshot.link_of(id);
    link.is_some_and(|link| link.ends.iter().any(|end| end.id != id && has_class(end.id)))
}

/// Reports a class of an input policy that writes an EXP, if a port of the device that queues by labels has
/// different classes for the EXP and for the codepoint. A codepoint of the default class counts only if the
/// other end or another input policy has a class for it: the core may have a class for its own packets alone.
fn check_labels(
    snapshot: &Snapshot,
    id: PortId,
    (treatments, named): (&Treatments, &BTreeSet<Dscp>),
    found: &mut Vec<NetworkFinding>,
) {
    let router = snapshot.router(id.device);
    let names = interfaces(router);
    if !snapshot.port(id).intent.input.iter().any(sets_labels) {
        return;
    }
    let queues = router.ports.iter().filter_map(queueing_policy);
    let policies: Vec<&Policy> = queues.filter(|policy| reads_labels(policy, &names)).collect();
    let mut seen = BTreeSet::new();
    for dscp in treatments.best.keys() {
        let Some(enters) = after(snapshot, id, true, &packet(*dscp)) else { continue };
        let Some(exp) = enters.exp().filter(|_| enters.dscp == *dscp) else { continue };
        for policy in &policies {
            let label = marked(Dscp::default(), Field::ExpOfTopLabel, exp.value());
            let Some(by_label) = label.and_then(|packet| treatment(policy, &names, &packet)) else {
                continue;
            };
            let Some(by_codepoint) = treatment(policy, &names, &packet(*dscp)) else { continue };
            // A policy that matches labels only has no class for the codepoint. The comparison is then with
            // the treatment of the codepoint at other ports.
            let is_rest = by_codepoint.kind == Kind::Rest || by_codepoint.class.takes_rest;
            let priority =
                || VALUES.clone().find(|value| kind_of_label(policy, &names, *value) == Some(Kind::Priority));
            let loses = by_label.kind < Kind::Priority && treatments.kind(*dscp) == Kind::Priority;
            let words = match is_rest {
                false if by_label.class.id != by_codepoint.class.id => {
                    format!("{dscp} gets class {}", by_codepoint.class.name)
                }
                true if loses => match priority() {
                    Some(value) => format!("{dscp} has priority elsewhere, as EXP {value} has there"),
                    None => continue,
                },
                _ => continue,
            };
            let Some(class) = class_at_input(snapshot, id, *dscp) else { continue };
            if is_control(*dscp) && is_for_applications(snapshot, id, class) {
                continue;
            }
            if class.takes_rest && !named.contains(dscp) && !is_sent(snapshot, id, *dscp, treatments) {
                continue;
            }
            let of_policer = class.police.as_ref().map(|police| police.line);
            let line = mark_line(class, Field::ExpOfNewLabels).or(of_policer).unwrap_or(class.line);
            if !seen.insert(line) {
                continue;
            }
            let message = format!(
                "{dscp} enters the core at {} with EXP {}: the EXP gets class {} there, but {words}",
                snapshot.port_name(id),
                exp.value(),
                by_label.class.name
            );
            let effect = "the core reads only the label: it puts the packets into the class of the EXP";
            let rule = &rules::NETWORK_MARK_CHANGED;
            let finding = snapshot.finding(id.device, rule, line, (message, effect.to_owned()));
            found.push(finding.about(Topic::Mark, Precision::Effect));
        }
    }
}

/// Returns the class of a codepoint in the input policy of a port.
fn class_at_input<'s>(snapshot: &'s Snapshot, id: PortId, dscp: Dscp) -> Option<&'s Class> {
    let names = interfaces(snapshot.router(id.device));
    let mut inner = snapshot.port(id).intent.input.iter().rev();
    inner.find_map(|policy| treatment(policy, &names, &packet(dscp))).map(|own| own.class)
}

/// Whether an input class is also for codepoints of applications. Such a class often contains the routing
/// protocols of the customer. The class of the core for these codepoints is for the protocols of the core.
fn is_for_applications(snapshot: &Snapshot, id: PortId, class: &Class) -> bool {
    let others = (0..64).filter_map(Dscp::new).filter(|dscp| !is_control(*dscp));
    let mut classes = others.filter_map(|dscp| class_at_input(snapshot, id, dscp));
    !class.takes_rest && classes.any(|other| other.id == class.id)
}

/// Whether a codepoint is for network control (RFC 4594 §3.1: CS6; CS7 is for future use).
fn is_control(dscp: Dscp) -> bool {
    dscp.value() >= 48
}

/// Returns the kind of treatment of packets whose label has the EXP `value`.
fn kind_of_label(policy: &Policy, names: &[String], value: u8) -> Option<Kind> {
    let label = marked(Dscp::default(), Field::ExpOfTopLabel, value)?;
    treatment(policy, names, &label).map(|own| own.kind)
}

fn sets_labels(policy: &Policy) -> bool {
    policy
        .classes
        .iter()
        .any(|class| class.sets(Field::ExpOfNewLabels) || class.children().is_some_and(sets_labels))
}

/// Returns the line by which a class writes a field.
fn mark_line(class: &Class, field: Field) -> Option<usize> {
    class.marks.iter().find(|mark| mark.value.field() == Some(field)).map(|mark| mark.line)
}
