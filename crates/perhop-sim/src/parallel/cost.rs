//! [`Cost`]: the estimated time of a run, from the counts of its beginning.

use perhop_qos::packet::Protocol;
use perhop_qos::units::Time;

use crate::engine::Engine;
use crate::fast::World;
use crate::flow::Template;

/// The times on one processor of the benchmark's machine, seconds: of a packet on a wire, of an event, and of
/// a segment at the ends of its connection. Only the ratios to [`ROUND`] matter.
const HOP: f64 = 6e-9;
const EVENT: f64 = 80e-9;
const SEGMENT: f64 = 150e-9;
/// The times of a packet over a border, of a round, and of each part in a round, seconds.
const CROSSING: f64 = 50e-9;
const ROUND: f64 = 3e-6;
const PART: f64 = 0.2e-6;
/// The number of rounds of a run if the links between the parts form no cycle.
pub(super) const ROUNDS_WITHOUT_CYCLE: u64 = 400;

/// Returns the work for the given numbers of packets on wires, events, and segments at hosts. The unit is the
/// time of a packet on a wire.
pub(super) const fn work(packet_hops: u64, events: u64, segments: u64) -> u64 {
    const EVENT_IN_HOPS: u64 = (EVENT / HOP) as u64;
    const SEGMENT_IN_HOPS: u64 = (SEGMENT / HOP) as u64;
    packet_hops + EVENT_IN_HOPS * events + SEGMENT_IN_HOPS * segments
}

/// The work of a network, estimated from the first part of its run.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// By flow: the packets sent.
    pub(super) packets: Vec<u64>,
    /// The mean work of a packet on a wire, with the events at ports that cannot forward packets inline. The
    /// unit is the work of a packet that is forwarded inline.
    pub(super) hop: f64,
    /// The time of one thread for the whole run, seconds.
    one_thread: f64,
    /// The length of the whole run divided by the length of the counted part.
    factor: f64,
    duration: Time,
}

impl Load {
    /// Estimates the load from `world`, which has run up to `now`.
    pub(crate) fn measured(world: &World, now: Time) -> Load {
        let hosts = world.hosts();
        let duration = hosts.measurements.duration;
        let packets: Vec<u64> =
            hosts.measurements.counters.iter().map(|counters| u64::from(counters.next_sequence)).collect();
        let is_tcp = hosts.templates.iter().map(|Template(template)| template.protocol == Protocol::TCP);
        let segments: u64 =
            packets.iter().zip(is_tcp).map(|(packets, is_tcp)| packets * u64::from(is_tcp)).sum();
        let seconds =
            HOP * world.packet_hops() as f64 + EVENT * world.events() as f64 + SEGMENT * segments as f64;
        let sent: u64 = packets.iter().sum();
        let hops = world.packet_hops().max(1);
        // The remaining events are those of sources.
        let hop = work(hops, world.events().saturating_sub(sent), 0) as f64 / hops as f64;
        let factor = duration.as_picoseconds() as f64 / now.as_picoseconds().max(1) as f64;
        Load { packets, hop, one_thread: factor * seconds, factor, duration }
    }
    /// The estimated time of one thread for the whole run, seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.one_thread
    }
}

/// Returns the time of an event in a network of `nodes` nodes, divided by the time in a network that fits
/// into the private cache of a processor. It grows by 0.25 for each doubling of the nodes, approximately as
/// in `docs/scale.md`.
fn cache_misses(nodes: usize) -> f64 {
    const IN_CACHE: f64 = 125.0;
    1.0 + 0.25 * libm::log2(nodes as f64 / IN_CACHE).max(0.0)
}

/// The estimated time of a run in parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) seconds: f64,
}

impl Cost {
    /// Estimates the time of a run in parts on `threads` threads. The parts have `nodes` nodes in total, and
    /// their work is proportional to `weights`. `crossing` packets reach another part. Each round covers the
    /// `shortest` delay of a border; `None` if the parts form no cycle.
    pub(super) fn new(
        weights: &[u64],
        nodes: usize,
        threads: usize,
        crossing: u64,
        load: &Load,
        shortest: Option<Time>,
    ) -> Cost {
        let total: u64 = weights.iter().sum();
        let share = longest(weights, threads) as f64 / total.max(1) as f64;
        let rounds = shortest.map_or(ROUNDS_WITHOUT_CYCLE as f64, |delay| {
            load.duration.as_picoseconds() as f64 / delay.as_picoseconds().max(1) as f64
        });
        let crossing = load.factor * crossing as f64 * CROSSING / threads as f64;
        let rounds = rounds * (ROUND + PART * weights.len() as f64);
        let local = cache_misses(nodes / weights.len().max(1)) / cache_misses(nodes);
        Cost { seconds: load.one_thread * share * local + crossing + rounds }
    }
}

/// Assigns parts with these `costs` to `threads` threads. The most expensive part is assigned first, each
/// part to the thread with the least work so far (Graham 1969, "Bounds on multiprocessing timing anomalies").
/// Returns the indices of the parts of each thread.
pub(super) fn assign(costs: &[u64], threads: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|index| (std::cmp::Reverse(costs[*index]), *index));
    let mut lists = vec![(0, Vec::new()); threads];
    for index in order {
        let Some((sum, list)) = lists.iter_mut().min_by_key(|(sum, _)| *sum) else { break };
        *sum += costs[index];
        list.push(index);
    }
    lists.into_iter().map(|(_, list)| list).collect()
}

/// Returns the work of the busiest thread if `costs` are assigned to `threads` threads.
pub(super) fn longest(costs: &[u64], threads: usize) -> u64 {
    let of_list = |list: &Vec<usize>| list.iter().map(|index| costs[*index]).sum();
    assign(costs, threads).iter().map(of_list).max().unwrap_or(0)
}
