//! Access lists between devices that deny the packets of a class.

use std::collections::BTreeSet;

use perhop_analysis::PacketText;
use perhop_device::AccessDecision;
use perhop_qos::Dscp;

use super::marks::best_kinds;
use super::{NetworkFinding, Snapshot};
use crate::rules;
use crate::snapshot::{Site, WalkEnd, WalkPath};
use crate::trace::{Cause, Stage};

/// The pairs of sites that are tried at most.
const MOST_PAIRS: usize = 400;
/// Packets of the applications that have classes: media of RTP, signaling of SIP, HTTPS.
const PROBES: [(&str, u16); 4] = [("udp", 16384), ("udp", 5060), ("tcp", 5060), ("tcp", 443)];

/// Reports access lists of ports inside the network that deny packets with a codepoint that has a class.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let has_lists = |device: usize| {
        snapshot.router(device).ports.iter().any(|port| !port.forwarding.access_groups.is_empty())
    };
    if !(0..snapshot.devices.len()).any(has_lists) {
        return;
    }
    let codepoints: Vec<Dscp> = best_kinds(snapshot).into_keys().collect();
    let sites = snapshot.sites();
    let pairs = sites.iter().flat_map(|from| sites.iter().map(move |to| (from, to)));
    let pairs =
        pairs.filter(|(from, to)| from.device != to.device && from.address.is_ipv4() == to.address.is_ipv4());
    let mut seen = BTreeSet::new();
    for (from, to) in pairs.take(MOST_PAIRS) {
        for dscp in &codepoints {
            for (protocol, port) in PROBES {
                probe(snapshot, (from, to), (protocol, port, *dscp), &mut seen, found);
            }
        }
    }
}

fn probe(
    snapshot: &Snapshot,
    (from, to): (&Site, &Site),
    (protocol, port, dscp): (&str, u16, Dscp),
    seen: &mut BTreeSet<(String, usize)>,
    found: &mut Vec<NetworkFinding>,
) {
    let (source, destination) = (from.address, to.address);
    let text = format!("{protocol} {source}:{port} > {destination}:{port} dscp {dscp} len 200");
    let Ok(packet) = text.parse::<PacketText>() else { return };
    let Ok(walk) = snapshot.walk(&packet.packet) else { return };
    for path in &walk.paths {
        let Some((file, line, list, inside)) = denied(snapshot, path) else { continue };
        if !inside || !seen.insert((file, line)) {
            continue;
        }
        let WalkEnd::Dropped { device, .. } = &path.end else { continue };
        let Some(place) = snapshot.place_of(device) else { continue };
        let message = format!(
            "access list {list} at {device} denies {protocol} port {port} marked {dscp} from {} to {}",
            from.name, to.name
        );
        let effect = "a class waits for packets that never arrive".to_owned();
        let rule = &rules::NETWORK_ACCESS_LIST_DENIES;
        found.push(snapshot.finding(place, rule, line, (message, effect)));
    }
}

/// Returns the file, the line and the list that deny a packet, and whether the port leads to another device.
fn denied(snapshot: &Snapshot, path: &WalkPath) -> Option<(String, usize, String, bool)> {
    let WalkEnd::Dropped { cause: Cause::AccessList, .. } = path.end else { return None };
    let hop = path.hops.last()?;
    let stage = hop.stages.iter().rev().find_map(|stage| match stage {
        Stage::AccessList { interface, list, decision: AccessDecision::Deny, lines, .. } => {
            Some((interface, list, lines.last()?.line))
        }
        _ => None,
    });
    let (interface, list, line) = stage?;
    let device = snapshot.place_of(&hop.device)?;
    let port = snapshot.router(device).ports.iter().position(|port| port.name == *interface)?;
    let is_inside = snapshot.link_of(super::PortId { device, port }).is_some();
    Some((hop.file.clone(), line, list.clone(), is_inside))
}
