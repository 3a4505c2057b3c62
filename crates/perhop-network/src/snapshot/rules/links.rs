//! The two ends of a link that do not fit each other, and neighbors that do not become ones.

use perhop_device::{Port, PortRouting, RoutingProtocol, TunnelEnds};
use perhop_qos::ByteSize;
use perhop_qos::framing::Header;

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// The longest IP packet of Ethernet and of serial lines, where nothing sets another one (RFC 894).
const USUAL_MTU: u64 = 1500;

/// Reports links whose ends differ in what both must agree on.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for [own, other] in snapshot.wires() {
        check_mtu(snapshot, own, other, found);
        check_tags(snapshot, own, other, found);
        check_neighbors(snapshot, own, other, found);
        check_costs(snapshot, own, other, found);
    }
    check_duplicates(snapshot, found);
    check_tunnels(snapshot, found);
}

/// Reports the end with the shorter packets: longer ones are fragmented there, or dropped.
fn check_mtu(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    let mtu = |id: PortId| snapshot.port(id).wire.mtu.map_or(USUAL_MTU, ByteSize::as_bytes);
    let (short, long) = (mtu(own), mtu(other));
    // Each end that sets the value is reported at its own line; one line is enough where both do.
    let line = snapshot.port(own).forwarding.mtu_line;
    let Some(line) = line.filter(|_| short != long) else { return };
    if snapshot.port(other).forwarding.mtu_line.is_some() && short > long {
        return;
    }
    let message = format!(
        "{} takes packets of {short} bytes, and {} at the other end of the link {long}",
        snapshot.port_name(own),
        snapshot.port_name(other)
    );
    let effect =
        "one end sends packets that the other fragments or drops; OSPF does not become adjacent".to_owned();
    found.push(snapshot.finding(own.device, &rules::NETWORK_MTU_DIFFERS, line, (message, effect)));
}

/// Returns the tags of frames of a port, the outermost last.
fn tags(port: &Port) -> Vec<u16> {
    let headers = port.wire.headers.headers().iter();
    headers
        .filter_map(|header| match header {
            Header::Vlan(tag) => Some(tag.id),
            _ => None,
        })
        .collect()
}

fn check_tags(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    let (here, there) = (tags(snapshot.port(own)), tags(snapshot.port(other)));
    let Some(line) = snapshot.port(own).forwarding.tag_line.filter(|_| here != there) else { return };
    // Switches between both ends may change tags; two routers that both tag usually see each other's tags.
    if here.is_empty() || there.is_empty() {
        return;
    }
    let message = format!(
        "{} tags frames with VLAN {}, and {} at the other end of the subnet with {}",
        snapshot.port_name(own),
        numbers(&here),
        snapshot.port_name(other),
        numbers(&there)
    );
    let effect = "the ends do not reach each other, unless a switch between them changes the tag".to_owned();
    found.push(snapshot.finding(own.device, &rules::NETWORK_TAG_DIFFERS, line, (message, effect)));
}

fn numbers(tags: &[u16]) -> String {
    tags.iter().map(u16::to_string).collect::<Vec<_>>().join(" in ")
}

/// Reports an end of a link that keeps two routers of one protocol from becoming neighbors.
fn check_neighbors(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    for protocol in [RoutingProtocol::Ospf, RoutingProtocol::Isis] {
        let part = |id: PortId| {
            let processes = &snapshot.router(id.device).forwarding.processes;
            let parts = snapshot.port(id).forwarding.routing.iter();
            parts.filter(|part| processes[part.process].protocol == protocol).min_by_key(|part| part.process)
        };
        let Some((line, because)) = obstacle(part(own), part(other)) else { continue };
        // The end that does not take part at all has no line: its port is reported.
        let (Some(theirs), line) = (part(other), line.unwrap_or(snapshot.port(own).line)) else { continue };
        let runs =
            snapshot.router(own.device).forwarding.processes.iter().any(|one| one.protocol == protocol);
        if !runs || theirs.passive.is_some() {
            continue;
        }
        let name = if protocol == RoutingProtocol::Ospf { "OSPF" } else { "IS-IS" };
        let message = format!(
            "{} and {} do not become neighbors in {name}: {because}",
            snapshot.port_name(own),
            snapshot.port_name(other)
        );
        let effect = "packets take another way, or have none".to_owned();
        found.push(snapshot.finding(own.device, &rules::NETWORK_NEIGHBORS_MISSING, line, (message, effect)));
    }
}

/// Returns the obstacle at one end, with its line, where the other end waits for a neighbor.
fn obstacle(own: Option<&PortRouting>, other: Option<&PortRouting>) -> Option<(Option<usize>, String)> {
    let theirs = other?;
    match own {
        None => Some((None, "the first does not take part".to_owned())),
        Some(own) if own.passive.is_some() => Some((own.passive, "the first is passive".to_owned())),
        Some(own) if own.area != theirs.area => {
            let area = |part: &PortRouting| part.area.clone().unwrap_or_default();
            Some((Some(own.line), format!("areas {} and {}", area(own), area(theirs))))
        }
        Some(_) => None,
    }
}

/// Reports the end whose cost a line sets apart from the other end's: packets take another way back.
fn check_costs(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    let parts = |id: PortId| snapshot.port(id).forwarding.routing.iter();
    let processes = |id: PortId| &snapshot.router(id.device).forwarding.processes;
    for here in parts(own) {
        let protocol = processes(own)[here.process].protocol;
        let Some(there) = parts(other).find(|part| processes(other)[part.process].protocol == protocol)
        else {
            continue;
        };
        // A cost that follows from the bandwidth has the line of the process.
        let is_set = here.cost.line != processes(own)[here.process].line;
        if here.cost.value == there.cost.value || !is_set {
            continue;
        }
        let message = format!(
            "packets that leave by {} cost {}, and those of {} at the other end {}",
            snapshot.port_name(own),
            here.cost.value,
            snapshot.port_name(other),
            there.cost.value
        );
        let effect = "packets may take another way back, with other queues".to_owned();
        let rule = &rules::NETWORK_COST_DIFFERS;
        found.push(snapshot.finding(own.device, rule, here.cost.line, (message, effect)));
    }
}

fn check_duplicates(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let part = parts(snapshot);
    for duplicate in &snapshot.duplicates {
        // Networks without a link between them may use the same addresses.
        if part[duplicate.ports[0].device] != part[duplicate.ports[1].device] {
            continue;
        }
        for [own, other] in [duplicate.ports, [duplicate.ports[1], duplicate.ports[0]]] {
            let own_address = addresses(snapshot.port(own)).find(|one| one.address == duplicate.address);
            let line = own_address.map_or(snapshot.port(own).line, |address| address.line);
            let message = format!(
                "{} has the address {} that {} has",
                snapshot.port_name(own),
                duplicate.address,
                snapshot.port_name(other)
            );
            let effect =
                "the subnet is not taken for a link: packets to it may reach either of them".to_owned();
            let rule = &rules::NETWORK_ADDRESS_DUPLICATE;
            found.push(snapshot.finding(own.device, rule, line, (message, effect)));
        }
    }
}

/// Returns the number of the connected part of the network that each device is in.
fn parts(snapshot: &Snapshot) -> Vec<usize> {
    let mut part: Vec<usize> = (0..snapshot.devices.len()).collect();
    for link in &snapshot.links {
        let Some(first) = link.ends.first().map(|end| part[end.id.device]) else { continue };
        for end in &link.ends {
            let joined = part[end.id.device];
            part.iter_mut().filter(|one| **one == joined).for_each(|one| *one = first);
        }
    }
    part
}

/// Reports tunnels whose other end does not lead back.
fn check_tunnels(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        for (port, own) in router.ports.iter().enumerate() {
            let Some(tunnel) = own.forwarding.tunnel.as_ref().filter(|_| carries_packets(router, own)) else {
                continue;
            };
            let Some(to) = tunnel.destination else { continue };
            let Some(far) = snapshot.owner(to.value) else { continue };
            let leads_back = snapshot.router(far.device).ports.iter().any(|port| {
                port.forwarding.tunnel.as_ref().is_some_and(|back| match back.destination {
                    Some(back) => snapshot.owner(back.value).is_some_and(|id| id.device == device),
                    None => back.ends == TunnelEnds::Several,
                })
            });
            if leads_back {
                continue;
            }
            let id = PortId { device, port };
            let message = format!(
                "{} leads to {} of {}, which has no tunnel back",
                snapshot.port_name(id),
                to.value,
                snapshot.devices[far.device].name
            );
            let effect = "the other end drops the packets of the tunnel".to_owned();
            let rule = &rules::NETWORK_TUNNEL_ONE_WAY;
            found.push(snapshot.finding(device, rule, to.line, (message, effect)));
        }
    }
}
