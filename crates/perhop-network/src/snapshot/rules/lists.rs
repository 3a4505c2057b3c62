//! Access lists that differ from the lists of the same name on other devices.

use std::collections::BTreeMap;

use perhop_device::{AccessDecision, AccessEntry, AccessList};

use super::peers::Peers;
use super::{NetworkFinding, Snapshot};
use crate::rules;

/// Maximum number of reported entries of a list.
const MOST: usize = 3;

/// Reports entries that only one list has. If a list has no such entry but lacks entries of the other lists
/// with its name, reports the list.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let mut by_name: BTreeMap<&str, Vec<(usize, &AccessList)>> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        for (name, list) in &snapshot.router(device).forwarding.access_lists {
            if list.line > 0 {
                by_name.entry(name).or_default().push((device, list));
            }
        }
    }
    for (name, lists) in by_name {
        // The number of a list is the index of the first list that is equal to it.
        let number = |list: &AccessList| lists.iter().position(|(_, other)| are_equal(list, other));
        let peers: Peers<Option<usize>> = lists.iter().map(|(_, list)| number(list)).collect();
        let Some(Some(most)) = peers.usual() else { continue };
        let (_, example) = lists[*most];
        for (device, list) in lists.iter().filter(|(_, list)| peers.is_exception(&number(list))) {
            let mut lines: Vec<usize> = missing(list, example).map(|entry| entry.line).take(MOST).collect();
            let words = if lines.is_empty() { "has fewer entries" } else { "has other entries" };
            if lines.is_empty() {
                lines.push(list.line);
            }
            for line in lines {
                let message = format!(
                    "access list {name} of {} {words} than most of {} devices with a list of this name",
                    snapshot.devices[*device].name,
                    lists.len()
                );
                let effect = "the device drops packets that the other devices forward, or vice versa";
                let rule = &rules::NETWORK_LIST_DIFFERS;
                found.push(snapshot.finding(*device, rule, line, (message, effect.to_owned())));
            }
        }
    }
}

fn parts(entry: &AccessEntry) -> (AccessDecision, &perhop_device::intent::Condition) {
    (entry.decision, &entry.condition)
}

fn are_equal(list: &AccessList, other: &AccessList) -> bool {
    list.entries.len() == other.entries.len()
        && list.entries.iter().zip(&other.entries).all(|(own, other)| parts(own) == parts(other))
}

/// Generates the entries of `list` that `other` lacks.
fn missing<'l>(list: &'l AccessList, other: &'l AccessList) -> impl Iterator<Item = &'l AccessEntry> {
    let has = |entry: &AccessEntry| other.entries.iter().any(|candidate| parts(candidate) == parts(entry));
    list.entries.iter().filter(move |entry| !has(entry))
}
