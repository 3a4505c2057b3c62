//! Filters of routes that a device does not use, although a BGP neighbor of the device has no filter.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The beginnings of lines that define a filter, and the place of its name.
const DEFINITIONS: [(&str, usize); 4] =
    [("ip prefix-list ", 2), ("ipv6 prefix-list ", 2), ("route-map ", 1), ("ip as-path access-list ", 3)];

/// An external neighbor of BGP: its address, its line, and whether it has a filter for received and for
/// announced routes.
type Neighbor<'t> = (&'t str, usize, [bool; 2]);

/// Reports the only prefix list or route-map of a device that no line names, if an external BGP neighbor has
/// a filter in one direction only. Requires that the name of the filter contains the other direction, or that
/// a neighbor in the network has filters in both directions.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let filters_both = trees.iter().flatten().flat_map(external).any(|(.., ways)| ways == [true, true]);
    let unused: Vec<Option<(&str, usize)>> = trees.iter().map(|nodes| only_unused(nodes)).collect();
    for (device, nodes) in trees.iter().enumerate() {
        let Some((name, line)) = unused[device] else { continue };
        // If several devices do not use a filter, this is intended.
        if unused.iter().flatten().filter(|(other, _)| *other == name).count() > 1 {
            continue;
        }
        let Some((address, neighbor, direction)) = half_filtered(nodes) else { continue };
        let named = direction_of(name);
        if named.map_or(!filters_both, |named| named != direction) {
            continue;
        }
        let message = format!(
            "no line of {} uses {name}, and the neighbor {address} (line {neighbor}) has no filter \
             {direction}",
            snapshot.devices[device].name
        );
        let effect = "routes pass that the filter should keep out: packets take paths that they should not";
        let rule = &rules::NETWORK_NEIGHBOR_INCOMPLETE;
        found.push(snapshot.finding(device, rule, line, (message, effect.to_owned())));
    }
}

/// Returns the only filter of several that no line of a device names, and its line.
fn only_unused<'t>(nodes: &[Node<'t>]) -> Option<(&'t str, usize)> {
    let mut defined = definitions(nodes);
    defined.retain(|name, _| permits(nodes, name));
    let mut unused = defined.iter().filter(|(name, _)| !nodes.iter().any(|node| names(node, name)));
    let (Some((name, line)), None) = (unused.next(), unused.next()) else { return None };
    (defined.len() > 1).then_some((*name, *line))
}

/// Returns the filters of a device with the first line of each.
fn definitions<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, usize> {
    let mut found = BTreeMap::new();
    for node in nodes {
        let Some((_, place)) = DEFINITIONS.iter().find(|(start, _)| node.begins_with(start)) else {
            continue;
        };
        if let Some(name) = node.words().get(*place) {
            found.entry(*name).or_insert(node.line.0);
        }
    }
    found
}

/// Whether a line that defines a filter permits routes.
fn permits(nodes: &[Node], name: &str) -> bool {
    nodes.iter().any(|node| {
        let words = node.words();
        words.contains(&name) && words.contains(&"permit")
    })
}

/// Whether a line that does not define a filter names the filter.
fn names(node: &Node, name: &str) -> bool {
    let words = node.words();
    let defines =
        DEFINITIONS.iter().any(|(start, place)| node.begins_with(start) && words.get(*place) == Some(&name));
    (!defines && words.contains(&name)) || node.inner.iter().any(|inner| names(inner, name))
}

/// Returns the direction that the name of a filter contains.
fn direction_of(name: &str) -> Option<&'static str> {
    let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut directions = parts.filter_map(|part| match part.to_ascii_lowercase().as_str() {
        "in" | "from" | "import" | "inbound" => Some("in"),
        "out" | "to" | "export" | "outbound" => Some("out"),
        _ => None,
    });
    directions.next()
}

/// Returns an external neighbor with a filter in one direction, its line, and the direction without a filter.
fn half_filtered<'t>(nodes: &[Node<'t>]) -> Option<(&'t str, usize, &'static str)> {
    nodes.iter().flat_map(external).find_map(|(address, line, ways)| match ways {
        [true, false] => Some((address, line, "out")),
        [false, true] => Some((address, line, "in")),
        _ => None,
    })
}

/// Returns the external neighbors of a BGP process. A neighbor has the number and the filters of its group.
fn external<'t>(process: &Node<'t>) -> Vec<Neighbor<'t>> {
    let ["router", "bgp", number] = *process.words().as_slice() else { return Vec::new() };
    let lines = process.inner.iter().flat_map(|inner| std::iter::once(inner).chain(&inner.inner));
    let mut neighbors: BTreeMap<&str, (usize, bool, [bool; 2])> = BTreeMap::new();
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for line in lines {
        let words = line.words();
        let ["neighbor", address, rest @ ..] = words.as_slice() else { continue };
        let own = neighbors.entry(*address).or_insert((line.line.0, false, [false; 2]));
        match rest {
            ["remote-as", other, ..] => (own.0, own.1) = (line.line.0, other != &number),
            ["prefix-list" | "route-map" | "filter-list" | "distribute-list", _, way] => {
                own.2[usize::from(*way == "out")] = true;
            }
            ["peer-group", group] | ["peer", "group", group] => groups.push((*address, *group)),
            // The filters of templates are not read.
            ["inherit" | "shutdown", ..] => own.2 = [true; 2],
            _ => {}
        }
    }
    for (address, group) in &groups {
        let Some((_, is_external, ways)) = neighbors.get(group).copied() else { continue };
        if let Some(own) = neighbors.get_mut(address) {
            own.1 |= is_external;
            own.2 = [own.2[0] || ways[0], own.2[1] || ways[1]];
        }
    }
    let is_group = |name: &str| groups.iter().any(|(_, group)| *group == name);
    let external =
        neighbors.into_iter().filter(|(name, (_, is_external, _))| *is_external && !is_group(name));
    external.map(|(address, (line, _, ways))| (address, line, ways)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{definitions, direction_of, half_filtered, names, permits};

    #[test]
    fn names_contain_directions() {
        assert_eq!(direction_of("CUSTOMER-OUT"), Some("out"));
        assert_eq!(direction_of("FROM_PEER"), Some("in"));
        assert_eq!(direction_of("INTERNAL"), None);
    }

    #[test]
    fn a_definition_is_not_a_use() {
        let nodes = read(
            "ip prefix-list A seq 5 permit 10.0.0.0/8\nroute-map B permit 10\n match ip address prefix-list A\n",
        );
        assert_eq!(definitions(&nodes).into_iter().collect::<Vec<_>>(), [("A", 1), ("B", 2)]);
        assert!(nodes.iter().any(|node| names(node, "A")) && !nodes.iter().any(|node| names(node, "B")));
    }

    #[test]
    fn a_list_that_permits_nothing_is_no_filter() {
        let nodes =
            read("ip prefix-list A seq 5 deny 10.0.0.0/8\nip prefix-list B seq 5 permit 10.0.0.0/8\n");
        assert!(!permits(&nodes, "A") && permits(&nodes, "B"));
    }

    #[test]
    fn external_neighbors_have_filters_in_both_directions() {
        let filtered = |lines: &str| {
            let text = format!(
                "router bgp 1\n neighbor 10.0.0.2 remote-as 2\n neighbor 10.0.0.3 remote-as 1\n{lines}"
            );
            half_filtered(&read(&text)).map(|(address, _, way)| (address.to_owned(), way))
        };
        let both = " neighbor 10.0.0.2 prefix-list A in\n neighbor 10.0.0.2 route-map B out\n";
        assert_eq!(filtered(both), None);
        assert_eq!(filtered(" neighbor 10.0.0.2 prefix-list A in\n"), Some(("10.0.0.2".to_owned(), "out")));
        assert_eq!(filtered(""), None, "no neighbor has a filter");
        let group =
            " neighbor EXT peer-group\n neighbor EXT route-map B out\n neighbor 10.0.0.2 peer-group EXT\n";
        assert_eq!(filtered(&format!(" neighbor 10.0.0.2 prefix-list A in\n{group}")), None);
        assert_eq!(filtered(group), Some(("10.0.0.2".to_owned(), "in")));
    }
}
