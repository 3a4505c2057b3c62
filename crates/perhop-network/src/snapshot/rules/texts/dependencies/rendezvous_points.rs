//! Static rendezvous points (PIM) that differ between neighbors, and their members.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::super::vlans::cables;
use crate::rules;

/// The VRF and the multicast groups of a rendezvous point, as in the configuration.
type Groups<'t> = (&'t str, String);
/// The addresses of the rendezvous points of some groups, and the first line.
type Points<'t> = (BTreeSet<&'t str>, usize);

/// The rendezvous points of a device.
#[derive(Default)]
struct Multicast<'t> {
    points: BTreeMap<Groups<'t>, Points<'t>>,
    /// The members of each rendezvous point with several routers (RFC 4610), by VRF and address.
    members: BTreeMap<(&'t str, &'t str), Points<'t>>,
}

/// Reports a device whose rendezvous point for some groups differs from the one of all neighbors, and members
/// of a rendezvous point that only another device lists.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let devices: Vec<Multicast> = trees.iter().map(|nodes| read(nodes)).collect();
    if devices.iter().all(|own| own.points.is_empty()) {
        return;
    }
    let pairs: BTreeSet<(usize, usize)> = cables(snapshot)
        .into_iter()
        .flat_map(|[first, second]| [(first.device, second.device), (second.device, first.device)])
        .collect();
    for (device, own) in devices.iter().enumerate() {
        for (groups, (points, line)) in &own.points {
            let near = pairs.iter().filter(|(first, _)| *first == device).map(|(_, far)| *far);
            let far: Vec<usize> = near.filter(|far| devices[*far].points.contains_key(groups)).collect();
            let theirs: BTreeSet<&BTreeSet<&str>> =
                far.iter().map(|far| &devices[*far].points[groups].0).collect();
            let (Some(usual), 1) = (theirs.first(), theirs.len()) else { continue };
            if *usual != points && (!is_known(snapshot, points) || is_known(snapshot, usual)) {
                report_point(snapshot, (device, *line), points, (far[0], usual), found);
            }
        }
        check_members(snapshot, &devices, device, found);
    }
}

/// Whether a device of the network has one of the addresses.
fn is_known(snapshot: &Snapshot, points: &BTreeSet<&str>) -> bool {
    points.iter().any(|point| point.parse().is_ok_and(|address| snapshot.owner(address).is_some()))
}

fn report_point(
    snapshot: &Snapshot,
    (device, line): (usize, usize),
    points: &BTreeSet<&str>,
    (far, usual): (usize, &BTreeSet<&str>),
    found: &mut Vec<NetworkFinding>,
) {
    let list = |all: &BTreeSet<&str>| all.iter().copied().collect::<Vec<_>>().join(" and ");
    let message = format!(
        "the rendezvous point of {} is {}, but {} for the same groups on its neighbors, such as {}",
        snapshot.devices[device].name,
        list(points),
        list(usual),
        snapshot.devices[far].name
    );
    let effect = "receivers and sources do not find each other: multicast packets are lost".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_SETTING_DIFFERS, line, (message, effect)));
}

/// Reports members of a rendezvous point that another device lists.
fn check_members(snapshot: &Snapshot, devices: &[Multicast], device: usize, found: &mut Vec<NetworkFinding>) {
    for (point, (members, line)) in &devices[device].members {
        let others = devices.iter().enumerate().filter(|(far, _)| *far != device);
        let more = others.filter_map(|(far, other)| {
            let (theirs, _) = other.members.get(point)?;
            Some((far, *theirs.difference(members).next()?))
        });
        let Some((far, member)) = more.into_iter().next() else { continue };
        let message = format!(
            "{} lacks the member {member} of the rendezvous point {}, which {} lists",
            snapshot.devices[device].name, point.1, snapshot.devices[far].name
        );
        let effect = "the member does not learn the sources that register here".to_owned();
        found.push(snapshot.finding(device, &rules::NETWORK_SETTING_DIFFERS, *line, (message, effect)));
    }
}

fn read<'t>(nodes: &[Node<'t>]) -> Multicast<'t> {
    let mut found = Multicast::default();
    for node in nodes {
        match *node.words().as_slice() {
            ["ip", "pim", "vrf", vrf, ref rest @ ..] => found.add(vrf, node.line.0, rest),
            ["ip", "pim", ref rest @ ..] => found.add("", node.line.0, rest),
            ["vrf", "context", vrf] => {
                for inner in &node.inner {
                    if let ["ip", "pim", ref rest @ ..] = *inner.words().as_slice() {
                        found.add(vrf, inner.line.0, rest);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

impl<'t> Multicast<'t> {
    fn add(&mut self, vrf: &'t str, line: usize, words: &[&'t str]) {
        match *words {
            ["rp-address", point, ref groups @ ..] => {
                let own = self.points.entry((vrf, groups.join(" "))).or_insert((BTreeSet::new(), line));
                own.0.insert(point);
            }
            ["anycast-rp", point, member] => {
                let own = self.members.entry((vrf, point)).or_insert((BTreeSet::new(), line));
                own.0.insert(member);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::braces::read as tree;
    use super::read;

    #[test]
    fn points_belong_to_groups_of_a_vrf() {
        let text = "ip pim rp-address 192.0.2.1 group-list 239.0.0.0/8\nip pim rp-address 192.0.2.2 group-list \
                    239.0.0.0/8\nip pim anycast-rp 192.0.2.1 192.0.2.7\nip pim vrf A rp-address 192.0.2.3\nvrf \
                    context B\n  ip pim rp-address 192.0.2.4 group-list 224.0.0.0/4\nip pim ssm default";
        let found = read(&tree(text));
        let lines: Vec<_> =
            found.points.iter().map(|((vrf, _), (points, line))| (*vrf, points.len(), *line)).collect();
        assert_eq!(lines, [("", 2, 1), ("A", 1, 4), ("B", 1, 6)]);
        assert_eq!(found.members[&("", "192.0.2.1")].1, 3);
    }
}
