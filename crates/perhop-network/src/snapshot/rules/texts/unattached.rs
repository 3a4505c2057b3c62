//! Policies that one device does not use, although all other devices with the policy use it.

use std::collections::BTreeMap;

use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The minimum number of other devices that use a policy.
const LEAST_OTHERS: usize = 2;

/// Reports the only device that defines a policy and does not use it.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut by_name: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (device, parts) in devices.iter().enumerate() {
        for (name, line) in &parts.policies {
            by_name.entry(name).or_default().push((device, *line));
        }
    }
    for (name, holders) in by_name.iter().filter(|(_, holders)| holders.len() > LEAST_OTHERS) {
        let mut unused = holders.iter().filter(|(device, _)| !devices[*device].used.contains(name));
        let (Some((device, line)), None) = (unused.next(), unused.next()) else { continue };
        let message = format!(
            "{} does not use policy-map {name}, but all {} other devices with this policy use it",
            snapshot.devices[*device].name,
            holders.len() - 1
        );
        let effect = "packets at this device get neither the marks nor the queues of this policy".to_owned();
        found.push(snapshot.finding(*device, &rules::NETWORK_POLICY_MISSING, *line, (message, effect)));
    }
}
