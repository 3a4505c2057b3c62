//! Circuits of ATM whose ends have different encapsulations or rates.

use perhop_qos::Rate;

use super::super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::circuits::{Circuit, Circuits};
use crate::rules;

/// The encapsulation of a circuit without a line for it (Cisco, "Wide-Area Networking Command Reference",
/// `encapsulation`).
const SNAP: &str = "aal5snap";
/// The encapsulation with which a circuit finds out that of the other end.
const AUTOMATIC: &str = "aal5autoppp";
/// The percentages of a rate within which another rate counts as equal.
const LEAST: u64 = 95;
const MOST: u64 = 105;

/// The rates of a circuit, b/s, and their line.
struct Service {
    line: usize,
    peak: u64,
    sustained: u64,
}

/// Reports circuits whose encapsulation or rate differs from the other end.
pub(super) fn check(snapshot: &Snapshot, circuits: &Circuits, found: &mut Vec<NetworkFinding>) {
    for (own, far) in circuits.pairs(snapshot) {
        check_encapsulations(snapshot, own, far, found);
        check_rates(snapshot, own, far, found);
    }
}

fn check_encapsulations(snapshot: &Snapshot, own: &Circuit, far: &Circuit, found: &mut Vec<NetworkFinding>) {
    let ((line, here), (_, there)) = (encapsulation(own), encapsulation(far));
    if here == there || here == AUTOMATIC || there == AUTOMATIC {
        return;
    }
    let message = format!(
        "circuit {} of {} has the encapsulation {here}, but circuit {} of {} at the other end has {there}",
        own.number,
        snapshot.port_name(own.port),
        far.number,
        snapshot.port_name(far.port)
    );
    // RFC 2684 §4: both ends of a circuit use the same method.
    let effect = "the circuit is up, but each end drops the packets of the other".to_owned();
    found.push(snapshot.finding(own.port.device, &rules::NETWORK_SETTING_DIFFERS, line, (message, effect)));
}

/// Returns the line and the name of the encapsulation of a circuit.
fn encapsulation(own: &Circuit) -> (usize, String) {
    match own.setting("encapsulation") {
        // The word after the protocol is the template of the sessions, which each end chooses.
        Some((line, words)) => (line, words[1..words.len().min(3)].join(" ")),
        None => (own.line, SNAP.to_owned()),
    }
}

/// Reports a circuit whose rate differs from two equal statements of the rate: the bandwidths of both ports
/// and the rate of the other end. The two directions of a circuit can have different rates, so the other end
/// alone is not enough.
fn check_rates(snapshot: &Snapshot, own: &Circuit, far: &Circuit, found: &mut Vec<NetworkFinding>) {
    let Some(other) = service(far) else { return };
    let Some(here) = service(own) else {
        report_missing(snapshot, own, (far, &other), found);
        return;
    };
    let far_name = snapshot.port_name(far.port);
    let stated = [own.bandwidth(), Some(other.sustained), far.bandwidth()];
    let stated: Vec<u64> = stated.into_iter().flatten().collect();
    let agree = |rates: &[u64]| rates.iter().all(|rate| is_near(*rate, rates[0]));
    let (rate, what) = if stated.len() > 1 && agree(&stated) && !is_near(here.sustained, stated[0]) {
        (here.sustained, "sustained rate")
    } else if is_near(here.sustained, other.sustained) && here.peak > other.peak.saturating_mul(MOST) / 100 {
        (here.peak, "peak rate")
    } else {
        return;
    };
    let usual = if what == "peak rate" { other.peak } else { other.sustained };
    let message = format!(
        "circuit {} of {} has a {what} of {}, but circuit {} of {far_name} at the other end has {}",
        own.number,
        snapshot.port_name(own.port),
        Rate::from_bits_per_second(rate),
        far.number,
        Rate::from_bits_per_second(usual)
    );
    // ITU-T I.371 §7.2.3: the network may discard cells above the traffic contract.
    let effect = if rate > usual {
        "the carrier drops cells above the contract, in every class"
    } else {
        "packets wait or are dropped although the circuit has unused rate"
    };
    let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
    let finding = snapshot.finding(own.port.device, rule, here.line, (message, effect.to_owned()));
    found.push(finding.about(Topic::Rate, Precision::Exact));
}

/// Reports a circuit without a rate, if the bandwidth of its port is the rate of the other end.
fn report_missing(
    snapshot: &Snapshot,
    own: &Circuit,
    (far, other): (&Circuit, &Service),
    found: &mut Vec<NetworkFinding>,
) {
    if own.bandwidth().is_none_or(|rate| !is_near(rate, other.sustained)) {
        return;
    }
    let message = format!(
        "circuit {} of {} has no rate, but circuit {} of {} at the other end has {} ({})",
        own.number,
        snapshot.port_name(own.port),
        far.number,
        snapshot.port_name(far.port),
        Rate::from_bits_per_second(other.sustained),
        snapshot.place(far.port.device, other.line)
    );
    let effect = "the circuit sends at the rate of the line, and the carrier drops cells in every class";
    let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
    found.push(snapshot.finding(own.port.device, rule, own.line, (message, effect.to_owned())));
}

fn is_near(rate: u64, usual: u64) -> bool {
    (usual.saturating_mul(LEAST)..=usual.saturating_mul(MOST)).contains(&rate.saturating_mul(100))
}

/// Returns the rates of a circuit; `None` if its class of service has none.
fn service(own: &Circuit) -> Option<Service> {
    ["cbr", "vbr-nrt", "vbr-rt"].iter().find_map(|kind| {
        let (line, words) = own.setting(kind)?;
        let rate = |place: usize| words.get(place)?.parse::<u64>().ok()?.checked_mul(1_000);
        let peak = rate(1)?;
        Some(Service { line, peak, sustained: rate(2).unwrap_or(peak) })
    })
}
