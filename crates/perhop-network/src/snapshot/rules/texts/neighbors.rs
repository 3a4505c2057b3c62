//! Lines that one BGP neighbor lacks, although similar neighbors have them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// Commands about a neighbor that affect its routes or its session.
const DECISIVE: &[&str] = &[
    "activate",
    "allowas-in",
    "as-override",
    "ebgp-multihop",
    "next-hop-self",
    "prefix-list",
    "remove-private-as",
    "route-map",
    "route-reflector-client",
    "send-community",
    "update-source",
];
/// The minimum number of similar neighbors that have a line.
const LEAST_OTHERS: usize = 2;
/// Replaces the AS number in the kind of neighbors if each of them has a different AS.
const EACH: &str = "each of their own";
/// The word that the name of a route-map contains if the route-map makes AS paths longer.
const PREPENDING: &str = "PREPEND";
/// Words that negate the name of a route-map, such as `NO-PREPEND`.
const NEGATIONS: &[&str] = &["NO", "NON", "NOT", "WITHOUT"];

/// A BGP neighbor in an address family.
struct Neighbor<'t> {
    device: usize,
    /// The device of the network that has the address of the neighbor.
    far: Option<usize>,
    address: &'t str,
    /// The line where the neighbor first occurs in the address family.
    line: usize,
    /// The commands about the neighbor. Names of lists and route-maps are omitted.
    lines: BTreeSet<String>,
    /// The lines that remove a command, `no neighbor ADDRESS COMMAND`, by the command.
    removed: BTreeMap<&'t str, usize>,
}

/// The kind of a neighbor: the local AS, the address family, the remote AS, whether the device reflects
/// routes, and whether the neighbor does.
type Kind<'t> = (&'t str, String, &'t str, [bool; 2]);
/// The neighbors of all devices.
type Kinds<'t> = BTreeMap<Kind<'t>, Vec<Neighbor<'t>>>;

/// The devices that own addresses and the devices that reflect routes, which determine the kind of a
/// neighbor.
struct Roles {
    owners: BTreeMap<IpAddr, usize>,
    reflectors: BTreeSet<usize>,
}

impl Roles {
    fn new(snapshot: &Snapshot, trees: &[Vec<Node>]) -> Roles {
        let mut owners = BTreeMap::new();
        for device in (0..trees.len()).rev() {
            let ports = snapshot.router(device).ports.iter();
            owners.extend(ports.flat_map(addresses).map(|own| (own.address, device)));
        }
        let reflects = |device: &usize| {
            let processes = trees[*device].iter().filter(|node| node.line.1.starts_with("router bgp "));
            let lines = processes
                .flat_map(|node| &node.inner)
                .flat_map(|line| std::iter::once(line).chain(&line.inner));
            lines.into_iter().any(|line| line.line.1.ends_with(" route-reflector-client"))
        };
        Roles { owners, reflectors: (0..trees.len()).filter(reflects).collect() }
    }
}

/// Reports neighbors that lack a line of all similar neighbors, redistribution that omits internal routes,
/// and route-maps that do not do what their name states.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut kinds = Kinds::new();
    let roles = Roles::new(snapshot, trees);
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            if let ["router", "bgp", number] = *node.words().as_slice() {
                add_process(&mut kinds, &roles, device, node, number);
                check_redistribution(snapshot, (device, nodes), node, number, found);
            }
        }
        check_prepending(snapshot, device, nodes, found);
    }
    check_pairs(snapshot, &kinds, found);
    add_customers(&mut kinds);
    for ((_, family, number, _), neighbors) in &kinds {
        let all: BTreeSet<&String> = neighbors.iter().flat_map(|own| &own.lines).collect();
        for line in all {
            let mut lacking = neighbors.iter().filter(|own| !own.lines.contains(line));
            let (Some(own), None) = (lacking.next(), lacking.next()) else { continue };
            if neighbors.len() > LEAST_OTHERS {
                report(snapshot, own, line, (family, number, neighbors.len() - 1), found);
            }
        }
    }
}

/// Adds external neighbors that each have a different AS as neighbors of one kind.
fn add_customers(kinds: &mut Kinds) {
    let mut found = Kinds::new();
    let is_external = |kind: &Kind| kind.0 != kind.2;
    for (kind, neighbors) in
        kinds.iter().filter(|(kind, neighbors)| is_external(kind) && neighbors.len() == 1)
    {
        let own = &neighbors[0];
        let copy = Neighbor { lines: own.lines.clone(), removed: own.removed.clone(), ..*own };
        found.entry((kind.0, kind.1.clone(), EACH, [false; 2])).or_default().push(copy);
    }
    kinds.extend(found);
}

/// Reports sessions of which only one end activates an address family. Also reports sessions of which only
/// one end has `next-hop-self` although both ends have external neighbors.
fn check_pairs(snapshot: &Snapshot, kinds: &Kinds, found: &mut Vec<NetworkFinding>) {
    let mut ends: BTreeMap<(usize, usize, &str), (&Kind, &Neighbor)> = BTreeMap::new();
    let mut have_external: BTreeSet<usize> = BTreeSet::new();
    for (kind, neighbors) in kinds {
        for own in neighbors {
            if kind.0 != kind.2 {
                have_external.insert(own.device);
            }
            if let Some(far) = own.far {
                ends.insert((own.device, far, &kind.1), (kind, own));
            }
        }
    }
    for ((device, far, family), (kind, own)) in &ends {
        let back = ends.get(&(*far, *device, *family));
        let lacks = |line: &str| back.is_none_or(|(_, back)| !back.lines.contains(line));
        // Routers activate unicast IPv4 by default, so the line is needed only in other address families.
        let is_explicit = !family.is_empty() && !family.starts_with("address-family ipv4");
        let line = if own.lines.contains("activate") && is_explicit && lacks("activate") {
            "activate"
        } else if back.is_some()
            && kind.0 == kind.2
            && kind.3 == [false; 2]
            && [device, far].iter().all(|end| have_external.contains(*end))
            && own.lines.contains("next-hop-self")
            && lacks("next-hop-self")
        {
            "next-hop-self"
        } else {
            continue;
        };
        let Some((_, back)) = back.or_else(|| ends.get(&(*far, *device, ""))) else { continue };
        let family = if family.is_empty() { String::new() } else { format!(" in {family}") };
        let message = format!(
            "neighbor {} of {} lacks `{line}`{family}, which the other end of the session, {}, has",
            back.address, snapshot.devices[*far].name, snapshot.devices[*device].name
        );
        let effect = "the other end receives no routes of this device, or cannot reach their next hops";
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        let place = back.removed.get(line).copied().unwrap_or(back.line);
        found.push(snapshot.finding(*far, rule, place, (message, effect.to_owned())));
    }
}

fn report(
    snapshot: &Snapshot,
    own: &Neighbor,
    line: &str,
    (family, number, others): (&str, &str, usize),
    found: &mut Vec<NetworkFinding>,
) {
    let family = if family.is_empty() { String::new() } else { format!(" in {family}") };
    let message = format!(
        "neighbor {} of {} lacks `{line}`{family}, which the {others} other neighbors in AS {number} have",
        own.address, snapshot.devices[own.device].name
    );
    let effect =
        "the session is down, or one of the two routers does not use the routes of the other".to_owned();
    let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
    let place = own.removed.get(line).copied().unwrap_or(own.line);
    found.push(snapshot.finding(own.device, rule, place, (message, effect)));
}

/// The lines about each neighbor or peer group: the number of the first line, and the words of all lines.
type Lines<'t> = BTreeMap<&'t str, (usize, Vec<Vec<&'t str>>)>;

fn lines<'t>(node: &Node<'t>) -> Lines<'t> {
    let mut found = Lines::new();
    for inner in &node.inner {
        if let ["neighbor", name, ref rest @ ..] = *inner.words().as_slice() {
            found.entry(name).or_insert((inner.line.0, Vec::new())).1.push(rest.to_vec());
        }
    }
    found
}

/// Returns the commands that a block removes from a neighbor, and their lines.
fn removed<'t>(node: &Node<'t>, name: &str) -> BTreeMap<&'t str, usize> {
    let removed = |inner: &Node<'t>| match *inner.words().as_slice() {
        ["no", "neighbor", own, command, ..] if own == name => Some((command, inner.line.0)),
        _ => None,
    };
    node.inner.iter().filter_map(removed).collect()
}

/// Returns the value of a command about a neighbor, or about the peer group of the neighbor.
fn value<'t>(lines: &Lines<'t>, name: &str, command: &str) -> Option<&'t str> {
    let own = &lines.get(name)?.1;
    let value_of = |command: &str| {
        own.iter().find(|words| words.first() == Some(&command)).and_then(|words| words.get(1))
    };
    value_of(command).copied().or_else(|| {
        let of_words = || own.iter().find(|words| words.starts_with(&["peer", "group"]))?.get(2);
        let group = value_of("peer-group").or_else(of_words)?;
        value(lines, group, command)
    })
}

fn add_process<'t>(found: &mut Kinds<'t>, roles: &Roles, device: usize, node: &Node<'t>, own: &'t str) {
    let global = lines(node);
    let families = node.inner.iter().filter(|inner| inner.line.1.trim_start().starts_with("address-family "));
    for family in std::iter::once(node).chain(families) {
        let is_process = family.line.0 == node.line.0;
        let local = lines(family);
        let words = if is_process { String::new() } else { family.line.1.trim().to_owned() };
        for (name, (line, _)) in local.iter().filter(|(name, _)| name.contains(['.', ':'])) {
            let number = value(&local, name, "remote-as").or_else(|| value(&global, name, "remote-as"));
            let Some(number) = number else { continue };
            let mut all = BTreeSet::new();
            let mut open = vec![*name];
            while let Some(name) = open.pop() {
                for words in local.get(name).map_or(&[][..], |(_, own)| own) {
                    match words.as_slice() {
                        ["peer-group", group] | ["peer", "group", group] => open.push(group),
                        ["route-map" | "prefix-list", _, way] => {
                            all.insert(format!("{} … {way}", words[0]));
                        }
                        [command, ..] if DECISIVE.contains(command) => {
                            all.insert((*command).to_owned());
                        }
                        _ => {}
                    }
                }
                // The lines of the process outside of address families assign neighbors to peer groups.
                if !is_process && let Some(group) = value(&global, name, "peer-group") {
                    open.push(group);
                }
            }
            let far = name.parse().ok().and_then(|address: IpAddr| roles.owners.get(&address)).copied();
            let reflect =
                [Some(device), far].map(|end| end.is_some_and(|end| roles.reflectors.contains(&end)));
            let removed = removed(family, name);
            let neighbor = Neighbor { device, far, address: name, line: *line, lines: all, removed };
            found.entry((own, words.clone(), number, reflect)).or_default().push(neighbor);
        }
    }
}

/// Reports redistribution of BGP into another protocol if all neighbors are internal and the BGP process
/// lacks `bgp redistribute-internal`. Without this command, routes of internal neighbors are not
/// redistributed. A process in a VRF is not reported, because it also redistributes the VPN routes that
/// internal neighbors announce (RFC 4577 §4.2.1).
fn check_redistribution(
    snapshot: &Snapshot,
    (device, nodes): (usize, &[Node]),
    process: &Node,
    own: &str,
    found: &mut Vec<NetworkFinding>,
) {
    let all: Vec<&Node> =
        process.inner.iter().chain(process.inner.iter().flat_map(|inner| &inner.inner)).collect();
    let numbers: BTreeSet<&str> = all
        .iter()
        .filter_map(|inner| match *inner.words().as_slice() {
            ["neighbor", _, "remote-as", number] => Some(number),
            _ => None,
        })
        .collect();
    let is_passed_on = all.iter().any(|inner| inner.words() == ["bgp", "redistribute-internal"]);
    if numbers.len() != 1 || !numbers.contains(own) || is_passed_on {
        return;
    }
    let is_global = |node: &&Node| node.line.1.starts_with("router ") && !node.words().contains(&"vrf");
    for protocol in nodes.iter().filter(is_global) {
        let line =
            protocol.inner.iter().find(|inner| inner.words().starts_with(&["redistribute", "bgp", own]));
        let Some(line) = line else { continue };
        let message = format!(
            "`{}` of {} redistributes BGP, whose neighbors are all internal, but `router bgp {own}` \
             (line {}) lacks `bgp redistribute-internal`",
            protocol.line.1, snapshot.devices[device].name, process.line.0
        );
        let effect =
            "the routes of these neighbors are not announced: packets take another path, or have no path";
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line.line.0, (message, effect.to_owned())));
    }
}

/// Whether the name of a route-map states that it makes AS paths longer.
fn states_prepending(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    name.contains(PREPENDING) && !parts.any(|part| NEGATIONS.contains(&part))
}

/// Reports route-maps whose name states that they make AS paths longer, but which do not prepend.
fn check_prepending(snapshot: &Snapshot, device: usize, nodes: &[Node], found: &mut Vec<NetworkFinding>) {
    let mut maps: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for node in nodes {
        let ["route-map", name, ..] = *node.words().as_slice() else { continue };
        if !states_prepending(name) {
            continue;
        }
        let own = maps.entry(name).or_insert((node.line.0, false));
        own.1 |= node.inner.iter().any(|inner| inner.words().starts_with(&["set", "as-path", "prepend"]));
    }
    for (name, (line, _)) in maps.into_iter().filter(|(_, (_, prepends))| !prepends) {
        let message =
            format!("route-map {name} of {} has no `set as-path prepend`", snapshot.devices[device].name);
        let effect = "the neighbor does not prefer the other paths, so packets can return over this path";
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}
