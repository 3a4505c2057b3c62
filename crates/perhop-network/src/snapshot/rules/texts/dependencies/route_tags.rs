//! Route-maps that deny a tag that no device sets, while nothing reads a tag that the device sets.

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
    /// Words after `tag` in other lines, and numbers of autonomous systems. OSPF can carry such numbers as
    /// tags without a line (RFC 1745 §4).
    others: BTreeSet<&'t str>,
}

/// Reports tags that a device matches, but that no device can set, if the device also sets a tag that it does
/// not match. Such a route-map does not stop the routes that return to the device.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Tags> = trees.iter().map(|nodes| read(nodes)).collect();
    let known: BTreeSet<&str> =
        devices.iter().flat_map(|own| own.set.values().chain(&own.others)).copied().collect();
    for (device, own) in devices.iter().enumerate() {
        let unread = |tag: &&str| !own.matched.iter().any(|(_, matched)| matched == tag);
        let Some((set_line, set)) = own.set.iter().find(|(_, tag)| unread(tag)) else { continue };
        for (line, tag) in own.matched.iter().filter(|(_, tag)| !known.contains(tag)) {
            let message = format!(
                "a route-map of {} matches tag {tag}, which no device sets; the device sets tag {set} (line \
                 {set_line}), which none of its route-maps matches",
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
    let words = node.words();
    for pair in words.windows(2) {
        if ["tag", "bgp", "remote-as", "local-as", "peer-as", "autonomous-system"].contains(&pair[0]) {
            found.others.insert(pair[1].trim_end_matches(';'));
        }
    }
    node.inner.iter().for_each(|inner| add_others(inner, found));
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
        assert_eq!(found.others.into_iter().collect::<Vec<_>>(), ["65000", "65001", "7"]);
    }
}
