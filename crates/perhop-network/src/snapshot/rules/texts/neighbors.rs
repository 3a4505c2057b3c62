//! Lines that one BGP neighbor lacks and similar neighbors have.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// Commands of a neighbor that affect its routes or its session.
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
/// The minimum number of other neighbors that have a line.
const LEAST_OTHERS: usize = 2;
/// A route-map with this word in its name lengthens paths.
const PREPENDING: &str = "PREPEND";

/// A BGP neighbor in one address family.
struct Neighbor<'t> {
    device: usize,
    address: &'t str,
    /// The first line of the neighbor in the address family.
    line: usize,
    /// The commands about the neighbor, without the names that they contain.
    lines: BTreeSet<String>,
}

/// The kind of a neighbor: the device's AS, the address family, and the neighbor's AS.
type Kind<'t> = (&'t str, String, &'t str);

/// Reports neighbors that lack a line of all similar neighbors, redistribution that omits internal routes,
/// and route-maps whose name does not match their effect.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut kinds: BTreeMap<Kind, Vec<Neighbor>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            if let ["router", "bgp", number] = *node.words().as_slice() {
                add_process(&mut kinds, device, node, number);
                check_redistribution(snapshot, (device, nodes), node, number, found);
            }
        }
        check_prepending(snapshot, device, nodes, found);
    }
    for ((_, family, number), neighbors) in &kinds {
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
    let effect = "the session is down, or one of the two does not use the routes of the other".to_owned();
    let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
    found.push(snapshot.finding(own.device, rule, own.line, (message, effect)));
}

/// The lines about each neighbor or peer group: the number of the first line, and the words of all.
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

/// Returns the value of a command of a neighbor, or of the peer group to which it belongs.
fn value<'t>(lines: &Lines<'t>, name: &str, command: &str) -> Option<&'t str> {
    let own = &lines.get(name)?.1;
    let of = |command: &str| {
        own.iter().find(|words| words.first() == Some(&command)).and_then(|words| words.get(1))
    };
    of(command).copied().or_else(|| {
        let group = of("peer-group")?;
        value(lines, group, command)
    })
}

fn add_process<'t>(
    found: &mut BTreeMap<Kind<'t>, Vec<Neighbor<'t>>>,
    device: usize,
    node: &Node<'t>,
    own: &'t str,
) {
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
                        ["peer-group", group] => open.push(group),
                        ["route-map" | "prefix-list", _, way] => {
                            all.insert(format!("{} … {way}", words[0]));
                        }
                        [command, ..] if DECISIVE.contains(command) => {
                            all.insert((*command).to_owned());
                        }
                        _ => {}
                    }
                }
                // The lines of the process, outside of address families, assign neighbors to groups.
                if !is_process && let Some(group) = value(&global, name, "peer-group") {
                    open.push(group);
                }
            }
            let neighbor = Neighbor { device, address: name, line: *line, lines: all };
            found.entry((own, words.clone(), number)).or_default().push(neighbor);
        }
    }
}

/// Reports redistribution of BGP into another protocol if all neighbors are internal and the process lacks
/// `bgp redistribute-internal`. Without it, their routes are not redistributed.
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
    for protocol in nodes.iter().filter(|node| node.line.1.starts_with("router ")) {
        let line =
            protocol.inner.iter().find(|inner| inner.words().starts_with(&["redistribute", "bgp", own]));
        let Some(line) = line else { continue };
        let message = format!(
            "`{}` of {} redistributes BGP, whose neighbors are all internal, but `router bgp {own}` \
             (line {}) lacks `bgp redistribute-internal`",
            protocol.line.1, snapshot.devices[device].name, process.line.0
        );
        let effect =
            "the routes of these neighbors are not announced: packets take another path, or have none";
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line.line.0, (message, effect.to_owned())));
    }
}

/// Reports route-maps whose name promises longer paths, but which do not prepend.
fn check_prepending(snapshot: &Snapshot, device: usize, nodes: &[Node], found: &mut Vec<NetworkFinding>) {
    let mut maps: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for node in nodes {
        let ["route-map", name, ..] = *node.words().as_slice() else { continue };
        if !name.to_ascii_uppercase().contains(PREPENDING) {
            continue;
        }
        let own = maps.entry(name).or_insert((node.line.0, false));
        own.1 |= node.inner.iter().any(|inner| inner.words().starts_with(&["set", "as-path", "prepend"]));
    }
    for (name, (line, _)) in maps.into_iter().filter(|(_, (_, prepends))| !prepends) {
        let message =
            format!("route-map {name} of {} has no `set as-path prepend`", snapshot.devices[device].name);
        let effect = "the neighbor does not prefer the other paths, so packets can return over this one";
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}
