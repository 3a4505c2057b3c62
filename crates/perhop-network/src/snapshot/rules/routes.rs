//! Static routes to the wrong device, missing static routes, and static routes that prefer another link than
//! the routes in the other direction.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use perhop_device::{Route, RouteOrigin, RouteTarget};

use super::crossings::{Crossing, crossing, has_route, report_missing};
use super::peers::Peers;
use super::{NetworkFinding, PortId, Snapshot, route_gaps};
use crate::forwarding::{Decision, addresses};
use crate::rules;
use crate::snapshot::Site;

/// The minimum fraction of subnets with a route back, among subnets behind neighbors with static routes.
/// Below this fraction, the rule reports no subnet without a route back.
const NEARLY_ALL: f64 = 0.75;

/// Reports static routes to the wrong neighbor, missing static routes, and static routes that are not
/// announced.
pub(super) fn check(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let sites: Vec<(usize, Site)> = snapshot
        .sites()
        .into_iter()
        .filter_map(|site| Some((snapshot.place_of(&site.device)?, site)))
        .filter(|(_, site)| site.address.is_ipv4())
        .collect();
    for device in 0..snapshot.devices.len() {
        for route in &snapshot.router(device).forwarding.routes {
            check_neighbor(snapshot, device, route, &sites, found);
        }
    }
    check_missing(snapshot, &sites, found);
    check_tunnel_defaults(snapshot, &sites, found);
    route_gaps::check(snapshot, &sites, found);
    check_announced(snapshot, found);
    check_preferences(snapshot, found);
}

/// Returns the link over which the packets of a route leave the device, if the link has two ends and is not a
/// tunnel.
fn wire_crossing(snapshot: &Snapshot, device: usize, route: &Route) -> Option<Crossing> {
    crossing(snapshot, device, route)
        .filter(|crossing| snapshot.port(crossing.leaves).forwarding.tunnel.is_none())
}

/// Reports a route to the subnet of a neighbor that leads to a different neighbor, if the different neighbor
/// has no route to the subnet or sends the packets back.
fn check_neighbor(
    snapshot: &Snapshot,
    device: usize,
    route: &Route,
    sites: &[(usize, Site)],
    found: &mut Vec<NetworkFinding>,
) {
    if route.origin != RouteOrigin::Configured || route.vrf.is_some() || route.prefix.length() == 0 {
        return;
    }
    let Some(Crossing { arrives, .. }) = crossing(snapshot, device, route) else { return };
    let inside = |site: &Site| route.prefix.contains(site.address.into());
    let Some((owner, site)) = sites.iter().find(|(_, site)| inside(site)) else { return };
    if *owner == arrives.device || *owner == device {
        return;
    }
    let onward = snapshot.devices[arrives.device].device.table().decide(None, site.address);
    let problem = match onward {
        Decision::Unknown(None) => "which has no route to it",
        Decision::Leaves(exit) => {
            let back = exit.next_hop.and_then(|hop| snapshot.owner(hop));
            if back.is_none_or(|port| port.device != device) {
                return;
            }
            "which sends its packets back"
        }
        _ => return,
    };
    let message = format!(
        "the route to {} leads to {}, {problem}: {} has the subnet",
        route.prefix, snapshot.devices[arrives.device].name, snapshot.devices[*owner].name
    );
    let effect = "packets of this route loop until they are dropped, or are dropped immediately".to_owned();
    found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_ASTRAY, route.line, (message, effect)));
}

/// Returns the port of the tunnel into which a route leads; `None` if the route leads into no tunnel.
fn enters_tunnel(snapshot: &Snapshot, device: usize, route: &Route) -> Option<PortId> {
    let router = snapshot.router(device);
    let port = router.ports.iter().position(|port| {
        port.forwarding.tunnel.is_some()
            && match &route.via {
                RouteTarget::Interface { name, .. } => port.name == **name,
                RouteTarget::NextHop(hop) => addresses(port).any(|own| own.is_neighbor(*hop)),
                RouteTarget::Discard | RouteTarget::Learned => false,
            }
    })?;
    Some(PortId { device, port })
}

/// Reports a device that has no route to a subnet of a neighbor, although the default route of the neighbor
/// leads to the device.
fn check_missing(snapshot: &Snapshot, sites: &[(usize, Site)], found: &mut Vec<NetworkFinding>) {
    let all = || 0..snapshot.devices.len();
    let routes = |device: usize| snapshot.router(device).forwarding.routes.iter();
    // Devices on the path of a tunnel need no routes to the subnets behind the tunnel.
    let tunneled: Vec<&Route> = all()
        .flat_map(|device| routes(device).map(move |route| (device, route)))
        .filter(|(device, route)| {
            route.prefix.length() > 0 && enters_tunnel(snapshot, *device, route).is_some()
        })
        .map(|(_, route)| route)
        .collect();
    let is_hidden = |address: IpAddr| tunneled.iter().any(|route| route.prefix.contains(address.into()));
    let hidden: Vec<bool> = sites.iter().map(|(_, site)| is_hidden(site.address)).collect();
    let mut behind: Vec<(PortId, &Site, bool)> = Vec::new();
    for device in all() {
        for route in routes(device).filter(|route| route.prefix.length() == 0 && route.vrf.is_none()) {
            let Some(Crossing { leaves, arrives }) = wire_crossing(snapshot, device, route) else { continue };
            if !snapshot.port(leaves).forwarding.routing.is_empty() {
                continue;
            }
            let own = sites.iter().zip(&hidden).filter(|((owner, _), hidden)| *owner == device && !**hidden);
            let own: Vec<(PortId, &Site, bool)> = own
                .map(|((_, site), _)| (arrives, site, has_route(snapshot, arrives.device, site.address)))
                .collect();
            // The subnets without a route back can be behind tunnels to devices outside of the folder.
            let router = snapshot.router(device);
            let has_tunnel = router.ports.iter().any(|port| port.forwarding.tunnel.is_some());
            let is_split = has_tunnel && own.iter().any(|(_, _, is_known)| *is_known);
            behind.extend(own.into_iter().filter(|(_, _, is_known)| *is_known || !is_split));
        }
    }
    let known = behind.iter().filter(|(_, _, is_known)| *is_known).count();
    if (known as f64) < NEARLY_ALL * behind.len() as f64 {
        return;
    }
    for (port, site, _) in behind.iter().filter(|(_, _, is_known)| !is_known) {
        report_missing(snapshot, *port, site, found);
    }
    check_tunnels_back(snapshot, sites, found);
}

/// Reports a device that has no route to a subnet of a neighbor, although the default route of the neighbor
/// leads to the device through a tunnel. Requires that the device has routes to the subnets of most such
/// neighbors.
fn check_tunnel_defaults(snapshot: &Snapshot, sites: &[(usize, Site)], found: &mut Vec<NetworkFinding>) {
    let mut pairs: Vec<(PortId, &Site, bool)> = Vec::new();
    for device in 0..snapshot.devices.len() {
        let routes = snapshot.router(device).forwarding.routes.iter();
        for route in routes.filter(|route| route.prefix.length() == 0 && route.vrf.is_none()) {
            let Some(Crossing { leaves, arrives }) = crossing(snapshot, device, route) else { continue };
            let port = &snapshot.port(leaves).forwarding;
            if port.tunnel.is_none() || !port.routing.is_empty() {
                continue;
            }
            let own = || sites.iter().filter(|(owner, _)| *owner == device);
            let lacking = own().find(|(_, site)| !has_route(snapshot, arrives.device, site.address));
            let shown = lacking.or_else(|| own().next());
            pairs.extend(shown.map(|(_, site)| (arrives, site, lacking.is_none())));
        }
    }
    let known = pairs.iter().filter(|(_, _, is_known)| *is_known).count();
    if (known as f64) < NEARLY_ALL * pairs.len() as f64 {
        return;
    }
    for (port, site, _) in pairs.iter().filter(|(_, _, is_known)| !is_known) {
        report_missing(snapshot, *port, site, found);
    }
}

/// Reports a device that has no route back to a subnet of another device, if the other device reaches a
/// subnet of this device through a tunnel.
fn check_tunnels_back(snapshot: &Snapshot, sites: &[(usize, Site)], found: &mut Vec<NetworkFinding>) {
    // The tunnel of each device to each site.
    let mut ways: BTreeMap<(usize, usize), PortId> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        for route in &snapshot.router(device).forwarding.routes {
            let Some(port) = enters_tunnel(snapshot, device, route) else { continue };
            let to = sites.iter().enumerate().filter(|(_, (owner, site))| {
                *owner != device && route.prefix.length() > 0 && route.prefix.contains(site.address.into())
            });
            ways.extend(to.map(|(place, _)| ((device, place), port)));
        }
    }
    let reached: BTreeSet<usize> = ways.keys().map(|(_, to)| *to).collect();
    for (from, to) in ways.keys() {
        let owner = sites[*to].0;
        let own = sites.iter().enumerate().filter(|(_, (device, _))| device == from);
        // The subnets of the sender to which tunnels of any device lead.
        for (back, (_, site)) in own.filter(|(place, _)| reached.contains(place)) {
            if ways.contains_key(&(owner, back)) || has_route(snapshot, owner, site.address) {
                continue;
            }
            let tunnel = ways.iter().find(|((device, _), _)| *device == owner).map(|(_, port)| *port);
            if let Some(tunnel) = tunnel {
                report_missing(snapshot, tunnel, site, found);
            }
        }
    }
}

/// Reports routers that do not announce their static routes to subnets of other devices, if the other routers
/// of the protocol announce their static routes.
fn check_announced(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let mut processes: BTreeMap<String, Vec<(usize, usize, bool)>> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        if !leads_on(snapshot, device) {
            continue;
        }
        let member = &snapshot.devices[device].device;
        let own = snapshot.router(device).forwarding.processes.iter();
        for process in own.filter(|process| process.vrf.is_none()) {
            let announces = process.redistributed.iter().any(|origin| origin.value == "static");
            let name = protocol_name(member.line_text(process.line)).to_owned();
            processes.entry(name).or_default().push((device, process.line, announces));
        }
    }
    for own in processes.values() {
        let count = own.iter().filter(|(_, _, announces)| *announces).count();
        if count == 0 || (count as f64) < NEARLY_ALL * (own.len() - 1) as f64 {
            continue;
        }
        for (device, line, _) in own.iter().filter(|(_, _, announces)| !announces) {
            let message = format!(
                "{} does not announce its static routes, but {count} of {} routers with such routes do",
                snapshot.devices[*device].name,
                own.len()
            );
            let effect = "the rest of the network cannot reach hosts behind these routes".to_owned();
            found.push(snapshot.finding(*device, &rules::NETWORK_ROUTE_MISSING, *line, (message, effect)));
        }
    }
}

/// Returns the protocol that a line of a configuration starts: `router ospf 1`, `set protocols ospf area 0`,
/// `ospf {`.
fn protocol_name(line: &str) -> &str {
    let mut words = line.split_whitespace().filter(|word| !matches!(*word, "set" | "protocols" | "router"));
    words.next().unwrap_or_default()
}

/// Whether a static route of a device leads to subnets behind another router in a connected subnet or tunnel.
/// Routes to the ends of tunnels and to providers do not count, because other devices do not need them.
fn leads_on(snapshot: &Snapshot, device: usize) -> bool {
    let router = snapshot.router(device);
    let outer = |route: &Route| {
        let mut tunnels = router.ports.iter().filter_map(|port| port.forwarding.tunnel.as_ref());
        tunnels.any(|tunnel| tunnel.destination.is_some_and(|to| route.prefix.contains(to.value.into())))
    };
    let is_own = |route: &&Route| {
        route.origin == RouteOrigin::Configured
            && route.vrf.is_none()
            && route.prefix.length() > 0
            && route.prefix.host().is_none()
    };
    let mut routes = router.forwarding.routes.iter().filter(is_own);
    routes.any(|route| match &route.via {
        RouteTarget::NextHop(hop) => {
            let is_near = router.ports.iter().any(|port| addresses(port).any(|own| own.is_neighbor(*hop)));
            is_near && !outer(route)
        }
        _ => false,
    })
}

/// A route over a link, and whether it is the first choice of its device.
struct Vote {
    device: usize,
    line: usize,
    is_first: bool,
    /// Whether this is the only route of the device to the prefix.
    is_alone: bool,
}

/// Whether most single routes over backup links are backup routes. A single route is the only route of its
/// device to the prefix. A backup link is a link over which a device has a second route that is not its first
/// choice. If this is false, the distance of a single route does not express a preference.
fn lone_routes_wait(votes: &BTreeMap<[PortId; 2], Vec<Vote>>) -> bool {
    let of_reserves =
        votes.values().filter(|votes| votes.iter().any(|vote| !vote.is_alone && !vote.is_first));
    let alone = of_reserves.flatten().filter(|vote| vote.is_alone);
    alone.map(|vote| vote.is_first).collect::<Peers<bool>>().usual() == Some(&false)
}

/// Reports links that one end uses as its first choice and the other end only as a backup.
fn check_preferences(snapshot: &Snapshot, found: &mut Vec<NetworkFinding>) {
    let mut votes: BTreeMap<[PortId; 2], Vec<Vote>> = BTreeMap::new();
    for device in 0..snapshot.devices.len() {
        let routes = &snapshot.router(device).forwarding.routes;
        for route in routes.iter().filter(|route| route.origin == RouteOrigin::Configured) {
            let Some(Crossing { leaves, arrives }) = wire_crossing(snapshot, device, route) else { continue };
            let same = routes.iter().filter(|other| other.prefix == route.prefix && other.vrf == route.vrf);
            let least = same.clone().map(|other| other.distance).min().unwrap_or(route.distance);
            // The only static route to a prefix is a backup of a routing protocol if its distance is above
            // the default.
            let is_alone = same.count() == 1;
            let is_first = if is_alone { route.distance <= 1 } else { route.distance == least };
            let ends = if leaves < arrives { [leaves, arrives] } else { [arrives, leaves] };
            votes.entry(ends).or_default().push(Vote { device, line: route.line, is_first, is_alone });
        }
    }
    let waits = lone_routes_wait(&votes);
    for (ends, mut votes) in votes {
        votes.retain(|vote| waits || !(vote.is_alone && vote.is_first));
        let votes_of = |end: PortId| votes.iter().filter(move |vote| vote.device == end.device);
        if ends.iter().any(|end| votes_of(*end).next().is_none()) {
            continue;
        }
        let first = votes.iter().filter(|vote| vote.is_first).count();
        let rest = votes.len() - first;
        // The end with fewer routes is reported, or both ends if the numbers are equal.
        let at_fault = votes.iter().filter(|vote| {
            if vote.is_first { first <= rest && rest > 0 } else { rest <= first && first > 0 }
        });
        for vote in at_fault {
            let choice = |is_first: bool| if is_first { "its first choice" } else { "its backup" };
            let message = format!(
                "this route uses the link of {} and {} as {}, but routes in the other direction use it as {}",
                snapshot.port_name(ends[0]),
                snapshot.port_name(ends[1]),
                choice(vote.is_first),
                choice(!vote.is_first)
            );
            let effect = "packets return over another path with other queues and delays".to_owned();
            let rule = &rules::NETWORK_ROUTE_ASYMMETRIC;
            found.push(snapshot.finding(vote.device, rule, vote.line, (message, effect)));
        }
    }
}
