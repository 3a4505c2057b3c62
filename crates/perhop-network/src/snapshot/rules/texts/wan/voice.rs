//! `ip rtp priority` of one end of a link, or with another rate than at the other end.

use perhop_qos::Rate;

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::circuits::{Circuits, bandwidth, block, setting};
use crate::rules;

/// The minimum factor between the rates of the two ends.
const FAR: u64 = 2;
/// Lines that give the packets of an interface other queues than one for all.
const QUEUES: [&str; 6] = [
    "ip rtp priority",
    "ip rtp reserve",
    "service-policy output",
    "priority-group",
    "custom-queue-list",
    "frame-relay",
];

/// The rate for voice at an end of a link: the port, the line, the rate, and the bandwidth of the port, b/s.
struct End {
    id: PortId,
    line: usize,
    rate: u64,
    bandwidth: Option<u64>,
}

/// Reports ends of links whose rate for voice is missing or differs from the other end.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let node = |id: PortId| block(&trees[id.device], snapshot.port(id).line);
        let (Some(near), Some(far)) = (node(own), node(other)) else { continue };
        let end = |id: PortId, node: &Node| {
            let (line, rate) = ["ip rtp priority", "ip rtp reserve"]
                .iter()
                .find_map(|command| rate(&setting(node, command)?, command))?;
            Some(End { id, line, rate, bandwidth: bandwidth(node) })
        };
        match (end(own, near), end(other, far)) {
            (Some(own), Some(other)) => compare(snapshot, &own, &other, found),
            (None, Some(other)) if !QUEUES.iter().any(|command| setting(near, command).is_some()) => {
                let message = format!(
                    "{} has no `ip rtp priority` and no output policy, but {} at the other end has a \
                     priority for voice ({})",
                    snapshot.port_name(own),
                    snapshot.port_name(other.id),
                    snapshot.place(other.id.device, other.line)
                );
                let effect = "voice in this direction waits behind all other packets".to_owned();
                let rule = &rules::NETWORK_POLICY_MISSING;
                found.push(snapshot.finding(own.device, rule, near.line.0, (message, effect)));
            }
            _ => {}
        }
    }
    let circuits = Circuits::frame_relay(snapshot, trees);
    for (own, far) in circuits.pairs(snapshot) {
        let ends = [own, far].map(|circuit| {
            let command = "frame-relay ip rtp priority";
            let (line, rate) = rate(&circuit.setting(command)?, command)?;
            Some(End { id: circuit.port, line, rate, bandwidth: circuit.bandwidth() })
        });
        if let [Some(own), Some(far)] = ends {
            compare(snapshot, &own, &far, found);
        }
    }
}

/// Reports an end whose rate differs from the other end, if the link has the same rate in both directions.
fn compare(snapshot: &Snapshot, own: &End, other: &End, found: &mut Vec<NetworkFinding>) {
    let is_equal = own.bandwidth == other.bandwidth;
    // A rate above the bandwidth of the port shows which of the two ends is wrong.
    let is_above = |end: &End| end.bandwidth.is_some_and(|bandwidth| end.rate > bandwidth);
    let is_far = own.rate.max(other.rate) >= FAR.saturating_mul(own.rate.min(other.rate));
    if !is_equal || !is_far || (is_above(other) && !is_above(own)) {
        return;
    }
    let message = format!(
        "{} has {} with priority for voice, but {} at the other end has {} ({})",
        snapshot.port_name(own.id),
        Rate::from_bits_per_second(own.rate),
        snapshot.port_name(other.id),
        Rate::from_bits_per_second(other.rate),
        snapshot.place(other.id.device, other.line)
    );
    // RFC 3551 §4.5: both directions of a call have the same codec. Cisco, "Quality of Service Solutions
    // Command Reference", `ip rtp priority`: packets above the rate are dropped.
    let effect = "the end with less rate drops packets of calls that the other end carries".to_owned();
    found.push(snapshot.finding(own.id.device, &rules::NETWORK_PROMISE_DIFFERS, own.line, (message, effect)));
}

/// Returns the line and the rate, b/s. The words after the command are the first port, the number of ports
/// and the rate in kbit/s.
fn rate((line, words): &(usize, Vec<&str>), command: &str) -> Option<(usize, u64)> {
    let rate = words.get(command.split(' ').count() + 2)?;
    Some((*line, rate.parse::<u64>().ok()?.checked_mul(1_000)?))
}
