//! [`Crossing`]: the link over which the packets of a static route leave, and findings about missing routes.

use std::net::IpAddr;

use perhop_device::{Route, RouteOrigin, RouteTarget};

use super::{NetworkFinding, PortId, Snapshot};
use crate::forwarding::addresses;
use crate::rules;
use crate::snapshot::{Site, carries_packets};

/// The link over which the packets of a static route leave.
pub(super) struct Crossing {
    /// The port through which the packets leave.
    pub(super) leaves: PortId,
    /// The port at the other end of the link, with the address of the next hop.
    pub(super) arrives: PortId,
}

/// Returns the link over which the packets of a route leave the device, if the link has two ends.
pub(super) fn crossing(snapshot: &Snapshot, device: usize, route: &Route) -> Option<Crossing> {
    let (RouteTarget::NextHop(hop) | RouteTarget::Interface { next_hop: Some(hop), .. }) = &route.via else {
        return None;
    };
    let router = snapshot.router(device);
    let port = router
        .ports
        .iter()
        .position(|port| carries_packets(router, port) && addresses(port).any(|own| own.is_neighbor(*hop)))?;
    let leaves = PortId { device, port };
    let link = snapshot.link_of(leaves).filter(|link| link.ends.len() == 2)?;
    let arrives = link.ends.iter().map(|end| end.id).find(|id| *id != leaves)?;
    addresses(snapshot.port(arrives)).any(|own| own.address == *hop).then_some(Crossing { leaves, arrives })
}

/// Whether an address is in a subnet of a device, or a static route of the device leads to it. The default
/// route does not count.
pub(super) fn has_route(snapshot: &Snapshot, device: usize, address: IpAddr) -> bool {
    let router = snapshot.router(device);
    let routes = router.forwarding.routes.iter().filter(|route| route.prefix.length() > 0);
    let is_own = router.ports.iter().any(|port| addresses(port).any(|own| own.is_neighbor(address)));
    is_own || routes.into_iter().any(|route| route.prefix.contains(address.into()))
}

/// Reports a device that has no route to a site, although packets of the site arrive at a port of the device.
pub(super) fn report_missing(
    snapshot: &Snapshot,
    port: PortId,
    site: &Site,
    found: &mut Vec<NetworkFinding>,
) {
    let message = format!(
        "{} has no route to {}, but receives packets from this subnet at {}",
        snapshot.devices[port.device].name,
        site.name,
        snapshot.port_name(port)
    );
    let effect = "hosts of the subnet get no replies".to_owned();
    let line = line_of_route(snapshot, port, site.address).unwrap_or(snapshot.port(port).line);
    found.push(snapshot.finding(port.device, &rules::NETWORK_ROUTE_MISSING, line, (message, effect)));
}

/// Returns the line of the static route through a port after which the missing route to `address` belongs:
/// the route with the highest destination up to `address`, otherwise the route with the lowest destination.
fn line_of_route(snapshot: &Snapshot, port: PortId, address: IpAddr) -> Option<usize> {
    let routes = snapshot.router(port.device).forwarding.routes.iter();
    let own = routes.filter(|route| route.origin == RouteOrigin::Configured && route.prefix.length() > 0);
    let through = own.filter(|route| {
        crossing(snapshot, port.device, route).is_some_and(|crossing| crossing.leaves == port)
    });
    let (before, after): (Vec<&Route>, Vec<&Route>) =
        through.partition(|route| route.prefix.network() <= address);
    let nearest = before.into_iter().max_by_key(|route| route.prefix.network());
    nearest.or_else(|| after.into_iter().min_by_key(|route| route.prefix.network())).map(|route| route.line)
}
