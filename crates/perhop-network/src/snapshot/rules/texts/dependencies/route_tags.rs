//! Route-maps that match a tag that no device sets, while nothing reads a tag that the device sets.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The tags of a device.
#[derive(Default)]
struct Tags<'t> {
    /// The tags of `set tag` in route-maps, by their line.
    set: BTreeMap<usize, &'t str>,
    /// The tags of `match tag` in route-maps, by their line.
    matched: Vec<(usize, &'t str)>,
    /// Numbers in other lines about tags, which can set or match them, and numbers of autonomous systems.
    /// OSPF can carry such numbers as tags without a line (RFC 1745 §4).
    others: BTreeSet<&'t str>,
}

/// Reports tags that a device matches, but that no device can set, if the device also sets a tag that no
/// device matches. Such a route-map does not stop the routes that return to the device.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Tags> = trees.iter().map(|nodes| read(nodes)).collect();
    let known: BTreeSet<&str> =
        devices.iter().flat_map(|own| own.set.values().chain(&own.others)).copied().collect();
    let read: BTreeSet<&str> = devices
        .iter()
        .flat_map(|own| own.matched.iter().map(|(_, tag)| tag).chain(&own.others))
        .copied()
        .collect();
    for (device, own) in devices.iter().enumerate() {
        let unread = |tag: &&str| !read.contains(tag);
        let Some((set_line, set)) = own.set.iter().find(|(_, tag)| unread(tag)) else { continue };
        for (line, tag) in own.matched.iter().filter(|(_, tag)| !known.contains(tag)) {
            let message = format!(
                "a route-map of {} matches tag {tag}, which no device sets; the device sets tag {set} (line \
                 {set_line}), which no device matches",
                snapshot.devices[device].name
            );
            let effect = "routes that the device redistributes can return to it: packets loop or take a \
                          longer path"
                .to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_ASTRAY, *line, (message, effect)));
        }
    }
}

fn read<'t>(nodes: &[Node<'t>]) -> Tags<'t> {
    let mut found = Tags::default();
    for node in nodes {
        let words = node.words();
        if words.first() == Some(&"route-map") {
            for inner in &node.inner {
                match *inner.words().as_slice() {
                    ["set", "tag", tag] => {
                        found.set.insert(inner.line.0, tag);
                    }
                    // The entries of the list are in other lines.
                    ["match", "tag", "list", ..] => {}
                    ["match", "tag", ref tags @ ..] => {
                        found.matched.extend(tags.iter().map(|tag| (inner.line.0, *tag)));
                    }
                    _ => {}
                }
            }
            continue;
        }
        add_others(node, &mut found);
    }
    found
}

fn add_others<'t>(node: &Node<'t>, found: &mut Tags<'t>) {
    node.inner.iter().for_each(|inner| add_others(inner, found));
    // Most lines are entries of lists. They have none of these parts of words.
    if !["bgp", "-as", "autonomous", "tag"].iter().any(|part| node.line.1.contains(part)) {
        return;
    }
    let words = node.words();
    for pair in words.windows(2) {
        if ["bgp", "remote-as", "local-as", "peer-as", "autonomous-system"].contains(&pair[0]) {
            found.others.insert(pair[1].trim_end_matches(';'));
        }
    }
    // IOS: `route-tag list`; IOS XR: `if tag in (1, 2)` and `tag-set`; Junos: `tag [ 1 2 ];`.
    if words.iter().any(|word| word.split(['-', '(']).any(|part| part == "tag")) {
        add_numbers(node, found);
    }
}

/// Adds the numbers of a line and of the lines inside its block.
fn add_numbers<'t>(node: &Node<'t>, found: &mut Tags<'t>) {
    let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let words = node.words().into_iter().map(|word| word.trim_matches(['(', ')', '[', ']', ',', ';']));
    found.others.extend(words.filter(is_number));
    node.inner.iter().for_each(|inner| add_numbers(inner, found));
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read as tree;
    use super::read;

    #[test]
    fn tags_are_set_and_matched_by_route_maps() {
        let text = "router bgp 65000\n neighbor 192.0.2.1 remote-as 65001\nip route 10.0.0.0 255.0.0.0 Null0 tag \
                    7\nroute-map A permit 10\n set tag 100\nroute-map B deny 5\n match tag 101 102";
        let found = read(&tree(text));
        assert_eq!(found.set.into_iter().collect::<Vec<_>>(), [(5, "100")]);
        assert_eq!(found.matched, [(7, "101"), (7, "102")]);
        let others: Vec<_> = found.others.into_iter().collect();
        assert!(["65000", "65001", "7"].iter().all(|number| others.contains(number)), "{others:?}");
    }

    #[test]
    fn lists_and_policies_match_tags() {
        let text = "route-tag list L seq 5 permit 200\nroute-map A deny 5\n match tag list L\n\
                    route-policy P\n if tag in (300, 400) then\n    drop\ntag-set S\n  500,\n  600\nend-set";
        let found = read(&tree(text));
        assert!(found.matched.is_empty());
        for tag in ["200", "300", "400", "500", "600"] {
            assert!(found.others.contains(tag), "{tag}");
        }
    }
}
