//! BGP filters that deny subnets which the device or its neighbor announces.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::bgp::prefix;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of other filters that permit all announced subnets.
const LEAST_OTHERS: usize = 2;
/// The length of an IPv4 address, bits.
const WHOLE: u8 = 32;

/// An entry of a prefix list.
struct Entry {
    line: usize,
    is_permit: bool,
    around: Prefix,
    lengths: [u8; 2],
}

impl Entry {
    fn matches(&self, subnet: Prefix) -> bool {
        let [least, most] = self.lengths;
        self.around.contains(subnet.address().into()) && (least..=most).contains(&subnet.length())
    }
}

/// The lists and route-maps of a device.
#[derive(Default)]
struct Policies<'t> {
    lists: BTreeMap<&'t str, Vec<Entry>>,
    maps: BTreeMap<&'t str, Vec<&'t Node<'t>>>,
}

/// A filter of a neighbor, in one routing table of a device.
struct Filter<'t> {
    device: usize,
    line: usize,
    neighbor: &'t str,
    /// `prefix-list` or `route-map`, the name, and the direction. A route-map for the routes of another
    /// process has no direction.
    kind: &'t str,
    name: &'t str,
    way: &'t str,
}

/// The subnets and filters of a device, by routing table.
type Tables<'t> = BTreeMap<Option<&'t str>, (Vec<(usize, Prefix)>, Vec<Filter<'t>>)>;

/// Reports a filter that denies some of the subnets announced through it, if it is the only such filter in
/// its direction.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let policies: Vec<Policies> = trees.iter().map(|nodes| Policies::read(nodes)).collect();
    let tables: Vec<Tables> = trees.iter().enumerate().map(|(device, nodes)| tables(device, nodes)).collect();
    check_namesakes(snapshot, &policies, &tables, found);
    for way in ["in", "out"] {
        let mut permitting = 0;
        let mut denying = Vec::new();
        for (vrf, (networks, filters)) in tables.iter().flatten() {
            for filter in filters.iter().filter(|filter| filter.way == way) {
                let announced = match way {
                    "out" => networks.iter().map(|(_, subnet)| *subnet).collect(),
                    _ => announced_by(snapshot, &tables, filter),
                };
                let own = &policies[filter.device];
                let is_denied = |subnet: &&Prefix| !own.permits(filter, **subnet);
                let denied = announced.iter().find(is_denied).copied();
                match denied {
                    Some(denied) => denying.push((filter, *vrf, announced, denied)),
                    None => permitting += usize::from(!announced.is_empty()),
                }
            }
        }
        let [(filter, vrf, announced, denied)] = denying.as_slice() else { continue };
        if permitting < LEAST_OTHERS {
            continue;
        }
        let table = vrf.map_or(String::new(), |vrf| format!(" of the VRF {vrf}"));
        let message = format!(
            "{} {} of {} denies {denied}, which {} announces{table}; {permitting} other filters permit all such \
             subnets",
            filter.kind,
            filter.name,
            snapshot.devices[filter.device].name,
            if way == "out" { "the device".to_owned() } else { format!("the neighbor {}", filter.neighbor) },
        );
        let effect =
            "no device behind the neighbor learns the subnet: packets to it take another path, or have none";
        let line = policies[filter.device].line_at_fault(filter, announced, *denied);
        let rule = &rules::NETWORK_ROUTE_MISSING;
        found.push(snapshot.finding(filter.device, rule, line, (message, effect.to_owned())));
    }
}

/// Reports a list or route-map that denies a subnet of another device, if all others with the same name
/// permit this subnet.
fn check_namesakes(
    snapshot: &Snapshot,
    policies: &[Policies],
    tables: &[Tables],
    found: &mut Vec<NetworkFinding>,
) {
    let mut filters: BTreeMap<(&str, &str), BTreeMap<usize, &Filter>> = BTreeMap::new();
    for filter in tables.iter().flat_map(BTreeMap::values).flat_map(|(_, filters)| filters) {
        let is_defined = policies[filter.device].line_of(filter).is_some();
        if is_defined {
            filters.entry((filter.kind, filter.name)).or_default().entry(filter.device).or_insert(filter);
        }
    }
    for ((kind, name), devices) in filters.iter().filter(|(_, devices)| devices.len() > 1) {
        // Lists with the same name differ if each contains the subnets of its own device.
        let others = (0..tables.len()).filter(|device| !devices.contains_key(device));
        let announced: Vec<Prefix> = others
            .flat_map(|device| tables[device].values().flat_map(|(own, _)| own))
            .map(|(_, subnet)| *subnet)
            .collect();
        let mut reported = BTreeSet::new();
        for subnet in &announced {
            let denies = |(device, filter): &(&usize, &&Filter)| !policies[**device].permits(filter, *subnet);
            let mut denying = devices.iter().filter(denies);
            let (Some((device, filter)), None) = (denying.next(), denying.next()) else { continue };
            if !reported.insert(device) {
                continue;
            }
            let message = format!(
                "{kind} {name} of {} denies {subnet}, which the other devices with this name permit ({})",
                snapshot.devices[*device].name,
                devices.len() - 1
            );
            let effect = "this device has no route to the subnet, or does not pass it on";
            let line = policies[*device].line_at_fault(filter, &announced, *subnet);
            let rule = &rules::NETWORK_ROUTE_MISSING;
            found.push(snapshot.finding(*device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Returns the subnets that the neighbor of a filter announces.
fn announced_by(snapshot: &Snapshot, tables: &[Tables], filter: &Filter) -> Vec<Prefix> {
    let far = filter.neighbor.parse::<IpAddr>().ok().and_then(|address| snapshot.owner(address));
    let networks = far.into_iter().flat_map(|id| tables[id.device].values()).flat_map(|(own, _)| own);
    networks.map(|(_, subnet)| *subnet).collect()
}

impl<'t> Policies<'t> {
    fn read(nodes: &'t [Node<'t>]) -> Policies<'t> {
        let mut found = Policies::default();
        for node in nodes {
            match node.line.1.split(' ').next() {
                Some("ip") => {
                    if let ["ip", "prefix-list", name, ref rest @ ..] = *node.words().as_slice() {
                        found.lists.entry(name).or_default().extend(entry(node.line.0, rest));
                    }
                }
                Some("route-map") => {
                    if let ["route-map", name, ..] = *node.words().as_slice() {
                        found.maps.entry(name).or_default().push(node);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a filter permits a subnet. A filter that does not exist permits all.
    fn permits(&self, filter: &Filter, subnet: Prefix) -> bool {
        if filter.kind == "prefix-list" {
            return self.list_permits(filter.name, subnet);
        }
        let Some(parts) = self.maps.get(filter.name) else { return true };
        for part in parts {
            let criteria: Vec<Vec<&str>> =
                part.inner.iter().map(Node::words).filter(|words| words[0] == "match").collect();
            let is_match = match criteria.as_slice() {
                [] => true,
                [words] => match words.as_slice() {
                    ["match", "ip", "address", "prefix-list", lists @ ..] => {
                        lists.iter().any(|list| self.list_permits(list, subnet))
                    }
                    _ => return true,
                },
                // The subnets that other criteria select are unknown.
                _ => return true,
            };
            if is_match {
                return part.words().get(2) != Some(&"deny");
            }
        }
        false
    }

    fn list_permits(&self, name: &str, subnet: Prefix) -> bool {
        let Some(entries) = self.lists.get(name) else { return true };
        entries.iter().find(|entry| entry.matches(subnet)).is_some_and(|entry| entry.is_permit)
    }

    /// Returns the first line of a filter.
    fn line_of(&self, filter: &Filter) -> Option<usize> {
        match filter.kind {
            "prefix-list" => Some(self.lists.get(filter.name)?.first()?.line),
            _ => Some(self.maps.get(filter.name)?.first()?.line.0),
        }
    }

    /// Returns the entry that denies the subnet, otherwise an entry that permits no announced subnet,
    /// otherwise the first entry.
    fn line_at_fault(&self, filter: &Filter, announced: &[Prefix], denied: Prefix) -> usize {
        let Some(entries) = self.lists.get(filter.name).filter(|_| filter.kind == "prefix-list") else {
            return self.line_of(filter).unwrap_or(filter.line);
        };
        let denies = entries.iter().find(|entry| entry.matches(denied));
        let is_unused = |entry: &&Entry| !announced.iter().any(|subnet| entry.matches(*subnet));
        let entry = denies.or_else(|| entries.iter().find(is_unused)).or_else(|| entries.first());
        entry.map_or(filter.line, |entry| entry.line)
    }
}

/// Returns the entry that a line contains after the name of the list.
fn entry(line: usize, words: &[&str]) -> Option<Entry> {
    let words = if let ["seq", _, rest @ ..] = words { rest } else { words };
    let [action @ ("permit" | "deny"), around, lengths @ ..] = words else { return None };
    let around: Prefix = around.parse().ok()?;
    let mut found = [around.length(); 2];
    for pair in lengths.chunks(2) {
        match pair {
            ["ge", least] => found = [least.parse().ok()?, WHOLE],
            ["le", most] => found[1] = most.parse().ok()?,
            _ => return None,
        }
    }
    Some(Entry { line, is_permit: *action == "permit", around, lengths: found })
}

/// Returns the subnets and filters of the BGP process of a device.
fn tables<'t>(device: usize, nodes: &'t [Node<'t>]) -> Tables<'t> {
    let mut found = Tables::new();
    let mut all: Vec<(Option<&str>, &Node)> = Vec::new();
    for line in nodes.iter().filter(|node| node.line.1.starts_with("router ")).flat_map(|node| &node.inner) {
        let words = line.words();
        if let ["redistribute", protocol, ..] = *words.as_slice()
            && let Some(place) = words.iter().position(|word| *word == "route-map")
            && let Some(name) = words.get(place + 1).copied()
        {
            let filter =
                Filter { device, line: line.line.0, neighbor: protocol, kind: "route-map", name, way: "" };
            found.entry(None).or_default().1.push(filter);
        }
    }
    for process in nodes.iter().filter(|node| node.line.1.starts_with("router bgp ")) {
        all.push((None, process));
        for family in &process.inner {
            match *family.words().as_slice() {
                ["address-family", "ipv4"] | ["address-family", "ipv4", "unicast"] => {
                    all.push((None, family));
                }
                ["address-family", "ipv4", .., "vrf", vrf] => all.push((Some(vrf), family)),
                _ => {}
            }
        }
    }
    for (vrf, block) in all {
        let own = found.entry(vrf).or_default();
        for inner in &block.inner {
            match *inner.words().as_slice() {
                ["network", ref subnet @ ..] => {
                    own.0.extend(prefix(subnet).map(|subnet| (inner.line.0, subnet)));
                }
                ["neighbor", neighbor, kind @ ("prefix-list" | "route-map"), name, way] => {
                    own.1.push(Filter { device, line: inner.line.0, neighbor, kind, name, way });
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Policies, tables};

    #[test]
    fn lists_and_maps_permit_subnets() {
        let text = "ip prefix-list A seq 5 deny 10.1.0.0/16\nip prefix-list A seq 10 permit 10.0.0.0/8 le 24\n\
                    route-map M deny 10\n match ip address prefix-list A\nroute-map M permit 20\n\
                    router bgp 65000\n network 10.1.0.0 mask 255.255.0.0\n network 10.2.0.0 mask 255.255.255.0\n \
                    neighbor 192.0.2.1 prefix-list A out\n neighbor 192.0.2.1 route-map M in\n \
                    neighbor 192.0.2.5 prefix-list NONE out";
        let nodes = read(text);
        let (policies, tables) = (Policies::read(&nodes), tables(0, &nodes));
        let (networks, filters) = &tables[&None];
        let permits = |filter: usize| -> Vec<bool> {
            networks.iter().map(|(_, subnet)| policies.permits(&filters[filter], *subnet)).collect()
        };
        assert_eq!((permits(0), permits(1)), (vec![false, true], vec![true, false]));
        assert_eq!(permits(2), [true, true], "an undefined list permits all");
        let announced: Vec<_> = networks.iter().map(|(_, subnet)| *subnet).collect();
        assert_eq!(policies.line_at_fault(&filters[0], &announced, announced[0]), 1);
    }
}
