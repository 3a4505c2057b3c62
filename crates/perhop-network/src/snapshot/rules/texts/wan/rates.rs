//! Rates of circuits of frame relay with a wrong unit.

use std::collections::BTreeSet;

use perhop_qos::Rate;

use super::super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::circuits::{Circuit, Circuits};
use crate::rules;

/// The minimum factor between a rate and all other statements of the rate.
const FAR: u64 = 100;

/// Reports a CIR or a minimum CIR that is far from the other rate of its class, from the bandwidth of its
/// port, and from the CIR of the other end. Also reports a minimum CIR above the CIR.
pub(super) fn check(snapshot: &Snapshot, circuits: &Circuits, found: &mut Vec<NetworkFinding>) {
    let mut seen = BTreeSet::new();
    for own in &circuits.0 {
        let [cir, least] = ["cir", "mincir"].map(|command| rate(own, command));
        let far = circuits.pairs(snapshot).find(|(first, _)| std::ptr::eq(*first, own)).map(|(_, far)| far);
        let of_far = far.and_then(|far| Some((rate(far, "cir")?.1, snapshot.port_name(far.port))));
        let bandwidth = own.bandwidth().map(|rate| (rate, "the bandwidth of the port".to_owned()));
        let others = || of_far.clone().into_iter().chain(bandwidth.clone());
        let checked = [(cir, least, "minimum CIR of the class"), (least, cir, "CIR of the class")];
        let mut is_reported = false;
        for (rate, other, words) in checked {
            let Some((line, rate)) = rate else { continue };
            let other = other.map(|(_, rate)| (rate, format!("the {words}")));
            let stated: Vec<(u64, String)> = others().chain(other).collect();
            let is_far =
                |(other, _): &(u64, String)| rate.max(*other) >= FAR.saturating_mul(rate.min(*other).max(1));
            let (true, Some((usual, source))) = (stated.iter().all(is_far), stated.first()) else { continue };
            if is_reported || !seen.insert((own.port.device, line)) {
                continue;
            }
            is_reported = true;
            let message = format!(
                "circuit {} of {} has a CIR of {}, but {source} is {}: the unit is bit/s",
                own.number,
                snapshot.port_name(own.port),
                Rate::from_bits_per_second(rate),
                Rate::from_bits_per_second(*usual)
            );
            report(snapshot, (own, line, rate < *usual), message, found);
        }
        if let (Some((_, cir)), Some((line, least)), false) = (cir, least, is_reported)
            && least > cir
            && seen.insert((own.port.device, line))
        {
            let message = format!(
                "circuit {} of {} has a minimum CIR of {}, above its CIR of {}",
                own.number,
                snapshot.port_name(own.port),
                Rate::from_bits_per_second(least),
                Rate::from_bits_per_second(cir)
            );
            report(snapshot, (own, line, false), message, found);
        }
    }
}

fn report(
    snapshot: &Snapshot,
    (own, line, is_low): (&Circuit, usize, bool),
    message: String,
    found: &mut Vec<NetworkFinding>,
) {
    let effect = if is_low {
        "the router shapes nearly all packets away: they wait, or are dropped"
    } else {
        "the router sends faster than the circuit, and the carrier drops packets"
    };
    let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
    let finding = snapshot.finding(own.port.device, rule, line, (message, effect.to_owned()));
    found.push(finding.about(Topic::Rate, Precision::Exact));
}

/// Returns the line and the value of a rate for packets that leave, b/s (Cisco, "Wide-Area Networking Command
/// Reference", `frame-relay cir`).
pub(super) fn rate(own: &Circuit, command: &str) -> Option<(usize, u64)> {
    let (line, words) = own.setting(&format!("frame-relay {command}"))?;
    let text = words.get(2).filter(|word| **word != "out").or_else(|| words.get(3))?;
    Some((line, text.parse().ok()?))
}
