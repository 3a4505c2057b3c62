//! Routers of one HSRP or VRRP group with different virtual addresses or equal priorities.

use std::collections::BTreeMap;

use perhop_device::SharedAddress;

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::Link;

/// The minimum number of groups whose routers have different priorities. With fewer, the rule reports no
/// group with equal priorities.
const FEWEST_WITH_PRIORITY: usize = 2;

/// Reports groups whose routers have different virtual addresses, and groups with equal priorities.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let groups = groups(snapshot);
    check_addresses(snapshot, &groups, found);
    check_priorities(snapshot, &groups, found);
    for device in 0..snapshot.devices.len() {
        check_subnets(snapshot, device, found);
    }
}

/// The number of a group, and its routers on one link with their lines.
type Group<'s> = (u16, Vec<(PortId, &'s SharedAddress)>);

/// Returns the groups of each link.
fn groups<'s>(snapshot: &'s Snapshot) -> Vec<Group<'s>> {
    let of_link = |link: &'s Link| {
        let mut groups: BTreeMap<u16, Vec<(PortId, &SharedAddress)>> = BTreeMap::new();
        for end in &link.ends {
            for shared in &snapshot.port(end.id).forwarding.shared_addresses {
                groups.entry(shared.group).or_default().push((end.id, shared));
            }
        }
        groups
    };
    snapshot.links.iter().flat_map(of_link).collect()
}

/// Reports a group whose routers have equal priorities, if the routers of all other groups have different
/// priorities.
fn check_priorities(snapshot: &Snapshot, groups: &[Group], found: &mut Vec<NetworkFinding>) {
    let several: Vec<&Group> = groups.iter().filter(|(_, members)| members.len() > 1).collect();
    let is_equal =
        |(_, members): &&&Group| members.iter().all(|(_, shared)| shared.priority == members[0].1.priority);
    let equal: Vec<&&Group> = several.iter().filter(is_equal).collect();
    if several.len() - equal.len() < FEWEST_WITH_PRIORITY || equal.len() > 1 {
        return;
    }
    for (number, members) in equal {
        for (id, shared) in members {
            let message = format!(
                "the routers of group {number} have the priority {}, but each of the {} other groups has a \
                 router with a higher priority",
                shared.priority,
                several.len() - 1
            );
            let effect = "the router with the highest address forwards the packets of the hosts".to_owned();
            report(snapshot, *id, shared.line, (message, effect), found);
        }
    }
}

/// Reports groups whose routers have different virtual addresses.
fn check_addresses(snapshot: &Snapshot, groups: &[Group], found: &mut Vec<NetworkFinding>) {
    for (number, members) in groups {
        for (id, shared) in members {
            let other = members.iter().find(|(_, other)| other.address != shared.address);
            let Some((other, theirs)) = other else { continue };
            let message = format!(
                "the address of group {number} is {} at {}, but {} at {}",
                shared.address,
                snapshot.port_name(*id),
                theirs.address,
                snapshot.port_name(*other)
            );
            let effect = "if one router fails, the other router does not take over its address".to_owned();
            report(snapshot, *id, shared.line, (message, effect), found);
        }
    }
}

/// Reports virtual addresses outside of the subnets of their port.
fn check_subnets(snapshot: &Snapshot, device: usize, found: &mut Vec<NetworkFinding>) {
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
            report(
                snapshot,
                id,
                shared.line,
                (message, "hosts do not reach their gateway".to_owned()),
                found,
            );
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
