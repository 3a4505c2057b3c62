//! Maps of switches from classes of service or precedences to codepoints that are out of order.

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The maps by position: the value at each position is the codepoint of this class of service or precedence.
const MAPS: &[&str] = &["cos-dscp", "ip-prec-dscp"];

/// Reports a map whose codepoints do not rise with the class of service or the precedence. Both orders are
/// orders of priority (IEEE 802.1Q annex I, RFC 2474 §4.2.2.2) above the value 0: the class of service 1 is
/// for background packets, with a lower priority than 0.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.starts_with("mls qos map ")) {
            let words = node.words();
            let ["mls", "qos", "map", map, to @ ..] = words.as_slice() else { continue };
            let values: Option<Vec<u8>> = to.iter().map(|word| word.parse().ok()).collect();
            let falls = values.as_deref().and_then(falls).filter(|_| MAPS.contains(map));
            let Some([(from, value), (lower, before)]) = falls else { continue };
            let message = format!(
                "{}: {map} maps {from} to {value}, below the codepoint {before} of {lower}",
                snapshot.devices[device].name
            );
            let effect = "packets of the higher class get the worse codepoint";
            let rule = &rules::NETWORK_MAP_DIFFERS;
            found.push(snapshot.finding(device, rule, node.line.0, (message, effect.to_owned())));
        }
    }
}

/// Returns the first position whose codepoint has a lower class selector than the codepoint of the position
/// before, and the position before, each with its codepoint. Codepoints 0 are skipped: a map with them
/// removes the priority on purpose.
fn falls(values: &[u8]) -> Option<[(usize, u8); 2]> {
    let ranked = values.iter().copied().enumerate().skip(1).filter(|(_, value)| *value != 0);
    let ranked: Vec<(usize, u8)> = ranked.collect();
    // Codepoints of one class selector differ in the drop precedence (RFC 2597 §6), not in the priority.
    let class = |value: u8| value >> 3;
    let pair = ranked.windows(2).find(|pair| class(pair[1].1) < class(pair[0].1))?;
    Some([pair[1], pair[0]])
}

#[cfg(test)]
mod tests {
    use super::falls;

    #[test]
    fn codepoints_rise() {
        assert_eq!(falls(&[0, 8, 16, 24, 32, 46, 48, 56]), None);
        assert_eq!(falls(&[0, 8, 16, 24, 32, 10, 48, 56]), Some([(5, 10), (4, 32)]));
    }

    #[test]
    fn the_default_and_background_packets_have_no_order() {
        assert_eq!(falls(&[0, 8, 16, 24, 32, 46, 48, 0]), None);
        assert_eq!(falls(&[10, 8, 16, 24, 32, 46, 48, 56]), None);
        assert_eq!(falls(&[0, 8, 16, 24, 36, 34, 48, 56]), None);
    }
}
