//! Groups of tunnel ends (DMVPN). A hub has a policy for each group of ends.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::{Port, TunnelSource};
use perhop_qos::Rate;

use super::super::treatment::shaper;
use super::super::tree::Node;
use super::super::{NetworkFinding, PortId, Snapshot};
use crate::rules;

/// The maximum and minimum ratio of a hub's shaper to the circuit of an end that count as a match.
const MOST: f64 = 1.05;
const LEAST: f64 = 0.7;

/// A line that names a group, with its device and interface.
struct Membership<'t> {
    device: usize,
    interface: &'t str,
    line: usize,
    group: &'t str,
}

/// Reports groups for which no hub has a policy, and shapers that do not match the circuit of an end in the
/// group.
pub(super) fn check(snapshot: &Snapshot, trees: &[Vec<Node>], found: &mut Vec<NetworkFinding>) {
    let (hubs, ends) = lines(trees);
    let known: BTreeSet<&str> = hubs.iter().map(|hub| hub.group).collect();
    let used: BTreeSet<&str> = ends.iter().map(|end| end.group).collect();
    if known.intersection(&used).next().is_some() {
        let unknown = ends.iter().filter(|end| !known.contains(end.group));
        unknown.for_each(|end| report_unknown(snapshot, end, &hubs, &used, found));
    }
    check_hubs(snapshot, &hubs, &ends, found);
    let mut circuits: BTreeMap<&str, Vec<(usize, u64)>> = BTreeMap::new();
    for end in &ends {
        if let Some(circuit) = circuit(snapshot, end) {
            circuits.entry(end.group).or_default().push((end.device, circuit));
        }
    }
    for hub in &hubs {
        for (device, circuit) in circuits.get(hub.group).map_or(&[][..], Vec::as_slice) {
            // If the shaper matches the circuits of another group of the hub, the policy is attached to the
            // wrong group.
            let is_of_other = |other: &&Membership| {
                let circuits = circuits.get(other.group).map_or(&[][..], Vec::as_slice);
                let shared = shaped_for(snapshot, other, *circuit).filter(|_| other.group != hub.group);
                other.device == hub.device
                    && shared.is_some_and(|(rate, line)| {
                        shaped_for(snapshot, hub, *circuit).is_some_and(|(_, own)| own == line)
                            && circuits.iter().all(|(_, circuit)| fits(rate, *circuit))
                            && !circuits.is_empty()
                    })
            };
            let is_mixed_up = hubs.iter().any(|other| is_of_other(&other));
            check_shaper(snapshot, hub, (*device, *circuit), is_mixed_up.then_some(hub.line), found);
        }
    }
}

/// Returns the lines of hubs that assign a policy to a group, and the lines of ends that name their group.
fn lines<'t>(trees: &[Vec<Node<'t>>]) -> (Vec<Membership<'t>>, Vec<Membership<'t>>) {
    let (mut hubs, mut ends) = (Vec::new(), Vec::new());
    for (device, nodes) in trees.iter().enumerate() {
        for node in nodes {
            let ["interface", interface] = *node.words().as_slice() else { continue };
            for inner in &node.inner {
                let words = inner.words();
                let words = words.strip_prefix(&["ip"]).unwrap_or(&words);
                let line = |group| Membership { device, interface, line: inner.line.0, group };
                match words {
                    ["nhrp", "map", "group", group, ..] => hubs.push(line(*group)),
                    ["nhrp", "group", group] => ends.push(line(*group)),
                    _ => {}
                }
            }
        }
    }
    (hubs, ends)
}

/// Reports an end whose group no hub has. If only one group of the hubs has no end, also reports its line,
/// because one of the two names is probably misspelled.
fn report_unknown(
    snapshot: &Snapshot,
    end: &Membership,
    hubs: &[Membership],
    used: &BTreeSet<&str>,
    found: &mut Vec<NetworkFinding>,
) {
    let rule = &rules::NETWORK_TUNNEL_GROUP_UNKNOWN;
    let name = &snapshot.devices[end.device].name;
    let effect = || "the hub sends to this end without its shaper and its queues".to_owned();
    let message = format!("{name} is in the group {}, for which no hub has a policy", end.group);
    found.push(snapshot.finding(end.device, rule, end.line, (message, effect())));
    let mut unused = hubs.iter().filter(|hub| !used.contains(hub.group));
    if let (Some(hub), None) = (unused.next(), unused.next()) {
        let message = format!(
            "no end is in the group {}, and no hub has a policy for the group {}",
            hub.group, end.group
        );
        found.push(snapshot.finding(hub.device, rule, hub.line, (message, effect())));
    }
}

/// Reports a tunnel of a hub that has policies for groups, but not for the group of an end in its subnet.
/// Another tunnel of a hub has a policy for this group.
fn check_hubs(
    snapshot: &Snapshot,
    hubs: &[Membership],
    ends: &[Membership],
    found: &mut Vec<NetworkFinding>,
) {
    let mut tunnels: BTreeMap<(usize, &str), BTreeSet<&str>> = BTreeMap::new();
    for hub in hubs {
        tunnels.entry((hub.device, hub.interface)).or_default().insert(hub.group);
    }
    let known: BTreeSet<&str> = hubs.iter().map(|hub| hub.group).collect();
    for ((device, interface), groups) in tunnels {
        let Some(link) = port(snapshot, device, interface).and_then(|id| snapshot.link_of(id)) else {
            continue;
        };
        let is_here = |end: &&Membership| {
            let id = port(snapshot, end.device, end.interface);
            end.device != device && link.ends.iter().any(|other| Some(other.id) == id)
        };
        let lacking = ends.iter().filter(|end| known.contains(end.group) && !groups.contains(end.group));
        let mut seen = BTreeSet::new();
        for end in lacking.filter(is_here).filter(|end| seen.insert(end.group)) {
            let router = snapshot.router(device);
            let Some(own) = router.ports.iter().find(|port| port.name == interface) else { continue };
            let message = format!(
                "{interface} of {} has no policy for the group {} of {}, but policies for {} other groups",
                snapshot.devices[device].name,
                end.group,
                snapshot.devices[end.device].name,
                groups.len()
            );
            let effect = "the hub sends to this end without its shaper and its queues".to_owned();
            let rule = &rules::NETWORK_TUNNEL_GROUP_UNKNOWN;
            found.push(snapshot.finding(device, rule, own.line, (message, effect)));
        }
    }
}

fn port(snapshot: &Snapshot, device: usize, name: &str) -> Option<PortId> {
    let place = snapshot.router(device).ports.iter().position(|port| port.name == name)?;
    Some(PortId { device, port: place })
}

/// Returns the rate of the circuit below the tunnel of an end, if a line sets the bandwidth of the circuit.
/// The default bandwidth is not the rate of the circuit: it is the rate of the hardware, or of a modem at a
/// dialer.
fn circuit(snapshot: &Snapshot, end: &Membership) -> Option<u64> {
    let ports = &snapshot.router(end.device).ports;
    let tunnel = ports.iter().find(|port| port.name == end.interface)?.forwarding.tunnel.as_ref()?;
    let Some(TunnelSource::Interface(source)) = tunnel.source.as_ref().map(|at| &at.value) else {
        return None;
    };
    let below = ports.iter().find(|port| port.name == *source)?;
    snapshot.devices[end.device].device.line_in_block(below.line, "bandwidth")?;
    below.bandwidth.map(Rate::as_bits_per_second)
}

fn shaped(port: &Port, around: u64) -> Option<(u64, usize)> {
    port.intent.output.iter().find_map(|policy| shaper(policy, around))
}

/// Returns the rate and the line of the shaper that a hub has for a group.
fn shaped_for(snapshot: &Snapshot, hub: &Membership, circuit: u64) -> Option<(u64, usize)> {
    let name = format!("{} {}", hub.interface, hub.group);
    let port = snapshot.router(hub.device).ports.iter().find(|port| port.name == name)?;
    shaped(port, circuit)
}

fn fits(rate: u64, circuit: u64) -> bool {
    (LEAST..=MOST).contains(&(rate as f64 / circuit as f64))
}

/// Reports a shaper that does not match the circuit of an end. The finding is at the line of the shaper or at
/// the line of its attachment.
fn check_shaper(
    snapshot: &Snapshot,
    hub: &Membership,
    (end, circuit): (usize, u64),
    attached: Option<usize>,
    found: &mut Vec<NetworkFinding>,
) {
    let Some((rate, line)) = shaped_for(snapshot, hub, circuit) else { return };
    if fits(rate, circuit) {
        return;
    }
    let line = attached.unwrap_or(line);
    let message = format!(
        "{} shapes to {} for the group {}, but the circuit of {} has {}",
        snapshot.devices[hub.device].name,
        Rate::from_bits_per_second(rate),
        hub.group,
        snapshot.devices[end].name,
        Rate::from_bits_per_second(circuit)
    );
    let effect = if rate > circuit {
        "the carrier drops packets above the rate of the circuit, in every class"
    } else {
        "packets of every class wait or are dropped although the circuit has unused rate"
    };
    let rule = &rules::NETWORK_CIRCUIT_RATE_DIFFERS;
    found.push(snapshot.finding(hub.device, rule, line, (message, effect.to_owned())));
}
