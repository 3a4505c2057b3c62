//! Classes that require all criteria (`match-all`), although the classes of the same name on other devices
//! require any criterion (`match-any`), or the reverse.

use std::collections::BTreeMap;

use super::super::peers::Peers;
use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The default kind of a class (Cisco, "class-map").
const USUAL: &str = "match-all";
const KINDS: [&str; 2] = [USUAL, "match-any"];

/// Reports a class whose kind differs from the kind of the classes with the same name.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut by_name: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
    for (device, parts) in devices.iter().enumerate() {
        for (name, class) in &parts.class_maps {
            let kind = KINDS.into_iter().find(|kind| *kind == class.kind).unwrap_or(USUAL);
            by_name.entry(name).or_default().push((device, kind));
        }
    }
    for (name, classes) in by_name {
        let peers: Peers<&str> = classes.iter().map(|(_, kind)| *kind).collect();
        let Some(usual) = peers.usual() else {
            if let [first, second] = classes.as_slice() {
                check_two(snapshot, devices, name, [*first, *second], found);
            }
            continue;
        };
        for (device, kind) in classes.iter().filter(|(_, kind)| peers.is_exception(kind)) {
            let class = &devices[*device].class_maps[name];
            // With a single criterion, both kinds match the same packets.
            if class.lines.len() < 2 {
                continue;
            }
            let message = format!(
                "class-map {name} of {} is {kind}, but it is {usual} on most of {} devices with this class",
                snapshot.devices[*device].name,
                classes.len()
            );
            let effect =
                "the class matches other packets at this device than at the other devices".to_owned();
            let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
            found.push(snapshot.finding(*device, rule, class.line, (message, effect)));
        }
    }
}

/// Compares a class that exactly two devices have. Reports the class that requires all criteria.
fn check_two(
    snapshot: &Snapshot,
    devices: &[Parts],
    name: &str,
    [first, second]: [(usize, &str); 2],
    found: &mut Vec<NetworkFinding>,
) {
    let criteria = |device: usize| {
        let lines = devices[device].class_maps[name].lines.iter();
        lines.map(|(_, words)| words.as_slice()).collect::<Vec<_>>()
    };
    if first.1 == second.1 || criteria(first.0).len() < 2 || criteria(first.0) != criteria(second.0) {
        return;
    }
    let (device, other) = if first.1 == USUAL { (first.0, second.0) } else { (second.0, first.0) };
    let message = format!(
        "class-map {name} of {} is {USUAL}, but it is match-any with the same criteria on {}",
        snapshot.devices[device].name, snapshot.devices[other].name
    );
    let effect = "packets that meet only one criterion are in another class at this device".to_owned();
    let line = devices[device].class_maps[name].line;
    found.push(snapshot.finding(device, &rules::NETWORK_NAMESAKE_DIFFERS, line, (message, effect)));
}
