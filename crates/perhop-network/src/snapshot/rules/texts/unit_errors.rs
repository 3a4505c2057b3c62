//! Rates with a wrong unit (kbit/s instead of Mbit/s), and shapers above the rate of the circuit.

use std::collections::BTreeMap;

use perhop_qos::Rate;

use super::super::peers::Peers;
use super::super::rate_names::rate_in;
use super::super::tree::Node;
use super::super::{NetworkFinding, Precision, Snapshot, Topic};
use super::braces::{block, words};
use super::parts::{Parts, list_of};
use crate::forwarding::addresses;
use crate::rules;

/// The factors between units.
const UNITS: [u64; 2] = [1_000, 1_000_000];
/// The minimum factor between the rate in a name and the configured rate for a finding. The factor is large
/// because rates in names are rounded.
const FAR: u64 = 100;
/// The minimum number of other policers, and the minimum factor by which their bursts are longer than a
/// reported burst.
const LEAST_BURSTS: usize = 5;
const SHORT: u64 = 16;
/// The maximum ratio of a shaper to the circuit behind it without a finding.
const MOST: f64 = 1.05;
/// The minimum ratio of a shaper to the circuit behind it. A slower shaper leaves some of the rate of the
/// circuit unused.
const FAR_BELOW: f64 = 0.7;

/// A rate of a class, with its device and line.
#[derive(Clone, Copy)]
struct Stated {
    device: usize,
    line: usize,
    rate: u64,
}

/// Reports rates that differ by a factor between units from the other rates of the same class or from the
/// rate in the name of the policy. Also reports short bursts, and shapers that are faster than the circuit
/// behind them.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    parts: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    let mut by_class: BTreeMap<(&str, &str, &str), Vec<Stated>> = BTreeMap::new();
    for (device, own) in parts.iter().enumerate() {
        for class in &own.classes {
            for (line, words) in &class.lines {
                if let Some((command, rate)) = rate(words) {
                    let stated = Stated { device, line: *line, rate };
                    check_name(snapshot, class.policy, stated, found);
                    by_class.entry((class.policy, class.name, command)).or_default().push(stated);
                }
            }
        }
    }
    for (device, nodes) in trees.iter().enumerate() {
        for policer in block(nodes, &["firewall"]).map_or(&[][..], |node| &node.inner) {
            let ["policer", name] = *words(policer).as_slice() else { continue };
            for limit in block(&policer.inner, &["if-exceeding"]).map_or(&[][..], |node| &node.inner) {
                if let ["bandwidth-limit", text] = *words(limit).as_slice()
                    && let Some(rate) = number(text)
                {
                    let stated = Stated { device, line: limit.line.0, rate };
                    check_name(snapshot, name, stated, found);
                    by_class.entry((name, "policer", "bandwidth-limit")).or_default().push(stated);
                }
            }
        }
    }
    for (device, nodes) in trees.iter().enumerate() {
        let profiles = block(nodes, &["class-of-service", "traffic-control-profiles"]);
        for profile in profiles.map_or(&[][..], |node| &node.inner) {
            let [name] = *words(profile).as_slice() else { continue };
            for inner in &profile.inner {
                if let ["shaping-rate", text] = *words(inner).as_slice()
                    && let Some(rate) = number(text)
                {
                    check_name(snapshot, name, Stated { device, line: inner.line.0, rate }, found);
                }
            }
        }
    }
    for ((policy, class, command), rates) in &by_class {
        check_units(snapshot, &format!("`{command}` of {class} in {policy}"), rates, found);
    }
    check_bursts(snapshot, parts, found);
    check_sites(snapshot, parts, found);
    check_shaping(snapshot, trees, found);
}

/// Returns the command and the rate of a policer or shaper.
fn rate<'t>(words: &[&'t str]) -> Option<(&'t str, u64)> {
    match words {
        ["police", "cir" | "rate", rate, rest @ ..] | ["police", rate, rest @ ..] => {
            Some(("police", with_unit(rate, rest)?))
        }
        ["shape", "average" | "peak", rate, rest @ ..] => Some(("shape", with_unit(rate, rest)?)),
        _ => None,
    }
}

/// Returns a rate, b/s, whose unit can be the next word (IOS XR, NX-OS). Returns `None` for percentages and
/// packet rates.
fn with_unit(text: &str, rest: &[&str]) -> Option<u64> {
    let factor = match rest.first().copied() {
        Some("percent" | "per-mille" | "per-million" | "pps" | "packets") => return None,
        Some("kbps") => 1_000,
        Some("mbps") => 1_000_000,
        Some("gbps") => 1_000_000_000,
        _ => 1,
    };
    number(text)?.checked_mul(factor)
}

/// Returns the value of a number with a unit, such as `20m`.
fn number(text: &str) -> Option<u64> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[end..].to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        _ => return None,
    };
    text[..end].parse::<u64>().ok()?.checked_mul(factor).filter(|rate| *rate > 0)
}

/// Reports a rate that differs by the factor [`FAR`] from the rate in the name of its policy.
fn check_name(snapshot: &Snapshot, name: &str, own: Stated, found: &mut Vec<NetworkFinding>) {
    let Some(named) = rate_in(name) else { return };
    if own.rate.max(named) < FAR * own.rate.min(named) {
        return;
    }
    let rate = Rate::from_bits_per_second;
    let message = format!("{name} has a rate of {}, but its name states {}", rate(own.rate), rate(named));
    let effect = "packets are dropped or wait, because the rate has the wrong unit".to_owned();
    let finding = snapshot.finding(own.device, &rules::NETWORK_RATE_NAME, own.line, (message, effect));
    found.push(finding.about(Topic::Rate, Precision::Comparison));
}

/// Reports rates that differ by a factor of a thousand or a million from most other rates with the same name,
/// or from the other rate if only two exist.
fn check_units(snapshot: &Snapshot, what: &str, rates: &[Stated], found: &mut Vec<NetworkFinding>) {
    let peers: Peers<u64> = rates.iter().map(|own| own.rate).collect();
    let usual = peers.usual().copied();
    for own in rates {
        let other = match (usual, rates) {
            (Some(usual), _) if peers.is_exception(&own.rate) => usual,
            (None, [first, second]) if first.device != second.device => {
                if own.line == first.line && own.device == first.device { second.rate } else { first.rate }
            }
            _ => continue,
        };
        let (low, high) = (own.rate.min(other), own.rate.max(other));
        if !UNITS.iter().any(|unit| low.checked_mul(*unit) == Some(high)) {
            continue;
        }
        let rate = Rate::from_bits_per_second;
        let message = format!(
            "{what} has {} at {}, but {} elsewhere: one of the two rates has a wrong unit",
            rate(own.rate),
            snapshot.devices[own.device].name,
            rate(other)
        );
        let effect = if own.rate < other {
            "nearly all packets of the class are dropped"
        } else {
            "the rate of the class has no limit"
        };
        let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
        let finding = snapshot.finding(own.device, rule, own.line, (message, effect.to_owned()));
        found.push(finding.about(Topic::Rate, Precision::Exact));
    }
}

/// Reports the only policer with a burst that is far shorter than the bursts of all other policers. A burst
/// is measured as the time that it lasts at the rate of the policer.
fn check_bursts(snapshot: &Snapshot, parts: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut bursts: Vec<(u64, usize, usize)> = Vec::new();
    for (device, own) in parts.iter().enumerate() {
        for (line, words) in own.classes.iter().flat_map(|class| &class.lines) {
            if let Some(burst) = burst_us(words) {
                bursts.push((burst, device, *line));
            }
        }
    }
    bursts.sort_unstable();
    let [(shortest, device, line), (next, ..), ..] = *bursts.as_slice() else { return };
    if bursts.len() <= LEAST_BURSTS || shortest.saturating_mul(SHORT) > next {
        return;
    }
    let message = format!(
        "the policer has a burst of {shortest} µs at its rate, but {} other policers of the network have at \
         least {next} µs",
        bursts.len() - 1
    );
    let effect = "the policer drops packets although their mean rate is below its rate".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_QUEUE_DIFFERS, line, (message, effect)));
}

/// Returns the committed burst of a policer as the time at its rate, µs.
fn burst_us(words: &[&str]) -> Option<u64> {
    let (rate, burst) = match words {
        // The bursts of NX-OS have a unit, such as `ms`.
        ["police", "cir", _, "bc", _, "ms" | "us" | "bytes" | "kbytes" | "mbytes" | "packets", ..] => {
            return None;
        }
        ["police", "cir", rate, "bc", burst, ..] | ["police", rate, burst, ..] => (number(rate)?, burst),
        _ => return None,
    };
    let bits = burst.parse::<u64>().ok()?.checked_mul(8_000_000)?;
    Some(bits / rate)
}

/// Reports shapers of classes for a single destination that are faster than the circuit of this destination.
fn check_sites(snapshot: &Snapshot, parts: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut circuits: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        for port in &snapshot.router(device).ports {
            let is_written = snapshot.devices[device].device.line_in_block(port.line, "bandwidth").is_some();
            if let Some(rate) = port.bandwidth.filter(|_| is_written && port.forwarding.tunnel.is_none()) {
                for own in addresses(port) {
                    circuits.insert(own.address.to_string(), (device, rate.as_bits_per_second()));
                }
            }
        }
    }
    for (device, own) in parts.iter().enumerate() {
        for class in &own.classes {
            let shaper = class.lines.iter().find_map(|(line, words)| match rate(words)? {
                ("shape", rate) => Some((*line, rate)),
                _ => None,
            });
            let Some((line, rate)) = shaper else { continue };
            let criteria = own.class_maps.get(class.name).map_or(&[][..], |own| &own.lines);
            let [(_, criterion)] = criteria else { continue };
            let entries =
                list_of(criterion).and_then(|list| own.lists.get(list)).map_or(&[][..], Vec::as_slice);
            let [(_, entry)] = entries else { continue };
            let ["permit", .., "host", to] = entry.as_slice() else { continue };
            let Some((far, circuit)) = circuits.get(*to).filter(|(far, _)| *far != device) else { continue };
            if rate as f64 <= MOST * *circuit as f64 {
                continue;
            }
            let message = format!(
                "class {} of {} shapes packets to {to} to {}, but the circuit of {} has {}",
                class.name,
                snapshot.devices[device].name,
                Rate::from_bits_per_second(rate),
                snapshot.devices[*far].name,
                Rate::from_bits_per_second(*circuit)
            );
            report_above(snapshot, (device, line), message, found);
        }
    }
}

/// Reports ports whose `shaping-rate` is above the circuit at the other end of their link.
fn check_shaping(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let name = snapshot.port(own).name.as_str();
        let base = name.split('.').next().unwrap_or(name);
        let service = block(&trees[own.device], &["class-of-service", "interfaces"]);
        let interface = service.and_then(|node| node.inner.iter().find(|inner| words(inner) == [base]));
        let shaper = interface.into_iter().flat_map(|node| &node.inner).find_map(|inner| {
            let ["shaping-rate", rate] = *words(inner).as_slice() else { return None };
            Some((inner.line.0, number(rate)?))
        });
        let far = &snapshot.devices[other.device].device;
        let is_written = far.line_in_block(snapshot.port(other).line, "bandwidth").is_some();
        let circuit = snapshot.port(other).bandwidth.map(Rate::as_bits_per_second).filter(|_| is_written);
        let (Some((line, rate)), Some(circuit)) = (shaper, circuit) else { continue };
        if (FAR_BELOW..=MOST).contains(&(rate as f64 / circuit as f64)) {
            continue;
        }
        let message = format!(
            "{} shapes to {}, but the circuit at the other end, {}, has {}",
            snapshot.port_name(own),
            Rate::from_bits_per_second(rate),
            snapshot.port_name(other),
            Rate::from_bits_per_second(circuit)
        );
        if rate > circuit {
            report_above(snapshot, (own.device, line), message, found);
        } else {
            let effect = "packets wait or are dropped although the circuit has unused rate".to_owned();
            let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
            let finding = snapshot.finding(own.device, rule, line, (message, effect));
            found.push(finding.about(Topic::Rate, Precision::Exact));
        }
    }
}

fn report_above(
    snapshot: &Snapshot,
    (device, line): (usize, usize),
    message: String,
    found: &mut Vec<NetworkFinding>,
) {
    let effect = "the carrier drops packets above the rate of the circuit, in every class".to_owned();
    let finding = snapshot.finding(device, &rules::NETWORK_CIRCUIT_RATE_DIFFERS, line, (message, effect));
    found.push(finding.about(Topic::Rate, Precision::Exact));
}

#[cfg(test)]
mod tests {
    use super::{burst_us, number, rate};

    #[test]
    fn a_burst_is_a_time_at_the_rate() {
        assert_eq!(burst_us(&["police", "cir", "8000000", "bc", "250000", "conform-action"]), Some(250_000));
        assert_eq!(burst_us(&["police", "8000000", "1000", "1000"]), Some(1_000));
        assert_eq!(burst_us(&["police", "cir", "8000000", "conform-action", "transmit"]), None);
        assert_eq!(burst_us(&["police", "cir", "8000000", "bc", "200", "ms"]), None);
    }

    #[test]
    fn rates_have_units() {
        for (text, expected) in
            [("20m", Some(20_000_000)), ("64000", Some(64_000)), ("1g", Some(1_000_000_000))]
        {
            assert_eq!(number(text), expected);
        }
        assert_eq!((number("percent"), number("0"), number("10x")), (None, None, None));
        assert_eq!(rate(&["police", "cir", "8000", "bc", "1500"]), Some(("police", 8_000)));
        assert_eq!(rate(&["shape", "average", "percent", "5"]), None);
        assert_eq!(rate(&["shape", "average", "50", "mbps"]), Some(("shape", 50_000_000)));
        assert_eq!(rate(&["police", "rate", "20", "percent"]), None);
        assert_eq!(rate(&["police", "rate", "1000", "pps"]), None);
    }
}
