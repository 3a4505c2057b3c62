//! Missing routes of devices, if other routes of the device or of other devices show that they are needed.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::RouteOrigin;

use super::crossings::{crossing, has_route, report_missing};
use super::{NetworkFinding, PortId, Snapshot};
use crate::rules;
use crate::snapshot::Site;

/// The minimum number of other devices with hosts and routes. With fewer, the rule reports no device without
/// a route.
const LEAST_ROUTED: usize = 2;
/// Lines by which a device can receive routes that perhop does not compute.
const LEARNED: &[&str] =
    &["ip address dhcp", "ip address negotiated", "ip default-", "ip route ", "neighbor ", "router "];

/// Reports devices that lack a route to one subnet of a neighbor, and devices without any route.
pub(super) fn check(snapshot: &Snapshot, sites: &[(usize, Site)], found: &mut Vec<NetworkFinding>) {
    check_siblings(snapshot, sites, found);
    check_isolated(snapshot, sites, found);
}

/// Reports a device that has static routes to most subnets of a neighbor, but lacks a route to one of them
/// that no routing protocol announces.
fn check_siblings(snapshot: &Snapshot, sites: &[(usize, Site)], found: &mut Vec<NetworkFinding>) {
    let mut by_owner: BTreeMap<usize, Vec<&Site>> = BTreeMap::new();
    for (owner, site) in sites {
        by_owner.entry(*owner).or_default().push(site);
    }
    let mut neighbors: BTreeSet<(PortId, usize)> = BTreeSet::new();
    for device in 0..snapshot.devices.len() {
        for route in &snapshot.router(device).forwarding.routes {
            let is_own = route.origin == RouteOrigin::Configured && route.prefix.length() > 0;
            let crossing = is_own.then(|| crossing(snapshot, device, route)).flatten();
            neighbors.extend(crossing.map(|crossing| (crossing.leaves, crossing.arrives.device)));
        }
    }
    let is_silent = |site: &Site| site.id.is_some_and(|id| snapshot.port(id).forwarding.routing.is_empty());
    for (port, neighbor) in neighbors {
        let subnets = by_owner.get(&neighbor).map_or(&[][..], Vec::as_slice);
        let is_known = |site: &&&Site| has_route(snapshot, port.device, site.address);
        let known = subnets.iter().filter(is_known).count();
        let unknown = subnets.iter().filter(|site| !is_known(site) && is_silent(site));
        if 2 * known > subnets.len() {
            unknown.for_each(|site| report_missing(snapshot, port, site, found));
        }
    }
}

/// Reports devices with hosts and with links to other devices, but without any route.
fn check_isolated(snapshot: &Snapshot, sites: &[(usize, Site)], found: &mut Vec<NetworkFinding>) {
    let owners: BTreeSet<usize> = sites.iter().map(|(owner, _)| *owner).collect();
    let (isolated, others): (Vec<usize>, Vec<usize>) =
        owners.into_iter().partition(|device| is_isolated(snapshot, *device));
    if others.len() < LEAST_ROUTED {
        return;
    }
    for device in isolated {
        let wires = snapshot.wires().filter(|[own, _]| own.device == device);
        let Some([own, other]) = wires.into_iter().next() else { continue };
        let message = format!(
            "{} has only its own subnets and no route: so its hosts do not reach the devices behind {}",
            snapshot.devices[device].name, snapshot.devices[other.device].name
        );
        let effect = "the site is cut off".to_owned();
        let line = snapshot.port(own).line;
        found.push(snapshot.finding(device, &rules::NETWORK_ROUTE_MISSING, line, (message, effect)));
    }
}

/// Whether a device has no routes, no routing protocol, and no default route from DHCP or PPP.
fn is_isolated(snapshot: &Snapshot, device: usize) -> bool {
    let forwarding = &snapshot.router(device).forwarding;
    let learns = |(_, text): (usize, &str)| {
        let text = text.trim_start();
        LEARNED.iter().any(|start| text.starts_with(start))
    };
    forwarding.routes.is_empty()
        && forwarding.processes.is_empty()
        && !snapshot.devices[device].device.numbered_lines().any(learns)
}
