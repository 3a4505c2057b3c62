//! Access lists between two devices that deny packets whose codepoint has a class.

use std::collections::{BTreeMap, BTreeSet};

use perhop_analysis::PacketText;
use perhop_device::AccessDecision;
use perhop_device::intent::Direction;
use perhop_qos::framing::IpVersion;
use perhop_qos::{Dscp, Packet};

use super::treatment::{Kind, Treatments, interfaces};
use super::{NetworkFinding, PortId, Snapshot};
use crate::rules;
use crate::snapshot::Site;

/// Maximum number of pairs of sites whose paths the rule computes.
const MOST_PAIRS: usize = 2000;
/// Maximum number of pairs of sites for which the rule tests one list.
const PAIRS_OF_LIST: usize = 4;
/// The protocols and ports of the test packets: RTP media, SIP over UDP and TCP, HTTPS.
const PROBES: [(&str, u16); 4] = [("udp", 16384), ("udp", 5060), ("tcp", 5060), ("tcp", 443)];

/// An access list of a port: the port, and the index of the list at the port.
type ListAt = (PortId, usize);

/// Reports access lists inside the network that deny packets whose codepoint has a class.
pub(super) fn check(snapshot: &Snapshot, treatments: &Treatments, found: &mut Vec<NetworkFinding>) {
    // One codepoint represents all codepoints with the same treatment.
    let mut codepoints: BTreeMap<Kind, Dscp> = BTreeMap::new();
    for (dscp, kind) in &treatments.best {
        codepoints.entry(*kind).or_insert(*dscp);
    }
    let mut seen = BTreeSet::new();
    let sites = snapshot.sites();
    for ((id, place), pairs) in lists_on_ways(snapshot, &sites) {
        for (from, to) in pairs {
            for dscp in codepoints.values() {
                for (protocol, port) in PROBES {
                    let probe = Probe { from, to, protocol, port, dscp: *dscp };
                    if let Some(finding) = denied(snapshot, id, place, &probe, &mut seen) {
                        found.push(finding);
                    }
                }
            }
        }
    }
}

/// A packet between two sites.
struct Probe<'s> {
    from: &'s Site,
    to: &'s Site,
    protocol: &'s str,
    port: u16,
    dscp: Dscp,
}

impl Probe<'_> {
    fn packet(&self) -> Option<Packet> {
        let Probe { from, to, protocol, port, dscp } = self;
        let (from, to) = (from.address, to.address);
        let text = format!("{protocol} {from}:{port} > {to}:{port} dscp {dscp} len 200");
        text.parse::<PacketText>().ok().map(|read| read.packet)
    }
}

/// Returns the access lists of ports that lead to another device. For each list, returns the pairs of sites
/// whose packets pass the list.
fn lists_on_ways<'s>(snapshot: &Snapshot, sites: &'s [Site]) -> BTreeMap<ListAt, Vec<(&'s Site, &'s Site)>> {
    let has_lists = |(id, _): &(PortId, _)| !snapshot.port(*id).forwarding.access_groups.is_empty();
    if !snapshot.inside_ports().any(|port| has_lists(&port)) {
        return BTreeMap::new();
    }
    let is_pair = |(from, to): &(&Site, &Site)| {
        from.device != to.device && from.address.is_ipv4() && to.address.is_ipv4()
    };
    let pairs = sites.iter().flat_map(|from| sites.iter().map(move |to| (from, to))).filter(is_pair);
    let mut found: BTreeMap<ListAt, Vec<(&Site, &Site)>> = BTreeMap::new();
    for (from, to) in pairs.take(MOST_PAIRS) {
        for (id, direction) in snapshot.ports_between(from, to) {
            let groups = snapshot.port(id).forwarding.access_groups.iter().enumerate();
            let own =
                groups.filter(|(_, group)| group.direction == direction && group.version == IpVersion::Ipv4);
            for (place, _) in own {
                let pairs = found.entry((id, place)).or_default();
                if pairs.len() < PAIRS_OF_LIST {
                    pairs.push((from, to));
                }
            }
        }
    }
    found
}

/// Returns a finding if the list denies a test packet and no earlier finding is at the same line.
fn denied(
    snapshot: &Snapshot,
    id: PortId,
    place: usize,
    probe: &Probe,
    seen: &mut BTreeSet<(usize, usize)>,
) -> Option<NetworkFinding> {
    let router = snapshot.router(id.device);
    let group = &snapshot.port(id).forwarding.access_groups[place];
    let list = router.forwarding.access_lists.get(&group.list)?;
    let (decision, entry) = list.decide(&interfaces(router), &probe.packet()?);
    let line = entry.unwrap_or(group.line);
    if decision == AccessDecision::Permit || !seen.insert((id.device, line)) {
        return None;
    }
    let message = format!(
        "access list {} of {} denies {} port {} marked {} from {} to {}",
        group.list,
        snapshot.port_name(id),
        probe.protocol,
        probe.port,
        probe.dscp,
        probe.from.name,
        probe.to.name
    );
    let effect = "the packets never reach their class".to_owned();
    Some(snapshot.finding(id.device, &rules::NETWORK_ACCESS_LIST_DENIES, line, (message, effect)))
}

impl Snapshot<'_> {
    /// Returns the ports on the path between two sites that lead to other devices. The path ends at a tunnel.
    fn ports_between(&self, from: &Site, to: &Site) -> Vec<(PortId, Direction)> {
        self.place_of(&from.device).map_or_else(Vec::new, |device| self.ports_to(device, to.address))
    }
}
