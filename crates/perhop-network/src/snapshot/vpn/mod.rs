//! [`routes`]: the routes of MPLS VPNs (RFC 4364) that follow from configurations alone.
//!
//! A provider edge router announces the connected subnets and static routes of a VRF that a line
//! redistributes, with the route targets of the VRF. Another router has these routes in each VRF that imports
//! one of the targets, if BGP sessions inside the autonomous system connect the two routers, directly or
//! through route reflectors (RFC 4456). perhop does not evaluate policies. A route that depends on a policy
//! is unknown. A prefix that several routers announce is also unknown.

mod edges;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use edges::{Certainty, Edge, Peer, Vrf};
use perhop_device::{InterfaceAddress, Route, RouteOrigin, RouteTarget, RoutingProtocol};
use perhop_qos::classifier::Prefix;
use rayon::prelude::*;

use super::model::{VpnRoute, VpnRoutes};
use super::{PortId, Snapshot, carries_packets};
use crate::forwarding::addresses;

/// The administrative distance of routes from neighbors inside the autonomous system (Cisco, "What is
/// administrative distance?").
const DISTANCE: u8 = 200;

/// A receiver of a router's VPN routes.
struct Received {
    /// The receiving router.
    device: usize,
    next_hop: IpAddr,
    certainty: Certainty,
    /// The routers between the origin and the receiver.
    path: Vec<usize>,
}

/// A possible route to a prefix.
struct Candidate {
    next_hop: IpAddr,
    certainty: Certainty,
    route: VpnRoute,
}

/// Returns the VPN routes that each device has in its VRFs, and the origins of these routes.
pub(super) fn routes(snapshot: &Snapshot) -> (Vec<(usize, Route)>, VpnRoutes) {
    let places = 0..snapshot.devices.len();
    let has_vrf =
        |device: usize| snapshot.router(device).ports.iter().any(|port| port.forwarding.vrf.is_some());
    if !places.clone().any(has_vrf) {
        return (Vec::new(), VpnRoutes::new());
    }
    let edges: Vec<Option<Edge>> = places.into_par_iter().map(|device| edge(snapshot, device)).collect();
    let mut candidates: BTreeMap<(usize, String, Prefix), Vec<Candidate>> = BTreeMap::new();
    for (device, edge) in edges.iter().enumerate() {
        let Some(edge) = edge else { continue };
        if edge.vrfs.values().all(|vrf| vrf.exports.is_empty()) {
            continue;
        }
        for received in receivers(snapshot, &edges, device) {
            let Some(receiver) = &edges[received.device] else { continue };
            for (own, vrf) in &edge.vrfs {
                for (far, importing) in &receiver.vrfs {
                    let Some(target) = vrf.exports.intersection(&importing.imports).next() else { continue };
                    let because = reason(snapshot, (&received, far), (device, own), target);
                    for (prefix, certainty) in announced(snapshot, device, own, vrf) {
                        let has_map = vrf.has_map || importing.has_map;
                        let by_map = if has_map { Certainty::Policy } else { Certainty::Certain };
                        let key = (received.device, far.clone(), prefix);
                        candidates.entry(key).or_default().push(Candidate {
                            next_hop: received.next_hop,
                            certainty: certainty.min(received.certainty).min(by_map),
                            route: VpnRoute { device, vrf: own.clone(), because: because.clone() },
                        });
                    }
                }
            }
        }
    }
    let (mut routes, mut origins) = (Vec::new(), VpnRoutes::new());
    for ((device, vrf, prefix), mut found) in candidates {
        let only = found.pop().filter(|origin| found.is_empty() && origin.certainty == Certainty::Certain);
        // An unknown route must hide routes with shorter prefixes, because packets may follow it.
        let via = only.as_ref().map_or(RouteTarget::Learned, |own| RouteTarget::NextHop(own.next_hop));
        routes.push((
            device,
            Route {
                line: 0,
                vrf: Some(vrf.clone()),
                prefix,
                via,
                distance: DISTANCE,
                is_conditional: false,
                origin: RouteOrigin::Vpn,
            },
        ));
        if let Some(origin) = only {
            origins.insert((device, vrf, prefix), origin.route);
        }
    }
    (routes, origins)
}

/// Reads the lines of a device that runs BGP. In the device model, BGP is a protocol whose routes perhop does
/// not compute.
fn edge(snapshot: &Snapshot, device: usize) -> Option<Edge> {
    let mut processes = snapshot.router(device).forwarding.processes.iter();
    let may_be = processes.any(|process| process.protocol == RoutingProtocol::Other);
    may_be.then(|| Edge::read(snapshot.devices[device].device.numbered_lines())).flatten()
}

fn reason(
    snapshot: &Snapshot,
    (received, far): (&Received, &str),
    (device, own): (usize, &str),
    target: &str,
) -> String {
    let name = |place: usize| snapshot.devices[place].name.as_str();
    let path: Vec<&str> = received.path.iter().map(|place| name(*place)).collect();
    format!(
        "the VRF {far} has the routes of the VRF {own} of {} with route target {target}, over the BGP sessions \
         {}; perhop found no unknown route of the VPN with a longer prefix",
        name(device),
        path.join(" - ")
    )
}

/// Returns the prefixes that a VRF announces.
fn announced(snapshot: &Snapshot, device: usize, name: &str, vrf: &Vrf) -> Vec<(Prefix, Certainty)> {
    let router = snapshot.router(device);
    let table = snapshot.devices[device].device.table();
    let is_in = |vrf: Option<&str>| vrf == Some(name);
    let ports = router.ports.iter().filter(|port| carries_packets(router, port));
    let ports = ports.filter(|port| is_in(port.forwarding.vrf.as_ref().map(|at| at.value.as_str())));
    let connected: BTreeSet<Prefix> =
        ports.flat_map(|port| &port.addresses).filter_map(InterfaceAddress::subnet).collect();
    let usable = |route: &&Route| is_in(route.vrf.as_deref()) && table.port_of(route).is_some();
    let statics = router.forwarding.routes.iter().filter(usable);
    // `redistribute static` does not include the default route (Cisco, "redistribute (IP)").
    let statics: BTreeSet<Prefix> =
        statics.map(|route| route.prefix).filter(|prefix| prefix.length() > 0).collect();
    let with = |prefixes: &BTreeSet<Prefix>, certainty: Option<Certainty>| {
        let certainty = certainty.into_iter();
        certainty
            .flat_map(|certainty| prefixes.iter().map(move |prefix| (*prefix, certainty)))
            .collect::<Vec<_>>()
    };
    let has = |prefix: &&Prefix| connected.contains(prefix) || statics.contains(prefix);
    let mut found = with(&connected, vrf.announced.connected);
    found.extend(with(&statics, vrf.announced.r#static));
    found.extend(vrf.announced.networks.iter().filter(has).map(|prefix| (*prefix, Certainty::Certain)));
    // A `network` line announces a prefix regardless of the policies of `redistribute` lines.
    let best: BTreeMap<Prefix, Certainty> =
        found.into_iter().fold(BTreeMap::new(), |mut best, (prefix, own)| {
            best.entry(prefix).and_modify(|known| *known = own.max(*known)).or_insert(own);
            best
        });
    best.into_iter().collect()
}

/// Returns the routers that receive the VPN routes of the router `origin`. Reflectors do not change the next
/// hop (RFC 4456 §10).
fn receivers(snapshot: &Snapshot, edges: &[Option<Edge>], origin: usize) -> Vec<Received> {
    let mut found = Vec::new();
    let mut known = BTreeSet::from([origin]);
    let mut open: VecDeque<(Received, bool)> = VecDeque::new();
    for (device, back) in sessions(snapshot, edges, origin) {
        let received = Received {
            device,
            next_hop: back.address,
            certainty: back.certainty,
            path: vec![origin, device],
        };
        open.push_back((received, back.is_client));
    }
    while let Some((received, is_from_client)) = open.pop_front() {
        if !known.insert(received.device) {
            continue;
        }
        // RFC 4456 §6: a reflector announces routes of clients to all neighbors, and other routes only to
        // clients.
        let Some(own) = &edges[received.device] else { continue };
        for (device, back) in sessions(snapshot, edges, received.device) {
            let is_client = own.peers().any(|peer| {
                peer.is_client && snapshot.owner(peer.address).is_some_and(|id| id.device == device)
            });
            let reflects = own.peers().any(|peer| peer.is_client) && (is_from_client || is_client);
            if reflects && !known.contains(&device) {
                let path = received.path.iter().copied().chain([device]).collect();
                let certainty = received.certainty.min(back.certainty);
                let next_hop = received.next_hop;
                open.push_back((Received { device, next_hop, certainty, path }, back.is_client));
            }
        }
        found.push(received);
    }
    found
}

/// Returns the neighbors that have a BGP session with a router, with the settings that each neighbor
/// configures for this router.
fn sessions(snapshot: &Snapshot, edges: &[Option<Edge>], device: usize) -> Vec<(usize, Peer)> {
    let Some(own) = &edges[device] else { return Vec::new() };
    let mut found: Vec<(usize, Peer)> = Vec::new();
    for peer in own.peers() {
        let Some(far) = snapshot.owner(peer.address).map(|id| id.device) else { continue };
        let Some(other) = edges[far].as_ref().filter(|other| other.number() == own.number()) else {
            continue;
        };
        if far == device || found.iter().any(|(known, _)| *known == far) {
            continue;
        }
        let is_back = |back: &Peer| {
            has_source(snapshot, device, &peer, back.address) && has_source(snapshot, far, back, peer.address)
        };
        if let Some(mut back) = other.peers().find(is_back) {
            back.certainty = back.certainty.min(peer.certainty);
            found.push((far, back));
        }
    }
    found
}

/// Whether a router starts the session with a neighbor from `address`. The source is the address of
/// `update-source`, otherwise an address on a link.
fn has_source(snapshot: &Snapshot, device: usize, peer: &Peer, address: IpAddr) -> bool {
    let Some(id) = snapshot.owner(address).filter(|id| id.device == device) else { return false };
    match &peer.end.source {
        Some((_, source)) => snapshot.devices[device]
            .device
            .port(source)
            .is_ok_and(|port| addresses(port).any(|own| own.address == address)),
        None => snapshot.link_of(PortId { device, port: id.port }).is_some(),
    }
}
