//! Groups of routers (HSRP, VRRP) without an address, and groups whose two routers have different versions.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of other groups of a device that track an object.
const LEAST_OTHERS: usize = 2;

/// A version of HSRP: the device, the line and the number.
type Version<'t> = (usize, usize, &'t str);

/// A group at an interface.
#[derive(Default)]
struct Group {
    line: usize,
    has_address: bool,
    has_track: bool,
}

/// Reports groups without an address, interfaces whose version of HSRP differs from the same interface of the
/// only other device with the group, and the only group of a device that tracks nothing.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut versions: BTreeMap<(&str, &str), Vec<Version>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        let name = &snapshot.devices[device].name;
        let mut all: Vec<(&str, &str, Group)> = Vec::new();
        for node in nodes {
            let ["interface", port] = *node.words().as_slice() else { continue };
            let groups = groups(node);
            let version = version(node);
            for (number, group) in groups {
                versions.entry((port, number)).or_default().push((device, version.1, version.0));
                all.push((port, number, group));
            }
        }
        for (port, number, group) in all.iter().filter(|(.., group)| !group.has_address) {
            let message = format!("group {number} at {port} of {name} has no virtual address");
            let effect = "the group does not work: its hosts lose their gateway when the other router fails";
            let rule = &rules::NETWORK_BLOCK_INCOMPLETE;
            found.push(snapshot.finding(device, rule, group.line, (message, effect.to_owned())));
        }
        let mut untracked = all.iter().filter(|(.., group)| !group.has_track);
        if let (Some((port, number, group)), None) = (untracked.next(), untracked.next())
            && all.len() > LEAST_OTHERS
        {
            let others = all.len() - 1;
            let message = format!(
                "group {number} at {port} of {name} tracks nothing, but the {others} other groups do"
            );
            let effect = "the router keeps the address of the group when its uplink fails".to_owned();
            let rule = &rules::NETWORK_GROUP_DIFFERS;
            found.push(snapshot.finding(device, rule, group.line, (message, effect)));
        }
    }
    for ((port, number), ends) in &versions {
        let [first, second] = ends.as_slice() else { continue };
        for ((device, line, own), (other, .., far)) in [(first, second), (second, first)] {
            if own == far || device == other {
                continue;
            }
            let message = format!(
                "{port} of {} has version {own} of HSRP, but {} has version {far} for group {number}",
                snapshot.devices[*device].name, snapshot.devices[*other].name
            );
            let effect = "both routers answer for the address of the group".to_owned();
            let rule = &rules::NETWORK_GROUP_DIFFERS;
            found.push(snapshot.finding(*device, rule, *line, (message, effect)));
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
        let ["standby" | "vrrp", number, rest @ ..] = words.as_slice() else { continue };
        if blocks.contains(&inner.line.0) {
            continue;
        }
        if number.parse::<u16>().is_err() || rest.is_empty() {
            continue;
        }
        let group = found.entry(*number).or_insert(Group { line: inner.line.0, ..Group::default() });
        group.has_address |= matches!(rest, ["ip" | "ipv6", ..]);
        group.has_track |= rest.first() == Some(&"track");
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
        assert_eq!(version(&nodes[0]), ("2", 2));
        assert_eq!(version(&read("interface Vlan10\n standby 1 ip 10.0.0.1\n")[0]), ("1", 1));
    }
}
