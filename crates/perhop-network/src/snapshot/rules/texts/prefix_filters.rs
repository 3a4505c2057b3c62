//! BGP prefix lists that do not permit a network, although the device or another device of the folder
//! announces the network.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::bgp::{BgpFamily, families, prefix};
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use super::prefix_lists::PrefixLists;
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of other networks with the same prefix length for which a list has an entry.
const LEAST_PERMITTED: usize = 2;
/// The default route.
const DEFAULT: &str = "0.0.0.0/0";

/// A network that a device announces: the device, its AS number, and the subnet.
pub(super) type Network<'t> = (usize, &'t str, Prefix);

/// The prefix lists of a device that runs BGP.
struct Filters<'n, 't> {
    device: usize,
    nodes: &'n [Node<'t>],
    number: &'t str,
    lists: PrefixLists<'t>,
}

/// Reports lists for received routes that permit the networks of several devices, but not the network of one
/// device. Also reports lists for announced routes that permit no network of their device.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let networks: Vec<Network> =
        trees.iter().enumerate().flat_map(|(device, nodes)| networks(snapshot, device, nodes)).collect();
    for (device, nodes) in trees.iter().enumerate() {
        let Some(number) = number(nodes) else { continue };
        let own = Filters { device, nodes, number, lists: PrefixLists::read(nodes) };
        let (input, output) = (own.used("in"), own.used("out"));
        for (name, entries) in own.lists.iter() {
            let Some(first) = entries.first() else { continue };
            if let Some(neighbors) = input.get(name) {
                own.check_input(snapshot, (name, first.line), neighbors, &networks, found);
            }
            if output.contains_key(name) {
                own.check_output(snapshot, (name, first.line), &networks, found);
            }
        }
    }
}

impl<'t> Filters<'_, 't> {
    fn check_input(
        &self,
        snapshot: &Snapshot,
        (name, line): (&str, usize),
        neighbors: &BTreeSet<&str>,
        networks: &[Network],
        found: &mut Vec<NetworkFinding>,
    ) {
        let others = networks.iter().filter(|(_, other, _)| *other != self.number);
        let (permitted, denied): (Vec<&Network>, Vec<&Network>) =
            others.partition(|(.., subnet)| self.lists.permit(name, *subnet));
        let [(owner, _, network)] = denied.as_slice() else { return };
        let is_like = |(.., own): &&&Network| own.length() == network.length() && self.lists.name(name, *own);
        let like = permitted.iter().filter(is_like).count();
        if like < LEAST_PERMITTED || self.has_other_session(snapshot, *owner, neighbors) {
            return;
        }
        let message = format!(
            "prefix list {name} of {} permits {like} networks of other devices, but not {network} of {}",
            snapshot.devices[self.device].name, snapshot.devices[*owner].name
        );
        let effect = "the device drops this route: packets to the site take another path, or have no path";
        let rule = &rules::NETWORK_ROUTE_MISSING;
        found.push(snapshot.finding(self.device, rule, line, (message, effect.to_owned())));
    }

    /// Whether a device has sessions with this device, but not as one of the neighbors that use a list.
    fn has_other_session(&self, snapshot: &Snapshot, far: usize, neighbors: &BTreeSet<&str>) -> bool {
        let is_of_far = |name: &&str| {
            let address = name.parse::<IpAddr>().ok();
            address.and_then(|address| snapshot.owner(address)).is_some_and(|id| id.device == far)
        };
        let all: BTreeSet<&str> = neighbor_lines(self.nodes).map(|(neighbor, _)| neighbor).collect();
        all.iter().any(is_of_far) && !neighbors.iter().any(is_of_far)
    }

    fn check_output(
        &self,
        snapshot: &Snapshot,
        (name, line): (&str, usize),
        networks: &[Network],
        found: &mut Vec<NetworkFinding>,
    ) {
        let mut own = networks.iter().filter(|(owner, ..)| *owner == self.device);
        let Some((.., network)) = own.next() else { return };
        let permits_default = prefix(&[DEFAULT]).is_some_and(|default| self.lists.permit(name, default));
        let permits = |(.., subnet): &Network| self.lists.permit(name, *subnet);
        // A list that permits the default route, nothing, or networks of other devices has another purpose.
        if networks.iter().any(permits) {
            self.check_entries(snapshot, name, networks, found);
            return;
        }
        if permits_default || !self.lists.permit_any(name) {
            return;
        }
        let message = format!(
            "prefix list {name} of {} permits no announced network, not even {network} of the device",
            snapshot.devices[self.device].name
        );
        let effect = "the neighbor does not learn the networks of this site: no packets arrive".to_owned();
        found.push(snapshot.finding(self.device, &rules::NETWORK_ROUTE_MISSING, line, (message, effect)));
    }

    /// Reports entries of a list for announced routes whose prefix exists nowhere in the folder, if the
    /// device announces a network that the list denies and that differs from the prefix in one byte.
    fn check_entries(
        &self,
        snapshot: &Snapshot,
        name: &str,
        networks: &[Network],
        found: &mut Vec<NetworkFinding>,
    ) {
        for (line, entry) in self.lists.permitted(name) {
            if networks.iter().any(|(.., subnet)| *subnet == entry) || is_known(snapshot, entry) {
                continue;
            }
            let is_meant = |(owner, _, subnet): &&Network| {
                *owner == self.device && !self.lists.permit(name, *subnet) && are_near(*subnet, entry)
            };
            let Some((.., meant)) = networks.iter().find(is_meant) else { continue };
            let message = format!(
                "prefix list {name} of {} permits {entry}, which no device has, but not the network {meant}",
                snapshot.devices[self.device].name
            );
            let effect = "the neighbor does not learn this network of the site: no packets arrive".to_owned();
            let rule = &rules::NETWORK_ROUTE_MISSING;
            found.push(snapshot.finding(self.device, rule, line, (message, effect)));
        }
    }

    /// Returns the lists that filter neighbors in a direction, with these neighbors.
    fn used(&self, way: &str) -> BTreeMap<&'t str, BTreeSet<&'t str>> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (neighbor, setting) in neighbor_lines(self.nodes) {
            if let ["prefix-list", list, own] = *setting.as_slice()
                && own == way
            {
                found.entry(list).or_default().insert(neighbor);
            }
        }
        found
    }
}

/// Whether a port of a device has an address in a subnet, or a device has a route with exactly this prefix.
pub(super) fn is_known(snapshot: &Snapshot, subnet: Prefix) -> bool {
    (0..snapshot.devices.len()).any(|device| {
        let router = snapshot.router(device);
        let mut addresses = router.ports.iter().flat_map(addresses);
        addresses.any(|own| subnet.contains(own.address.into()))
            || router.forwarding.routes.iter().any(|route| route.prefix == subnet)
    })
}

/// Whether two IPv4 subnets have the same prefix length and differ in one byte.
pub(super) fn are_near(first: Prefix, second: Prefix) -> bool {
    let (IpAddr::V4(one), IpAddr::V4(other)) = (first.network(), second.network()) else { return false };
    let differing = one.octets().iter().zip(other.octets()).filter(|(one, other)| **one != *other).count();
    first.length() == second.length() && differing == 1
}

/// Generates the lines about BGP neighbors: the neighbor, and the words after it.
pub(super) fn neighbor_lines<'t>(nodes: &[Node<'t>]) -> impl Iterator<Item = (&'t str, Vec<&'t str>)> {
    let processes = nodes.iter().filter(|node| node.line.1.starts_with("router bgp "));
    let lines =
        processes.flat_map(|node| node.inner.iter().chain(node.inner.iter().flat_map(|inner| &inner.inner)));
    lines.filter_map(|line| match *line.words().as_slice() {
        ["neighbor", name, ref rest @ ..] => Some((name, rest.to_vec())),
        _ => None,
    })
}

fn number<'t>(nodes: &[Node<'t>]) -> Option<&'t str> {
    nodes.iter().find_map(|node| match *node.words().as_slice() {
        ["router", "bgp", number] => Some(number),
        _ => None,
    })
}

/// Returns the IPv4 networks and aggregates that the BGP process of a device announces.
pub(super) fn networks<'t>(snapshot: &Snapshot, device: usize, nodes: &[Node<'t>]) -> Vec<Network<'t>> {
    let Some(number) = number(nodes) else { return Vec::new() };
    let families = families(snapshot.devices[device].device.numbered_lines());
    let subnets = |family: BgpFamily| {
        let networks = family.networks.into_iter().map(|(_, subnet)| subnet);
        networks.chain(family.aggregates).collect::<Vec<_>>()
    };
    let all = families.into_iter().flat_map(subnets);
    all.filter(|subnet| subnet.network().is_ipv4()).map(|subnet| (device, number, subnet)).collect()
}
