//! Entries of prefix lists with the opposite action: compared with lists of the same name, and entries that
//! have no effect.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::super::tree::Node;
use super::super::{NetworkFinding, Snapshot};
use crate::rules;

/// The minimum number of other devices that agree on the action.
const LEAST_OTHERS: usize = 2;

/// An entry of a prefix list.
#[derive(Clone, Copy)]
struct Entry<'t> {
    device: usize,
    line: usize,
    permits: bool,
    /// The prefix with its lengths.
    text: &'t str,
}

/// Reports entries whose action all lists with the same name on other devices reverse, and denying entries
/// after which no entry permits their routes.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let mut lists: BTreeMap<&str, BTreeMap<usize, Vec<Entry>>> = BTreeMap::new();
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            if let Some((name, entry)) = entry(device, node) {
                lists.entry(name).or_default().entry(device).or_default().push(entry);
            }
        }
    }
    let effect = "routes are lost, or pass that should not: packets take other paths, or have none";
    for (name, devices) in &lists {
        let mut by_prefix: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
        for entry in devices.values().flatten() {
            by_prefix.entry(entry.text).or_default().push(*entry);
        }
        for (text, entries) in by_prefix {
            let Some((own, others)) = opposite(&entries) else { continue };
            let [own_action, action] = [own.permits, !own.permits].map(action);
            let message = format!(
                "prefix list {name} of {} has `{own_action} {text}`, but {others} other devices have \
                 `{action} {text}`",
                snapshot.devices[own.device].name
            );
            let rule = &rules::NETWORK_ROUTE_MISSING;
            found.push(snapshot.finding(own.device, rule, own.line, (message, effect.to_owned())));
        }
        for entries in devices.values() {
            for own in without_effect(entries) {
                let message = format!(
                    "`deny {}` in prefix list {name} of {} has no effect, because no later entry permits \
                     such routes",
                    own.text, snapshot.devices[own.device].name
                );
                let rule = &rules::NETWORK_ROUTE_MISSING;
                found.push(snapshot.finding(own.device, rule, own.line, (message, effect.to_owned())));
            }
        }
    }
}

fn action(permits: bool) -> &'static str {
    if permits { "permit" } else { "deny" }
}

/// Reads a line of a prefix list.
fn entry<'t>(device: usize, node: &Node<'t>) -> Option<(&'t str, Entry<'t>)> {
    let text = node.line.1;
    let rest = text.strip_prefix("ip prefix-list ")?;
    let name = rest.split_whitespace().next()?;
    let place = [" permit ", " deny "].iter().find_map(|word| Some((rest.find(word)?, *word)));
    let (at, word) = place?;
    let permits = word == " permit ";
    Some((name, Entry { device, line: node.line.0, permits, text: rest[at + word.len()..].trim() }))
}

/// Returns the only entry with its action, and the number of the others.
fn opposite<'t>(entries: &[Entry<'t>]) -> Option<(Entry<'t>, usize)> {
    [true, false].into_iter().find_map(|permits| {
        let mut own = entries.iter().filter(|entry| entry.permits == permits);
        let (Some(entry), None) = (own.next(), own.next()) else { return None };
        (entries.len() > LEAST_OTHERS).then_some((*entry, entries.len() - 1))
    })
}

/// Returns the denying entries after which no entry permits a route that they deny. A list that denies all
/// routes at its end only writes the default.
fn without_effect<'e, 't>(entries: &'e [Entry<'t>]) -> Vec<&'e Entry<'t>> {
    let overlaps = |entry: &Entry, other: &Entry| match (prefix(entry.text), prefix(other.text)) {
        (Some((first, length)), Some((second, other))) => {
            let common = length.min(other);
            let mask = u32::MAX.checked_shl(32 - u32::from(common)).unwrap_or(0);
            first & mask == second & mask
        }
        _ => true,
    };
    let denies_all = |entry: &Entry| entry.text.starts_with("0.0.0.0/0");
    let is_only = |entry: &Entry| entries.iter().all(|other| other.permits == entry.permits);
    (0..entries.len())
        .filter(|place| {
            let own = &entries[*place];
            let mut later = entries[place + 1..].iter().filter(|other| other.permits);
            !own.permits && !denies_all(own) && !is_only(own) && !later.any(|other| overlaps(own, other))
        })
        .map(|place| &entries[place])
        .collect()
}

/// Returns the bits and the length of a prefix.
fn prefix(text: &str) -> Option<(u32, u8)> {
    let (address, rest) = text.split_once('/')?;
    let IpAddr::V4(address) = address.parse().ok()? else { return None };
    let length = rest.split_whitespace().next()?.parse().ok()?;
    Some((address.to_bits(), length)).filter(|_| length <= 32)
}

#[cfg(test)]
mod tests {
    use super::super::braces::read;
    use super::{Entry, entry, opposite, without_effect};

    fn lines(text: &str) -> Vec<usize> {
        let nodes = read(text);
        let entries: Vec<Entry> =
            nodes.iter().filter_map(|node| entry(0, node)).map(|(_, own)| own).collect();
        without_effect(&entries).into_iter().map(|own| own.line).collect()
    }

    #[test]
    fn a_denial_needs_a_later_permission() {
        let list =
            "ip prefix-list A seq 5 deny 10.1.0.0/16\nip prefix-list A seq 10 permit 10.0.0.0/8 le 24\n";
        assert!(lines(list).is_empty());
        assert_eq!(lines(&list.replace("permit 10.0", "permit 172.0")), [1]);
        let end = "ip prefix-list A seq 5 permit 10.1.0.0/16\nip prefix-list A seq 10 deny 0.0.0.0/0 le 32\n";
        assert!(lines(end).is_empty());
        assert_eq!(lines(&end.replace("0.0.0.0/0 le 32", "10.2.0.0/16")), [2]);
        assert!(lines("ip prefix-list NONE seq 5 deny 10.0.0.0/8\n").is_empty(), "the list permits nothing");
    }

    #[test]
    fn one_of_three_devices_is_an_exception() {
        let of = |device, permits| Entry { device, line: 1, permits, text: "10.0.0.0/8" };
        let found = |entries: &[Entry]| opposite(entries).map(|(own, others)| (own.device, others));
        assert_eq!(found(&[of(0, true), of(1, true), of(2, false)]), Some((2, 2)));
        assert_eq!(found(&[of(0, true), of(1, false)]), None);
        assert_eq!(found(&[of(0, true), of(1, true), of(2, true)]), None);
    }
}
