//! Entries of prefix lists whose action is opposite to the action in lists of the same name, and entries
//! without effect.

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

/// Reports an entry whose action is opposite in all lists with the same name on other devices, and denying
/// entries after which no entry permits their routes.
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
        let exceptions: Vec<_> =
            by_prefix.iter().filter_map(|(text, entries)| Some((*text, opposite(entries)?))).collect();
        // With several exceptions, for example one for the prefix of each site, the actions are intended.
        if exceptions.len() > 1 {
            continue;
        }
        for (text, (own, others)) in exceptions {
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
            if let Some(own) = without_effect(entries) {
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
    let mut words = rest.split_whitespace();
    let (name, second) = (words.next()?, words.next()?);
    if second == "description" {
        return None;
    }
    let place = [" permit ", " deny "].iter().find_map(|word| Some((rest.find(word)?, *word)));
    let (at, word) = place?;
    let permits = word == " permit ";
    Some((name, Entry { device, line: node.line.0, permits, text: rest[at + word.len()..].trim() }))
}

/// Returns the only entry with its action, and the number of the other entries.
fn opposite<'t>(entries: &[Entry<'t>]) -> Option<(Entry<'t>, usize)> {
    [true, false].into_iter().find_map(|permits| {
        let mut own = entries.iter().filter(|entry| entry.permits == permits);
        let (Some(entry), None) = (own.next(), own.next()) else { return None };
        (entries.len() > LEAST_OTHERS).then_some((*entry, entries.len() - 1))
    })
}

/// Returns the denying entry between permitting entries if it has no effect: all entries of the list are
/// different prefixes with the same length. Other entries without effect are intended, for example an
/// explicit denial at the end.
fn without_effect<'e, 't>(entries: &'e [Entry<'t>]) -> Option<&'e Entry<'t>> {
    let [first, inner @ .., last] = entries else { return None };
    let mut denials = inner.iter().filter(|entry| !entry.permits);
    let (Some(own), None) = (denials.next(), denials.next()) else { return None };
    let prefixes: Option<Vec<(u32, u8)>> =
        entries.iter().map(|entry| prefix(entry.text).filter(|_| !entry.text.contains(' '))).collect();
    let prefixes = prefixes?;
    let is_alike = prefixes.iter().all(|(_, length)| *length == prefixes[0].1);
    let is_unique = entries.iter().filter(|entry| entry.text == own.text).count() == 1;
    (first.permits && last.permits && is_alike && is_unique).then_some(own)
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

    fn line(text: &str) -> Option<usize> {
        let nodes = read(text);
        let entries: Vec<Entry> =
            nodes.iter().filter_map(|node| entry(0, node)).map(|(_, own)| own).collect();
        without_effect(&entries).map(|own| own.line)
    }

    #[test]
    fn a_denial_between_permissions_needs_an_effect() {
        let list = "ip prefix-list A description to permit sites\nip prefix-list A seq 5 permit 10.1.0.0/16\n\
                    ip prefix-list A seq 10 deny 10.2.0.0/16\nip prefix-list A seq 15 permit 10.3.0.0/16\n";
        assert_eq!(line(list), Some(3));
        assert_eq!(line(&list.replace("10.3.0.0/16", "10.0.0.0/8 le 24")), None);
        assert_eq!(line(&list.replace("10.2.0.0/16", "10.2.0.0/16 le 24")), None);
        assert_eq!(line(&list.replace("permit 10.3", "deny 10.3")), None, "the denials are at the end");
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
