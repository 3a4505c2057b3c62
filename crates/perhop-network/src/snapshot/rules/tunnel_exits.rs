//! Tunnels whose packets leave through a port that is not the source of the tunnel.

use std::net::IpAddr;

use perhop_device::{LineKind, Port, Route, RouteTarget, Tunnel, TunnelEnds, TunnelSource};

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::{Decision, Origin, addresses};
use crate::rules;
use crate::snapshot::carries_packets;

/// The line of a policy for packets that the device itself sends.
const LOCAL_POLICY: &str = "ip local policy ";

/// Reports a tunnel whose source is a port, if no route to the destination of the tunnel leaves through this
/// port.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        // A local policy can select the output port of the device's own packets by their source.
        let mut lines = snapshot.devices[device].device.numbered_lines();
        if lines.any(|(_, text)| text.starts_with(LOCAL_POLICY)) {
            continue;
        }
        for (port, own) in router.ports.iter().enumerate() {
            let Some(tunnel) = own.forwarding.tunnel.as_ref().filter(|_| carries_packets(router, own)) else {
                continue;
            };
            check_tunnel(snapshot, PortId { device, port }, tunnel, found);
        }
    }
}

fn check_tunnel(snapshot: &Snapshot, id: PortId, tunnel: &Tunnel, found: &mut Vec<NetworkFinding>) {
    let router = snapshot.router(id.device);
    let (Some(to), Some(source), TunnelEnds::One) = (tunnel.destination, tunnel.source.as_ref(), tunnel.ends)
    else {
        return;
    };
    let TunnelSource::Interface(name) = &source.value else { return };
    let Some(from) = router.ports.iter().find(|port| port.name == *name) else { return };
    // A loopback has no neighbors, so its packets leave by any port.
    let is_virtual = from.kind == Some(LineKind::Virtual) && from.forwarding.below.is_empty();
    let table = from.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str());
    let leads_there = |route: &Route| {
        route.vrf.as_deref() == table && route.prefix.contains(to.value.into()) && leads_to(route, from)
    };
    if is_virtual || router.forwarding.routes.iter().any(leads_there) {
        return;
    }
    let decision = snapshot.devices[id.device].device.table().decide(table, to.value);
    let Decision::Leaves(exit) = decision else { return };
    let is_written = exit.origin == Origin::Static && exit.equals == 0;
    let is_below = from.forwarding.below.contains(&exit.port.interface) || exit.port.name == from.name;
    if !is_written || is_below || exit.port.forwarding.tunnel.is_some() {
        return;
    }
    let message = format!(
        "{} starts from {name}, but the only route to its other end {} leaves through {}",
        snapshot.port_name(id),
        to.value,
        exit.port.name
    );
    let effect =
        "the tunnel depends on the other port, whose provider may drop packets with this source".to_owned();
    let rule = &rules::NETWORK_ROUTE_MISSING;
    found.push(snapshot.finding(id.device, rule, source.line, (message, effect)));
}

/// Whether a route leaves through a port.
fn leads_to(route: &Route, port: &Port) -> bool {
    let is_near = |hop: &IpAddr| addresses(port).any(|own| own.is_neighbor(*hop));
    match &route.via {
        RouteTarget::Interface { name, .. } => port.name == **name || port.interface == **name,
        RouteTarget::NextHop(hop) => is_near(hop),
        RouteTarget::Learned => true,
        RouteTarget::Discard => false,
    }
}
