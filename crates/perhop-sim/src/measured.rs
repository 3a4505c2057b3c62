//! [`Measured`]: what was measured of a scenario on real packets, counted and reported as a simulation is.
//!
//! The counters are those of a [`World`] that nothing happens in: offered and delivered packets, delays and
//! their variation, colors and time series follow the same rules as in the simulator because the same code
//! applies them, and the tables come from the same code too.

use std::net::IpAddr;
use std::path::Path;

use perhop_qos::conditioner::Count;
use perhop_qos::error::ConfigError;
use perhop_qos::packet::{Dscp, FlowKey, Protocol};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::build::build_still_world;
use crate::probe::PortTally;
use crate::results::{ConditionerRow, Replication, Results};
use crate::run::RunOptions;
use crate::session::{CLIENT, ConnectionSample, SERVER};
use crate::tcp::Statistics;
use crate::world::World;
use perhop_scenario::Scenario;
use perhop_scenario::plan::Plan;
use perhop_scenario::topology::host_addresses;

/// One flow of a scenario. TCP traffic has two for each of its sessions: the client's packets and the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowId {
    /// Index of its entry in the scenario's traffic.
    pub traffic: usize,
    /// Which of that entry's flows it is, from 0.
    pub number: u32,
    /// Whether it leads back, from the server of TCP traffic to its client.
    pub answers: bool,
    /// Addresses, ports and protocol, as the scenario gives them.
    pub key: FlowKey,
}

/// The flows of `scenario`, in the order in which [`Measured`] counts them.
pub fn flows(scenario: &Scenario) -> Vec<FlowId> {
    let names: Vec<&String> = scenario.hosts.keys().collect();
    let addresses = host_addresses(scenario);
    let address = |host: &str| {
        let place = names.iter().position(|name| *name == host);
        place.map_or(IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED), |place| addresses[place])
    };
    let mut flows = Vec::new();
    for (traffic, config) in scenario.traffic.iter().enumerate() {
        let is_tcp = Plan::of(&config.source).is_some();
        let protocol = if is_tcp { Protocol::TCP } else { Protocol::UDP };
        let ends = [address(&config.from), address(&config.to)];
        for number in 0..config.count {
            let key = config.flow_key(ends, number, protocol);
            flows.push(FlowId { traffic, number, answers: false, key });
            if is_tcp {
                flows.push(FlowId { traffic, number, answers: true, key: key.reversed() });
            }
        }
    }
    flows
}

/// The packets to which one stage of conditioning gave one color.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditioned {
    /// The node whose policy it is, and the neighbor at the other end of the link.
    pub node: String,
    /// The neighbor at the other end of the link.
    pub neighbor: String,
    /// `input` or `output`.
    pub side: &'static str,
    /// Name of the stage.
    pub stage: String,
    /// Name of the color.
    pub color: String,
    /// Packets and IP bytes.
    pub taken: Count,
}

/// What one session of TCP traffic did after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct SessionCounts {
    /// Connections begun.
    pub connections: u64,
    /// Transactions that are over.
    pub transactions: u64,
    /// How long each took of those that have a completion time.
    pub completions: Vec<Time>,
    /// Payload bytes that arrived in order at the client and at the server.
    pub received: [u64; 2],
    /// What the senders of both ends did.
    pub sent: Statistics,
}

/// One end of a connection at one instant, as a probe of connections saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConnectionState {
    /// When.
    pub time: Time,
    /// Which of its session's connections it is, from 0.
    pub connection: u32,
    /// Congestion window, segments.
    pub window: f64,
    /// Slow-start threshold, segments.
    pub threshold: f64,
    /// Payload bytes sent and not acknowledged.
    pub in_flight: u64,
    /// Smoothed round-trip time, once one was measured.
    pub round_trip: Option<Time>,
    /// Retransmission timeout.
    pub timeout: Time,
}

/// What was measured in one run of a scenario.
#[derive(Debug)]
pub struct Measured {
    world: World,
    conditioners: Vec<Conditioned>,
}

impl Measured {
    /// Nothing measured yet of `scenario`; trace files are looked for relative to `base`.
    ///
    /// # Errors
    /// Whatever of the scenario cannot be built.
    pub fn new(scenario: &Scenario, base: &Path) -> Result<Measured, ConfigError> {
        let world = build_still_world(scenario, base)?;
        Ok(Measured { world, conditioners: Vec::new() })
    }

    /// `flow` (its place in [`flows`]) sent a packet of `length` IP bytes at `at`.
    pub fn send(&mut self, flow: usize, at: Time, length: u32) {
        if at >= self.world.warmup && at <= self.world.duration {
            self.world.tallies[flow].offered.add(length);
        }
    }

    /// Packet `number` of `flow`, of `length` IP bytes, sent at `sent`, arrived at `at` with codepoint `dscp`.
    /// Packets that arrive after the end of the run are still in the network then.
    pub fn arrive(&mut self, flow: usize, number: u32, length: u32, sent: Time, at: Time, dscp: Dscp) {
        if at > self.world.duration {
            return;
        }
        let mut packet = self.world.flows[flow].template;
        packet.length = length;
        packet.sent_at = sent;
        packet.dscp = dscp;
        packet.payload = (flow as u64) << 32 | u64::from(number);
        self.world.count_delivery(at.max(sent), &packet, number);
    }

    /// Packets of `flow` were dropped because of `cause`.
    pub fn drop(&mut self, flow: usize, cause: DropCause, dropped: Count) {
        self.world.tallies[flow].dropped[cause.index()].merge(dropped);
    }

    /// When the run ends.
    pub fn duration(&self) -> Time {
        self.world.duration
    }
    /// Until when nothing is measured.
    pub fn warmup(&self) -> Time {
        self.world.warmup
    }
    /// The place of `queue` at the port called `name`.
    pub fn queue(&self, name: &str, queue: &str) -> Option<usize> {
        let link = self.world.links.iter().find(|link| link.name == name)?;
        link.queue_names.iter().position(|known| known == queue)
    }

    /// The counters of the port called `name` (`C1->E3`), if the scenario has it.
    pub fn port(&mut self, name: &str) -> Option<&mut PortTally> {
        self.world.links.iter_mut().find(|link| link.name == name).map(|link| &mut link.tally)
    }

    /// `packets` went onto the wire of the port called `name`.
    pub fn transmit(&mut self, name: &str, packets: u64) {
        if let Some(link) = self.world.links.iter_mut().find(|link| link.name == name) {
            link.transmitted += packets;
        }
    }

    /// A stage of conditioning took packets.
    pub fn condition(&mut self, taken: Conditioned) {
        self.conditioners.push(taken);
    }

    /// What session `number` of entry `traffic` did; counts of both its ends add up.
    pub fn session(&mut self, traffic: usize, number: u32, counts: &SessionCounts) {
        let transport = &mut self.world.transport;
        let of =
            |session: &&mut crate::session::Session| session.traffic == traffic && session.number == number;
        let Some(session) = transport.sessions.iter_mut().find(of) else { return };
        let tally = &mut session.tally;
        tally.connections += counts.connections;
        tally.transactions += counts.transactions;
        tally.completed += counts.completions.len() as u64;
        tally.over.merge(&counts.sent);
        for end in [CLIENT, SERVER] {
            tally.received[end] += counts.received[end];
        }
        for time in &counts.completions {
            tally.completion += u128::from(time.as_picoseconds());
            transport.completions[session.completions].1.record(*time, None);
        }
    }

    /// What the probe of connections with index `probe` in the scenario saw of session `number` of `traffic`.
    pub fn sample(&mut self, probe: usize, traffic: usize, number: u32, state: &ConnectionState) {
        let transport = &mut self.world.transport;
        let of = |session: &crate::session::Session| session.traffic == traffic && session.number == number;
        let Some(session) = transport.sessions.iter().position(of) else { return };
        let ConnectionState { time, connection, window, threshold, in_flight, round_trip, timeout } = *state;
        let sample =
            ConnectionSample { time, session, connection, window, threshold, in_flight, round_trip, timeout };
        if let Some(probe) = transport.probes.get_mut(probe) {
            probe.samples.push(sample);
        }
    }

    /// Packets of each flow that were sent and of which neither arrival nor drop is known: under way at the end, or
    /// lost where nobody counts.
    pub fn unaccounted(&self) -> Vec<u64> {
        let rest = |counters: &crate::probe::FlowCounters| {
            let tally = counters.tally();
            let accounted = tally.delivered.packets + tally.dropped_in_all().packets;
            tally.offered.packets.saturating_sub(accounted)
        };
        self.world.tallies.iter().map(rest).collect()
    }

    fn replication(&mut self, scenario: &Scenario, number: u32) -> Replication {
        for probe in &mut self.world.transport.probes {
            probe.samples.sort_by_key(|sample| (sample.time, sample.session, sample.connection));
        }
        let row = |taken: &Conditioned| ConditionerRow::new(u64::from(number), taken);
        let conditioners = self.conditioners.iter().map(row).collect();
        Replication::measured(scenario, &self.world, number, &self.unaccounted(), conditioners)
    }
}

/// The results of runs of `scenario` that were measured, each a replication.
pub fn results(scenario: &Scenario, options: &RunOptions, measured: &mut [Measured]) -> Results {
    let replications: Vec<Replication> =
        (0..).zip(measured).map(|(number, run)| run.replication(scenario, number)).collect();
    Results::new(scenario, options, &replications)
}
