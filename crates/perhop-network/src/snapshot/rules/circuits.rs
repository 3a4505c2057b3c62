//! Ports whose circuit is slower than the line, and whose policies do not match the rate of the circuit.

use perhop_qos::Rate;

use super::treatment::{policer_of_all, shaper};
use super::{NetworkFinding, PortId, Precision, Snapshot, Topic, line_of_output};
use crate::rules;

/// The range of the ratio of a shaper to the circuit that counts as a match. The lower limit leaves room for
/// headers.
const FITS: std::ops::RangeInclusive<f64> = 0.75..=1.05;
/// The range of the ratio of a policer to the circuit that counts as a match. A policer can count headers, so
/// its upper limit is higher than that of a shaper.
const FITS_POLICER: std::ops::RangeInclusive<f64> = 0.75..=1.25;
/// The minimum ratio of a shaper to the bandwidth of its port that headers can explain.
const FAR_BELOW: f64 = 0.5;
/// The minimum line rate, bit/s, at which the rule compares the bandwidth with the line. A slower line can be
/// faster than its name implies.
const LAN: u64 = 100_000_000;
/// The minimum number and fraction of ports with a circuit that have a shaper. Below these minimums, the rule
/// reports no port without a shaper.
const LEAST: usize = 3;
const NEARLY_ALL: f64 = 0.75;

/// The limit of a policy on all packets of a port.
struct Limit<'s> {
    policy: &'s str,
    rate: u64,
    line: usize,
    attached: usize,
    is_shaper: bool,
}

impl Limit<'_> {
    fn fits(&self, circuit: u64) -> bool {
        let range = if self.is_shaper { FITS } else { FITS_POLICER };
        range.contains(&(self.rate as f64 / circuit as f64))
    }
}

/// Reports limits that do not match the circuit of their port, and circuits without a shaper.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    // The bandwidth of a tunnel is only an input of routing protocols. It is not the rate of a circuit.
    let wires = snapshot.inside_ports().filter(|(_, link)| !link.is_tunnel);
    let ports: Vec<(PortId, u64)> = wires.filter_map(|(id, _)| Some((id, circuit(snapshot, id)?))).collect();
    check_bandwidths(snapshot, found);
    for (id, rate) in &ports {
        for limit in limits(snapshot, *id) {
            check_limit(snapshot, &ports, (*id, *rate), &limit, found);
        }
    }
    check_shapers(snapshot, &ports, found);
}

/// Reports bandwidths above the rate of the line, and shapers far from the bandwidth of their port. In both
/// cases, one of the two values is wrong, often by a unit or a digit.
fn check_bandwidths(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for device in 0..snapshot.devices.len() {
        for (port, own) in snapshot.router(device).ports.iter().enumerate() {
            let member = &snapshot.devices[device].device;
            let line = member.line_in_block(own.line, "bandwidth");
            let (Some(bandwidth_line), None) = (line, &own.forwarding.tunnel) else { continue };
            let id = PortId { device, port };
            let Some(bandwidth) = own.bandwidth.map(Rate::as_bits_per_second) else { continue };
            let wire = own.wire.rate.map(Rate::as_bits_per_second);
            if let Some(wire) = wire.filter(|wire| *wire >= LAN && bandwidth > *wire) {
                let message = format!(
                    "{} has a bandwidth of {}, but its line has {}",
                    snapshot.port_name(id),
                    Rate::from_bits_per_second(bandwidth),
                    Rate::from_bits_per_second(wire)
                );
                let effect =
                    "shares in percent and costs of routes follow from a rate that the line does not have";
                let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
                found.push(snapshot.finding(device, rule, bandwidth_line, (message, effect.to_owned())));
            }
            let shaped = own.intent.output.iter().find_map(|policy| shaper(policy, bandwidth));
            let Some((rate, shaper_line)) = shaped else { continue };
            if (FAR_BELOW..=*FITS.end()).contains(&(rate as f64 / bandwidth as f64)) {
                continue;
            }
            for line in [shaper_line, bandwidth_line] {
                let message = format!(
                    "{} shapes to {}, but has a bandwidth of {}",
                    snapshot.port_name(id),
                    Rate::from_bits_per_second(rate),
                    Rate::from_bits_per_second(bandwidth)
                );
                let effect =
                    "one of the two rates is wrong: packets wait without need, or the carrier drops them";
                let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
                let finding = snapshot.finding(device, rule, line, (message, effect.to_owned()));
                found.push(finding.about(Topic::Rate, Precision::Comparison));
            }
        }
    }
}

/// Returns the rate of a circuit: the configured bandwidth of the port, if it is below the rate of the line.
fn circuit(snapshot: &Snapshot, id: PortId) -> Option<u64> {
    let port = snapshot.port(id);
    let line = port.wire.rate.map(Rate::as_bits_per_second)?;
    port.bandwidth.map(Rate::as_bits_per_second).filter(|own| *own < line)
}

fn limits<'s>(snapshot: &'s Snapshot, id: PortId) -> Vec<Limit<'s>> {
    let port = snapshot.port(id);
    let around = port.bandwidth.map_or(0, Rate::as_bits_per_second);
    let output = port.intent.output.iter().find_map(|policy| {
        let (rate, line) = shaper(policy, around)?;
        Some(Limit { policy: &policy.name, rate, line, attached: line_of_output(port), is_shaper: true })
    });
    let attached = port.forwarding.input_line.unwrap_or(port.line);
    let input = port.intent.input.iter().find_map(|policy| {
        let (rate, line) = policer_of_all(policy, around)?;
        Some(Limit { policy: &policy.name, rate, line, attached, is_shaper: false })
    });
    output.into_iter().chain(input).collect()
}

/// Reports a limit that does not match the circuit of its port. If the limit matches the circuit of another
/// port of the device, the finding is at the attachment of the policy, otherwise at the command that sets the
/// limit.
fn check_limit(
    snapshot: &Snapshot,
    ports: &[(PortId, u64)],
    (id, circuit): (PortId, u64),
    limit: &Limit,
    found: &mut Vec<NetworkFinding>,
) {
    if limit.fits(circuit) {
        return;
    }
    let others = ports.iter().filter(|(other, _)| other.device == id.device && *other != id);
    let is_mixed_up = others.into_iter().any(|(other, rate)| {
        limits(snapshot, *other)
            .iter()
            .any(|far_limit| far_limit.policy == limit.policy && far_limit.fits(*rate))
    });
    // A shaper below the rate of the circuit can be intended: it leaves room for other packets.
    if !is_mixed_up && limit.is_shaper && limit.rate < circuit {
        return;
    }
    let kind = if limit.is_shaper { "shapes to" } else { "polices to" };
    let message = format!(
        "{} {kind} {}, but its circuit has {} (policy {})",
        snapshot.port_name(id),
        Rate::from_bits_per_second(limit.rate),
        Rate::from_bits_per_second(circuit),
        limit.policy
    );
    let effect = if limit.rate > circuit {
        "the carrier drops packets above the rate of the circuit, in every class"
    } else {
        "packets of every class wait or are dropped although the circuit has unused rate"
    };
    let (line, topic) =
        if is_mixed_up { (limit.attached, Topic::Attachment) } else { (limit.line, Topic::Rate) };
    let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
    let finding = snapshot.finding(id.device, rule, line, (message, effect.to_owned()));
    found.push(finding.about(topic, Precision::Exact));
}

/// Reports circuits without a shaper, if nearly all other circuits have a shaper.
fn check_shapers(snapshot: &Snapshot, ports: &[(PortId, u64)], found: &mut Vec<NetworkFinding>) {
    let with_policy: Vec<&(PortId, u64)> =
        ports.iter().filter(|(id, _)| !snapshot.port(*id).intent.output.is_empty()).collect();
    let shapes =
        |id: PortId| snapshot.port(id).intent.output.iter().any(|policy| shaper(policy, 0).is_some());
    let count = with_policy.iter().filter(|(id, _)| shapes(*id)).count();
    if count < LEAST || (count as f64) < NEARLY_ALL * with_policy.len() as f64 {
        return;
    }
    for (id, rate) in with_policy.iter().filter(|(id, _)| !shapes(*id)) {
        let message = format!(
            "{} sends to a circuit of {} without a shaper, but {count} of {} such ports shape",
            snapshot.port_name(*id),
            Rate::from_bits_per_second(*rate),
            with_policy.len()
        );
        let effect = "the queues of the port never fill; the carrier drops packets above the rate of the \
            circuit, in every class";
        let line = snapshot.line_without_shaper(*id);
        let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
        let finding = snapshot.finding(id.device, rule, line, (message, effect.to_owned()));
        found.push(finding.about(Topic::Queues, Precision::Effect));
    }
}

impl Snapshot<'_> {
    /// Returns the line for a finding about a missing shaper: the class for all packets, otherwise the line
    /// that attaches the policy.
    pub(super) fn line_without_shaper(&self, id: PortId) -> usize {
        let port = self.port(id);
        let around = port.intent.output.last().and_then(|policy| match policy.classes.as_slice() {
            [class] if class.takes_rest && class.line > 0 => Some(class.line),
            _ => None,
        });
        around.unwrap_or_else(|| line_of_output(port))
    }
}
