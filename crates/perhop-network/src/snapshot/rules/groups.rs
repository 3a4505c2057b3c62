//! Routers of one group (HSRP, VRRP) with different virtual addresses.

use std::collections::BTreeMap;

use perhop_device::SharedAddress;

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// Reports groups whose routers have different addresses, and addresses outside of the subnet of their port.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for link in &snapshot.links {
        let mut groups: BTreeMap<u16, Vec<(PortId, &SharedAddress)>> = BTreeMap::new();
        for end in &link.ends {
            for shared in &snapshot.port(end.id).forwarding.shared_addresses {
                groups.entry(shared.group).or_default().push((end.id, shared));
            }
        }
        for (number, members) in groups {
            for (id, shared) in &members {
                let other = members.iter().find(|(_, other)| other.address != shared.address);
                let Some((other, theirs)) = other else { continue };
                let message = format!(
                    "the address of group {number} is {} at {}, but {} at {}",
                    shared.address,
                    snapshot.port_name(*id),
                    theirs.address,
                    snapshot.port_name(*other)
                );
                let effect = "if one router fails, the other does not take over its address".to_owned();
                report(snapshot, *id, shared.line, (message, effect), found);
            }
        }
    }
    for device in 0..snapshot.devices.len() {
        for (port, own) in snapshot.router(device).ports.iter().enumerate() {
            let id = PortId { device, port };
            let is_inside =
                |shared: &&SharedAddress| addresses(own).any(|address| address.is_neighbor(shared.address));
            for shared in own.forwarding.shared_addresses.iter().filter(|shared| !is_inside(shared)) {
                let message = format!(
                    "the address {} of group {} is in no subnet of {}",
                    shared.address,
                    shared.group,
                    snapshot.port_name(id)
                );
                let effect = "hosts do not reach their gateway".to_owned();
                report(snapshot, id, shared.line, (message, effect), found);
            }
        }
    }
}

fn report(
    snapshot: &Snapshot,
    id: PortId,
    line: usize,
    words: (String, String),
    found: &mut Vec<NetworkFinding>,
) {
    found.push(snapshot.finding(id.device, &rules::NETWORK_GROUP_DIFFERS, line, words));
}
