//! Guarantees of a policy above the rate of the circuit that has the policy.

use std::collections::BTreeSet;

use perhop_qos::Rate;

use super::super::super::tree::{Node, policy_map};
use super::super::super::{NetworkFinding, Snapshot};
use super::circuits::Circuits;
use super::rates::rate;
use crate::rules;

/// The factor from the minimum CIR to the CIR, if no line states the minimum CIR (Cisco, "Wide-Area
/// Networking Command Reference", `frame-relay mincir`).
const LEAST_PART: u64 = 2;
/// The minimum factor between the CIR and the minimum CIR that counts as a wrong unit.
const FAR: u64 = 100;

/// Reports policies whose guarantees exceed the minimum CIR of their circuit.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    circuits: &Circuits,
    found: &mut Vec<NetworkFinding>,
) {
    let mut seen = BTreeSet::new();
    for own in &circuits.0 {
        let [cir, least] = ["cir", "mincir"].map(|command| rate(own, command));
        let has_wrong_unit = match (cir, least) {
            (Some((_, cir)), Some((_, least))) => cir >= FAR.saturating_mul(least),
            _ => false,
        };
        let limit = least.or_else(|| cir.map(|(line, cir)| (line, cir / LEAST_PART)));
        let policy = own.setting("service-policy output");
        let (Some((line, limit)), Some((_, words)), false) = (limit, policy, has_wrong_unit) else {
            continue;
        };
        let name = words.last().copied().unwrap_or_default();
        let device = own.port.device;
        let guarantees = guarantees(&trees[device], name, limit);
        let sum: u64 = guarantees.iter().map(|(_, rate)| rate).sum();
        let Some((place, _)) = guarantees.iter().max_by_key(|(_, rate)| *rate) else { continue };
        if sum <= limit || !seen.insert((device, *place)) {
            continue;
        }
        let words = if least.is_some() { "a minimum CIR of" } else { "half of its CIR, the minimum CIR," };
        let message = format!(
            "policy-map {name} guarantees {}, but circuit {} of {} has {words} {} (line {line})",
            Rate::from_bits_per_second(sum),
            own.number,
            snapshot.port_name(own.port),
            Rate::from_bits_per_second(limit)
        );
        // Cisco, "Low Latency Queueing for Frame Relay": the guarantees of the classes are admitted up to the
        // minimum CIR of the circuit.
        let effect = "the router does not apply the policy to the circuit: voice has no priority there";
        let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
        found.push(snapshot.finding(device, rule, *place, (message, effect.to_owned())));
    }
}

/// Returns the line and the rate of each guarantee of a policy, b/s. `limit` is the rate of which percentages
/// are parts.
fn guarantees(nodes: &[Node], name: &str, limit: u64) -> Vec<(usize, u64)> {
    let Some(policy) = policy_map(nodes, name) else { return Vec::new() };
    let lines = policy.inner.iter().flat_map(|class| &class.inner);
    let rate = |node: &Node| match *node.words().as_slice() {
        ["priority" | "bandwidth", "percent", part, ..] => Some(limit.checked_mul(part.parse().ok()?)? / 100),
        ["priority" | "bandwidth", rate, ..] => rate.parse::<u64>().ok()?.checked_mul(1_000),
        _ => None,
    };
    lines.filter_map(|node| Some((node.line.0, rate(node)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read;
    use super::guarantees;

    #[test]
    fn guarantees_are_rates_or_parts() {
        let text = "policy-map P\n class A\n  priority 160\n class B\n  bandwidth percent 25\n class C\n  \
                    bandwidth remaining percent 20";
        assert_eq!(guarantees(&read(text), "P", 400_000), [(3, 160_000), (5, 100_000)]);
    }
}
