//! Prefix lists for received BGP routes with a network that differs from the neighbor's network in one byte.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::prefix_filters::{Network, are_near, is_known, neighbor_lines, networks};
use super::prefix_lists::PrefixLists;
use crate::rules;
use crate::snapshot::hops::Owner;

/// Reports entries of lists whose prefix exists nowhere in the folder, if a neighbor that uses the list
/// announces a network that the list denies and that differs from the prefix in one byte. The list can be in
/// a route-map. A list that denies several networks of the neighbor selects them on purpose.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let networks: Vec<Network> =
        trees.iter().enumerate().flat_map(|(device, nodes)| networks(snapshot, device, nodes)).collect();
    for (device, nodes) in trees.iter().enumerate() {
        let filters = filters(nodes);
        if filters.is_empty() {
            continue;
        }
        let lists = PrefixLists::read(nodes);
        for (list, neighbors) in filters {
            let owners: BTreeSet<usize> = neighbors
                .into_iter()
                .filter_map(|neighbor| match snapshot.owner_in(None, neighbor.parse::<IpAddr>().ok()?) {
                    Owner::Single(id) => Some(id.device),
                    _ => None,
                })
                .filter(|owner| *owner != device)
                .collect();
            for (line, entry) in lists.permitted(list) {
                if networks.iter().any(|(.., subnet)| *subnet == entry) || is_known(snapshot, entry) {
                    continue;
                }
                let is_denied =
                    |(owner, _, subnet): &&Network| owners.contains(owner) && !lists.permit(list, *subnet);
                let meant = networks.iter().filter(is_denied).find(|(.., subnet)| are_near(*subnet, entry));
                let Some((owner, _, meant)) = meant else { continue };
                let denied = networks.iter().filter(is_denied).filter(|(other, ..)| other == owner).count();
                if denied > 1
                    || lists.excludes(list, *meant)
                    || !announces(snapshot, (*owner, &trees[*owner]), device, *meant)
                {
                    continue;
                }
                let message = format!(
                    "prefix list {list} of {} permits {entry}, which no device has, but not the network {meant} of its \
                     neighbor {}",
                    snapshot.devices[device].name, snapshot.devices[*owner].name
                );
                let effect =
                    "the device drops the route: packets to the site take another path, or have no path"
                        .to_owned();
                let rule = &rules::NETWORK_ROUTE_MISSING;
                found.push(snapshot.finding(device, rule, line, (message, effect)));
            }
        }
    }
}

/// Whether a device announces its network `network` to a neighbor, and cannot announce routes of other
/// origins.
fn announces(snapshot: &Snapshot, (owner, nodes): (usize, &[Node]), device: usize, network: Prefix) -> bool {
    let lists = PrefixLists::read(nodes);
    let mut open: Vec<&Node> = nodes.iter().filter(|node| node.begins_with("router bgp ")).collect();
    while let Some(node) = open.pop() {
        let passes = match *node.words().as_slice() {
            ["neighbor", name, "prefix-list", list, "out"] => {
                !may_be(snapshot, name, device) || lists.permit(list, network)
            }
            ["neighbor", name, .., "out"] => !may_be(snapshot, name, device),
            // The routes of another protocol can have the prefix of the entry.
            ["redistribute", ..] | [.., "out"] => false,
            _ => true,
        };
        if !passes {
            return false;
        }
        open.extend(&node.inner);
    }
    // The device can pass on the routes of a neighbor outside of the folder.
    let mut neighbors = neighbor_lines(nodes).filter_map(|(name, _)| name.parse::<IpAddr>().ok());
    neighbors.all(|address| snapshot.owner(address).is_some_and(|id| id.device != owner))
}

/// Whether a neighbor in BGP is a device, or a group that can contain the device.
fn may_be(snapshot: &Snapshot, name: &str, device: usize) -> bool {
    let address = name.parse::<IpAddr>();
    address.map_or(true, |address| snapshot.owner(address).is_some_and(|id| id.device == device))
}

/// Returns the prefix lists that filter received routes, with the neighbors.
fn filters<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, BTreeSet<&'t str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (neighbor, setting) in neighbor_lines(nodes) {
        match *setting.as_slice() {
            ["prefix-list", list, "in"] => {
                found.entry(list).or_default().insert(neighbor);
            }
            ["route-map", map, "in"] => {
                let clauses = nodes.iter().filter(|node| node.begins_with("route-map "));
                for clause in clauses.filter(|clause| clause.words().get(1) == Some(&map)) {
                    for line in &clause.inner {
                        if let ["match", "ip", "address", "prefix-list", lists @ ..] = line.words().as_slice()
                        {
                            for list in lists {
                                found.entry(list).or_default().insert(neighbor);
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::filters;

    #[test]
    fn lists_filter_directly_and_in_route_maps() {
        let text = "router bgp 64500\n neighbor 192.0.2.1 prefix-list A in\n address-family ipv4\n  neighbor \
                    192.0.2.5 route-map M in\n  neighbor 192.0.2.9 route-map M out\nroute-map M permit 10\n match ip \
                    address prefix-list B C\nroute-map N permit 10\n match ip address prefix-list D\n";
        let nodes = read(text);
        let found: Vec<(&str, Vec<&str>)> =
            filters(&nodes).into_iter().map(|(list, own)| (list, own.into_iter().collect())).collect();
        let (direct, inside) = (vec!["192.0.2.1"], vec!["192.0.2.5"]);
        assert_eq!(found, [("A", direct), ("B", inside.clone()), ("C", inside)]);
    }
}
