//! VLANs that do not reach the devices that use them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Precision, Snapshot, Topic};
use super::vlan_ports::{At, Switch, Trunk, USUAL};
use crate::rules;

/// The minimum number of ports in a VLAN for a finding at the trunk. With fewer ports, the finding is at the
/// port.
const SEVERAL: usize = 2;
/// The minimum number of common VLANs of two trunks with the same purpose.
const LEAST_COMMON: usize = 2;

/// Reports VLANs of ports that no trunk carries, and trunks that lack a VLAN of another trunk or of the other
/// end of the cable.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let switches: Vec<Switch> = trees.iter().map(|nodes| Switch::read(nodes)).collect();
    if switches.iter().all(|own| own.trunks.is_empty()) {
        return;
    }
    let cables = cables(snapshot);
    for (device, own) in switches.iter().enumerate().filter(|(_, own)| !own.trunks.is_empty()) {
        check_lost(snapshot, device, own, found);
        check_uplinks(snapshot, &switches, device, &cables, found);
    }
    for [first, second] in cables {
        for [own, other] in [[first, second], [second, first]] {
            check_ends(snapshot, &switches, [own, other], found);
        }
    }
}

/// Returns the pairs of ports that a cable or a description connects.
pub(super) fn cables(snapshot: &Snapshot) -> Vec<[PortId; 2]> {
    let suggested = snapshot.guesses().into_iter().map(|guess| guess.ends.map(|end| end.id));
    let wires = snapshot.wires().filter(|[own, other]| own < other);
    let all: BTreeSet<[PortId; 2]> = wires.chain(suggested).chain(snapshot.described_pairs()).collect();
    all.into_iter().collect()
}

/// Reports VLANs of ports that no trunk of the device carries and in which the device has no virtual
/// interface.
fn check_lost(snapshot: &Snapshot, device: usize, own: &Switch, found: &mut Vec<NetworkFinding>) {
    // Unused ports are often in the native VLAN.
    let natives: BTreeSet<u16> =
        own.trunks.values().filter_map(|trunk| Some(trunk.native?.0)).chain([USUAL]).collect();
    let mut ports: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for (vlan, line) in own.access.iter().chain(&own.voice) {
        ports.entry(*vlan).or_default().push(*line);
    }
    let leaves = |vlan: u16| own.own.contains(&vlan) || own.trunks.values().any(|trunk| trunk.carries(vlan));
    if !ports.keys().any(|vlan| leaves(*vlan)) {
        return;
    }
    for (vlan, lines) in ports.iter().filter(|(vlan, _)| !leaves(**vlan) && !natives.contains(vlan)) {
        let of_trunks = || own.trunks.values().map(|trunk| trunk.line).collect();
        let at: Vec<usize> = if lines.len() < SEVERAL { lines.clone() } else { of_trunks() };
        for line in at {
            let message = format!(
                "no trunk of {} carries VLAN {vlan}, which {} of its ports have",
                snapshot.devices[device].name,
                lines.len()
            );
            report(snapshot, (device, line, *vlan), message, found);
        }
    }
}

/// Reports a trunk that lacks a VLAN of its device, if another trunk of the device carries this VLAN and all
/// VLANs of the first trunk.
fn check_uplinks(
    snapshot: &Snapshot,
    switches: &[Switch],
    device: usize,
    cables: &[[PortId; 2]],
    found: &mut Vec<NetworkFinding>,
) {
    let own = &switches[device];
    // Whether no device at the other end of a trunk uses the VLAN. A server or an unknown device can be
    // there.
    let is_unused = |name: &str, vlan: u16| {
        let ends = cables.iter().flat_map(|[end, other]| [(end, other), (other, end)]);
        let mut far = ends.filter(|(near, _)| near.device == device && snapshot.port(**near).name == name);
        !far.any(|(_, far)| switches[far.device].uses(vlan))
    };
    let limited: Vec<(&str, &Trunk, &BTreeSet<u16>)> =
        own.trunks.iter().filter_map(|(name, trunk)| Some((*name, trunk, trunk.allowed.as_ref()?))).collect();
    let mut lacking: BTreeMap<usize, (u16, &str, &str)> = BTreeMap::new();
    for (name, trunk, allowed) in &limited {
        for (other, _, more) in &limited {
            let mut missing = more.difference(allowed);
            let (Some(vlan), None) = (missing.next(), missing.next()) else { continue };
            let is_same = allowed.len() >= LEAST_COMMON && allowed.is_subset(more) && own.uses(*vlan);
            if is_same && !is_unused(name, *vlan) {
                lacking.entry(trunk.line).or_insert((*vlan, name, other));
            }
        }
    }
    for (line, (vlan, name, other)) in lacking {
        let message = format!(
            "{}:{name} lacks VLAN {vlan}, which the device uses; {other} carries it and all VLANs of {name}",
            snapshot.devices[device].name
        );
        report(snapshot, (device, line, vlan), message, found);
    }
}

/// Reports an end of a cable that does not carry a VLAN of the other end, and ends with different native
/// VLANs.
fn check_ends(
    snapshot: &Snapshot,
    switches: &[Switch],
    [own, other]: [PortId; 2],
    found: &mut Vec<NetworkFinding>,
) {
    let trunk = |id: PortId| switches[id.device].trunks.get(snapshot.port(id).name.as_str());
    let Some(here) = trunk(own) else { return };
    let there = trunk(other);
    // A router has sub-interfaces in place of a trunk.
    let tags = || switches[other.device].tags.get(snapshot.port(other).name.as_str());
    let far: BTreeSet<u16> = match there.and_then(|there| there.allowed.as_ref()) {
        Some(allowed) => allowed.iter().copied().filter(|vlan| switches[own.device].uses(*vlan)).collect(),
        None => tags().into_iter().flatten().map(|(vlan, _)| *vlan).collect(),
    };
    for vlan in far.into_iter().filter(|vlan| !here.carries(*vlan)) {
        let message = format!(
            "{} does not carry VLAN {vlan}, which {} at the other end has",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        report(snapshot, (own.device, here.line, vlan), message, found);
    }
    let native = |trunk: &Trunk| trunk.native.unwrap_or((USUAL, trunk.line));
    let Some((theirs, _)) = there.map(native) else { return };
    let (vlan, line): At = native(here);
    if vlan != theirs {
        let message = format!(
            "{} sends VLAN {vlan} without a tag, but {} at the other end sends VLAN {theirs} without a tag",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        let effect = "packets of one VLAN arrive in the other VLAN".to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_TAG_DIFFERS, line, (message, effect)));
    }
}

fn report(
    snapshot: &Snapshot,
    (device, line, vlan): (usize, usize, u16),
    message: String,
    found: &mut Vec<NetworkFinding>,
) {
    let effect =
        "the hosts or phones of the VLAN do not reach their gateway, or lose it after a failure".to_owned();
    let finding = snapshot.finding(device, &rules::NETWORK_VLAN_MISSING, line, (message, effect));
    found.push(finding.about(Topic::Vlan(vlan), Precision::Comparison));
}
