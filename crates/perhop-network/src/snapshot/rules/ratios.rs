//! Shapers and policers whose ratio to a stated rate differs from the ratio of all others.
//!
//! Sites leave different room for headers, but a network has one practice: for example, each shaper has 95 %
//! of the rate in the name of its policy. A shaper with half of that rate is a typing error or belongs to
//! another circuit.

use std::collections::BTreeSet;

use perhop_qos::Rate;

use super::rate_names::rate_in;
use super::treatment::{policer_of_all, shaper};
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic, line_of_output};
use crate::rules;
use crate::snapshot::carries_packets;

/// The minimum number of other limits with similar ratios.
const LEAST: usize = 4;
/// The maximum factor between similar ratios.
const ALIKE: f64 = 1.15;
/// The minimum factor between the reported ratio and the other ratios.
const FAR: f64 = 1.4;

/// The range of the ratio of a shaper to the rate of its circuit that counts as a match.
const FITS: std::ops::RangeInclusive<f64> = 0.75..=1.05;

/// A limit with the rate that it refers to.
#[derive(Clone, Copy)]
struct Limit {
    id: PortId,
    rate: u64,
    stated: u64,
    line: usize,
    /// The line that attaches the limit.
    attached: usize,
}

impl Limit {
    fn ratio(&self) -> f64 {
        self.rate as f64 / self.stated as f64
    }
}

/// Reports the only limit whose ratio to a stated rate differs from all others. The stated rate is the rate
/// in the name of the policy, the bandwidth of the port, the rate in the description of the port, or the
/// policer at the other end.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let shapers = shapers(snapshot);
    let of_name = |(limit, name): &(Limit, String)| Some(Limit { stated: rate_in(name)?, ..*limit });
    let by_name: Vec<Limit> = unique(shapers.iter().filter_map(of_name));
    let ratios: Vec<f64> = by_name.iter().map(Limit::ratio).collect();
    let odd = only_odd(&ratios).map(|(place, _)| by_name[place]);
    // After an upgrade of a circuit, the policy often keeps its name.
    if odd.is_some_and(|limit| !has_agreement(snapshot, limit.id, limit.rate)) {
        let what = "the rate in the name of its policy";
        report(snapshot, &by_name, what, |limit| (limit.line, Topic::Rate), found);
    }
    let others: [(&str, Vec<Limit>); 3] = [
        ("the bandwidth of its port", shapers.iter().filter_map(|own| of_bandwidth(snapshot, own)).collect()),
        (
            "the rate in its description",
            shapers.iter().filter_map(|own| of_description(snapshot, own)).collect(),
        ),
        (
            "the policer at the other end",
            shapers.iter().filter_map(|own| of_policer(snapshot, own)).collect(),
        ),
    ];
    for (what, limits) in others {
        report(
            snapshot,
            &limits,
            what,
            |limit| {
                // A shaper that fits its own name belongs to another circuit.
                let is_named =
                    by_name.iter().any(|own| own.line == limit.line && own.id.device == limit.id.device);
                let is_odd =
                    odd.is_some_and(|own| own.line == limit.line && own.id.device == limit.id.device);
                let fits = is_named && !is_odd;
                if fits { (limit.attached, Topic::Attachment) } else { (limit.line, Topic::Rate) }
            },
            found,
        );
    }
}

/// Whether the rate of a shaper fits ([`FITS`]) another rate that its port or the other end of the link
/// states in a bandwidth, a description or a shaper. Always true for a tunnel, because its circuit is at
/// another device.
fn has_agreement(snapshot: &Snapshot, id: PortId, rate: u64) -> bool {
    let states = |id: PortId| {
        let port = snapshot.port(id);
        let limit = (Limit { id, rate, stated: 0, line: port.line, attached: port.line }, String::new());
        let shaped = port.intent.output.iter().find_map(|policy| shaper(policy, 0));
        let stated = [of_bandwidth(snapshot, &limit), of_description(snapshot, &limit)];
        let stated = stated.into_iter().flatten().map(|limit| limit.stated);
        stated.chain(shaped.map(|(rate, _)| rate)).collect::<Vec<u64>>()
    };
    let far = snapshot.wires().filter(|[own, _]| *own == id).flat_map(|[_, other]| states(other));
    let own = states(id).into_iter().filter(|stated| *stated != rate);
    let fits = |stated: u64| FITS.contains(&(rate as f64 / stated as f64));
    snapshot.port(id).forwarding.tunnel.is_some() || own.chain(far).any(fits)
}

/// Returns the limits without repetitions: a policy at several ports is one limit.
fn unique(limits: impl Iterator<Item = Limit>) -> Vec<Limit> {
    let mut seen = BTreeSet::new();
    limits.filter(|limit| seen.insert((limit.id.device, limit.line))).collect()
}

/// Returns the shapers for all packets of a port, with the names of their policies.
fn shapers(snapshot: &Snapshot) -> Vec<(Limit, String)> {
    let mut found = Vec::new();
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        for (port, own) in router.ports.iter().enumerate().filter(|(_, own)| carries_packets(router, own)) {
            let id = PortId { device, port };
            let around = own.bandwidth.map_or(0, Rate::as_bits_per_second);
            for policy in &own.intent.output {
                if let Some((rate, line)) =
                    shaper(policy, around).filter(|(rate, line)| *rate > 0 && *line > 0)
                {
                    let limit = Limit { id, rate, stated: 0, line, attached: line_of_output(own) };
                    found.push((limit, policy.name.clone()));
                }
            }
        }
    }
    found
}

fn of_bandwidth(snapshot: &Snapshot, (limit, _): &(Limit, String)) -> Option<Limit> {
    let port = snapshot.port(limit.id);
    snapshot.devices[limit.id.device].device.line_in_block(port.line, "bandwidth")?;
    // The bandwidth of a tunnel only serves routing protocols.
    let stated = port.bandwidth.filter(|_| port.forwarding.tunnel.is_none())?.as_bits_per_second();
    Some(Limit { stated, ..*limit })
}

fn of_description(snapshot: &Snapshot, (limit, _): &(Limit, String)) -> Option<Limit> {
    let stated = rate_in(snapshot.port(limit.id).forwarding.description.as_ref()?)?;
    Some(Limit { stated, ..*limit })
}

fn of_policer(snapshot: &Snapshot, (limit, _): &(Limit, String)) -> Option<Limit> {
    let mut far = snapshot.wires().filter(|[own, _]| *own == limit.id).map(|[_, other]| other);
    let other = snapshot.port(far.next()?);
    let line = other.bandwidth.or(other.wire.rate)?.as_bits_per_second();
    let (stated, _) = other.intent.input.iter().find_map(|policy| policer_of_all(policy, line))?;
    Some(Limit { stated, ..*limit }).filter(|_| stated > 0)
}

/// Reports the only limit with an odd ratio. `place` returns the line and the topic of the finding.
fn report(
    snapshot: &Snapshot,
    limits: &[Limit],
    what: &str,
    mut place: impl FnMut(&Limit) -> (usize, Topic),
    found: &mut Vec<NetworkFinding>,
) {
    let ratios: Vec<f64> = limits.iter().map(Limit::ratio).collect();
    let Some((odd, [least, most])) = only_odd(&ratios) else { return };
    let limit = &limits[odd];
    let (line, topic) = place(limit);
    let percent = |ratio: f64| (100.0 * ratio).round();
    let message = format!(
        "{} shapes to {}, {} % of {what}; the {} other shapers have {} to {} %",
        snapshot.port_name(limit.id),
        Rate::from_bits_per_second(limit.rate),
        percent(limit.ratio()),
        limits.len() - 1,
        percent(least),
        percent(most)
    );
    let effect = if limit.ratio() < least {
        "packets of every class wait although the circuit has unused rate"
    } else {
        "the carrier drops packets above the rate of the circuit, in every class"
    };
    let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
    let finding = snapshot.finding(limit.id.device, rule, line, (message, effect.to_owned()));
    found.push(finding.about(topic, Precision::Comparison));
}

/// Returns the index of the only ratio far from all others, and the range of the others.
fn only_odd(ratios: &[f64]) -> Option<(usize, [f64; 2])> {
    if ratios.len() <= LEAST {
        return None;
    }
    let mut places: Vec<usize> = (0..ratios.len()).collect();
    places.sort_by(|a, b| ratios[*a].total_cmp(&ratios[*b]));
    let at = |place: usize| ratios[places[place]];
    let last = places.len() - 1;
    let is_odd_first = at(last) <= ALIKE * at(1) && FAR * at(0) <= at(1);
    let is_odd_last = at(last - 1) <= ALIKE * at(0) && at(last) >= FAR * at(last - 1);
    if is_odd_first {
        Some((places[0], [at(1), at(last)]))
    } else if is_odd_last {
        Some((places[last], [at(0), at(last - 1)]))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::only_odd;

    #[test]
    fn one_ratio_far_from_a_narrow_range_is_odd() {
        assert_eq!(only_odd(&[0.95, 0.96, 0.475, 0.98, 0.94]), Some((2, [0.94, 0.98])));
        assert_eq!(only_odd(&[0.95, 0.96, 1.9, 0.98, 0.94]), Some((2, [0.94, 0.98])));
        assert_eq!(only_odd(&[0.95, 0.96, 0.8, 0.98, 0.94]), None, "it is not far");
        assert_eq!(only_odd(&[0.95, 0.5, 0.475, 0.98, 0.94, 0.95]), None, "two are odd");
        assert_eq!(only_odd(&[0.95, 0.96, 0.475, 0.98]), None, "the others are too few");
    }
}
