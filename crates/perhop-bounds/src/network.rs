//! [`bounds`]: the bounds of every queue of a scenario's network, and of every class from end to end.
//!
//! A port is processed when all streams that arrive at it are known. A stream that leaves a port consists of
//! the packets that arrived. The delays of the port increase the burst of the stream (Le Boudec and Thiran
//! 2001, theorem 1.4.3), up to the capacity of the link.

use std::collections::BTreeMap;
use std::path::Path;

use perhop_qos::accounting::Accounting;
use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Ingress, Packet};
use perhop_qos::policer::PoliceWhen;
use perhop_qos::policy::{PauseConfig, PauseMode, PolicyConfig, WireConfig, queue_names};
use perhop_qos::port::PortClassifier;
use perhop_qos::units::{PICOSECONDS_PER_SECOND, Rate};
use perhop_scenario::routing::LinkId;
use perhop_scenario::topology::Topology;
use perhop_scenario::{InterfaceConfig, LinkConfig, Scenario};

use crate::arrival::Arrival;
use crate::capacity::limits_of_all;
use crate::conditioning::{Conditioners, IDS_PER_STAGE};
use crate::entry::{Entry, entries};
use crate::fragment::fragments;
use crate::lengths::{Lengths, Measure};
use crate::paths::{Crossed, Paths};
use crate::port::Port;
use crate::queue::QueueBound;
use crate::shaping::shapers;
use crate::stream::{self, Limit, Stream};

/// The bounds of a network.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The bounds of the queues, in order of ports and queues.
    pub queues: Vec<QueueRow>,
    /// The paths of the streams.
    pub paths: Paths,
}

/// The bounds of one queue of one port.
#[derive(Clone, Debug)]
pub struct QueueRow {
    /// Name of the port in results: `C1->E3`.
    pub port: String,
    /// Name of the queue in results.
    pub queue: String,
    /// The traffic entries whose packets arrive at the queue. The second value is whether these packets are
    /// replies.
    pub traffic: Vec<(usize, bool)>,
    /// The limit of the queue as text.
    pub limit: Option<String>,
    /// The bounds of the queue.
    pub bound: QueueBound,
}

/// Computes the bounds of `scenario`. Router configurations must already be converted to policies. Paths of
/// traffic files are relative to `base`.
///
/// # Errors
/// A part of the scenario cannot be built.
pub fn bounds(scenario: &Scenario, base: &Path) -> Result<Bounds, ConfigError> {
    let mut topology = Topology::new(scenario)?;
    let entries = entries(scenario, base, &mut topology)?;
    let order = in_order(&entries, 2 * scenario.links.len());
    let paths = Paths::new(&entries);
    let mut network =
        Network { scenario, topology, waiting: BTreeMap::new(), queues: Vec::new(), paths, ids: 0 };
    for (place, entry) in entries.iter().enumerate() {
        for stream in &entry.streams {
            network.add_stream(entry, PathPosition { entry: place, hop: 0 }, stream.clone());
        }
    }
    for link in order.known {
        let obstacle = network.obstacle(link);
        network.port(link, &entries, obstacle)?;
    }
    for link in order.circular {
        network.port(
            link,
            &entries,
            Some("the paths of the traffic through this port form a cycle of ports"),
        )?;
    }
    network.queues.sort_by_key(|(link, place, _)| (*link, *place));
    let queues = network.queues.into_iter().map(|(_, _, row)| row).collect();
    Ok(Bounds { queues, paths: network.paths })
}

/// The reason why a port with priority flow control has no bounds.
const PAUSED: &str = "the neighbor may pause this port (priority flow control)";

/// The position of a stream on the path of its entry.
#[derive(Clone, Copy, Debug)]
struct PathPosition {
    entry: usize,
    hop: usize,
}

struct Network<'a> {
    scenario: &'a Scenario,
    topology: Topology<'a>,
    /// The streams that arrive at each direction of a link, until the port of this direction is processed.
    waiting: BTreeMap<LinkIndex, Vec<(PathPosition, Stream)>>,
    queues: Vec<(LinkIndex, usize, QueueRow)>,
    paths: Paths,
    /// The number of limits that have been created. It is the number of the next limit.
    ids: usize,
}

type LinkIndex = usize;

/// An order of the directions of all links.
struct Order {
    /// The directions in an order in which every path crosses them.
    known: Vec<LinkId>,
    /// The directions for which no such order exists, because the paths form a cycle.
    circular: Vec<LinkId>,
}

fn in_order(entries: &[Entry], count: usize) -> Order {
    let mut before = vec![0usize; count];
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    for pair in entries.iter().flat_map(|entry| entry.path.windows(2)) {
        after[pair[0].index()].push(pair[1].index());
        before[pair[1].index()] += 1;
    }
    let mut ready: Vec<usize> = (0..count).rev().filter(|link| before[*link] == 0).collect();
    let mut known = Vec::new();
    while let Some(link) = ready.pop() {
        known.push(LinkId(link as u32));
        for next in &after[link] {
            before[*next] -= 1;
            if before[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    let circular = (0..count).filter(|link| before[*link] > 0).map(|link| LinkId(link as u32)).collect();
    Order { known, circular }
}

/// A port, with its link and its policy.
struct Site<'a> {
    link: LinkId,
    config: &'a LinkConfig,
    near: InterfaceConfig,
    far: InterfaceConfig,
    ends: [&'a str; 2],
    wire: WireConfig,
    output: Option<&'a PolicyConfig>,
}

impl Site<'_> {
    fn accounting(policy: Option<&PolicyConfig>) -> Result<Accounting, ConfigError> {
        policy.map_or(Ok(Accounting::IP), |policy| Accounting::new(policy.overhead))
    }
}

impl<'a> Network<'a> {
    fn site(&self, link: LinkId) -> Site<'a> {
        let config = &self.scenario.links[link.index() / 2];
        let ends = self.topology.ends(link);
        let interface = |node: &str| config.interfaces.get(node).cloned().unwrap_or_default();
        let (near, far) = (interface(ends[0]), interface(ends[1]));
        let output = near.output.as_ref().and_then(|name| self.scenario.policies.get(name));
        Site { link, config, wire: config.wire(&near), near, far, ends, output }
    }

    /// Returns the reason why the queues at the port of `link` have no bounds, if the settings of the port
    /// imply one.
    fn obstacle(&self, link: LinkId) -> Option<&'static str> {
        let queueing = self.site(link).output.and_then(|policy| policy.queueing.as_ref())?;
        let is_on = |pause: Option<PauseConfig>| pause.is_some_and(|pause| pause.mode == PauseMode::On);
        queueing.pauses().into_iter().any(is_on).then_some(PAUSED)
    }

    /// Adds `stream`, which is at this position of the path of `entry`, to the streams at its next port.
    fn add_stream(&mut self, entry: &Entry, position: PathPosition, stream: Stream) {
        if let Some(link) = entry.path.get(position.hop) {
            self.waiting.entry(link.index()).or_default().push((position, stream));
        }
    }

    /// Computes the bounds of the port of `link`. If there is an `obstacle`, the delays are unbounded for
    /// this reason.
    fn port(&mut self, link: LinkId, entries: &[Entry], obstacle: Option<&str>) -> Result<(), ConfigError> {
        let Some(coming) = self.waiting.remove(&link.index()) else { return Ok(()) };
        let site = self.site(link);
        let names = queue_names(site.output.and_then(|policy| policy.queueing.as_ref()));
        let mut queued = self.queued(&site, coming, names.len())?;
        self.police(&site, &mut queued)?;
        let mut streams: Vec<Vec<Stream>> =
            queued.iter().map(|queue| queue.iter().map(|(_, stream)| stream.clone()).collect()).collect();
        if obstacle.is_some() {
            for stream in streams.iter_mut().flatten() {
                (stream.own, stream.limits) = (None, Vec::new());
            }
        }
        let queueing = site.output.and_then(|policy| policy.queueing.as_ref());
        let accounting = Site::accounting(site.output)?;
        let port = Port { queueing, wire: site.wire, accounting, streams: streams.clone() };
        let bounds = port.bounds();
        let shaped = self.shaped(&port);
        let mut leaving = Vec::new();
        for (place, (bound, queue)) in bounds.into_iter().zip(queued).enumerate() {
            let Some(mut bound) = bound else { continue };
            if !site.config.rate_changes.is_empty() {
                // At a variable rate, the limit of a queue does not bound its delay.
                bound.delay = Err("the rate of the link changes during the run".to_owned());
            }
            if self.obstacle(link).is_some() {
                // During a pause, the limit of a queue does not bound its delay.
                bound.delay = Err(PAUSED.to_owned());
            }
            if let (Some(obstacle), Err(reason)) = (obstacle, &mut bound.delay) {
                obstacle.clone_into(reason);
            }
            self.cross(&site, place, &queue, &bound);
            for (position, stream) in queue {
                let delay = bound.delay.as_ref().ok().copied();
                let mut behind = stream.delayed(bound.least_delay, delay);
                let around = shaped.iter().filter(|(places, _)| places.contains(&place));
                behind.limits.extend(around.map(|(_, limit)| limit.clone()));
                leaving.push((position, behind));
            }
            let traffic = streams[place].iter().map(|stream| (stream.traffic, stream.answers)).collect();
            let row = QueueRow {
                port: format!("{}->{}", site.ends[0], site.ends[1]),
                queue: names[place].clone(),
                traffic,
                limit: port.limit_text(place),
                bound,
            };
            self.queues.push((link.index(), place, row));
        }
        for (position, stream) in self.arrived(&site, leaving)? {
            self.add_stream(
                &entries[position.entry],
                PathPosition { hop: position.hop + 1, ..position },
                stream,
            );
        }
        Ok(())
    }

    /// Applies the policers that drop packets regardless of congestion.
    fn police(&mut self, site: &Site, queued: &mut [Vec<(PathPosition, Stream)>]) -> Result<(), ConfigError> {
        let Some(queueing) = site.output.and_then(|policy| policy.queueing.as_ref()) else { return Ok(()) };
        let measure = Measure::Counted(Site::accounting(site.output)?);
        for ((class, _), queue) in limits_of_all(queueing).into_iter().zip(queued) {
            let Some(police) = class.police.filter(|police| police.when == PoliceWhen::Always) else {
                continue;
            };
            let rate = police.rate.as_bits_per_second() as f64 / 8.0;
            let curve = Arrival::token_bucket(police.burst.as_bytes() as f64, rate);
            let limit = Limit { id: self.ids, measure, curve };
            self.ids += 1;
            for (_, stream) in queue {
                stream.limits.push(limit.clone());
            }
        }
        Ok(())
    }

    /// Returns the queues of each shaper of `port`, and the limit of the shaper's output after the transmit
    /// ring.
    fn shaped(&mut self, port: &Port) -> Vec<(std::ops::Range<usize>, Limit)> {
        let lengths = stream::lengths(port.streams.iter().flatten());
        let Some((queueing, lengths)) = port.queueing.zip(lengths) else { return Vec::new() };
        let measure = Measure::Counted(port.accounting);
        let limit = |(places, curve): (std::ops::Range<usize>, Arrival)| {
            self.ids += 1;
            (places, Limit { id: self.ids - 1, measure, curve: curve.after(port.ring_time(&lengths)) })
        };
        shapers(queueing, 0, measure.most(&lengths)).into_iter().map(limit).collect()
    }

    /// Records that all streams in `queue` crossed this queue.
    fn cross(&mut self, site: &Site, place: usize, queue: &[(PathPosition, Stream)], bound: &QueueBound) {
        let streams = queue.iter().map(|(_, stream)| stream);
        let population =
            self.paths.population(queue.iter().map(|(position, stream)| (position.entry, stream)));
        let crossed = Crossed {
            port: site.link.index(),
            queue: place,
            delay: bound.delay.clone(),
            propagation: site.config.delay.as_seconds(),
            service: bound.service.clone().filter(|_| bound.delay.is_ok() && !bound.is_policed),
            arrival: stream::arrival(streams, Measure::Ip),
            population,
            lengths: bound.lengths.clone(),
        };
        for (position, _) in queue {
            self.paths.cross(position.entry, position.hop, crossed.clone());
        }
    }

    /// Returns the streams at each queue of the port at `site`.
    fn queued(
        &mut self,
        site: &Site,
        coming: Vec<(PathPosition, Stream)>,
        queues: usize,
    ) -> Result<Vec<Vec<(PathPosition, Stream)>>, ConfigError> {
        let interfaces = self.topology.interfaces(site.ends[0]).to_vec();
        let mtu = site.config.mtu(&site.near).map(|mtu| mtu.as_bytes() as u32);
        let classifier = match site.output.and_then(|policy| policy.queueing.as_ref()) {
            Some(queueing) => PortClassifier::build(queueing, &interfaces)?,
            None => PortClassifier::single(),
        };
        let first_id = self.ids;
        let stages = site.output.map_or(&[][..], |policy| &policy.conditioners);
        self.ids += (stages.len() + 1) * IDS_PER_STAGE;
        let accounting = Site::accounting(site.output)?;
        let conditioners = Conditioners { stages, interfaces: &interfaces, accounting, first_id };
        let mut queued: Vec<Vec<(PathPosition, Stream)>> = vec![Vec::new(); queues];
        for (position, stream) in coming {
            let may_cut = self.paths.may_cut(position.entry);
            for mut piece in fragments(stream, mtu, may_cut) {
                piece.packet.depart(site.wire.headers.encapsulation());
                for passed in conditioners.pass(vec![piece])? {
                    for (queue, stream) in by_queue(&classifier, &passed) {
                        queued[queue].push((position, stream));
                    }
                }
            }
        }
        Ok(queued)
    }

    /// Returns the streams at the far end of the link, after its input conditioners. `leaving` are the
    /// streams that leave the port at `site`.
    fn arrived(
        &mut self,
        site: &Site,
        leaving: Vec<(PathPosition, Stream)>,
    ) -> Result<Vec<(PathPosition, Stream)>, ConfigError> {
        let Some(lengths) = stream::lengths(leaving.iter().map(|(_, stream)| stream)) else {
            return Ok(Vec::new());
        };
        let interfaces = self.topology.interfaces(site.ends[1]).to_vec();
        let number = self.topology.interface(site.ends[1], site.ends[0]);
        let ingress = Ingress::new(number, site.wire.headers.encapsulation());
        let policy = site.far.input.as_ref().and_then(|name| self.scenario.policies.get(name));
        let stages = policy.map_or(&[][..], |policy| &policy.conditioners);
        let rates = site.config.rate_changes.iter().map(|change| change.rate);
        let wire = WireConfig { rate: rates.fold(site.wire.rate, Rate::max), ..site.wire };
        let limit = Limit { id: self.ids, measure: Measure::Wire(wire), curve: carried(&wire, &lengths) };
        let first_id = self.ids + 1;
        self.ids += 1 + (stages.len() + 1) * IDS_PER_STAGE;
        let accounting = Site::accounting(policy)?;
        let conditioners = Conditioners { stages, interfaces: &interfaces, accounting, first_id };
        let mut arrived = Vec::new();
        for (position, mut stream) in leaving {
            if site.wire.headers.fragmentation().is_none() {
                stream.limits.push(limit.clone());
            }
            stream.packet.arrive(ingress);
            arrived.extend(conditioners.pass(vec![stream])?.into_iter().map(|stream| (position, stream)));
        }
        Ok(arrived)
    }
}

/// Returns the arrival curve after a wire, in wire bytes. One packet arrives at once. Each further packet
/// arrives after its transmission time, which is rounded down to a picosecond.
fn carried(wire: &WireConfig, lengths: &Lengths) -> Arrival {
    let (measure, rate) = (Measure::Wire(*wire), wire.rate.as_bits_per_second());
    let bytes = rate as f64 / 8.0;
    let is_exact = (8 * PICOSECONDS_PER_SECOND).is_multiple_of(rate);
    let shortest = measure.least(lengths) / bytes * PICOSECONDS_PER_SECOND as f64;
    let early = if is_exact { 1.0 } else { shortest / (shortest - 1.0).max(1.0) };
    Arrival::token_bucket(measure.most(lengths), bytes * early)
}

/// Divides `stream` by packet length and returns the queue of each part.
fn by_queue(classifier: &PortClassifier, stream: &Stream) -> Vec<(usize, Stream)> {
    let mut queues: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for length in stream.lengths.each() {
        if let Some(queue) = classifier.classify(&Packet { length, ..stream.packet }) {
            queues.entry(queue.index()).or_default().push(length);
        }
    }
    let part =
        |(queue, lengths): (usize, Vec<u32>)| Some((queue, stream.with_lengths(Lengths::among(lengths)?)));
    queues.into_iter().filter_map(part).collect()
}
