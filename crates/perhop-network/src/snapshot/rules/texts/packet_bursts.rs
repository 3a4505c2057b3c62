//! Policers of fast rates with a burst of fewer than two packets.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, inside, words};
use super::parts::Parts;
use crate::rules;

/// Two packets of Ethernet, bytes.
const TWO_PACKETS: u64 = 3000;
/// The duration that Juniper recommends for a burst, µs. A slow policer with a burst of one packet is usual:
/// its burst lasts longer.
const USUAL_US: u64 = 5000;

/// Reports policers whose burst is below two packets and below 5 ms at their rate.
pub(super) fn check(
    snapshot: &Snapshot,
    trees: &[Vec<Node>],
    devices: &[Parts],
    found: &mut Vec<NetworkFinding>,
) {
    for (device, (nodes, parts)) in trees.iter().zip(devices).enumerate() {
        let classes = parts.classes.iter().flat_map(|class| &class.lines);
        let mut policers: Vec<Policer> =
            classes.filter_map(|(line, words)| of_class(words).map(|own| (*line, own))).collect();
        policers.extend(with_braces(nodes));
        for (line, (rate, burst)) in policers {
            if !is_short(rate, burst) {
                continue;
            }
            let message = format!(
                "a policer of {} has a burst of {burst} bytes at {rate} b/s: fewer than two packets",
                snapshot.devices[device].name
            );
            let effect =
                "packets that arrive back to back are dropped, although the mean rate is lower".to_owned();
            let rule = &rules::NETWORK_QUEUE_DIFFERS;
            found.push(snapshot.finding(device, rule, line, (message, effect)));
        }
    }
}

/// A policer: the line of its burst, its rate, b/s, and its burst, bytes.
type Policer = (usize, (u64, u64));

fn is_short(rate: u64, burst: u64) -> bool {
    burst < TWO_PACKETS && burst.saturating_mul(8_000_000) < rate.saturating_mul(USUAL_US)
}

/// Reads a policer of a class (Cisco).
fn of_class(words: &[&str]) -> Option<(u64, u64)> {
    match words {
        ["police", "cir", rate, "bc", burst, ..] | ["police", rate, burst, ..] => {
            Some((rate.parse().ok()?, burst.parse().ok()?))
        }
        _ => None,
    }
}

/// Reads the policers of a configuration with braces.
fn with_braces(nodes: &[Node]) -> Vec<Policer> {
    let Some(firewall) = block(nodes, &["firewall"]) else { return Vec::new() };
    let blocks = inside(firewall, "if-exceeding");
    let policers = blocks.into_iter().filter_map(|limits| {
        let value = |name: &str| {
            let found = inside(limits, name).first().map(|node| (node.line.0, words(node)))?;
            Some((found.0, scaled(found.1.get(1)?)?))
        };
        let (line, burst) = value("burst-size-limit")?;
        Some((line, (value("bandwidth-limit")?.1, burst)))
    });
    policers.collect()
}

/// Reads a number with a suffix: `90m`.
fn scaled(text: &str) -> Option<u64> {
    let (digits, factor) = match text.strip_suffix(['k', 'm', 'g']) {
        Some(digits) if text.ends_with('k') => (digits, 1_000),
        Some(digits) if text.ends_with('m') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{is_short, of_class, with_braces};

    #[test]
    fn fast_policers_pass_two_packets() {
        assert!(is_short(50_000_000, 2000));
        assert!(!is_short(8000, 1500) && !is_short(50_000_000, 15_000));
    }

    #[test]
    fn policers_are_read() {
        assert_eq!(of_class(&["police", "cir", "50000000", "bc", "2000"]), Some((50_000_000, 2000)));
        assert_eq!(of_class(&["police", "cir", "percent", "30"]), None);
        let text = "firewall {\n    policer P {\n        if-exceeding {\n            bandwidth-limit 50m;\n            \
                    burst-size-limit 2k;\n        }\n        then discard;\n    }\n}\n";
        assert_eq!(with_braces(&read(text)), [(5, (50_000_000, 2000))]);
    }
}
