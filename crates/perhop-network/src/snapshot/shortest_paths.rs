//! [`routes`]: the routes of OSPF (RFC 2328 §16) and IS-IS (RFC 1195), from the shortest paths between
//! neighbors.
//!
//! Two routers are neighbors if their ports on one link run the same protocol and neither port is passive. In
//! OSPF, both ports must also be in the same area. A path inside an area has precedence over a path through
//! area 0, regardless of cost (RFC 2328 §16.2). Both levels of IS-IS count as one level.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use perhop_device::{
    AnnouncedSubnets, InterfaceAddress, PortRouting, Route, RouteOrigin, RouteTarget, RoutingProtocol,
};
use perhop_qos::classifier::Prefix;
use rayon::prelude::*;

use super::{PortId, Snapshot, carries_packets};

/// A routing process: the indexes of the device and of the process.
type Process = (usize, usize);
/// The number of an area. Number 0 is the backbone. IS-IS has only this area.
type Area = u32;
/// The last step of a path through areas. Step 0 is inside the first area, step 1 in the backbone, step 2
/// inside the last area (RFC 2328 §3.2).
const LAST_STEP: u8 = 2;

/// A port that runs a routing process.
struct Member {
    id: PortId,
    process: Process,
    protocol: RoutingProtocol,
    area: Area,
    cost: u64,
    is_passive: bool,
    announced: Vec<Prefix>,
}

/// An edge of the graph: the port through which packets leave to a neighbor, and the address of the neighbor.
#[derive(Clone, Copy)]
struct Edge {
    to: Process,
    area: Area,
    cost: u64,
    hop: FirstHop,
}

/// The first hop of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FirstHop {
    port: usize,
    next_hop: IpAddr,
}

/// The end of a path in the search: the process, the area, and the step through areas ([`LAST_STEP`]).
type State = (Process, Area, u8);

/// The processes of a network and their edges.
struct Graph {
    members: Vec<Member>,
    edges: BTreeMap<Process, Vec<Edge>>,
    areas: BTreeMap<Process, BTreeSet<Area>>,
    announced: BTreeMap<(Process, Area), Vec<(Prefix, u64)>>,
}

/// Returns the routes that each device computes.
pub(super) fn routes(snapshot: &Snapshot) -> Vec<Vec<Route>> {
    let graph = Graph::new(snapshot);
    let mut found: Vec<Vec<Route>> = snapshot.devices.iter().map(|_| Vec::new()).collect();
    let processes: Vec<Process> = graph.areas.keys().copied().collect();
    let computed: Vec<Vec<Route>> =
        processes.par_iter().map(|process| graph.routes(snapshot, *process)).collect();
    for (process, routes) in processes.into_iter().zip(computed) {
        found[process.0].extend(routes);
    }
    found
}

impl Graph {
    /// Returns the routes of a process.
    fn routes(&self, snapshot: &Snapshot, process: Process) -> Vec<Route> {
        let router = snapshot.router(process.0);
        let own = &router.forwarding.processes[process.1];
        let names: Vec<Arc<str>> = router.ports.iter().map(|port| port.name.as_str().into()).collect();
        let best = self.best(process).into_iter();
        best.flat_map(|(prefix, hops)| hops.into_iter().map(move |hop| (prefix, hop)))
            .map(|(prefix, hop)| {
                let name = Arc::clone(&names[hop.port]);
                Route {
                    line: own.line,
                    vrf: own.vrf.clone(),
                    prefix,
                    via: RouteTarget::Interface { name, next_hop: Some(hop.next_hop) },
                    distance: own.distance,
                    is_conditional: false,
                    origin: RouteOrigin::Computed(own.protocol),
                }
            })
            .collect()
    }

    fn new(snapshot: &Snapshot) -> Graph {
        let members = members(snapshot);
        let mut graph =
            Graph { members, edges: BTreeMap::new(), areas: BTreeMap::new(), announced: BTreeMap::new() };
        graph.connect(snapshot);
        for member in &graph.members {
            graph.areas.entry(member.process).or_default().insert(member.area);
            let announced = graph.announced.entry((member.process, member.area)).or_default();
            announced.extend(member.announced.iter().map(|prefix| (*prefix, member.cost)));
        }
        for process in graph.areas.keys() {
            let own = &snapshot.router(process.0).forwarding.processes[process.1];
            if own.default_route.is_some() {
                let all = Prefix::new(Ipv4Addr::UNSPECIFIED.into(), 0).expect("a prefix of no bits");
                // An external route of type 2 has the cost 1 at all routers (RFC 2328 §16.4), so the nearest
                // border router has precedence.
                let area = *graph.areas[process].first().unwrap_or(&0);
                graph.announced.entry((*process, area)).or_default().push((all, 1));
            }
        }
        graph
    }

    /// Adds an edge for each pair of neighbors, in both directions.
    fn connect(&mut self, snapshot: &Snapshot) {
        let mut by_port: BTreeMap<PortId, Vec<usize>> = BTreeMap::new();
        for (place, member) in self.members.iter().enumerate() {
            by_port.entry(member.id).or_default().push(place);
        }
        for link in &snapshot.links {
            let at_link = || link.ends.iter().filter_map(|end| by_port.get(&end.id)).flatten();
            for from in at_link().map(|place| &self.members[*place]) {
                for to in at_link().map(|place| &self.members[*place]) {
                    let are_neighbors = from.id.device != to.id.device
                        && from.protocol == to.protocol
                        && from.area == to.area
                        && !from.is_passive
                        && !to.is_passive;
                    let address = snapshot.port(to.id).addresses.first();
                    if let Some(address) = address.filter(|_| are_neighbors) {
                        let hop = FirstHop { port: from.id.port, next_hop: address.address };
                        let edge = Edge { to: to.process, area: from.area, cost: from.cost, hop };
                        self.edges.entry(from.process).or_default().push(edge);
                    }
                }
            }
        }
    }

    /// Returns the first hops of the best paths from a process to each prefix that other processes announce.
    fn best(&self, from: Process) -> BTreeMap<Prefix, BTreeSet<FirstHop>> {
        let mut best: BTreeMap<Prefix, ((bool, u64), BTreeSet<FirstHop>)> = BTreeMap::new();
        let own: BTreeSet<Prefix> = self
            .areas
            .get(&from)
            .into_iter()
            .flatten()
            .filter_map(|area| self.announced.get(&(from, *area)))
            .flatten()
            .map(|(prefix, _)| *prefix)
            .collect();
        for ((process, area, step), (cost, hops)) in self.paths(from) {
            for (prefix, more) in self.announced.get(&(process, area)).into_iter().flatten() {
                if own.contains(prefix) || process == from {
                    continue;
                }
                let rank = (step > 0, cost + more);
                match best.get_mut(prefix) {
                    Some((known, _)) if *known < rank => {}
                    Some((known, all)) if *known == rank => all.extend(&hops),
                    _ => _ = best.insert(*prefix, (rank, hops.clone())),
                }
            }
        }
        best.into_iter().map(|(prefix, (_, hops))| (prefix, hops)).collect()
    }

    /// Returns the cost and the first hops of the shortest paths to each state (Dijkstra).
    fn paths(&self, from: Process) -> BTreeMap<State, (u64, BTreeSet<FirstHop>)> {
        let mut found: BTreeMap<State, (u64, BTreeSet<FirstHop>)> = BTreeMap::new();
        let mut open = BinaryHeap::new();
        for area in &self.areas[&from] {
            found.insert((from, *area, 0), (0, BTreeSet::new()));
            open.push(Reverse((0, (from, *area, 0))));
        }
        let mut done = BTreeSet::new();
        while let Some(Reverse((cost, state))) = open.pop() {
            if !done.insert(state) {
                continue;
            }
            let (process, area, step) = state;
            let hops = found[&state].1.clone();
            let mut reach = |next: State, cost: u64, hops: &BTreeSet<FirstHop>| match found.get_mut(&next) {
                Some((known, _)) if *known < cost => {}
                Some((known, all)) if *known == cost => all.extend(hops),
                _ => {
                    found.insert(next, (cost, hops.clone()));
                    open.push(Reverse((cost, next)));
                }
            };
            for edge in self.edges.get(&process).into_iter().flatten().filter(|edge| edge.area == area) {
                let first = BTreeSet::from([edge.hop]);
                let hops = if process == from { &first } else { &hops };
                reach((edge.to, area, step), cost + edge.cost, hops);
            }
            for other in self.areas[&process].iter().filter(|other| **other != area) {
                if step < LAST_STEP && (area == 0 || *other == 0) {
                    reach((process, *other, step + 1), cost, &hops);
                }
            }
        }
        found
    }
}

/// Returns the ports that run a protocol whose routes perhop computes.
fn members(snapshot: &Snapshot) -> Vec<Member> {
    let mut found = Vec::new();
    for device in 0..snapshot.devices.len() {
        let router = snapshot.router(device);
        for (port, own) in router.ports.iter().enumerate().filter(|(_, port)| carries_packets(router, port)) {
            let computed =
                own.forwarding.routing.iter().filter(|part| {
                    router.forwarding.processes[part.process].protocol != RoutingProtocol::Eigrp
                });
            for routing in computed {
                let PortRouting { process, area, cost, passive, announced, .. } = routing;
                let subnets = own.addresses.iter().filter_map(InterfaceAddress::subnet);
                found.push(Member {
                    id: PortId { device, port },
                    process: (device, *process),
                    protocol: router.forwarding.processes[*process].protocol,
                    area: area.as_deref().map_or(0, area_number),
                    cost: cost.value.into(),
                    is_passive: passive.is_some(),
                    announced: match announced {
                        AnnouncedSubnets::OfAddresses => subnets.collect(),
                        AnnouncedSubnets::Host(host) => vec![*host],
                        AnnouncedSubnets::Nothing => Vec::new(),
                    },
                });
            }
        }
    }
    found
}

/// Returns the number of an area, which can be written like an IPv4 address.
pub(super) fn area_number(written: &str) -> Area {
    let address = written.parse::<Ipv4Addr>().map(Ipv4Addr::to_bits);
    written.parse().or(address).unwrap_or(u32::MAX)
}
