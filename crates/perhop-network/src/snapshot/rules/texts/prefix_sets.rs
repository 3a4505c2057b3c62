//! Prefix sets (IOS XR) that exclude all networks of the neighbor whose routes they filter.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_qos::classifier::Prefix;

use super::super::bgp::families;
use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The length of an IPv4 address, bits.
const WHOLE: u8 = 32;

/// An entry: a prefix, and the minimum and maximum prefix length of the networks inside it.
type Entry = (Prefix, u8, u8);

/// Reports prefix sets that contain no network of a neighbor, if a policy accepts only routes in the set from
/// this neighbor.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    for (device, nodes) in trees.iter().enumerate() {
        let sets = sets(nodes);
        if sets.is_empty() {
            continue;
        }
        let policies: BTreeMap<&str, &str> = nodes.iter().filter_map(required_set).collect();
        for (address, policy, line) in filtered_neighbors(nodes) {
            let set = policies.get(policy).and_then(|set| Some((*set, sets.get(set)?.as_ref()?)));
            let (Some((name, (at, entries))), Some(owner)) = (set, snapshot.owner(address)) else { continue };
            let announced = families(snapshot.devices[owner.device].device.numbered_lines());
            let networks: Vec<Prefix> =
                announced.iter().flat_map(|family| &family.networks).map(|(_, subnet)| *subnet).collect();
            let is_in = |subnet: &Prefix| entries.iter().any(|entry| contains(entry, *subnet));
            if networks.is_empty() || networks.iter().any(is_in) {
                continue;
            }
            let message = format!(
                "prefix set {name} of {} contains no network of its neighbor {} (line {line}), not even {}",
                snapshot.devices[device].name, snapshot.devices[owner.device].name, networks[0]
            );
            let effect = "the device drops all routes of this neighbor: no packets reach the site".to_owned();
            found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_MISSING, *at, (message, effect)));
        }
    }
}

fn contains((around, least, most): &Entry, subnet: Prefix) -> bool {
    around.contains(subnet.network().into()) && (*least..=*most).contains(&subnet.length())
}

/// Returns the entries of each set, with the line of the first entry; `None` if an entry has a form that is
/// not read.
fn sets<'t>(nodes: &[Node<'t>]) -> BTreeMap<&'t str, Option<(usize, Vec<Entry>)>> {
    let mut found = BTreeMap::new();
    for node in nodes {
        if let ["prefix-set", name] = *node.words().as_slice() {
            let first = node.inner.first().map_or(node.line.0, |inner| inner.line.0);
            let entries: Option<Vec<Entry>> = node.inner.iter().map(|inner| entry(&inner.words())).collect();
            found.insert(name, entries.map(|entries| (first, entries)));
        }
    }
    found
}

fn entry(words: &[&str]) -> Option<Entry> {
    let words: Vec<&str> = words.iter().map(|word| word.trim_end_matches(',')).collect();
    let around: Prefix = words.first()?.parse().ok()?;
    let own = around.length();
    let length = |text: &str| text.parse::<u8>().ok();
    match words[1..] {
        [] => Some((around, own, own)),
        ["eq", only] => Some((around, length(only)?, length(only)?)),
        ["ge", least] => Some((around, length(least)?, WHOLE)),
        ["le", most] => Some((around, own, length(most)?)),
        ["ge", least, "le", most] => Some((around, length(least)?, length(most)?)),
        _ => None,
    }
}

/// Returns the name of a route policy that passes only the networks of one set, and the name of this set.
fn required_set<'t>(node: &Node<'t>) -> Option<(&'t str, &'t str)> {
    let ["route-policy", name] = *node.words().as_slice() else { return None };
    let lines: Vec<Vec<&str>> = node.inner.iter().flat_map(flat).collect();
    let (first, rest) = lines.split_first()?;
    let ["if", "destination", "in", set, "then"] = *first.as_slice() else { return None };
    // The remaining lines may only set attributes, pass the networks of the set, or drop the other networks.
    let mut is_other = false;
    for words in rest {
        match words.as_slice() {
            ["else"] => is_other = true,
            ["if" | "elseif", ..] => return None,
            ["pass" | "done" | "set", ..] if is_other => return None,
            _ => {}
        }
    }
    Some((name, set))
}

/// Returns the words of a line and of the lines inside its block.
fn flat<'t>(node: &Node<'t>) -> Vec<Vec<&'t str>> {
    let mut found = vec![node.words()];
    found.extend(node.inner.iter().flat_map(flat));
    found
}

/// Returns the BGP neighbors that have a policy for received routes: the address, the policy, and the line of
/// the neighbor.
fn filtered_neighbors<'t>(nodes: &[Node<'t>]) -> Vec<(IpAddr, &'t str, usize)> {
    let mut found = Vec::new();
    let mut open: Vec<&Node> = nodes.iter().filter(|node| node.line.1.starts_with("router bgp ")).collect();
    while let Some(node) = open.pop() {
        open.extend(&node.inner);
        let ["neighbor", address] = *node.words().as_slice() else { continue };
        let Ok(address) = address.parse() else { continue };
        for words in node.inner.iter().flat_map(flat) {
            if let ["route-policy", policy, "in"] = *words.as_slice() {
                found.push((address, policy, node.line.0));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{contains, required_set, sets};

    #[test]
    fn entries_have_lengths() {
        let text = "prefix-set A\n  10.0.0.0/8 ge 16 le 24,\n  192.0.2.0/24\nend-set\nprefix-set B\n  10.0.0.0/8 x 9";
        let nodes = read(text);
        let found = sets(&nodes);
        let (line, entries) = found["A"].as_ref().unwrap();
        let is_in = |subnet: &str| entries.iter().any(|entry| contains(entry, subnet.parse().unwrap()));
        assert_eq!(*line, 2);
        assert!(is_in("10.1.0.0/16") && is_in("192.0.2.0/24"));
        assert!(!is_in("10.0.0.0/8") && !is_in("192.0.2.0/25"));
        assert!(found["B"].is_none());
    }

    #[test]
    fn a_policy_may_pass_other_networks() {
        let strict = "route-policy IN\n  if destination in A then\n    set local-preference 200\n  else\n    \
                      drop\n  endif";
        assert_eq!(required_set(&read(strict)[0]), Some(("IN", "A")));
        let open = strict.replace("drop", "pass");
        assert_eq!(required_set(&read(&open)[0]), None);
    }
}
