//! Ports that would be neighbors, and routes to neighbors that do not exist.

use std::net::IpAddr;

use perhop_device::{InterfaceAddress, Port, PortRole, Route, RouteTarget, RoutingProtocol};

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::{Decision, addresses};
use crate::rules;
use crate::snapshot::carries_packets;

/// Reports ports that are shut down or in another subnet than their neighbor, and next hops without a device.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let ports: Vec<PortId> = all_ports(snapshot).collect();
    for id in &ports {
        check_down(snapshot, *id, &ports, found);
        check_length(snapshot, *id, &ports, found);
    }
    for device in 0..snapshot.devices.len() {
        check_next_hops(snapshot, device, found);
    }
}

fn all_ports<'s>(snapshot: &'s Snapshot) -> impl Iterator<Item = PortId> + 's {
    (0..snapshot.devices.len()).flat_map(move |device| {
        let count = snapshot.router(device).ports.len();
        (0..count).map(move |port| PortId { device, port })
    })
}

fn is_interface(port: &Port) -> bool {
    port.forwarding.role == PortRole::Interface && port.forwarding.tunnel.is_none()
}

fn is_up(snapshot: &Snapshot, id: PortId) -> bool {
    carries_packets(snapshot.router(id.device), snapshot.port(id))
}

/// Reports a port that is shut down, where the port of another device in its subnet is up and alone.
fn check_down(snapshot: &Snapshot, own: PortId, ports: &[PortId], found: &mut Vec<NetworkFinding>) {
    let port = snapshot.port(own);
    let Some(line) = port.forwarding.shutdown_line.filter(|_| is_interface(port)) else { return };
    let waits = ports.iter().copied().find(|other| {
        other.device != own.device
            && is_interface(snapshot.port(*other))
            && is_up(snapshot, *other)
            && snapshot.link_of(*other).is_none()
            && shares_subnet(port, snapshot.port(*other))
    });
    let Some(other) = waits else { return };
    let message = format!(
        "{} is shut down, and {} at the other end of its subnet is up",
        snapshot.port_name(own),
        snapshot.port_name(other)
    );
    let effect = "packets take another way, or have none".to_owned();
    found.push(snapshot.finding(own.device, &rules::NETWORK_PORT_DOWN, line, (message, effect)));
}

fn shares_subnet(port: &Port, other: &Port) -> bool {
    addresses(port).any(|own| addresses(other).any(|address| same_subnet(own, address)))
}

fn same_subnet(own: InterfaceAddress, other: InterfaceAddress) -> bool {
    own.prefix_length == other.prefix_length && own.is_neighbor(other.address)
}

/// Reports a port whose subnet has the address of another device's port with another length of the prefix.
fn check_length(snapshot: &Snapshot, own: PortId, ports: &[PortId], found: &mut Vec<NetworkFinding>) {
    let port = snapshot.port(own);
    if !is_interface(port) || !is_up(snapshot, own) {
        return;
    }
    for address in addresses(port).filter(|address| !is_host(*address)) {
        for other in ports.iter().filter(|other| other.device != own.device) {
            let neighbor = snapshot.port(*other);
            let is_apart = is_interface(neighbor)
                && is_up(snapshot, *other)
                && vrf(port) == vrf(neighbor)
                && (snapshot.link_of(own).is_none() || snapshot.link_of(*other).is_none());
            let theirs = addresses(neighbor).filter(|_| is_apart).find(|theirs| {
                !is_host(*theirs)
                    && theirs.prefix_length != address.prefix_length
                    && (address.is_neighbor(theirs.address) || theirs.is_neighbor(address.address))
            });
            let Some(theirs) = theirs else { continue };
            let message = format!(
                "{} is in a subnet of /{}, and {} in one of /{} with its address",
                snapshot.port_name(own),
                address.prefix_length,
                snapshot.port_name(*other),
                theirs.prefix_length
            );
            let effect =
                "routing protocols do not see each other, and some hosts are out of reach".to_owned();
            let rule = &rules::NETWORK_SUBNET_DIFFERS;
            found.push(snapshot.finding(own.device, rule, address.line, (message, effect)));
        }
    }
}

fn vrf(port: &Port) -> Option<&str> {
    port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str())
}

fn is_host(address: InterfaceAddress) -> bool {
    address.subnet().is_none_or(|subnet| subnet.host().is_some())
}

/// Reports static routes to a next hop that no device of the link has.
fn check_next_hops(snapshot: &Snapshot, device: usize, found: &mut Vec<NetworkFinding>) {
    let router = snapshot.router(device);
    for route in &router.forwarding.routes {
        let (RouteTarget::NextHop(hop) | RouteTarget::Interface { next_hop: Some(hop), .. }) = &route.via
        else {
            continue;
        };
        let mut near = router.ports.iter().enumerate().filter(|(_, port)| {
            addresses(port).any(|own| own.is_neighbor(*hop)) && carries_packets(router, port)
        });
        let Some((port, _)) = near.next() else {
            check_far_hop(snapshot, device, route, *hop, found);
            continue;
        };
        let id = PortId { device, port };
        // Without another device on the link, the next hop may be one that is not in the folder.
        let Some(link) = snapshot.link_of(id).filter(|link| !has_address(snapshot, &link.ends, *hop)) else {
            continue;
        };
        let names: Vec<&str> = link.ends.iter().map(|end| end.device.as_str()).collect();
        let message = format!(
            "the next hop {hop} is none of the devices on the link of {} ({})",
            snapshot.port_name(id),
            names.join(", ")
        );
        let effect =
            "packets of this route are lost, unless a device outside the folder has the address".to_owned();
        let rule = &rules::NETWORK_NEXT_HOP_UNKNOWN;
        found.push(snapshot.finding(device, rule, route.line, (message, effect)));
    }
}

/// Reports a route whose next hop is in no subnet of the device, and that no route but the default leads to.
fn check_far_hop(
    snapshot: &Snapshot,
    device: usize,
    route: &Route,
    hop: IpAddr,
    found: &mut Vec<NetworkFinding>,
) {
    let member = &snapshot.devices[device].device;
    let learns =
        member.router().forwarding.processes.iter().any(|one| one.protocol == RoutingProtocol::Other);
    let is_known = match member.table().decide(route.vrf.as_deref(), hop) {
        Decision::Leaves(exit) => exit.prefix.is_none_or(|prefix| !prefix.ends_with("/0")),
        Decision::Unknown(_) => false,
        Decision::Own { .. } | Decision::Discarded(_) => true,
    };
    if is_known || learns {
        return;
    }
    let message = format!("no subnet of {} has the next hop {hop}", snapshot.devices[device].name);
    let effect = "the device does not use the route".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_NEXT_HOP_UNKNOWN, route.line, (message, effect)));
}

fn has_address(snapshot: &Snapshot, ends: &[crate::snapshot::LinkEnd], address: IpAddr) -> bool {
    ends.iter().any(|end| {
        let port = snapshot.port(end.id);
        let shared = port.forwarding.shared_addresses.iter().map(|shared| shared.address);
        addresses(port).map(|own| own.address).chain(shared).any(|own| own == address)
    })
}
