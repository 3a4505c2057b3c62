//! Static rendezvous points (PIM) that differ between neighbors, and different lists of their members.

use std::collections::{BTreeMap, BTreeSet};

use super::super::super::tree::Node;
use super::super::super::{NetworkFinding, Snapshot};
use super::super::vlans::cables;
use crate::rules;
use crate::snapshot::hops::Owner;

/// The VRF and the multicast groups of a rendezvous point. The entries of a list replace its name.
type Groups<'t> = (&'t str, String);
/// The addresses of the rendezvous points of some groups, and the first line.
type Points<'t> = (BTreeSet<&'t str>, usize);

/// The rendezvous points of a device.
#[derive(Default)]
struct Multicast<'t> {
    points: BTreeMap<Groups<'t>, Points<'t>>,
    /// The members of each rendezvous point with several routers (RFC 4610), by VRF and address.
    members: BTreeMap<(&'t str, &'t str), Points<'t>>,
    /// The AS number of BGP.
    system: Option<&'t str>,
    /// Whether the device exchanges sources with other domains, or has a port at their border.
    is_border: bool,
}

/// Reports a device whose rendezvous point for some groups differs from the rendezvous point of all
/// neighbors, and members of a rendezvous point that only another device lists. Neighbors of other domains
/// have different rendezvous points (RFC 3618 §1).
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
            let is_inside = |far: &usize| !may_separate(own, &devices[*far]);
            let far: Vec<usize> =
                near.filter(is_inside).filter(|far| devices[*far].points.contains_key(groups)).collect();
            let theirs: BTreeSet<&BTreeSet<&str>> =
                far.iter().map(|far| &devices[*far].points[groups].0).collect();
            let (Some(usual), 1) = (theirs.first(), theirs.len()) else { continue };
            let vrf = Some(groups.0).filter(|vrf| !vrf.is_empty());
            let owners = (owner(snapshot, vrf, points), owner(snapshot, vrf, usual));
            let is_wrong = matches!(
                owners,
                (Owner::Single(_) | Owner::None, Owner::Single(_)) | (Owner::None, Owner::None)
            );
            if *usual != points && is_wrong {
                report_point(snapshot, (device, *line), points, (far[0], usual), found);
            }
        }
        check_members(snapshot, &devices, device, found);
    }
}

/// Whether two neighbors can belong to different domains of multicast.
fn may_separate(own: &Multicast, other: &Multicast) -> bool {
    let differ = own.system.zip(other.system).is_some_and(|(own, other)| own != other);
    differ || own.is_border || other.is_border
}

/// Returns the device with one of the addresses in a routing table. An address of several devices or of
/// another table comes first, because a member of such a point can be any device.
fn owner(snapshot: &Snapshot, vrf: Option<&str>, points: &BTreeSet<&str>) -> Owner {
    let addresses = points.iter().filter_map(|point| point.parse().ok());
    let owners: Vec<Owner> = addresses.map(|address| snapshot.owner_in(vrf, address)).collect();
    let is_unclear = |owner: &&Owner| matches!(owner, Owner::Several | Owner::OtherTable);
    let unclear = owners.iter().find(is_unclear);
    let known = unclear.or_else(|| owners.iter().find(|owner| **owner != Owner::None));
    known.copied().unwrap_or(Owner::None)
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
            ["ip", "pim", "vrf", vrf, ref rest @ ..] => found.add(nodes, vrf, node.line.0, rest),
            ["ip", "pim", ref rest @ ..] => found.add(nodes, "", node.line.0, rest),
            ["ip" | "router", "msdp", ..] => found.is_border = true,
            ["router", "bgp", number] => found.system = Some(number),
            ["interface", ..] => found.is_border |= node.inner.iter().any(is_at_border),
            ["vrf", "context", vrf] => {
                for inner in &node.inner {
                    if let ["ip", "pim", ref rest @ ..] = *inner.words().as_slice() {
                        found.add(nodes, vrf, inner.line.0, rest);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a line of a port makes the port a border of multicast.
fn is_at_border(line: &Node) -> bool {
    ["ip multicast boundary", "ip pim bsr-border", "ip pim border"]
        .iter()
        .any(|start| line.begins_with(start))
}

/// Returns the groups in the words after a rendezvous point; `None` if their list is not defined.
fn groups(nodes: &[Node], words: &[&str]) -> Option<String> {
    let is_option = |word: &&&str| matches!(**word, "override" | "bidir");
    let options: Vec<&str> = words.iter().filter(is_option).copied().collect();
    let named: Vec<&str> = words.iter().filter(|word| !is_option(word)).copied().collect();
    let entries = match *named.as_slice() {
        [] => String::new(),
        ["group-list", range] => range.to_owned(),
        ["prefix-list", name] => entries(nodes, &["ip", "prefix-list", name])?,
        ["route-map", name] => entries(nodes, &["route-map", name])?,
        [name] => entries(nodes, &["access-list", name])
            .or_else(|| entries(nodes, &["ip", "access-list", "standard", name]))
            .or_else(|| entries(nodes, &["ip", "access-list", "extended", name]))?,
        _ => return None,
    };
    Some(format!("{entries} {}", options.join(" ")))
}

/// Returns the entries of a list without their numbers; `None` if the list has no entries.
fn entries(nodes: &[Node], start: &[&str]) -> Option<String> {
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let mut found = Vec::new();
    for node in nodes {
        let words = node.words();
        let Some(rest) = words.strip_prefix(start) else { continue };
        let rest = if let ["seq", _, rest @ ..] = rest { rest } else { rest };
        found.push(rest.join(" "));
        for inner in &node.inner {
            let words: Vec<&str> = inner.words().into_iter().skip_while(is_number).collect();
            found.push(words.join(" "));
        }
    }
    found.retain(|entry| !entry.is_empty() && !entry.starts_with("remark "));
    (!found.is_empty()).then(|| found.join("; "))
}

impl<'t> Multicast<'t> {
    fn add(&mut self, nodes: &[Node<'t>], vrf: &'t str, line: usize, words: &[&'t str]) {
        match *words {
            ["rp-address", point, ref rest @ ..] => {
                let Some(groups) = groups(nodes, rest) else { return };
                let own = self.points.entry((vrf, groups)).or_insert((BTreeSet::new(), line));
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

    #[test]
    fn the_entries_of_a_list_are_the_groups() {
        let groups = |text: &str| read(&tree(text)).points.into_keys().next().map(|(_, groups)| groups);
        let numbered = "ip pim rp-address 192.0.2.1 10\naccess-list 10 permit 239.1.0.0 0.0.255.255";
        let named = "ip pim rp-address 192.0.2.1 G\nip access-list standard G\n remark groups\n 10 permit \
                     239.1.0.0 0.0.255.255";
        assert!(groups(numbered).is_some());
        assert_eq!(groups(numbered), groups(named));
        assert_ne!(groups(numbered), groups(&numbered.replace("239.1", "239.2")));
        assert_eq!(groups("ip pim rp-address 192.0.2.1 10"), None);
    }

    #[test]
    fn domains_have_borders() {
        let is_border = |text: &str| read(&tree(text)).is_border;
        assert!(is_border("ip msdp peer 192.0.2.9") && !is_border("router bgp 65001"));
        assert!(is_border("interface Gi0/0\n ip pim bsr-border"));
        assert_eq!(read(&tree("router bgp 65001")).system, Some("65001"));
    }
}
