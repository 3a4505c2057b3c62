//! [`Partition`]: the part of each node.
//!
//! Parts are divided at links with a long delay, because a part may run ahead of its neighbor by the delay.
//! Both hosts of a TCP session are in one part, because an application changes the state of both ends. The
//! nodes of a part need not be connected. A host without TCP sessions is in the part of its router.

use std::collections::BTreeMap;

use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_qos::packet::Protocol;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::cost::{Cost, Load, work};
use super::groups::Groups;
use crate::hosts::{FarNode, Hosts};

/// The maximum number of parts.
const MOST_PARTS: usize = 256;
/// The maximum number of delays that [`divide`] tries as the shortest delay of a border.
const MOST_DELAYS: usize = 6;
/// The numbers of parts per thread that [`divide`] tries. With more parts, the load of the threads is more
/// equal and a part fits into the cache, but more packets cross borders.
const PARTS_OF_A_THREAD: [usize; 4] = [1, 2, 4, 8];

/// An assignment of the nodes of a network to parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// By link: the parts of the nodes at its near and its far end.
    sides: Vec<[u32; 2]>,
    parts: usize,
}

impl Partition {
    /// The number of parts, at least two.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }
    /// The parts of the nodes at the near and the far end of `link`.
    pub(super) fn sides(&self, link: LinkId) -> [usize; 2] {
        self.sides[link.index()].map(|part| part as usize)
    }
    /// Returns, for each link, whether packets reach another part over it.
    pub(super) fn crossed(&self, hosts: &Hosts) -> Vec<bool> {
        let mut crossed = vec![false; self.sides.len()];
        for flow in 0..hosts.flow_paths.len() {
            for link in hosts.path(flow) {
                let [near, far] = self.sides(link);
                crossed[link.index()] = near != far;
            }
        }
        crossed
    }
}

/// The reason why a network cannot be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undivided {
    /// A recording is replayed.
    Recording,
    /// A link is captured.
    Capture,
    /// Datagrams may be fragmented, and their receiver must see the fate of every fragment.
    Fragments,
    /// Ports pause ports of other nodes. Such a network runs in the plain engine.
    Pauses,
    /// No link with a delay separates nodes with traffic.
    NoBorder,
}

impl std::fmt::Display for Undivided {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str(match self {
            Undivided::Recording => "a recording is replayed",
            Undivided::Capture => "a link is captured",
            Undivided::Fragments => "an interface may fragment datagrams",
            Undivided::Pauses => "ports pause each other (priority flow control)",
            Undivided::NoBorder => "no link with a delay separates nodes with traffic",
        })
    }
}

/// Checks that `hosts` have only elements whose state belongs to one node.
fn check(hosts: &Hosts) -> Result<(), Undivided> {
    let Hosts { replays, transport, taps, fragments, .. } = hosts;
    if !replays.is_empty() {
        return Err(Undivided::Recording);
    }
    if transport.ledger.is_some() || taps.iter().any(Option::is_some) {
        return Err(Undivided::Capture);
    }
    if fragments.are_possible() {
        return Err(Undivided::Fragments);
    }
    Ok(())
}

/// Finds the division of a network with the shortest estimated time on `threads` threads. Returns the
/// division and this time. `load` has the number of packets of each flow. `delays` are the delays of the
/// links.
///
/// # Errors
/// The network cannot be divided.
pub(crate) fn divide(
    hosts: &Hosts,
    delays: &[Time],
    threads: usize,
    load: &Load,
) -> Result<(Partition, Cost), Undivided> {
    check(hosts)?;
    let graph = Graph::new(hosts, delays, load);
    let mut best: Option<(Partition, Cost)> = None;
    for delay in graph.border_delays() {
        let mut groups = graph.unseparated.clone();
        for (link, used) in graph.links.iter().zip(&graph.used) {
            if *used && link.delay < delay {
                groups.unite(link.ends[0], link.ends[1]);
            }
        }
        for number in PARTS_OF_A_THREAD {
            let gathered = graph.gather(groups.clone(), (number * threads).min(MOST_PARTS));
            let Some((partition, weights)) = gathered else { continue };
            let cost = graph.cost(&partition, &weights, threads, load);
            if best.as_ref().is_none_or(|(_, least)| cost.seconds < least.seconds) {
                best = Some((partition, cost));
            }
        }
    }
    best.ok_or(Undivided::NoBorder)
}

/// One direction of a link.
struct Edge {
    ends: [usize; 2],
    delay: Time,
    packets: u64,
}

/// The nodes and links of a network, with their loads.
struct Graph {
    links: Vec<Edge>,
    /// By link: whether it is on the path of a flow.
    used: Vec<bool>,
    /// By node: its work. The unit is the work of a packet that is forwarded inline, divided by [`INLINE`].
    weights: Vec<u64>,
    /// The nodes that no border may separate.
    unseparated: Groups,
}

/// The weight of a packet that is forwarded inline.
const INLINE: u64 = 16;
/// The weights at a host: of a sent datagram, which is an event, of a received datagram, and of a received
/// segment.
const SENT_DATAGRAM: u64 = INLINE * work(0, 1, 0);
const DATAGRAM: u64 = INLINE;
const SEGMENT: u64 = 3 * INLINE;

impl Graph {
    fn new(hosts: &Hosts, delays: &[Time], load: &Load) -> Graph {
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut links = Vec::with_capacity(delays.len());
        for (delay, names) in delays.iter().zip(hosts.link_ends.iter()) {
            let ends = names.map(|name| {
                let next = numbers.len();
                *numbers.entry(name).or_insert(next)
            });
            links.push(Edge { ends, delay: *delay, packets: 0 });
        }
        let mut used = vec![false; links.len()];
        let forwarded = (load.hop * INLINE as f64) as u64;
        let (mut weights, mut unseparated) = (vec![0; numbers.len()], Groups::new(numbers.len()));
        for flow in 0..hosts.flow_paths.len() {
            let packets = load.packets[flow];
            let is_tcp = hosts.templates[flow].0.protocol == Protocol::TCP;
            for (hop, link) in hosts.path(flow).enumerate() {
                let Edge { ends: [near, far], packets: sum, .. } = &mut links[link.index()];
                if hop == 0 && !is_tcp {
                    weights[*near] += packets * SENT_DATAGRAM;
                }
                used[link.index()] = true;
                *sum += packets;
                weights[*near] += packets * forwarded;
                if hosts.far_nodes[link.index()] == FarNode::Host {
                    weights[*far] += packets * if is_tcp { SEGMENT } else { DATAGRAM };
                }
            }
        }
        let mut with_sessions = vec![false; numbers.len()];
        for session in &hosts.transport.sessions {
            let [client, server] =
                [CLIENT, SERVER].map(|end| links[hosts.link_of(session.flows[end], 0).index()].ends[0]);
            unseparated.unite(client, server);
            (with_sessions[client], with_sessions[server]) = (true, true);
        }
        for (index, used) in used.iter().enumerate().filter(|(_, used)| **used) {
            let Edge { ends: [near, far], delay, .. } = links[index];
            let is_plain_host = hosts.far_nodes[index] == FarNode::Host && !with_sessions[far]
                || hosts.far_nodes[index ^ 1] == FarNode::Host && !with_sessions[near];
            if *used && (delay == Time::ZERO || is_plain_host) {
                unseparated.unite(near, far);
            }
        }
        Graph { links, used, weights, unseparated }
    }

    /// Returns the different delays of links that may be borders, in ascending order. If there are more than
    /// [`MOST_DELAYS`], returns the shortest and others at equal steps.
    fn border_delays(&self) -> Vec<Time> {
        let mut groups = self.unseparated.clone();
        let borders = self
            .links
            .iter()
            .zip(&self.used)
            .filter(|(link, used)| **used && groups.find(link.ends[0]) != groups.find(link.ends[1]));
        let mut delays: Vec<Time> = borders.map(|(link, _)| link.delay).collect();
        delays.sort_unstable();
        delays.dedup();
        let step = delays.len().div_ceil(MOST_DELAYS).max(1);
        delays.into_iter().step_by(step).collect()
    }

    /// Unites `groups` of nodes into about `number` parts of similar work, beginning with the groups that
    /// exchange the most packets. Returns the partition and the work of each part; `None` if no used link
    /// connects two parts.
    fn gather(&self, mut groups: Groups, number: usize) -> Option<(Partition, Vec<u64>)> {
        let total: u64 = self.weights.iter().sum();
        // The weights of nodes do not add up exactly to the limit. Without a tolerance, a small rest would
        // become another part.
        let limit = total / number as u64 * 33 / 32 + 1;
        let mut weights = vec![0; self.weights.len()];
        (0..weights.len()).for_each(|node| weights[groups.find(node)] += self.weights[node]);
        let mut between: BTreeMap<[usize; 2], u64> = BTreeMap::new();
        for link in &self.links {
            let [first, second] = link.ends.map(|node| groups.find(node));
            if first != second {
                *between.entry([first.min(second), first.max(second)]).or_default() += link.packets;
            }
        }
        let mut between: Vec<([usize; 2], u64)> = between.into_iter().collect();
        between.sort_by_key(|(ends, packets)| (std::cmp::Reverse(*packets), *ends));
        let mut unite = |groups: &mut Groups, ends: [usize; 2]| {
            let [first, second] = ends.map(|node| groups.find(node));
            if first != second && weights[first] + weights[second] <= limit {
                let sum = weights[first] + weights[second];
                groups.unite(first, second);
                weights[groups.find(first)] = sum;
            }
        };
        for (ends, _) in between {
            unite(&mut groups, ends);
        }
        // The remaining groups are small, and their neighbors have no room for them.
        let mut left: Vec<usize> =
            (0..self.weights.len()).filter(|node| groups.find(*node) == *node).collect();
        if left.len() > number {
            left.sort_by_key(|group| (weights[*group], *group));
            let mut open = left[0];
            for group in &left[1..] {
                let [first, second] = [open, *group].map(|node| groups.find(node));
                let sum = weights[first] + weights[second];
                if sum <= limit {
                    groups.unite(first, second);
                    weights[groups.find(first)] = sum;
                } else {
                    open = *group;
                }
            }
        }
        let (of_node, parts) = groups.numbered();
        let sides = self.links.iter().map(|link| link.ends.map(|node| of_node[node])).collect();
        let partition = Partition { sides, parts };
        let mut part_weights = vec![0; parts];
        self.weights.iter().zip(&of_node).for_each(|(weight, part)| part_weights[*part as usize] += weight);
        let crosses = |(link, used): (&Edge, &bool)| *used && of_node[link.ends[0]] != of_node[link.ends[1]];
        self.links.iter().zip(&self.used).any(crosses).then_some((partition, part_weights))
    }

    /// Estimates the time of a run of `partition` on `threads` threads. The work of the parts is `weights`.
    fn cost(&self, partition: &Partition, weights: &[u64], threads: usize, load: &Load) -> Cost {
        let (mut crossing, mut shortest) = (0, Time::MAX);
        let mut onward: Vec<Vec<usize>> = vec![Vec::new(); partition.parts];
        for (index, link) in self.links.iter().enumerate() {
            let [near, far] = partition.sides[index].map(|part| part as usize);
            if near != far && self.used[index] {
                crossing += link.packets;
                shortest = shortest.min(link.delay);
                onward[near].push(far);
            }
        }
        let shortest = (!is_acyclic(&onward)).then_some(shortest);
        Cost::new(weights, self.weights.len(), threads, crossing, load, shortest)
    }
}

/// Whether the parts form no cycle. `onward` has, for each part, the parts to which it sends packets.
pub(super) fn is_acyclic(onward: &[Vec<usize>]) -> bool {
    let mut incoming = vec![0; onward.len()];
    onward.iter().flatten().for_each(|part| incoming[*part] += 1);
    let mut free: Vec<usize> = (0..onward.len()).filter(|part| incoming[*part] == 0).collect();
    let mut seen = 0;
    while let Some(part) = free.pop() {
        seen += 1;
        for next in &onward[part] {
            incoming[*next] -= 1;
            if incoming[*next] == 0 {
                free.push(*next);
            }
        }
    }
    seen == onward.len()
}
