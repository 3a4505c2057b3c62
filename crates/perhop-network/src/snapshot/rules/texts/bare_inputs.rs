//! Ports to other devices without the input policy that all other such ports of their device have.

use std::collections::BTreeSet;

use perhop_device::intent::{Field, Mark, Policy, Then};

use super::super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use crate::forwarding::addresses;
use crate::rules;

/// The minimum number of other ports with the policy, and of the devices that they reach.
const LEAST_PORTS: usize = 3;
const LEAST_NEIGHBORS: usize = 2;
/// The fields that exist only inside a device. Ports of the core also need them, to classify packets.
const INTERNAL: [Field; 3] = [Field::ForwardingClass, Field::TrafficClass, Field::DropPrecedence];

/// Whether a policy polices packets or writes marks that other devices read. Such a policy belongs to ports
/// of customers: packets of the core already conform.
fn conditions(policy: &Policy) -> bool {
    policy.classes.iter().any(|class| {
        let is_seen = |mark: &Mark| mark.field().is_none_or(|field| !INTERNAL.contains(&field));
        class.police.is_some()
            || class.then == Then::Drop
            || class.all_marks().any(is_seen)
            || class.children().is_some_and(conditions)
    })
}

/// Returns properties that show the task of a port: whether it is in a VRF, whether it distributes labels,
/// and its routing processes.
fn role(snapshot: &Snapshot, id: PortId) -> (bool, bool, Vec<usize>) {
    let forwarding = &snapshot.port(id).forwarding;
    let mut processes: Vec<usize> = forwarding.routing.iter().map(|part| part.process).collect();
    processes.sort_unstable();
    (forwarding.vrf.is_some(), forwarding.ldp.is_some(), processes)
}

/// Reports the only port with an address towards another device that has no input policy, if all other such
/// ports of the device have the same.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for device in 0..snapshot.devices.len() {
        let wires: Vec<[PortId; 2]> = snapshot
            .wires()
            .filter(|[own, _]| own.device == device && addresses(snapshot.port(*own)).next().is_some())
            .filter(|[own, _]| !snapshot.is_gateway(*own))
            .collect();
        let policy = |id: PortId| snapshot.port(id).intent.input.last().map(|policy| policy.name.as_str());
        let (with, without): (Vec<&[PortId; 2]>, Vec<&[PortId; 2]>) =
            wires.iter().partition(|[own, _]| policy(*own).is_some());
        let [[bare, far]] = without.as_slice() else { continue };
        let names: BTreeSet<&str> = with.iter().filter_map(|[own, _]| policy(*own)).collect();
        let neighbors: BTreeSet<usize> = with.iter().map(|[_, far]| far.device).collect();
        let (Some(name), 1) = (names.first(), names.len()) else { continue };
        if with.len() < LEAST_PORTS || neighbors.len() < LEAST_NEIGHBORS {
            continue;
        }
        let own = role(snapshot, *bare);
        let is_intended = |[id, _]: &&[PortId; 2]| {
            snapshot.port(*id).intent.input.iter().any(conditions) || role(snapshot, *id) != own
        };
        if with.iter().any(is_intended) {
            continue;
        }
        let message = format!(
            "{} towards {} has no input policy, but all {} other ports towards devices have {name}",
            snapshot.port_name(*bare),
            snapshot.devices[far.device].name,
            with.len()
        );
        let effect = "packets of this neighbor are in no class of the device".to_owned();
        let line = snapshot.port(*bare).line;
        let finding = snapshot.finding(device, &rules::NETWORK_POLICY_MISSING, line, (message, effect));
        found.push(finding.about(Topic::Attachment, Precision::Comparison));
    }
}
