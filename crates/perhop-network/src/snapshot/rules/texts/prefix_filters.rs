//! BGP prefix lists that do not permit a network which another device of the folder announces.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::super::bgp::families;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of other networks of the same size that a list permits with one entry each.
const LEAST_PERMITTED: usize = 2;

/// An entry of a prefix list.
struct Entry {
    permits: bool,
    network: u32,
    length: u8,
    /// The prefix lengths that it matches.
    from: u8,
    to: u8,
}

/// A prefix list with its first line.
struct List {
    line: usize,
    entries: Vec<Entry>,
}

/// A network that a device announces: the device, its autonomous system, the address and the length.
type Network<'t> = (usize, &'t str, u32, u8);

/// Reports lists for received routes that permit the networks of several devices, but lack the network of one
/// device. Also reports lists for announced routes that permit no network of their device.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let networks: Vec<Network> =
        trees.iter().enumerate().flat_map(|(device, nodes)| networks(snapshot, device, nodes)).collect();
    for (device, nodes) in trees.iter().enumerate() {
        let lists = lists(nodes);
        if lists.is_empty() {
            continue;
        }
        let Some(number) = number(nodes) else { continue };
        for (name, list) in lists.iter().filter(|(name, _)| is_used(nodes, name, "in")) {
            check_input(snapshot, (device, number), (name, list), &networks, found);
        }
        for (name, list) in lists.iter().filter(|(name, _)| is_used(nodes, name, "out")) {
            check_output(snapshot, device, (name, list), &networks, found);
        }
    }
}

fn check_input(
    snapshot: &Snapshot,
    (device, number): (usize, &str),
    (name, list): (&str, &List),
    networks: &[Network],
    found: &mut Vec<NetworkFinding>,
) {
    let others: Vec<&Network> = networks.iter().filter(|(_, other, ..)| *other != number).collect();
    let (permitted, denied): (Vec<&Network>, Vec<&Network>) =
        others.into_iter().partition(|(_, _, network, length)| list.permits(*network, *length));
    let [(owner, _, network, length)] = denied.as_slice() else { return };
    let like = permitted.iter().filter(|(_, _, own, size)| size == length && list.names(*own, *size)).count();
    if like < LEAST_PERMITTED {
        return;
    }
    let message = format!(
        "prefix list {name} of {} permits {like} networks of other devices, but not {}/{length} of {}",
        snapshot.devices[device].name,
        Ipv4Addr::from_bits(*network),
        snapshot.devices[*owner].name
    );
    let effect =
        "the device drops this route: packets to the site take another path, or have none".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_MISSING, list.line, (message, effect)));
}

fn check_output(
    snapshot: &Snapshot,
    device: usize,
    (name, list): (&str, &List),
    networks: &[Network],
    found: &mut Vec<NetworkFinding>,
) {
    let own = || networks.iter().filter(|(owner, ..)| *owner == device);
    let permits = |(_, _, network, length): &Network| list.permits(*network, *length);
    // A list for the default route, or for the networks of other devices, has a different task.
    if own().next().is_none() || networks.iter().any(permits) || list.permits(0, 0) {
        return;
    }
    let Some((_, _, network, length)) = own().next() else { return };
    let message = format!(
        "prefix list {name} of {} permits no announced network, not even {}/{length} of the device",
        snapshot.devices[device].name,
        Ipv4Addr::from_bits(*network)
    );
    let effect = "the neighbor does not learn the networks of this site: no packets arrive".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_MISSING, list.line, (message, effect)));
}

impl List {
    fn permits(&self, network: u32, length: u8) -> bool {
        let first = self.entries.iter().find(|entry| entry.takes(network, length));
        first.is_some_and(|entry| entry.permits)
    }

    /// Whether an entry is for this prefix alone.
    fn names(&self, network: u32, length: u8) -> bool {
        self.entries.iter().any(|entry| entry.length == length && entry.takes(network, length))
    }
}

impl Entry {
    fn takes(&self, network: u32, length: u8) -> bool {
        let mask = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
        network & mask == self.network & mask && (self.from..=self.to).contains(&length)
    }
}

fn number<'t>(nodes: &[Node<'t>]) -> Option<&'t str> {
    nodes.iter().find_map(|node| match *node.words().as_slice() {
        ["router", "bgp", number] => Some(number),
        _ => None,
    })
}

/// Returns the networks that the BGP process of a device announces.
fn networks<'t>(snapshot: &Snapshot, device: usize, nodes: &[Node<'t>]) -> Vec<Network<'t>> {
    let Some(number) = number(nodes) else { return Vec::new() };
    let families = families(snapshot.devices[device].device.numbered_lines());
    let all = families.iter().flat_map(|family| &family.networks);
    let network = |prefix: &perhop_qos::classifier::Prefix| match prefix.network() {
        std::net::IpAddr::V4(address) => Some((device, number, address.to_bits(), prefix.length())),
        std::net::IpAddr::V6(_) => None,
    };
    all.filter_map(|(_, prefix)| network(prefix)).collect()
}

/// Returns the prefix lists of a device.
fn lists<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, List> {
    let mut found: BTreeMap<&str, List> = BTreeMap::new();
    for node in nodes {
        let words = node.words();
        let ["ip", "prefix-list", name, rest @ ..] = words.as_slice() else { continue };
        let rest = if let ["seq", _, rest @ ..] = rest { rest } else { rest };
        let [decision @ ("permit" | "deny"), prefix, bounds @ ..] = rest else { continue };
        let Some((address, length)) = prefix.split_once('/') else { continue };
        let (Ok(address), Ok(length)) = (address.parse::<Ipv4Addr>(), length.parse::<u8>()) else { continue };
        let bound = |word: &str| {
            let place = bounds.iter().position(|one| *one == word)?;
            bounds.get(place + 1)?.parse::<u8>().ok()
        };
        let (least, most) = (bound("ge"), bound("le"));
        let list = found.entry(name).or_insert(List { line: node.line.0, entries: Vec::new() });
        list.entries.push(Entry {
            permits: *decision == "permit",
            network: address.to_bits(),
            length,
            from: least.unwrap_or(length),
            to: most.unwrap_or(if least.is_some() { 32 } else { length }),
        });
    }
    found
}

/// Whether a neighbor of BGP has a list in a direction.
fn is_used(nodes: &[Node], name: &str, way: &str) -> bool {
    let processes = nodes.iter().filter(|node| node.line.1.starts_with("router bgp "));
    let families =
        processes.flat_map(|node| node.inner.iter().chain(node.inner.iter().flat_map(|inner| &inner.inner)));
    families.into_iter().any(|inner| {
        matches!(*inner.words().as_slice(), ["neighbor", _, "prefix-list", list, own] if list == name && own == way)
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::tree::{Numbered, tree};
    use super::lists;

    #[test]
    fn entries_take_prefixes_of_their_lengths() {
        let text = "ip prefix-list A seq 5 deny 10.9.0.0/16\nip prefix-list A seq 10 permit 10.0.0.0/8 ge 16 le 24\n\
                    ip prefix-list B permit 10.1.0.0/16";
        let lines: Vec<Numbered> = text.lines().enumerate().collect();
        let found = lists(&tree(&lines));
        let prefix = |text: &str| text.parse::<std::net::Ipv4Addr>().unwrap().to_bits();
        for (list, network, length, permits) in [
            ("A", "10.1.0.0", 16, true),
            ("A", "10.9.0.0", 16, false),
            ("A", "10.1.0.0", 25, false),
            ("B", "10.1.0.0", 16, true),
            ("B", "10.1.0.0", 24, false),
        ] {
            assert_eq!(found[list].permits(prefix(network), length), permits, "{list} {network}/{length}");
        }
    }
}
