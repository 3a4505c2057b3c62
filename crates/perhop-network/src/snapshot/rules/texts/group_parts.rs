//! Groups of routers (HSRP, VRRP) without an address, and groups whose two routers have different versions.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The minimum number of other groups of a device that track an object.
const LEAST_OTHERS: usize = 2;

/// A version of HSRP: the port, the line and the number.
type Version<'t> = (PortId, usize, &'t str);

/// A group at an interface.
struct Group {
    line: usize,
    has_address: bool,
    has_track: bool,
    is_hsrp: bool,
    priority: u16,
}

impl Group {
    fn kind(&self) -> &'static str {
        if self.is_hsrp { "HSRP group" } else { "VRRP group" }
    }
}

/// Returns the groups of a device at ports that are up, with their ports and numbers.
fn all_groups<'t>(nodes: &[Node<'t>]) -> Vec<(&'t str, &'t str, Group)> {
    let mut found = Vec::new();
    for node in nodes.iter().filter(|node| !node.is_shut()) {
        let ["interface", port] = *node.words().as_slice() else { continue };
        found.extend(groups(node).into_iter().map(|(number, group)| (port, number, group)));
    }
    found
}

/// Reports groups without an address, interfaces whose version of HSRP differs from the only other router of
/// the group on the same link, and the only group of a device that tracks nothing, if the device is active
/// and the other router of the group tracks an object.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Vec<(&str, &str, Group)>> = trees.iter().map(|nodes| all_groups(nodes)).collect();
    for (device, all) in devices.iter().enumerate() {
        let name = &snapshot.devices[device].name;
        let mut kinds: BTreeMap<&str, Vec<&(&str, &str, Group)>> = BTreeMap::new();
        for own in all {
            let kind = own.0.trim_end_matches(|letter: char| !letter.is_alphabetic());
            kinds.entry(kind).or_default().push(own);
        }
        for (port, number, group) in all.iter().filter(|(.., group)| !group.has_address) {
            let message = format!("{} {number} at {port} of {name} has no virtual address", group.kind());
            let effect = "the group does not work: its hosts lose their gateway when the other router fails";
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, group.line, (message, effect.to_owned())));
        }
        for all in kinds.values() {
            let mut untracked = all.iter().filter(|(.., group)| !group.has_track);
            let (Some((port, number, group)), None) = (untracked.next(), untracked.next()) else { continue };
            // A router that only takes over need not track. A group without an uplink has nothing to track.
            let is_active = |(other, number_of_other, theirs): &(&str, &str, Group)| {
                let is_same = other == port && number_of_other == number;
                is_same && theirs.has_track && theirs.priority < group.priority
            };
            if all.len() <= LEAST_OTHERS || !devices.iter().flatten().any(is_active) {
                continue;
            }
            let others = all.len() - 1;
            let message = format!(
                "{} {number} at {port} of {name} tracks no object, but each of the {others} other groups \
                 tracks one",
                group.kind()
            );
            let effect = "the router keeps the address of the group when its uplink fails".to_owned();
            let rule = &rules::NETWORK_GROUP_DIFFERS;
            found.push(snapshot.finding(device, rule, group.line, (message, effect)));
        }
    }
    check_versions(snapshot, trees, found);
}

/// Reports both ports of a link that are the only ports with a group of HSRP, if their versions differ.
fn check_versions(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for link in &snapshot.links {
        let mut versions: BTreeMap<&str, Vec<Version>> = BTreeMap::new();
        for id in link.ends.iter().map(|end| end.id) {
            let line = snapshot.port(id).line;
            let nodes = &trees[id.device];
            let Ok(place) = nodes.binary_search_by_key(&line, |node| node.line.0) else { continue };
            let node = &nodes[place];
            let version = version(node);
            for (number, _) in groups(node).into_iter().filter(|(_, group)| group.is_hsrp) {
                versions.entry(number).or_default().push((id, version.1, version.0));
            }
        }
        for (number, ends) in &versions {
            let [first, second] = ends.as_slice() else { continue };
            for ((id, line, own), (other, _, far)) in [(first, second), (second, first)] {
                if own == far {
                    continue;
                }
                let message = format!(
                    "{} has version {own} of HSRP, but {} has version {far} for group {number}",
                    snapshot.port_name(*id),
                    snapshot.port_name(*other)
                );
                let effect = "both routers answer for the address of the group".to_owned();
                let rule = &rules::NETWORK_GROUP_DIFFERS;
                found.push(snapshot.finding(id.device, rule, *line, (message, effect)));
            }
        }
    }
}

/// Returns the groups of an interface by number.
fn groups<'t>(node: &Node<'t>) -> BTreeMap<&'t str, Group> {
    let mut found: BTreeMap<&str, Group> = BTreeMap::new();
    let blocks: BTreeSet<usize> =
        node.inner.iter().filter(|inner| !inner.inner.is_empty()).map(|inner| inner.line.0).collect();
    for inner in &node.inner {
        // Groups in blocks (NX-OS, and VRRP of version 3) have another form.
        let words = inner.words();
        let [protocol @ ("standby" | "vrrp"), number, rest @ ..] = words.as_slice() else { continue };
        if blocks.contains(&inner.line.0) {
            continue;
        }
        if number.parse::<u16>().is_err() || rest.is_empty() {
            continue;
        }
        let group = found.entry(*number).or_insert(Group {
            line: inner.line.0,
            has_address: false,
            has_track: false,
            is_hsrp: false,
            // The default of HSRP and VRRP.
            priority: 100,
        });
        // A group that follows another group has the state of that group.
        group.has_address |= matches!(rest, ["ip" | "ipv6" | "follow", ..]);
        group.has_track |= matches!(rest, ["track" | "follow", ..]);
        group.is_hsrp |= *protocol == "standby";
        if let ["priority", priority] = rest {
            group.priority = priority.parse().unwrap_or(group.priority);
        }
    }
    found
}

/// Returns the version of HSRP at an interface, and its line.
fn version<'t>(node: &Node<'t>) -> (&'t str, usize) {
    let own = node.inner.iter().find_map(|inner| match *inner.words().as_slice() {
        ["standby", "version", version] => Some((version, inner.line.0)),
        _ => None,
    });
    own.unwrap_or(("1", node.line.0))
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{groups, version};

    #[test]
    fn a_group_has_an_address() {
        let text = "interface Vlan10\n standby version 2\n standby 10 ip 10.0.0.1\n standby 10 track 1 decrement 20\n \
                    standby 20 priority 110\n";
        let nodes = read(text);
        let found = groups(&nodes[0]);
        let states: Vec<_> =
            found.iter().map(|(number, own)| (*number, own.has_address, own.has_track)).collect();
        assert_eq!(states, [("10", true, true), ("20", false, false)]);
        let follower = read("interface Vlan10\n standby 2 follow MAIN\n");
        assert!(groups(&follower[0])["2"].has_address && groups(&follower[0])["2"].has_track);
        assert_eq!(version(&nodes[0]), ("2", 2));
        assert_eq!(version(&read("interface Vlan10\n standby 1 ip 10.0.0.1\n")[0]), ("1", 1));
    }
}
