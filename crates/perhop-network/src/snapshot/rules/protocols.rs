//! Access lists that deny packets of a routing protocol or of a tunnel.

use std::net::IpAddr;

use perhop_analysis::PacketText;
use perhop_device::intent::Direction;
use perhop_device::{AccessDecision, RoutingProtocol, TunnelEnds, TunnelSource};
use perhop_qos::Packet;
use perhop_qos::framing::IpVersion;

use super::treatment::interfaces;
use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;

/// OSPF is protocol 89, and its hellos have this destination address (RFC 2328 §A.1).
const OSPF: u8 = 89;
const ALL_ROUTERS: &str = "224.0.0.5";
/// ESP is protocol 50 (RFC 4303 §2). The exchange of keys (IKE) uses this port of UDP (RFC 7296 §2).
const ESP: u8 = 50;
const KEYS: u16 = 500;
/// A host of the Internet (RFC 5737).
const ANY_HOST: &str = "203.0.113.77";

/// Reports access lists that deny hellos of OSPF, and access lists on the path of a tunnel that deny packets
/// of the tunnel.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        let runs = |id: PortId| {
            let processes = &snapshot.router(id.device).forwarding.processes;
            snapshot.port(id).forwarding.routing.iter().any(|part| {
                part.passive.is_none() && processes[part.process].protocol == RoutingProtocol::Ospf
            })
        };
        let from = addresses(snapshot.port(other)).find(|address| address.address.is_ipv4());
        if let Some(from) = from.filter(|_| runs(own) && runs(other)) {
            let hello = format!("{OSPF} {} > {ALL_ROUTERS}", from.address);
            let what = format!("hellos of OSPF from {}", snapshot.port_name(other));
            check_lists(snapshot, (own, Direction::Input), &hello, &what, found);
        }
    }
    for device in 0..snapshot.devices.len() {
        for port in 0..snapshot.router(device).ports.len() {
            check_tunnel(snapshot, PortId { device, port }, found);
            check_encrypted(snapshot, PortId { device, port }, found);
        }
    }
}

fn check_tunnel(snapshot: &Snapshot, id: PortId, found: &mut Vec<NetworkFinding>) {
    let Some(tunnel) = &snapshot.port(id).forwarding.tunnel else { return };
    let source = tunnel.source.as_ref().map(|at| &at.value);
    let (Some(TunnelSource::Address(from)), Some(to)) = (source, tunnel.destination) else { return };
    if tunnel.ends != TunnelEnds::One {
        return;
    }
    let text = format!("{} {from} > {}", tunnel.protocol.0, to.value);
    let what = format!("packets of the tunnel {}", snapshot.port_name(id));
    for place in snapshot.ports_to(id.device, to.value) {
        check_lists(snapshot, place, &text, &what, found);
    }
}

/// Reports the access lists at the source of encrypted tunnels that permit only one of the exchange of keys
/// and the encrypted packets. A tunnel needs both.
fn check_encrypted(snapshot: &Snapshot, id: PortId, found: &mut Vec<NetworkFinding>) {
    let (port, member) = (snapshot.port(id), &snapshot.devices[id.device].device);
    let source = port.forwarding.tunnel.as_ref().and_then(|tunnel| tunnel.source.as_ref());
    let Some(TunnelSource::Interface(name)) = source.map(|at| &at.value) else { return };
    let below = snapshot.router(id.device).ports.iter().position(|port| port.name == *name);
    let Some(below) = below.filter(|_| member.line_in_block(port.line, "tunnel protection").is_some()) else {
        return;
    };
    let below = PortId { device: id.device, port: below };
    let own = addresses(snapshot.port(below)).find(|own| own.address.is_ipv4());
    let Some(own) = own.map(|own| own.address) else { return };
    let mut results = [
        (format!("{ESP} {ANY_HOST} > {own}"), "packets of ESP"),
        (format!("udp {ANY_HOST}:{KEYS} > {own}:{KEYS}"), "the exchange of keys"),
    ]
    .map(|(text, what)| {
        let what = format!("{what} for {}", snapshot.port_name(id));
        let mut denied = Vec::new();
        check_lists(snapshot, (below, Direction::Input), &text, &what, &mut denied);
        denied
    });
    if results.iter().any(Vec::is_empty) {
        for denied in &mut results {
            found.append(denied);
        }
    }
}

/// Reports the access lists of a port in one direction that deny a packet, at the denying entry. If this
/// entry denies all packets, the finding is at the list, because an earlier entry is missing.
fn check_lists(
    snapshot: &Snapshot,
    (id, direction): (PortId, Direction),
    text: &str,
    what: &str,
    found: &mut Vec<NetworkFinding>,
) {
    let Some(packet) = packet(text) else { return };
    let router = snapshot.router(id.device);
    let names = interfaces(router);
    for group in &snapshot.port(id).forwarding.access_groups {
        let is_own = group.direction == direction && group.version == IpVersion::Ipv4;
        let Some(list) = router.forwarding.access_lists.get(&group.list).filter(|_| is_own) else { continue };
        let (decision, entry) = list.decide(&names, &packet);
        if decision == AccessDecision::Permit {
            continue;
        }
        let other = Packet { protocol: perhop_qos::packet::Protocol(253), ..packet };
        let denies_all = list
            .entries
            .iter()
            .any(|rule| Some(rule.line) == entry && rule.condition.matches(&names, &other));
        let line = entry.filter(|_| !denies_all).unwrap_or(list.line);
        let message = format!("access list {} of {} denies {what}", group.list, snapshot.port_name(id));
        let effect = "the router loses its neighbors, or no packet passes the tunnel".to_owned();
        let rule = &rules::NETWORK_PROTOCOL_DENIED;
        found.push(snapshot.finding(id.device, rule, line.max(1), (message, effect)));
    }
}

fn packet(text: &str) -> Option<Packet> {
    text.parse::<PacketText>().ok().map(|read| read.packet)
}

impl Snapshot<'_> {
    /// Returns the ports on the path from a device to an address. The path follows routes only, not policies.
    pub(super) fn ports_to(&self, from: usize, to: IpAddr) -> Vec<(PortId, Direction)> {
        let mut found = Vec::new();
        let mut device = from;
        for _ in 0..self.devices.len() {
            let Some((leaves, next)) = self.next_device(device, to) else { break };
            found.push((leaves, Direction::Output));
            found.push((next, Direction::Input));
            device = next.device;
        }
        found
    }
}
