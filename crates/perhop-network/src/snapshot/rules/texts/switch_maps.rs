//! Maps from a mark or class to another mark or to a queue that differ on one device.

use std::collections::{BTreeMap, BTreeSet};

use super::super::peers::Peers;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::braces::{block, words};
use crate::rules;

/// The map from CoS to codepoints. By default, CoS *n* maps to codepoint 8*n*.
const COS_TO_DSCP: &str = "cos-dscp";
const CODEPOINTS_OF_COS: u8 = 8;
const LAST_COS: u8 = 7;

/// The entry of a map: the words that name the map, and the mark or class that it reads.
type Key<'t> = (Vec<&'t str>, String);
/// The words that name the map from classes to queues.
const QUEUE_OF_CLASS: &[&str] = &["queue of class"];

/// The maps of one device: the value of each entry, and its line.
type Entries<'t> = BTreeMap<Key<'t>, (String, usize)>;

/// The value of a mark for which a device has no entry.
const DEFAULT: &str = "the default";

/// Reports the only device on which a map has a different value for a mark or class.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Entries> = trees.iter().map(|nodes| of_device(nodes)).collect();
    let maps: BTreeSet<&[&str]> = devices.iter().flatten().map(|((map, _), _)| map.as_slice()).collect();
    for own in devices.iter().enumerate() {
        check_queues(snapshot, own, found);
        check_shared_codepoints(snapshot, own, found);
    }
    let mut odd: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for map in maps {
        let is_of_map = |key: &&Key| key.0 == map;
        // Only devices that have maps of the same kind are compared.
        let members: Vec<usize> =
            (0..devices.len()).filter(|device| has_maps_like(map, &devices[*device])).collect();
        let keys: BTreeSet<&Key> =
            members.iter().flat_map(|device| devices[*device].keys().filter(is_of_map)).collect();
        for key in keys {
            let value = |device: &usize| devices[*device].get(key).map_or(DEFAULT, |(to, _)| to.as_str());
            let peers: Peers<&str> = members.iter().map(value).collect();
            // If most devices use the default, the entry of one device may state the default value
            // explicitly.
            let Some(usual) = peers.usual().filter(|usual| **usual != DEFAULT) else { continue };
            for device in members.iter().filter(|device| peers.is_exception(&value(device))) {
                let to = value(device);
                // A device without packets of a class does not define it.
                let is_unknown = to == DEFAULT && map == QUEUE_OF_CLASS;
                if is_unknown && !trees[*device].iter().any(|node| mentions(node, &key.1)) {
                    continue;
                }
                let words = format!("{} of {} is {to}, but {usual} on most devices", map.join(" "), key.1);
                let line = line_of(&devices[*device], key, usual).or_else(|| first_line(&trees[*device]));
                odd.entry((*device, line.unwrap_or(1))).or_default().push(words);
            }
        }
    }
    for ((device, line), words) in odd {
        let message = format!("{}: {}", snapshot.devices[device].name, words.join("; "));
        let effect =
            "packets with this mark get another queue or mark at this device than at the other devices";
        let rule = &rules::NETWORK_MAP_DIFFERS;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Reports switches that put packets into different queues by a codepoint and by its equivalent CoS.
fn check_queues(snapshot: &Snapshot, (device, maps): (usize, &Entries), found: &mut Vec<NetworkFinding>) {
    for cos in 0..=LAST_COS {
        let usual = (cos * CODEPOINTS_OF_COS).to_string();
        let codepoint = maps.get(&(vec![COS_TO_DSCP], cos.to_string())).map_or(usual, |(to, _)| to.clone());
        for direction in ["input", "output"] {
            let queue = |map: &'static str, mark: &str| maps.get(&(vec![direction, map], mark.to_owned()));
            let (Some((by_cos, cos_line)), Some((by_codepoint, line))) =
                (queue("cos-map", &cos.to_string()), queue("dscp-map", &codepoint))
            else {
                continue;
            };
            // The queue of the CoS is also correct if it is the queue of another codepoint with this CoS.
            let mut others =
                (0..CODEPOINTS_OF_COS).map(|place| (cos * CODEPOINTS_OF_COS + place).to_string());
            let has_other = others.any(|other| {
                other != codepoint && queue("dscp-map", &other).is_some_and(|(to, _)| to == by_cos)
            });
            if by_cos == by_codepoint || has_other {
                continue;
            }
            let message = format!(
                "{} sends DSCP {codepoint} to {direction} {by_codepoint}, but the equivalent CoS {cos} goes to \
                 {by_cos} (line {cos_line})",
                snapshot.devices[device].name
            );
            let effect =
                "the queue of a packet depends on whether the input port trusts the CoS or the codepoint";
            let rule = &rules::NETWORK_MAP_DIFFERS;
            found.push(snapshot.finding(device, rule, *line, (message, effect.to_owned())));
        }
    }
}

/// Reports queues for which the map of codepoints has none of the codepoints that the switch writes for the
/// classes of service of the queue.
fn check_shared_codepoints(
    snapshot: &Snapshot,
    (device, maps): (usize, &Entries),
    found: &mut Vec<NetworkFinding>,
) {
    for (line, queue, codepoints) in without_own_codepoint(maps) {
        let message = format!(
            "the codepoints of {queue} of {} include none of those that `cos-dscp` writes for its classes of \
             service (DSCP {})",
            snapshot.devices[device].name,
            codepoints.join(", ")
        );
        let effect = "these packets have the default queue and threshold of their codepoint";
        found.push(snapshot.finding(device, &rules::NETWORK_MAP_DIFFERS, line, (message, effect.to_owned())));
    }
}

/// Returns the queues that [`check_shared_codepoints`] reports: the line of the map of codepoints, the
/// direction and queue, and the codepoints of the classes of service.
fn without_own_codepoint(maps: &Entries) -> Vec<(usize, String, Vec<String>)> {
    let mut found = Vec::new();
    for direction in ["input", "output"] {
        let mut by_cos: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut by_codepoint: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
        let mut mapped: BTreeSet<&str> = BTreeSet::new();
        for ((map, mark), (queue, line)) in maps {
            match map.as_slice() {
                [own, "cos-map"] if *own == direction => {
                    let written = maps.get(&(vec![COS_TO_DSCP], mark.clone()));
                    by_cos.entry(queue).or_default().extend(written.map(|(to, _)| to.clone()));
                }
                [own, "dscp-map"] if *own == direction => {
                    by_codepoint.entry(queue).or_insert((*line, Vec::new())).1.push(mark);
                    mapped.insert(mark);
                }
                _ => {}
            }
        }
        for (queue, (line, marks)) in &by_codepoint {
            let Some(written) = by_cos.get(queue).filter(|written| !written.is_empty()) else { continue };
            // The rule `check_queues` reports codepoints in another queue.
            if !written.iter().any(|own| marks.contains(&own.as_str()) || mapped.contains(own.as_str())) {
                found.push((*line, format!("{direction} {queue}"), written.clone()));
            }
        }
    }
    found
}

/// Whether a device has a map of the same kind. The kinds are maps of switches and maps of classes.
fn has_maps_like(map: &[&str], own: &Entries) -> bool {
    let is_of_classes = |map: &[&str]| map == QUEUE_OF_CLASS;
    own.keys().any(|(other, _)| is_of_classes(other) == is_of_classes(map))
}

/// Returns the line with the entry of a mark. If the mark has no entry, returns the line that maps other
/// marks to the usual value, otherwise any line of the map.
fn line_of(own: &Entries, key: &Key, usual: &str) -> Option<usize> {
    let of_map = || own.iter().filter(|(other, _)| other.0 == key.0).map(|(_, entry)| entry);
    let entry = own.get(key).or_else(|| of_map().find(|(to, _)| to == usual)).or_else(|| of_map().next());
    entry.map(|(_, line)| *line)
}

/// Whether a block has a word.
fn mentions(node: &Node, name: &str) -> bool {
    words(node).contains(&name) || node.inner.iter().any(|inner| mentions(inner, name))
}

/// Returns the line with the name of a device.
fn first_line(nodes: &[Node]) -> Option<usize> {
    nodes.iter().find(|node| node.line.1.starts_with("hostname ")).map(|node| node.line.0)
}

fn of_device<'t>(nodes: &[Node<'t>]) -> Entries<'t> {
    let mut found = Entries::new();
    for node in nodes.iter().filter(|node| node.line.1.starts_with("mls qos ")) {
        found.extend(entries(&node.words()).into_iter().map(|(key, to)| (key, (to, node.line.0))));
    }
    let classes = block(nodes, &["class-of-service", "forwarding-classes"]);
    for class in classes.map_or(&[][..], |node| &node.inner) {
        if let ["class", name, "queue-num", queue, ..] | ["queue", queue, name, ..] = *words(class).as_slice()
        {
            let key = (QUEUE_OF_CLASS.to_vec(), name.to_owned());
            found.insert(key, (format!("queue {queue}"), class.line.0));
        }
    }
    found
}

/// Returns the entries of a line: the marks, and the mark or queue to which the line maps each of them.
fn entries<'t>(words: &[&'t str]) -> Vec<(Key<'t>, String)> {
    let mark = |word: &&str| Some(word.parse::<u8>().ok()?.to_string());
    match words {
        // The position of a value in the line is the mark that the value replaces.
        ["mls", "qos", "map", map @ ("cos-dscp" | "ip-prec-dscp"), to @ ..] => {
            (0_u8..).zip(to).map(|(from, to)| ((vec![*map], from.to_string()), (*to).to_owned())).collect()
        }
        ["mls", "qos", "map", map, from @ .., "to", to] => {
            from.iter().filter_map(mark).map(|from| ((vec![*map], from), (*to).to_owned())).collect()
        }
        ["mls", "qos", "srr-queue", direction, map, "queue", queue, from @ ..] => {
            let from = if let ["threshold", _, from @ ..] = from { from } else { from };
            let to = format!("queue {queue}");
            let key = |from| (vec![*direction, *map], from);
            from.iter().filter_map(mark).map(|from| (key(from), to.clone())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{entries, of_device, without_own_codepoint};

    #[test]
    fn queues_have_a_codepoint_of_their_classes_of_service() {
        let text = "mls qos map cos-dscp 0 8 16 24 32 46 48 56\nmls qos srr-queue output cos-map queue 1 threshold 3 \
                    5\nmls qos srr-queue output cos-map queue 2 threshold 3 3 6\nmls qos srr-queue output dscp-map \
                    queue 1 threshold 3 40\nmls qos srr-queue output dscp-map queue 2 threshold 3 24";
        let found = |text: &str| without_own_codepoint(&of_device(&read(text)));
        assert_eq!(found(text), [(4, "output queue 1".to_owned(), vec!["46".to_owned()])]);
        assert!(found(&text.replace("threshold 3 40", "threshold 3 40 46")).is_empty());
        assert!(found(&text.replace("mls qos map cos-dscp 0 8 16 24 32 46 48 56", "mls qos")).is_empty());
    }

    fn shown(line: &str) -> Vec<String> {
        let words: Vec<&str> = line.split(' ').collect();
        entries(&words).into_iter().map(|((_, from), to)| format!("{from}>{to}")).collect()
    }

    #[test]
    fn maps_have_an_entry_for_each_mark() {
        assert_eq!(shown("mls qos map cos-dscp 0 8 16")[1..], ["1>8", "2>16"]);
        assert_eq!(shown("mls qos map dscp-cos 40 46 to 5"), ["40>5", "46>5"]);
        assert_eq!(
            shown("mls qos srr-queue output dscp-map queue 1 threshold 3 40 46"),
            ["40>queue 1", "46>queue 1"]
        );
        assert_eq!(shown("mls qos srr-queue input cos-map queue 2 5"), ["5>queue 2"]);
        assert!(shown("mls qos queue-set output 1 buffers 10 30 35 25").is_empty());
    }
}
