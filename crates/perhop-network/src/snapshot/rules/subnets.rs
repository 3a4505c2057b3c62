//! Ports that are not neighbors although they should be, and routes to next hops that do not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_device::{InterfaceAddress, Port, PortRole, Route, RouteTarget, Router, RoutingProtocol};

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::{Decision, addresses};
use crate::rules;
use crate::snapshot::carries_packets;

/// The minimum number and fraction of host subnets with the same size. Below these minimums, the rule reports
/// no subnet of another size.
const LEAST_SITES: usize = 8;
const NEARLY_ALL: f64 = 0.9;

/// Reports ports that are shut down, ports whose subnet differs from the subnet of their neighbor, and next
/// hops that no device has.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let ports: Vec<PortId> = all_ports(snapshot).collect();
    let is_waiting = |id: &PortId| {
        let has_address = addresses(snapshot.port(*id)).next().is_some();
        has_address && is_up(snapshot, *id) && snapshot.link_of(*id).is_none()
    };
    let waiting: Vec<PortId> = ports.iter().copied().filter(is_waiting).collect();
    for id in ports.iter().filter(|id| addresses(snapshot.port(**id)).next().is_some()) {
        check_down(snapshot, *id, &waiting, found);
    }
    check_lengths(snapshot, &ports, found);
    let hops = NextHops::new(snapshot);
    for device in 0..snapshot.devices.len() {
        check_next_hops(snapshot, &hops, device, found);
    }
    check_site_lengths(snapshot, found);
}

/// Reports the only host subnet with a longer prefix than the usual one, if it is half of a subnet of the
/// usual size.
fn check_site_lengths(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let sites: Vec<(PortId, InterfaceAddress)> = snapshot
        .host_ports()
        .into_iter()
        .flat_map(|id| addresses(snapshot.port(id)).map(move |address| (id, address)))
        .filter(|(_, address)| address.address.is_ipv4())
        .collect();
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for (_, address) in &sites {
        *counts.entry(address.prefix_length).or_default() += 1;
    }
    let Some((usual, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else { return };
    // Two or more subnets of another size are intended.
    let is_usual = count >= LEAST_SITES && count as f64 >= NEARLY_ALL * sites.len() as f64;
    if !is_usual || sites.len() - count > 1 {
        return;
    }
    for (id, address) in sites.iter().filter(|(_, address)| address.prefix_length > usual) {
        let message = format!(
            "the subnet of {} is a /{}, but {count} of {} subnets of hosts are a /{usual}",
            snapshot.port_name(*id),
            address.prefix_length,
            sites.len()
        );
        let effect = "the router cannot reach hosts in the other part of the usual subnet".to_owned();
        let rule = &rules::NETWORK_SUBNET_UNUSUAL;
        found.push(snapshot.finding(id.device, rule, address.line, (message, effect)));
    }
}

fn all_ports<'s>(snapshot: &'s Snapshot) -> impl Iterator<Item = PortId> + 's {
    (0..snapshot.devices.len()).flat_map(move |device| {
        let count = snapshot.router(device).ports.len();
        (0..count).map(move |port| PortId { device, port })
    })
}

/// Whether both ports are interfaces, or both are tunnels.
fn is_of_kind(own: &Port, other: &Port) -> bool {
    let is_interface = |port: &Port| port.forwarding.role == PortRole::Interface;
    let is_tunnel = |port: &Port| port.forwarding.tunnel.is_some();
    is_interface(own) && is_interface(other) && is_tunnel(own) == is_tunnel(other)
}

/// Returns the line that shuts down a port or its interface.
fn shutdown_line(router: &Router, port: &Port) -> Option<usize> {
    port.forwarding.shutdown_line.or_else(|| {
        let parent = port.forwarding.parent.as_ref()?;
        router.ports.iter().find(|other| other.name == *parent)?.forwarding.shutdown_line
    })
}

fn is_up(snapshot: &Snapshot, id: PortId) -> bool {
    carries_packets(snapshot.router(id.device), snapshot.port(id))
}

/// Reports a port that is shut down, if a port of another device in its subnet is up and has no neighbor.
/// `waiting` is the list of ports that are up and have no neighbor.
fn check_down(snapshot: &Snapshot, own: PortId, waiting: &[PortId], found: &mut Vec<NetworkFinding>) {
    let port = snapshot.port(own);
    let Some(line) = shutdown_line(snapshot.router(own.device), port) else { return };
    let waits = waiting.iter().copied().find(|other| {
        other.device != own.device
            && is_of_kind(port, snapshot.port(*other))
            && shares_subnet(port, snapshot.port(*other))
    });
    let Some(other) = waits else { return };
    let message = format!(
        "{} is shut down, but {} at the other end of its subnet is up",
        snapshot.port_name(own),
        snapshot.port_name(other)
    );
    let effect = "packets take another path, or have no path".to_owned();
    found.push(snapshot.finding(own.device, &rules::NETWORK_PORT_DOWN, line, (message, effect)));
}

fn shares_subnet(port: &Port, other: &Port) -> bool {
    addresses(port).any(|own| addresses(other).any(|address| same_subnet(own, address)))
}

fn same_subnet(own: InterfaceAddress, other: InterfaceAddress) -> bool {
    own.prefix_length == other.prefix_length && own.is_neighbor(other.address)
}

/// Reports ports whose subnet contains the address of a port on another device that has a different prefix
/// length.
fn check_lengths(snapshot: &Snapshot, ports: &[PortId], found: &mut Vec<NetworkFinding>) {
    let up = ports.iter().filter(|id| is_up(snapshot, **id));
    let own = |id: &PortId| {
        let id = *id;
        addresses(snapshot.port(id)).filter(|address| !is_host(*address)).map(move |address| (id, address))
    };
    let all: Vec<(PortId, InterfaceAddress)> = up.flat_map(own).collect();
    for (own, address) in &all {
        let mut reported = None;
        // The addresses are compared first, because this excludes most of the many pairs.
        for (other, theirs) in &all {
            let is_pair = theirs.prefix_length != address.prefix_length
                && (address.is_neighbor(theirs.address) || theirs.is_neighbor(address.address))
                && other.device != own.device
                && reported != Some(*other);
            if is_pair && are_apart(snapshot, *own, *other) {
                reported = Some(*other);
                report_length(snapshot, (*own, *address), (*other, *theirs), found);
            }
        }
    }
}

/// Whether two ports can be neighbors but have no common link.
fn are_apart(snapshot: &Snapshot, own: PortId, other: PortId) -> bool {
    let (port, neighbor) = (snapshot.port(own), snapshot.port(other));
    is_of_kind(port, neighbor)
        && vrf(port) == vrf(neighbor)
        && (snapshot.link_of(own).is_none() || snapshot.link_of(other).is_none())
}

fn report_length(
    snapshot: &Snapshot,
    (own, address): (PortId, InterfaceAddress),
    (other, theirs): (PortId, InterfaceAddress),
    found: &mut Vec<NetworkFinding>,
) {
    let message = format!(
        "the mask of {} is /{}, but {} in the same subnet has /{}",
        snapshot.port_name(own),
        address.prefix_length,
        snapshot.port_name(other),
        theirs.prefix_length
    );
    let effect = "routing protocols find no neighbor, and some hosts cannot be reached".to_owned();
    let rule = &rules::NETWORK_SUBNET_DIFFERS;
    found.push(snapshot.finding(own.device, rule, address.line, (message, effect)));
}

fn vrf(port: &Port) -> Option<&str> {
    port.forwarding.vrf.as_ref().map(|vrf| vrf.value.as_str())
}

fn is_host(address: InterfaceAddress) -> bool {
    address.subnet().is_none_or(|subnet| subnet.host().is_some())
}

/// Reports static routes whose next hop is not an address of any device on the link.
fn check_next_hops(snapshot: &Snapshot, hops: &NextHops, device: usize, found: &mut Vec<NetworkFinding>) {
    let router = snapshot.router(device);
    for route in &router.forwarding.routes {
        check_interface(snapshot, device, route, found);
        let (RouteTarget::NextHop(hop) | RouteTarget::Interface { next_hop: Some(hop), .. }) = &route.via
        else {
            continue;
        };
        let is_own = |port: &&Port| {
            vrf(port) == route.vrf.as_deref() && addresses(port).any(|own| own.address == *hop)
        };
        if let Some(port) = router.ports.iter().find(is_own) {
            report_own_hop(snapshot, device, route, (*hop, port), found);
            continue;
        }
        let mut near = router.ports.iter().enumerate().filter(|(_, port)| {
            addresses(port).any(|own| own.is_neighbor(*hop)) && carries_packets(router, port)
        });
        let Some((port, _)) = near.next() else {
            check_far_hop(snapshot, device, route, *hop, found);
            continue;
        };
        let id = PortId { device, port };
        check_table(snapshot, id, route, *hop, found);
        // The next hop of a link with a single device can be a device outside of the folder.
        let Some(link) = snapshot.link_of(id).filter(|link| !has_address(snapshot, &link.ends, *hop)) else {
            continue;
        };
        if hops.have_other_device(*hop, device) {
            continue;
        }
        let names: Vec<&str> = link.ends.iter().map(|end| end.device.as_str()).collect();
        let message = format!(
            "the next hop {hop} is not a device on the link of {} ({})",
            snapshot.port_name(id),
            names.join(", ")
        );
        let effect =
            "packets of this route are lost, unless a device outside the folder has the address".to_owned();
        let rule = &rules::NETWORK_NEXT_HOP_UNKNOWN;
        found.push(snapshot.finding(device, rule, route.line, (message, effect)));
    }
}

/// Reports a route whose next hop is an address of the device itself. The device refuses such a line (Cisco
/// IOS: `Invalid next hop address (it's this router)`).
fn report_own_hop(
    snapshot: &Snapshot,
    device: usize,
    route: &Route,
    (hop, port): (IpAddr, &Port),
    found: &mut Vec<NetworkFinding>,
) {
    let message = format!(
        "the next hop {hop} of the route to {} is the address of {} of the device itself",
        route.prefix, port.name
    );
    let effect =
        "the device does not use the route: its packets take another path, or have no path".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_NEXT_HOP_UNKNOWN, route.line, (message, effect)));
}

/// The devices that have a route to each next hop.
struct NextHops(BTreeMap<IpAddr, BTreeSet<usize>>);

impl NextHops {
    fn new(snapshot: &Snapshot) -> NextHops {
        let mut found: BTreeMap<IpAddr, BTreeSet<usize>> = BTreeMap::new();
        for device in 0..snapshot.devices.len() {
            for route in &snapshot.router(device).forwarding.routes {
                if let RouteTarget::NextHop(hop) | RouteTarget::Interface { next_hop: Some(hop), .. } =
                    &route.via
                {
                    found.entry(*hop).or_default().insert(device);
                }
            }
        }
        NextHops(found)
    }

    /// Whether another device has a route to a next hop, which shows that a device outside of the folder has
    /// the address.
    fn have_other_device(&self, hop: IpAddr, device: usize) -> bool {
        self.0.get(&hop).is_some_and(|devices| devices.iter().any(|other| *other != device))
    }
}

/// Reports a route whose next hop is only in subnets of other routing tables than the route.
fn check_table(snapshot: &Snapshot, id: PortId, route: &Route, hop: IpAddr, found: &mut Vec<NetworkFinding>) {
    let RouteTarget::NextHop(_) = route.via else { return };
    let table =
        |name: Option<&str>| name.map_or("the global table".to_owned(), |name| format!("the VRF {name}"));
    let router = snapshot.router(id.device);
    let mut near = router
        .ports
        .iter()
        .filter(|port| carries_packets(router, port) && addresses(port).any(|own| own.is_neighbor(hop)));
    if near.any(|port| vrf(port) == route.vrf.as_deref()) || vrf(snapshot.port(id)).is_none() {
        return;
    }
    let member = &snapshot.devices[id.device].device;
    let is_default = |prefix: &String| prefix.ends_with("/0");
    let decision = member.table().decide(route.vrf.as_deref(), hop);
    if matches!(decision, Decision::Leaves(exit) if !exit.prefix.as_ref().is_some_and(is_default)) {
        return;
    }
    let message = format!(
        "the next hop {hop} of a route of {} is in the subnet of {}, which belongs to {}",
        table(route.vrf.as_deref()),
        snapshot.port_name(id),
        table(vrf(snapshot.port(id)))
    );
    let effect =
        "the device does not use the route in this table, and the other table does not have the route"
            .to_owned();
    found.push(snapshot.finding(id.device, &rules::NETWORK_NEXT_HOP_UNKNOWN, route.line, (message, effect)));
}

/// Reports a route through an interface that the device does not have.
fn check_interface(snapshot: &Snapshot, device: usize, route: &Route, found: &mut Vec<NetworkFinding>) {
    let RouteTarget::Interface { name, next_hop: None } = &route.via else { return };
    let ports = &snapshot.router(device).ports;
    let is_known = ports.iter().any(|port| port.name == **name || port.interface == **name);
    if is_known {
        return;
    }
    let message = format!(
        "the route to {} leaves via {name}, which {} does not have",
        route.prefix, snapshot.devices[device].name
    );
    let effect =
        "the device does not use the route: its packets take another path, or have no path".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_NEXT_HOP_UNKNOWN, route.line, (message, effect)));
}

/// Reports a route if no subnet and no route of the device, except the default route, contains its next hop.
fn check_far_hop(
    snapshot: &Snapshot,
    device: usize,
    route: &Route,
    hop: IpAddr,
    found: &mut Vec<NetworkFinding>,
) {
    let member = &snapshot.devices[device].device;
    let is_unknown = |protocol| matches!(protocol, RoutingProtocol::Eigrp | RoutingProtocol::Other);
    let learns = member.router().forwarding.processes.iter().any(|process| is_unknown(process.protocol));
    let is_known = match member.table().decide(route.vrf.as_deref(), hop) {
        Decision::Leaves(exit) => exit.prefix.is_none_or(|prefix| !prefix.ends_with("/0")),
        Decision::Unknown(_) => false,
        Decision::Own { .. } | Decision::Discarded(_) => true,
    };
    // The device can learn a route to a next hop that is in a subnet of another device.
    let is_somewhere = all_ports(snapshot)
        .any(|id| addresses(snapshot.port(id)).any(|own| own.prefix_length > 0 && own.is_neighbor(hop)));
    if is_known || learns && is_somewhere {
        return;
    }
    let message = format!("no subnet of {} contains the next hop {hop}", snapshot.devices[device].name);
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
