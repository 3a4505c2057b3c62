//! [`Measurements`]: all counts of one run. A simulator fills them in, or the code that merges the reports of
//! a live run. All tables are made from these counts.

mod part;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use perhop_qos::conditioner::{Count, TrafficConditioner};
use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Color, Dscp, FlowKey, Packet, Protocol};
use perhop_qos::policy::{PolicyConfig, queue_names};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::plan::Plan;
use perhop_scenario::topology::host_addresses;
use perhop_scenario::{ConnectionEnd, DelayScope, Scenario, TrafficConfig};

use crate::counters::{
    DelayStatistics, Delays, FlowCounters, Intervals, PacketLog, PoolDrops, PortTally, QueueSample, Samples,
};
use crate::tcp::{CLIENT, ConnectionSeries, SERVER, SessionMeasurements, SessionTally, TcpMeasurements};

/// A flow in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The index of the flow's entry in the scenario's traffic.
    pub traffic: usize,
    /// The number of the flow among the flows of the entry, from 0.
    pub number: u32,
    /// The index of the flow's class in results.
    pub class: usize,
    /// Whether the flow has the reverse direction, from the server of TCP traffic or of a game to its client.
    pub answers: bool,
}

/// The counts of one port, which is the sending side of one direction of a link.
#[derive(Clone, Debug)]
pub struct PortMeasurements {
    /// The name of the port in results: `C1->E3`.
    pub name: String,
    /// The names of the port's queues in results. Ports with the same queues may share one list.
    pub queue_names: Arc<[String]>,
    /// The counters.
    pub tally: PortTally,
    /// The numbers of the other ports that share the memory of this port.
    pub sharers: Vec<usize>,
    /// The use of the shared memory at the drops of this port; `None` if the port shares no memory.
    pub pool_drops: Option<Box<PoolDrops>>,
}

/// The queues of one port over time.
#[derive(Clone, Debug)]
pub struct QueueSeries {
    /// The index of the port.
    pub port: usize,
    /// The samples.
    pub samples: Vec<QueueSample>,
}

/// The pauses of one priority at one port by priority flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseMeasurements {
    /// The index of the port that was paused.
    pub port: usize,
    /// The priority.
    pub priority: u8,
    /// The number of pauses that began after the warm-up.
    pub pauses: u64,
    /// The number of pauses that began after the warm-up and were caused by another pause, which stopped
    /// packets in the neighbor's memory until this memory became full.
    pub spread: u64,
    /// The largest number of links over which a pause spread, including the link of the port.
    pub deepest: u32,
    /// The total time of pauses after the warm-up.
    pub paused: Time,
    /// The longest pause after the warm-up. A pause that began earlier counts from the end of the warm-up.
    pub longest: Time,
    /// The maximum number of bytes of packets from this port in the neighbor's memory, since the start of the
    /// run.
    pub most_bytes: u64,
    /// The beginning of the pause if the port is in a deadlock, which is a cycle of pauses that never end.
    pub deadlocked: Option<Time>,
}

/// The packets that one conditioning stage processed with one resulting color.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditioned {
    /// The node with the policy.
    pub node: String,
    /// The neighbor at the other end of the link.
    pub neighbor: String,
    /// The side of the port: `input` or `output`.
    pub side: &'static str,
    /// The name of the stage.
    pub stage: String,
    /// The name of the color.
    pub color: String,
    /// The number of packets and IP bytes.
    pub taken: Count,
}

impl Conditioned {
    /// Returns the packets of every stage of `conditioner` by resulting color. The conditioner is on this
    /// `side` of the port from `node` to `neighbor`.
    pub fn by<'c>(
        conditioner: &'c TrafficConditioner,
        [node, neighbor]: [&'c str; 2],
        side: &'static str,
    ) -> impl Iterator<Item = Conditioned> + 'c {
        conditioner.counted().flat_map(move |(stage, counted)| {
            let colors = counted.iter().enumerate().filter(|(_, count)| count.packets > 0);
            colors.map(move |(color, count)| Conditioned {
                node: node.to_owned(),
                neighbor: neighbor.to_owned(),
                side,
                stage: stage.to_owned(),
                color: Color::new(color).to_string(),
                taken: *count,
            })
        })
    }
}

/// One flow of a scenario. Each session of TCP traffic has two flows: the client's packets and the server's
/// packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowId {
    /// The index of the flow's entry in the scenario's traffic.
    pub traffic: usize,
    /// The number of the flow among the flows of the entry, from 0.
    pub number: u32,
    /// Whether the flow has the reverse direction, from the server of TCP traffic or of a game to its client.
    pub answers: bool,
    /// The addresses, ports and protocol that the scenario specifies.
    pub key: FlowKey,
}

/// Returns the flows of `scenario`, in the order in which [`Measurements::for_scenario`] counts them.
pub fn flows(scenario: &Scenario) -> Vec<FlowId> {
    let addresses: BTreeMap<&String, IpAddr> = scenario.hosts.keys().zip(host_addresses(scenario)).collect();
    let address =
        |host: &String| addresses.get(host).copied().unwrap_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED));
    let mut flows = Vec::new();
    for (traffic, config) in scenario.traffic.iter().enumerate() {
        let ends = [address(&config.from), address(&config.to)];
        for number in 0..config.flows() {
            let key = config.flow_key(ends, number);
            flows.push(FlowId { traffic, number, answers: false, key });
            if key.protocol == Protocol::TCP || config.source.back().is_some() {
                flows.push(FlowId { traffic, number, answers: true, key: key.reversed() });
            }
        }
    }
    flows
}

/// Returns the number of flows of `scenario`. A recording counts as one flow, even if it contains several
/// flows.
pub fn flow_count(scenario: &Scenario) -> usize {
    let directions = |config: &TrafficConfig| {
        let is_answered = Plan::for_source(&config.source).is_some() || config.source.back().is_some();
        config.flows() as usize * if is_answered { 2 } else { 1 }
    };
    scenario.traffic.iter().map(directions).sum()
}

fn has_shared_memory(policy: &PolicyConfig) -> bool {
    policy.queueing.as_ref().is_some_and(|queueing| queueing.memory.is_some())
}

fn has_pauses(policy: &PolicyConfig) -> bool {
    policy.queueing.as_ref().is_some_and(|queueing| queueing.pauses().iter().any(Option::is_some))
}

/// All counts of one run.
///
/// Packets are counted during the run (`counters`, `delays`, `samples`). The other fields are filled in at
/// the end of the run.
#[derive(Clone, Debug, Default)]
pub struct Measurements {
    /// The duration of the warm-up, in which nothing is counted.
    pub warmup: Time,
    /// The end of the run.
    pub duration: Time,
    /// Names of the classes in results.
    pub class_names: Vec<String>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// The counters of each flow.
    pub counters: Vec<FlowCounters>,
    /// Distributions of delay, each for a class or for a flow. [`FlowCounters::distribution`] is an index
    /// into this list.
    pub delays: Vec<Delays>,
    /// Measurements that the scenario requests in addition to the counters.
    pub samples: Option<Box<Samples>>,
    /// The ports in the order of the scenario's links. Each link has two ports, one for each direction.
    pub ports: Vec<PortMeasurements>,
    /// The packets that conditioning stages processed.
    pub conditioners: Vec<Conditioned>,
    /// The series, in the order of the scenario's `measure.queues`.
    pub queues: Vec<QueueSeries>,
    /// Measurements of TCP.
    pub tcp: TcpMeasurements,
    /// The number of packets of each flow that were in the network at the end. Packets that were sent during
    /// the warm-up are not counted.
    pub in_network: Vec<u64>,
    /// The number of transmissions of packets on wires.
    pub packet_hops: u64,
    /// Whether a policy has a shared memory, which may cause drops.
    pub has_shared_memory: bool,
    /// Whether a policy has priority flow control.
    pub has_pauses: bool,
    /// The pauses by priority flow control.
    pub pauses: Vec<PauseMeasurements>,
    scope: DelayScope,
    /// The indices of classes, by name.
    class_places: BTreeMap<String, usize>,
    /// The index of the delay distribution that the flows of a class share, by class.
    class_delays: BTreeMap<usize, usize>,
}

impl Measurements {
    /// Creates empty measurements of a run of `scenario`, without flows.
    pub fn new(scenario: &Scenario) -> Measurements {
        let flows = flow_count(scenario);
        Measurements {
            flows: Vec::with_capacity(flows),
            counters: Vec::with_capacity(flows),
            warmup: scenario.measure.warmup,
            duration: scenario.duration,
            has_shared_memory: scenario.policies.values().any(has_shared_memory),
            has_pauses: scenario.policies.values().any(has_pauses),
            scope: scenario.measure.delays,
            ..Measurements::default()
        }
    }

    /// Creates empty measurements of the flows, sessions and ports of `scenario`. Flows are in the order of
    /// [`flows`].
    ///
    /// # Errors
    /// A queueing policy does not exist.
    pub fn for_scenario(scenario: &Scenario) -> Result<Measurements, ConfigError> {
        let mut measurements = Measurements::new(scenario);
        for (traffic, config) in scenario.traffic.iter().enumerate() {
            let class = measurements.class_of(config);
            let back = config.source.back().map(|_| measurements.class_of_answers(class));
            let classes =
                Plan::for_source(&config.source).map(|_| [class, measurements.class_of_answers(class)]);
            for number in 0..config.flows() {
                if let Some(classes) = classes {
                    measurements.add_session(traffic, number, classes);
                    continue;
                }
                measurements.add_flow(Flow { traffic, number, class, answers: false });
                if let Some(class) = back {
                    measurements.add_flow(Flow { traffic, number, class, answers: true });
                }
            }
        }
        for link in &scenario.links {
            let [a, b] = &link.between;
            for (from, to) in [(a, b), (b, a)] {
                let output = link.interfaces.get(from).and_then(|interface| interface.output.as_ref());
                let policy = output.map(|name| {
                    let missing =
                        || ConfigError::new("policies", format!("there is no policy called {name}"));
                    scenario.policies.get(name).ok_or_else(missing)
                });
                let names = queue_names(policy.transpose()?.and_then(|policy| policy.queueing.as_ref()));
                measurements.ports.push(PortMeasurements {
                    name: format!("{from}->{to}"),
                    tally: PortTally::new(names.len()),
                    queue_names: names.into(),
                    sharers: Vec::new(),
                    pool_drops: None,
                });
            }
        }
        measurements.add_samples(scenario);
        for probe in &scenario.measure.connections {
            let end = match probe.end {
                ConnectionEnd::Client => CLIENT,
                ConnectionEnd::Server => SERVER,
            };
            measurements.tcp.series.push(ConnectionSeries { end, samples: Vec::new() });
        }
        Ok(measurements)
    }

    /// Returns the length of the time after the warm-up, which is counted.
    pub fn measured(&self) -> Time {
        self.duration.saturating_sub(self.warmup)
    }
    /// Returns the index of the class of `traffic`.
    pub fn class_of(&mut self, traffic: &TrafficConfig) -> usize {
        self.class(traffic.class.as_ref().unwrap_or(&traffic.name))
    }
    /// Returns the index of the class of the servers' answers to clients of `class`.
    pub fn class_of_answers(&mut self, class: usize) -> usize {
        self.class(&format!("{} (back)", self.class_names[class]))
    }
    fn class(&mut self, name: &str) -> usize {
        if let Some(place) = self.class_places.get(name) {
            return *place;
        }
        let place = self.class_names.len();
        self.class_names.push(name.to_owned());
        self.class_places.insert(name.to_owned(), place);
        place
    }
    /// Adds `flow` and returns its index.
    pub fn add_flow(&mut self, flow: Flow) -> usize {
        let shared = match self.scope {
            DelayScope::PerClass => self.class_delays.get(&flow.class).copied(),
            DelayScope::PerFlow => None,
        };
        let distribution = shared.unwrap_or_else(|| {
            self.delays.push(Delays::default());
            self.delays.len() - 1
        });
        self.class_delays.entry(flow.class).or_insert(distribution);
        self.flows.push(flow);
        self.counters.push(FlowCounters::new(distribution));
        self.flows.len() - 1
    }
    /// Adds session `number` of entry `traffic`. `classes` are the classes of the client's flow and of the
    /// server's flow. Returns the indices of these flows.
    pub fn add_session(&mut self, traffic: usize, number: u32, classes: [usize; 2]) -> [usize; 2] {
        let completions = self.tcp.completions_of(classes[CLIENT]);
        let tally = SessionTally::default();
        let class = classes[CLIENT];
        self.tcp.sessions.push(SessionMeasurements { traffic, number, class, completions, tally });
        [CLIENT, SERVER]
            .map(|end| self.add_flow(Flow { traffic, number, class: classes[end], answers: end == SERVER }))
    }
    /// Prepares the samples of throughput and delay and the logs of packets that `scenario` requests.
    pub fn add_samples(&mut self, scenario: &Scenario) {
        let measure = &scenario.measure;
        let (begins, ends, classes) = (self.warmup, self.duration, self.class_names.len());
        if let Some(every) = measure.throughput_every.filter(|every| *every > Time::ZERO) {
            let nothing = vec![Count::default(); classes];
            self.samples().throughput = Some(Intervals::new(begins, ends, every, nothing));
        }
        if !measure.packets.is_empty() {
            let named = |flow: &Flow| measure.packets.contains(&scenario.traffic[flow.traffic].name);
            let kept = self.flows.iter().map(named).collect();
            self.samples().packets = Some(PacketLog { kept, packets: Vec::new() });
        }
        let is_evaluated = |flow: &Flow| scenario.traffic[flow.traffic].source.is_judged_by_packets();
        if self.flows.iter().any(is_evaluated) {
            let kept = self.flows.iter().map(is_evaluated).collect();
            self.samples().application_packets = Some(PacketLog { kept, packets: Vec::new() });
        }
        if let Some(every) = measure.delay_every.filter(|every| *every > Time::ZERO) {
            let intervals = Intervals::new(begins, ends, every, DelayStatistics::default());
            self.samples().delays = vec![intervals; classes];
        }
    }
    fn samples(&mut self) -> &mut Samples {
        self.samples.get_or_insert_default()
    }
    /// Prepares the samples of drops, which use the intervals of throughput. Only engines that know the time
    /// of a drop need them.
    pub fn add_drop_samples(&mut self) {
        let (begins, ends, classes) = (self.warmup, self.duration, self.class_names.len());
        if let Some(samples) = &mut self.samples
            && let Some(throughput) = &samples.throughput
        {
            samples.drops = Some(Intervals::new(begins, ends, throughput.every, vec![0; classes]));
        }
    }

    /// Counts `packet` of `flow`, which was dropped at `now` for `cause`.
    pub fn drop_packet(&mut self, now: Time, flow: usize, packet: &Packet, cause: DropCause) {
        self.counters[flow].drop(packet, cause, self.warmup);
        if now >= self.warmup
            && let Some(samples) = &mut self.samples
        {
            samples.drop_packet(now, self.flows[flow].class);
        }
    }

    /// Counts packet `number` of `flow`, which has arrived at its receiver.
    #[allow(clippy::inline_always)] // executed for every segment that arrives
    #[inline(always)]
    pub fn deliver(&mut self, now: Time, flow: usize, packet: &Packet, number: u32) {
        if let Some(variation) = self.count(now, flow, packet, number)
            && self.samples.is_some()
        {
            self.sample(now, flow, packet, number, variation);
        }
    }

    /// Counts packet `number` of `flow`. Returns `None` if the packet was sent during the warm-up, because
    /// the caller must not sample such a packet. Otherwise, returns the delay variation of the packet, which
    /// is `None` if the packet has no predecessor.
    #[allow(clippy::inline_always, clippy::option_option)] // see above; a first packet has no variation
    #[inline(always)]
    pub fn count(&mut self, now: Time, flow: usize, packet: &Packet, number: u32) -> Option<Option<i64>> {
        let FlowCounters { arrivals, distribution, .. } = &mut self.counters[flow];
        // The receiver sees only the codepoint, not the color that a meter set.
        let color = packet.dscp.color();
        if packet.sent_at < self.warmup {
            if now >= self.warmup {
                arrivals.take_early(packet.length, color);
                self.sample_early(now, flow, packet);
            }
            return None;
        }
        let (delays, delay) = (&mut self.delays[*distribution as usize], now - packet.sent_at);
        Some(arrivals.deliver(number, packet.length, color, delay, delays))
    }

    /// Passes an arrived packet to the samples that a scenario requests.
    #[inline(never)]
    fn sample(&mut self, now: Time, flow: usize, packet: &Packet, number: u32, variation: Option<i64>) {
        if let Some(samples) = &mut self.samples {
            samples.deliver(now, [self.flows[flow].class, flow], number, packet, variation);
        }
    }

    /// Passes an arrived packet that was sent during the warm-up to the samples that a scenario requests.
    #[cold]
    fn sample_early(&mut self, now: Time, flow: usize, packet: &Packet) {
        if let Some(samples) = &mut self.samples {
            samples.receive(now, self.flows[flow].class, packet.length);
        }
    }

    /// Records that `flow` sent a packet of `length` IP bytes at `at`, as logged by a live host.
    pub fn record_sent(&mut self, flow: usize, at: Time, length: u32) {
        if at >= self.warmup && at <= self.duration {
            self.counters[flow].offered.add(length);
        }
    }
    /// Records that packet `number` of `flow`, with `length` IP bytes and codepoint `dscp`, was sent at
    /// `sent` and arrived at `at`, as logged by a live host. A packet that arrives after the end of the run
    /// is counted as in the network.
    pub fn record_arrived(
        &mut self,
        flow: usize,
        number: u32,
        length: u32,
        sent: Time,
        at: Time,
        dscp: Dscp,
    ) {
        if at <= self.duration {
            let packet = Packet { sent_at: sent, dscp, ..Packet::new(FlowKey::default(), length) };
            self.deliver(at.max(sent), flow, &packet, number);
        }
    }
    /// Returns the number of sent packets of each flow that were neither delivered nor counted as dropped.
    /// Such packets are in the network at the end of the run, or were lost at a place without counters.
    pub fn unaccounted(&self) -> Vec<u64> {
        let rest = |counters: &FlowCounters| {
            let tally = counters.tally();
            let accounted = tally.delivered.packets + tally.dropped_in_all().packets;
            tally.offered.packets.saturating_sub(accounted)
        };
        self.counters.iter().map(rest).collect()
    }
    /// Returns the counters of the port called `name` (`C1->E3`), if the scenario has this port.
    pub fn port(&mut self, name: &str) -> Option<&mut PortMeasurements> {
        self.ports.iter_mut().find(|port| port.name == name)
    }

    /// Checks for every flow that offered = delivered + dropped + in the network.
    ///
    /// # Panics
    /// A packet disappeared or was duplicated. This is a bug of the engine that filled in these measurements.
    pub fn assert_conservation(&self) {
        for (flow, (counters, in_network)) in self.counters.iter().zip(&self.in_network).enumerate() {
            let tally = counters.tally();
            let accounted = tally.delivered.packets + tally.dropped_in_all().packets + in_network;
            assert_eq!(tally.offered.packets, accounted, "flow {flow}: offered packets and their outcomes");
        }
    }
}
