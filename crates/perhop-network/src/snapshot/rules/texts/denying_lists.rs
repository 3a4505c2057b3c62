//! Prefix lists in use that contain only deny entries.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The beginnings of lines that define entries of lists.
const ENTRIES: [&str; 2] = ["ip prefix-list ", "ipv6 prefix-list "];
/// The beginnings of lines that use lists.
const USES: [&str; 4] = ["neighbor ", "prefix-list ", "match ", "distribute-list "];
/// The prefixes of entries that deny all routes intentionally.
const ALL: [[&str; 3]; 2] = [["0.0.0.0/0", "le", "32"], ["::/0", "le", "128"]];

/// The facts about a list: its last entry, whether an entry permits routes or has a form that is not read,
/// and whether an entry denies only some routes.
#[derive(Default)]
struct List {
    last_line: usize,
    permits: bool,
    denies_some: bool,
}

/// Reports lists that filter or select routes and permit no route. A list denies all routes that none of its
/// entries matches.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let lists = lists(nodes);
        if lists.is_empty() {
            continue;
        }
        let mut uses = BTreeMap::new();
        for node in nodes {
            add_uses(&mut uses, node);
        }
        for (name, list) in lists.iter().filter(|(_, list)| !list.permits && list.denies_some) {
            let Some(line) = uses.get(name) else { continue };
            let message = format!(
                "prefix list {name} of {} has only entries that deny, so it permits no route (used in line {line})",
                snapshot.devices[device].name
            );
            let effect =
                "a filter with this list drops all routes, and a route-map clause matches none".to_owned();
            let rule = &rules::NETWORK_ROUTE_MISSING;
            found.push(snapshot.finding(device, rule, list.last_line, (message, effect)));
        }
    }
}

fn lists<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, List> {
    let mut found: BTreeMap<&str, List> = BTreeMap::new();
    for node in nodes.iter().filter(|node| ENTRIES.iter().any(|start| node.begins_with(start))) {
        let words = node.words();
        let [_, _, name, rest @ ..] = words.as_slice() else { continue };
        let list = found.entry(*name).or_default();
        match rest {
            ["description", ..] => continue,
            ["deny", lengths @ ..] | ["seq", _, "deny", lengths @ ..] => {
                list.denies_some |= !ALL.iter().any(|all| lengths == all);
            }
            _ => list.permits = true,
        }
        list.last_line = node.line.0;
    }
    found
}

/// Adds the lists that a line, or a line inside its block, uses alone. If a line uses several lists, another
/// list can permit routes.
fn add_uses<'t>(uses: &mut BTreeMap<&'t str, usize>, node: &Node<'t>) {
    if USES.iter().any(|start| node.begins_with(start)) {
        match *node.words().as_slice() {
            ["neighbor", _, "prefix-list", name, "in" | "out"]
            | ["prefix-list", name, "in" | "out"]
            | ["match", "ip" | "ipv6", "address", "prefix-list", name]
            | ["distribute-list", "prefix", name, ..] => _ = uses.insert(name, node.line.0),
            _ => {}
        }
    }
    for inner in &node.inner {
        add_uses(uses, inner);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::braces::read;
    use super::{add_uses, lists};

    #[test]
    fn entries_deny_all_or_some_routes() {
        let text = "ip prefix-list A seq 5 deny 10.0.0.0/8\nip prefix-list A seq 9 deny 0.0.0.0/0 le 32\nip \
                    prefix-list B deny 0.0.0.0/0 le 32\nip prefix-list C deny 10.0.0.0/8\nip prefix-list C permit \
                    0.0.0.0/0 le 32";
        let nodes = read(text);
        let found: Vec<_> = lists(&nodes)
            .into_iter()
            .map(|(name, list)| (name, list.last_line, list.permits, list.denies_some))
            .collect();
        assert_eq!(found, [("A", 2, false, true), ("B", 3, false, false), ("C", 5, true, true)]);
    }

    #[test]
    fn lists_of_one_line_are_alternatives() {
        let text = "router bgp 1\n neighbor 192.0.2.1 prefix-list A in\nroute-map R permit 10\n match ip address \
                    prefix-list B C\n match ip address prefix-list D";
        let mut uses = BTreeMap::new();
        for node in &read(text) {
            add_uses(&mut uses, node);
        }
        assert_eq!(uses, BTreeMap::from([("A", 2), ("D", 5)]));
    }
}
