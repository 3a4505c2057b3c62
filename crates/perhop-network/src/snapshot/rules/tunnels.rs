//! Tunnels whose other end has no tunnel back, or whose other end has a tunnel with other addresses.

use std::collections::BTreeMap;
use std::net::IpAddr;

use perhop_device::intent::At;
use perhop_device::{Port, Tunnel, TunnelEnds, TunnelSource};

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::carries_packets;

/// Reports tunnels to a device without a tunnel back, and pairs of tunnels whose sources and destinations do
/// not match.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for link in snapshot.links.iter().filter(|link| link.is_tunnel && link.ends.len() == 2) {
        let [first, second] = [link.ends[0].id, link.ends[1].id];
        check_pair(snapshot, first, second, found);
        check_pair(snapshot, second, first, found);
    }
    for device in 0..snapshot.devices.len() {
        for port in 0..snapshot.router(device).ports.len() {
            let id = PortId { device, port };
            if carries_packets(snapshot.router(device), snapshot.port(id)) {
                check_back(snapshot, id, found);
            }
        }
    }
    check_maps(snapshot, found);
}

/// A mapping of a next hop to an outer destination, with its tunnel.
type Mapped = (PortId, perhop_device::TunnelMap);

/// Reports a mapping whose outer destination is not the source of the tunnel that has the next hop, if this
/// is the only wrong mapping and other devices have the correct mapping.
fn check_maps(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let mut by_inside: BTreeMap<IpAddr, Vec<Mapped>> = BTreeMap::new();
    for (id, _) in snapshot.inside_ports().filter(|(_, link)| link.is_tunnel) {
        let maps = tunnel(snapshot, id).map_or(&[][..], |tunnel| &tunnel.maps);
        for map in maps.iter().filter(|map| map.line > 0) {
            by_inside.entry(map.inside).or_default().push((id, *map));
        }
    }
    for (inside, maps) in &by_inside {
        let Some(from) = snapshot.owner(*inside).and_then(|id| source(snapshot, id)) else { continue };
        let is_right = |(_, map): &&Mapped| map.outside == from.value;
        let others = maps.iter().filter(is_right).count();
        let mut wrong = maps.iter().filter(|map| !is_right(map));
        let (Some((id, map)), None) = (wrong.next(), wrong.next()) else { continue };
        if others == 0 {
            continue;
        }
        let message = format!(
            "{} sends packets for {inside} to the outer address {}, but the tunnel of {inside} has the source {}",
            snapshot.port_name(*id),
            map.outside,
            from.value
        );
        let effect = "the device does not register at the other end: no packet passes the tunnel".to_owned();
        found.push(snapshot.finding(id.device, &rules::NETWORK_TUNNEL_ONE_WAY, map.line, (message, effect)));
    }
}

fn tunnel<'s>(snapshot: &'s Snapshot, id: PortId) -> Option<&'s Tunnel> {
    snapshot.port(id).forwarding.tunnel.as_ref()
}

fn source(snapshot: &Snapshot, id: PortId) -> Option<At<IpAddr>> {
    let at = tunnel(snapshot, id)?.source.as_ref()?;
    let address = match &at.value {
        TunnelSource::Address(address) => *address,
        TunnelSource::Interface(name) => {
            let port = snapshot.router(id.device).ports.iter().find(|port| port.name == *name)?;
            addresses(port).next()?.address
        }
    };
    Some(At::new(at.line, address))
}

fn has_address(snapshot: &Snapshot, device: usize, address: IpAddr) -> bool {
    snapshot.router(device).ports.iter().any(|port| addresses(port).any(|own| own.address == address))
}

/// Compares the destination of one end with the source of the other end. The finding is at the line with an
/// address that the device of `other` does not have, otherwise at both lines.
fn check_pair(snapshot: &Snapshot, own: PortId, other: PortId, found: &mut Vec<NetworkFinding>) {
    let ends = tunnel(snapshot, own).map(|tunnel| (tunnel.destination, tunnel.ends));
    let Some((Some(to), TunnelEnds::One)) = ends else { return };
    let Some(from) = source(snapshot, other) else { return };
    if to.value == from.value {
        return;
    }
    let reaches = has_address(snapshot, other.device, to.value);
    let starts = has_address(snapshot, other.device, from.value);
    let message = format!(
        "the destination of {} is {}, but the source of {} at the other end of its subnet is {}",
        snapshot.port_name(own),
        to.value,
        snapshot.port_name(other),
        from.value
    );
    let effect = format!(
        "no packet passes the tunnel: the packets of {} do not arrive at {}, or it does not accept them",
        snapshot.port_name(own),
        snapshot.port_name(other)
    );
    for (device, line, fits) in [(own.device, to.line, reaches), (other.device, from.line, starts)] {
        if !fits || reaches == starts {
            let rule = &rules::NETWORK_TUNNEL_ONE_WAY;
            found.push(snapshot.finding(device, rule, line, (message.clone(), effect.clone())));
        }
    }
}

/// Whether a device has a template for tunnels that other devices start (Cisco, `FlexVPN`).
fn has_template(snapshot: &Snapshot, device: usize) -> bool {
    let mut lines = snapshot.devices[device].device.numbered_lines();
    lines.any(|(_, text)| text.starts_with("interface Virtual-Template"))
}

/// Whether a port may be a tunnel whose destination is not known: a tunnel of Junos, IOS XR or Linux, or a
/// port that encrypts packets.
fn may_be_tunnel(port: &Port) -> bool {
    const NAMES: [&str; 9] = ["gr-", "gre", "ip-", "ipip", "lt-", "st0", "tun", "vti", "wg"];
    if let Some(tunnel) = &port.forwarding.tunnel {
        return tunnel.destination.is_none();
    }
    let name = port.name.to_ascii_lowercase();
    port.forwarding.encryption.is_some() || NAMES.iter().any(|start| name.starts_with(start))
}

/// Reports a tunnel to a device that has no tunnel back.
fn check_back(snapshot: &Snapshot, id: PortId, found: &mut Vec<NetworkFinding>) {
    let Some(to) = tunnel(snapshot, id).and_then(|tunnel| tunnel.destination) else { return };
    let Some(far) = snapshot.owner(to.value) else { return };
    let leads_back = snapshot.router(far.device).ports.iter().any(|port| {
        port.forwarding.tunnel.as_ref().is_some_and(|back| match back.destination {
            Some(back) => snapshot.owner(back.value).is_some_and(|owner| owner.device == id.device),
            None => back.ends == TunnelEnds::Several,
        })
    });
    // The destination of the other end may be an address that this device receives at run time. In this case,
    // the common subnet identifies the pair.
    let link = snapshot.link_of(id);
    let is_pair = link.is_some_and(|link| link.ends.iter().any(|end| end.id.device == far.device));
    let member = &snapshot.devices[id.device].device;
    // A tunnel of traffic engineering carries packets in one direction (RFC 3209).
    let is_path = member.line_in_block(snapshot.port(id).line, "tunnel mode mpls").is_some();
    let is_unknown =
        snapshot.router(far.device).ports.iter().any(may_be_tunnel) || has_template(snapshot, far.device);
    if leads_back || is_pair || is_path || is_unknown {
        return;
    }
    let message = format!(
        "{} leads to {} of {}, which has no tunnel back",
        snapshot.port_name(id),
        to.value,
        snapshot.devices[far.device].name
    );
    let effect = "the other end drops the packets of the tunnel".to_owned();
    found.push(snapshot.finding(id.device, &rules::NETWORK_TUNNEL_ONE_WAY, to.line, (message, effect)));
}
