//! Maps of switches from classes of service or precedences to codepoints that are out of order.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The maps by position: the value at each position is the codepoint of this class of service or precedence.
const MAPS: &[&str] = &["cos-dscp", "ip-prec-dscp"];

/// Reports a map whose codepoints do not rise with the class of service or the precedence. Both orders are
/// orders of priority (IEEE 802.1Q annex I, RFC 2474 §4.2.2.2).
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.starts_with("mls qos map ")) {
            let words = node.words();
            let ["mls", "qos", "map", map, to @ ..] = words.as_slice() else { continue };
            let values: Option<Vec<u8>> = to.iter().map(|word| word.parse().ok()).collect();
            let falls = values.as_deref().and_then(falls).filter(|_| MAPS.contains(map));
            let Some((from, value, before)) = falls else { continue };
            let message = format!(
                "{}: {map} maps {from} to {value}, below the codepoint {before} of {}",
                snapshot.devices[device].name,
                from - 1
            );
            let effect = "packets of the higher class get the worse codepoint";
            let rule = &rules::NETWORK_MAP_DIFFERS;
            found.push(snapshot.finding(device, rule, node.line.0, (message, effect.to_owned())));
        }
    }
}

/// Returns the first position whose value is below the value before it, with both values.
fn falls(values: &[u8]) -> Option<(usize, u8, u8)> {
    let mut pairs = values.windows(2).enumerate();
    pairs.find(|(_, pair)| pair[1] < pair[0]).map(|(place, pair)| (place + 1, pair[1], pair[0]))
}

#[cfg(test)]
mod tests {
    use super::falls;

    #[test]
    fn codepoints_rise() {
        assert_eq!(falls(&[0, 8, 16, 24, 32, 46, 48, 56]), None);
        assert_eq!(falls(&[0, 8, 16, 24, 32, 46, 48, 0]), Some((7, 0, 48)));
        assert_eq!(falls(&[0, 8, 16, 24, 32, 10, 48, 56]), Some((5, 10, 32)));
    }
}
