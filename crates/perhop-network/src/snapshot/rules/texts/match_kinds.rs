//! Classes with one name, of which one needs all criteria and the others need any.

use std::collections::BTreeMap;

use super::super::peers::Peers;
use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The kind of a class without a word for it (Cisco, "class-map").
const USUAL: &str = "match-all";
const KINDS: [&str; 2] = [USUAL, "match-any"];

/// Reports the only class of its name that combines several criteria in another way.
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
        let Some(usual) = peers.usual() else { continue };
        for (device, kind) in classes.iter().filter(|(_, kind)| peers.is_exception(kind)) {
            let class = &devices[*device].class_maps[name];
            // With one criterion, both kinds take the same packets.
            if class.lines.len() < 2 {
                continue;
            }
            let message = format!(
                "class-map {name} of {} is {kind}, and {usual} on most of {} devices with this class",
                snapshot.devices[*device].name,
                classes.len()
            );
            let effect = "this device puts other packets into the class than the others do".to_owned();
            let rule = &rules::NETWORK_NAMESAKE_DIFFERS;
            found.push(snapshot.finding(*device, rule, class.line, (message, effect)));
        }
    }
}
