//! Rates that do not match at the two ends of a link.

use std::collections::BTreeSet;

use perhop_qos::Rate;

use super::treatment::{
    Treatment, Treatments, class_rate, demand_line, interfaces, packet, police_rate, policer_of_all,
    queueing_policy, shaper, treatment,
};
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::rules;

/// The factor that the guaranteed rates of the two ends exceed, on a link whose ends have the same rate.
const UNEQUAL: u64 = 2;

/// Reports policers at one end of a link that drop packets within a rate that the other end guarantees.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    for [sends, receives] in snapshot.wires() {
        check_whole(snapshot, sends, receives, found);
        check_classes(snapshot, [sends, receives], treatments, found);
        check_guarantees(snapshot, [sends, receives], treatments, found);
    }
}

/// Compares the guaranteed rates of the two ends of a link whose ends have the same rate.
fn check_guarantees(
    snapshot: &Snapshot,
    [own, other]: [PortId; 2],
    treatments: &Treatments,
    found: &mut Vec<NetworkFinding>,
) {
    let rates = [snapshot.output_rate(own), snapshot.output_rate(other)];
    let (Some(around), true) = (rates[0], rates[0] == rates[1]) else { return };
    let mut seen = BTreeSet::new();
    let codepoints = treatments.best.keys();
    let pairs: Vec<_> = codepoints
        .filter_map(|dscp| {
            Some([treatments.at(snapshot, own, *dscp)?, treatments.at(snapshot, other, *dscp)?])
        })
        .collect();
    for [first, second] in &pairs {
        // If packets of the other class are in several classes here, the rates are for different packets.
        let is_divided = |[here, there]: &[Treatment; 2]| {
            there.class.id == second.class.id && here.class.id != first.class.id
        };
        if pairs.iter().any(is_divided) {
            continue;
        }
        let both = (class_rate(first.class, around), class_rate(second.class, around));
        let (Some(less), Some(more)) = both else { continue };
        let line = demand_line(first.class);
        if less * UNEQUAL < more && seen.insert(line) {
            let message = format!(
                "{} guarantees {} {}, but {} at the other end of the link guarantees {} ({})",
                snapshot.port_name(own),
                first.class.name,
                Rate::from_bits_per_second(less),
                snapshot.port_name(other),
                Rate::from_bits_per_second(more),
                snapshot.place(other.device, second.class.line)
            );
            let effect = "the two directions of a session get different rates".to_owned();
            let rule = &rules::NETWORK_PROMISE_DIFFERS;
            let finding = snapshot.finding(own.device, rule, line, (message, effect));
            found.push(finding.about(Topic::Rate, Precision::Comparison));
        }
    }
}

/// Compares the rate at which one end sends with the policer for all packets at the other end. The policer of
/// a gateway limits its hosts.
fn check_whole(snapshot: &Snapshot, sends: PortId, receives: PortId, found: &mut Vec<NetworkFinding>) {
    if snapshot.is_gateway(receives) {
        return;
    }
    let Some((limit, limit_line)) = policer_of_port(snapshot, receives) else { return };
    let port = snapshot.port(sends);
    // Without a shaper, packets leave at the rate of the line.
    let line = port.wire.rate.or(port.bandwidth).map(Rate::as_bits_per_second);
    let Some(line_rate) = line else { return };
    let shaped = port.intent.output.iter().find_map(|policy| shaper(policy, line_rate));
    let (rate, line) = shaped.unwrap_or_else(|| (line_rate, snapshot.line_without_shaper(sends)));
    if rate <= limit {
        return;
    }
    let kind = if shaped.is_some() { "shapes to" } else { "sends without a shaper at" };
    let message = format!(
        "{} {kind} {}, but {} polices arriving packets to {} ({})",
        snapshot.port_name(sends),
        Rate::from_bits_per_second(rate),
        snapshot.port_name(receives),
        Rate::from_bits_per_second(limit),
        snapshot.place(receives.device, limit_line)
    );
    let effect = "the policer drops packets of every class, also those with priority".to_owned();
    let rule = &rules::NETWORK_SHAPER_ABOVE_POLICER;
    // Either end can be wrong, so both lines are reported.
    let own = match shaped {
        Some(_) => (sends.device, line, Topic::Rate, Precision::Comparison),
        None => (sends.device, line, Topic::Queues, Precision::Effect),
    };
    let other = (receives.device, limit_line, Topic::Rate, Precision::Comparison);
    for (device, line, topic, precision) in [own, other] {
        let finding = snapshot.finding(device, rule, line, (message.clone(), effect.clone()));
        found.push(finding.about(topic, precision));
    }
}

/// Returns the rate and the line of an input policer that matches all packets.
fn policer_of_port(snapshot: &Snapshot, id: PortId) -> Option<(u64, usize)> {
    let port = snapshot.port(id);
    let line = port.bandwidth.or(port.wire.rate)?.as_bits_per_second();
    port.intent.input.iter().find_map(|policy| policer_of_all(policy, line))
}

/// Compares the guaranteed rate of each class at one end with the policer of its packets at the other end.
fn check_classes(
    snapshot: &Snapshot,
    [sends, receives]: [PortId; 2],
    treatments: &Treatments,
    found: &mut Vec<NetworkFinding>,
) {
    let (from, to) = (snapshot.port(sends), snapshot.port(receives));
    let (true, Some(around)) = (queueing_policy(from).is_some(), snapshot.output_rate(sends)) else { return };
    let Some(line) = to.bandwidth.or(to.wire.rate).map(Rate::as_bits_per_second) else { return };
    if to.intent.input.is_empty() {
        return;
    }
    let names = interfaces(snapshot.router(receives.device));
    // All codepoints of a class result in one finding.
    let mut seen = BTreeSet::new();
    for dscp in treatments.best.keys() {
        let packet = packet(*dscp);
        let Some(guarantee) = treatments.at(snapshot, sends, *dscp) else { continue };
        let Some(rate) = class_rate(guarantee.class, around) else { continue };
        for input in &to.intent.input {
            let Some(own) = treatment(input, &names, &packet).filter(|own| !own.class.takes_rest) else {
                continue;
            };
            let (Some(limit), Some(police)) = (police_rate(own.class, line), own.class.police.as_ref())
            else {
                continue;
            };
            if limit < rate && seen.insert(police.line) {
                let message = format!(
                    "{} polices {} to {}, but {} guarantees {} to it ({})",
                    snapshot.port_name(receives),
                    own.class.name,
                    Rate::from_bits_per_second(limit),
                    snapshot.port_name(sends),
                    Rate::from_bits_per_second(rate),
                    snapshot.place(sends.device, guarantee.class.line)
                );
                let effect = "packets within the guaranteed rate are dropped or marked".to_owned();
                let rule = &rules::NETWORK_POLICER_BELOW_GUARANTEE;
                // The error can be at either end, so both lines are reported.
                for (device, line) in
                    [(receives.device, police.line), (sends.device, demand_line(guarantee.class))]
                {
                    let finding = snapshot.finding(device, rule, line, (message.clone(), effect.clone()));
                    found.push(finding.about(Topic::Rate, Precision::Comparison));
                }
            }
        }
    }
}
