//! Sites whose departing packets prefer a different BGP neighbor than their arriving packets.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The local preference of routes if no line sets it (RFC 4271 §5.1.5 does not define a default; IOS uses
/// 100).
const USUAL_PREFERENCE: u32 = 100;

/// A neighbor in another autonomous system.
struct Neighbor<'t> {
    device: usize,
    address: &'t str,
    /// The local preference of routes from the neighbor, with the line that sets it.
    preference: (u32, Option<usize>),
    /// The number of AS numbers prepended to routes that are announced to the neighbor, with the line that
    /// prepends them.
    added: (usize, Option<usize>),
}

/// Reports sites whose departing packets prefer one neighbor, although the paths that the site announces make
/// arriving packets prefer another neighbor.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut systems: BTreeMap<&str, Vec<Neighbor>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            if let ["router", "bgp", number] = *node.words().as_slice() {
                systems.entry(number).or_default().extend(neighbors(device, nodes, node, number));
            }
        }
    }
    for neighbors in systems.values() {
        let departing = only_best(neighbors, |neighbor| neighbor.preference.0);
        let arriving = only_best(neighbors, |neighbor| usize::MAX - neighbor.added.0);
        let (Some(departing), Some(arriving)) = (departing, arriving) else { continue };
        if std::ptr::eq(departing, arriving) {
            continue;
        }
        let message = format!(
            "departing packets prefer {} (preference {} at {}), but the paths announced to it are longer than those \
             to {}, which arriving packets prefer",
            departing.address,
            departing.preference.0,
            snapshot.devices[departing.device].name,
            arriving.address
        );
        let effect = "packets return over another path with other queues and delays".to_owned();
        let lines = neighbors.iter().flat_map(|neighbor| {
            let own = [neighbor.preference.1, neighbor.added.1];
            own.into_iter().flatten().map(|line| (neighbor.device, line))
        });
        for (device, line) in lines {
            let words = (message.clone(), effect.clone());
            found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_ASYMMETRIC, line, words));
        }
    }
}

/// Returns the neighbor with the highest value, if only one neighbor has this value.
fn only_best<'n, 't, T: Ord>(
    neighbors: &'n [Neighbor<'t>],
    value: impl Fn(&Neighbor) -> T,
) -> Option<&'n Neighbor<'t>> {
    let best = neighbors.iter().max_by_key(|neighbor| value(neighbor))?;
    let count = neighbors.iter().filter(|neighbor| value(neighbor) == value(best)).count();
    (count == 1).then_some(best)
}

/// Returns the neighbors of a BGP process that are in other autonomous systems.
fn neighbors<'t>(device: usize, nodes: &[Node<'t>], process: &Node<'t>, own: &str) -> Vec<Neighbor<'t>> {
    let mut found: BTreeMap<&str, Neighbor> = BTreeMap::new();
    let lines = process.inner.iter().chain(process.inner.iter().flat_map(|inner| &inner.inner));
    for inner in lines {
        let words = inner.words();
        match *words.as_slice() {
            ["neighbor", address, "remote-as", number] if number != own => {
                let neighbor =
                    Neighbor { device, address, preference: (USUAL_PREFERENCE, None), added: (0, None) };
                found.insert(address, neighbor);
            }
            ["neighbor", address, "route-map", map, way] => {
                let Some(neighbor) = found.get_mut(address) else { continue };
                for (line, words) in whole_map(nodes, map) {
                    match (way, words.as_slice()) {
                        ("in", ["set", "local-preference", value]) => {
                            let value = value.parse().unwrap_or(USUAL_PREFERENCE);
                            neighbor.preference = (value, Some(line));
                        }
                        ("out", ["set", "as-path", "prepend", more @ ..]) => {
                            neighbor.added = (more.len(), Some(line));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    found.into_values().collect()
}

/// Returns the lines of a route-map that consists of a single clause for all routes.
fn whole_map<'t>(nodes: &[Node<'t>], map: &str) -> Vec<(usize, Vec<&'t str>)> {
    let mut clauses = nodes
        .iter()
        .filter(|node| matches!(*node.words().as_slice(), ["route-map", name, ..] if name == map));
    let (Some(clause), None) = (clauses.next(), clauses.next()) else { return Vec::new() };
    if clause.inner.iter().any(|inner| inner.words().first() == Some(&"match")) {
        return Vec::new();
    }
    clause.inner.iter().map(|inner| (inner.line.0, inner.words())).collect()
}
