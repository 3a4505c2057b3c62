//! Maps of switches from a mark to another mark or to a queue, if one switch differs from the others.

use std::collections::BTreeMap;

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The words of a map, and a mark that the map reads.
type Key<'t> = (Vec<&'t str>, u8);

/// Reports the one switch that maps a mark differently from most switches.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut maps: BTreeMap<Key, BTreeMap<usize, (&str, usize)>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes.iter().filter(|node| node.line.1.starts_with("mls qos ")) {
            for (key, to) in entries(&node.words()) {
                maps.entry(key).or_default().insert(device, (to, node.line.0));
            }
        }
    }
    let mut odd: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for ((map, from), devices) in &maps {
        let peers: Peers<&str> = devices.values().map(|(to, _)| *to).collect();
        let Some(usual) = peers.usual() else { continue };
        for (device, (to, line)) in devices.iter().filter(|(_, (to, _))| peers.is_exception(to)) {
            let words = format!("{} of {from} is {to}, but {usual} on most switches", map.join(" "));
            odd.entry((*device, *line)).or_default().push(words);
        }
    }
    for ((device, line), words) in odd {
        let message = format!("{}: {}", snapshot.devices[device].name, words.join("; "));
        let effect = "packets with this mark get another queue or mark at this switch than at the others";
        let rule = &rules::NETWORK_MAP_DIFFERS;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Returns the marks that a line maps, each with its new mark or queue.
fn entries<'t>(words: &[&'t str]) -> Vec<(Key<'t>, &'t str)> {
    let mark = |word: &&str| word.parse::<u8>().ok();
    match words {
        // The position of a value is the mark that it replaces.
        ["mls", "qos", "map", map @ ("cos-dscp" | "ip-prec-dscp"), to @ ..] => {
            (0..).zip(to).map(|(from, to)| ((vec![*map], from), *to)).collect()
        }
        ["mls", "qos", "map", map, from @ .., "to", to] => {
            from.iter().filter_map(mark).map(|from| ((vec![*map], from), *to)).collect()
        }
        ["mls", "qos", "srr-queue", direction, map, "queue", queue, "threshold", _, from @ ..] => from
            .iter()
            .filter_map(mark)
            .map(|from| ((vec![*direction, *map, "queue"], from), *queue))
            .collect(),
        ["mls", "qos", "srr-queue", direction, map, "queue", queue, from @ ..] => from
            .iter()
            .filter_map(mark)
            .map(|from| ((vec![*direction, *map, "queue"], from), *queue))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    fn shown(line: &str) -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        entries(&words).into_iter().map(|((_, from), to)| format!("{from}>{to}")).collect()
    }

    #[test]
    fn maps_have_an_entry_for_each_mark() {
        assert_eq!(shown("mls qos map cos-dscp 0 8 16")[1..], ["1>8", "2>16"]);
        assert_eq!(shown("mls qos map dscp-cos 40 46 to 5"), ["40>5", "46>5"]);
        assert_eq!(shown("mls qos srr-queue output dscp-map queue 1 threshold 3 40 46"), ["40>1", "46>1"]);
        assert_eq!(shown("mls qos srr-queue input cos-map queue 2 5"), ["5>2"]);
        assert!(shown("mls qos queue-set output 1 buffers 10 30 35 25").is_empty());
    }
}
