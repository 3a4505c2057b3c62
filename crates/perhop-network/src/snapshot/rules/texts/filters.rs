//! BGP filters that deny subnets although the device or its neighbor announces them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::bgp::{aggregate, prefix};
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::prefix_lists::{Entry, PrefixLists};
use crate::rules;

/// The minimum number of other filters that permit all announced subnets.
const LEAST_OTHERS: usize = 2;
/// The kind of a filter that is a prefix list.
const PREFIX_LIST: &str = "prefix-list";
/// The default route.
const DEFAULT: &str = "0.0.0.0/0";

/// The lists and route-maps of a device.
#[derive(Default)]
struct Policies<'t> {
    lists: PrefixLists<'t>,
    maps: BTreeMap<&'t str, Vec<Clause<'t>>>,
}

/// The subnets that a clause of a route-map selects.
enum Criterion<'t> {
    All,
    /// The subnets that at least one of these prefix lists permits.
    Lists(Vec<&'t str>),
    Unknown,
}

/// A clause of a route-map.
struct Clause<'t> {
    line: usize,
    is_permit: bool,
    criterion: Criterion<'t>,
}

impl<'t> Clause<'t> {
    fn read(node: &Node<'t>) -> Clause<'t> {
        let lines = node.inner.iter().map(Node::words);
        let criteria: Vec<Vec<&str>> = lines.filter(|words| words.first() == Some(&"match")).collect();
        let criterion = match criteria.as_slice() {
            [] => Criterion::All,
            [words] => match words.as_slice() {
                ["match", "ip", "address", "prefix-list", lists @ ..] => Criterion::Lists(lists.to_vec()),
                _ => Criterion::Unknown,
            },
            _ => Criterion::Unknown,
        };
        let is_permit = node.words().get(2) != Some(&"deny");
        Clause { line: node.line.0, is_permit, criterion }
    }
}

/// A filter for a neighbor, in one routing table of a device.
struct Filter<'t> {
    device: usize,
    line: usize,
    neighbor: &'t str,
    /// `prefix-list` or `route-map`, the name, and the direction. A route-map that filters redistributed
    /// routes has no direction.
    kind: &'t str,
    name: &'t str,
    way: &'t str,
}

/// The subnets and filters of a device, by routing table.
type Tables<'t> = BTreeMap<Option<&'t str>, (Vec<(usize, Prefix)>, Vec<Filter<'t>>)>;

/// Reports a filter that denies some of the subnets which the device or the neighbor announces through it, if
/// it is the only such filter in its direction.
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
                if own.has_other_task(filter, &announced) {
                    continue;
                }
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
            "{} {} of {} denies {denied}, which {} announces{table}; {permitting} other filters permit all announced \
             subnets",
            filter.kind,
            filter.name,
            snapshot.devices[filter.device].name,
            if way == "out" { "the device".to_owned() } else { format!("the neighbor {}", filter.neighbor) },
        );
        let effect =
            "no device behind the neighbor learns the subnet, so packets take another path or have no path";
        let line = policies[filter.device].line_at_fault(filter, announced, *denied);
        let rule = &rules::NETWORK_ROUTE_MISSING;
        found.push(snapshot.finding(filter.device, rule, line, (message, effect.to_owned())));
    }
}

/// Reports a filter that denies a subnet of another device, if the filters with the same name on all other
/// devices permit this subnet.
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
        // The subnets of the devices that have the filter are excluded, because filters with the same name
        // often contain the subnets of their own device.
        let others = (0..tables.len()).filter(|device| !devices.contains_key(device));
        let announced: BTreeSet<Prefix> = others
            .flat_map(|device| tables[device].values().flat_map(|(own, _)| own))
            .map(|(_, subnet)| *subnet)
            .collect();
        let announced: Vec<Prefix> = announced.into_iter().collect();
        let mut reported = BTreeSet::new();
        for subnet in &announced {
            let denies = |(device, filter): &(&usize, &&Filter)| !policies[**device].permits(filter, *subnet);
            let mut denying = devices.iter().filter(denies);
            let (Some((device, filter)), None) = (denying.next(), denying.next()) else { continue };
            // Filters with the same name can also be for the neighbors of their own device. In this case they
            // permit different subnets.
            let permits = |device: usize, filter: &Filter, subnet| policies[device].permits(filter, subnet);
            let mut own = announced.iter().filter(|subnet| permits(*device, filter, **subnet)).peekable();
            let is_other_list = own.peek().is_none()
                || own.any(|own| devices.iter().any(|(device, filter)| !permits(*device, filter, *own)));
            if is_other_list || !reported.insert(device) {
                continue;
            }
            let message = format!(
                "{kind} {name} of {} denies {subnet}, which the other devices with this name permit ({})",
                snapshot.devices[*device].name,
                devices.len() - 1
            );
            let effect = "this device has no route to the subnet, or does not announce the route";
            let line = policies[*device].line_at_fault(filter, &announced, *subnet);
            let rule = &rules::NETWORK_ROUTE_MISSING;
            found.push(snapshot.finding(*device, rule, line, (message, effect.to_owned())));
        }
    }
}

/// Returns the subnets that the neighbor of a filter announces.
fn announced_by(snapshot: &Snapshot, tables: &[Tables], filter: &Filter) -> Vec<Prefix> {
    let far = filter.neighbor.parse::<IpAddr>().ok().and_then(|address| snapshot.owner(address));
    let table = far.and_then(|id| {
        let vrf = snapshot.port(id).forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str());
        tables[id.device].get(&vrf)
    });
    table.map_or_else(Vec::new, |(networks, _)| networks.iter().map(|(_, subnet)| *subnet).collect())
}

impl<'t> Policies<'t> {
    fn read(nodes: &[Node<'t>]) -> Policies<'t> {
        let mut maps: BTreeMap<&str, Vec<Clause>> = BTreeMap::new();
        for node in nodes.iter().filter(|node| node.line.1.starts_with("route-map ")) {
            if let ["route-map", name, ..] = *node.words().as_slice() {
                maps.entry(name).or_default().push(Clause::read(node));
            }
        }
        Policies { lists: PrefixLists::read(nodes), maps }
    }

    /// Whether a filter permits a subnet. A filter that is not defined permits all subnets.
    fn permits(&self, filter: &Filter, subnet: Prefix) -> bool {
        if filter.kind == PREFIX_LIST {
            return self.lists.permit(filter.name, subnet);
        }
        let Some(clauses) = self.maps.get(filter.name) else { return true };
        for clause in clauses {
            let is_match = match &clause.criterion {
                Criterion::All => true,
                Criterion::Lists(lists) => lists.iter().any(|list| self.lists.permit(list, subnet)),
                Criterion::Unknown => return true,
            };
            if is_match {
                return clause.is_permit;
            }
        }
        false
    }

    /// Whether a filter has a different purpose than other filters: it permits none of the announced subnets,
    /// and it permits either the default route or nothing.
    fn has_other_task(&self, filter: &Filter, announced: &[Prefix]) -> bool {
        let permits_any = match filter.kind {
            PREFIX_LIST => self.lists.permit_any(filter.name),
            _ => {
                self.maps.get(filter.name).is_none_or(|clauses| clauses.iter().any(|clause| clause.is_permit))
            }
        };
        let permits_default = prefix(&[DEFAULT]).is_some_and(|default| self.permits(filter, default));
        (permits_default || !permits_any) && !announced.iter().any(|subnet| self.permits(filter, *subnet))
    }

    /// Returns the first line of a filter.
    fn line_of(&self, filter: &Filter) -> Option<usize> {
        match filter.kind {
            PREFIX_LIST => Some(self.lists.entries(filter.name)?.first()?.line),
            _ => Some(self.maps.get(filter.name)?.first()?.line),
        }
    }

    /// Returns the entry that denies the subnet, otherwise an entry that permits no announced subnet,
    /// otherwise the first entry.
    fn line_at_fault(&self, filter: &Filter, announced: &[Prefix], denied: Prefix) -> usize {
        let Some(entries) = self.lists.entries(filter.name).filter(|_| filter.kind == PREFIX_LIST) else {
            return self.line_of(filter).unwrap_or(filter.line);
        };
        let denies = entries.iter().find(|entry| entry.matches(denied));
        let is_unused = |entry: &&Entry| !announced.iter().any(|subnet| entry.matches(*subnet));
        let entry = denies.or_else(|| entries.iter().find(is_unused)).or_else(|| entries.first());
        entry.map_or(filter.line, |entry| entry.line)
    }
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
    let mut aggregates: BTreeMap<Option<&str>, Vec<Prefix>> = BTreeMap::new();
    for (vrf, block) in all {
        let own = found.entry(vrf).or_default();
        for inner in &block.inner {
            match *inner.words().as_slice() {
                ["network", ref subnet @ ..] => {
                    own.0.extend(prefix(subnet).map(|subnet| (inner.line.0, subnet)));
                }
                ["aggregate-address", ref subnet @ ..] => {
                    aggregates.entry(vrf).or_default().extend(aggregate(subnet));
                }
                ["neighbor", neighbor, kind @ ("prefix-list" | "route-map"), name, way] => {
                    own.1.push(Filter { device, line: inner.line.0, neighbor, kind, name, way });
                }
                _ => {}
            }
        }
    }
    // An aggregate replaces the subnets that it contains.
    for (vrf, outer) in &aggregates {
        let is_inside = |subnet: &Prefix| outer.iter().any(|outer| outer.contains(subnet.address().into()));
        if let Some((networks, _)) = found.get_mut(vrf) {
            networks.retain(|(_, subnet)| !is_inside(subnet));
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
