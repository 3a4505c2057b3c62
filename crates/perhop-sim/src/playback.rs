//! [`Playback`]: a repeated run that records each packet at one port, for a drawing of its queues.
//!
//! The seed determines a run, so any time span of the run can be repeated. The plain engine runs up to the
//! start of the span and then records the packets.

mod columns;
mod memory;
mod record;
mod watch;

use std::path::{Path, PathBuf};

use perhop_net::Network;
use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;
use perhop_scenario::Scenario;

use crate::build::set_up;
use crate::engine::Engine;
use crate::hosts::Hosts;
use crate::link_ends::port_name;
use memory::MemoryWatch;
pub use memory::{MemoryLayout, MemorySpan, PortLayout, QueueLayout};
pub use record::PacketRecord;
use watch::PortWatch;

/// The number of steps in which a span is simulated. After each step, the span ends early if it contains
/// enough packets.
const STEPS: u64 = 64;

/// The first replication of a scenario, with an observer of the packets at one port.
#[derive(Debug)]
pub struct Playback {
    scenario: Scenario,
    base: PathBuf,
    seed: u64,
    port: usize,
    network: Network<Hosts, PortWatch>,
    now: Time,
}

/// The packets at a port in a span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The beginning of the span.
    pub from: Time,
    /// The end of the span.
    pub until: Time,
    /// Every packet that was at the port in the span, in the order of arrival.
    pub packets: Vec<PacketRecord>,
}

impl Playback {
    /// Builds the replication at its start, with an observer of port number `port`. Port numbers follow the
    /// order of the scenario's links; each link has two ports, one for each direction. Paths of trace files
    /// are relative to `base`.
    ///
    /// # Errors
    /// An element of the scenario cannot be built, or the port does not exist.
    pub fn new(scenario: &Scenario, base: &Path, seed: u64, port: usize) -> Result<Playback, ConfigError> {
        let setup = set_up(scenario, base, seed, 0, &[])?.without_pauses("a view of packets")?;
        let ends = &setup.hosts.link_ends;
        let Some([node, _]) = ends.iter().nth(port) else {
            return Err(ConfigError::new("port", format!("there is no port number {port}")));
        };
        let leads_here = ends.iter().map(|[_, to]| to == node).collect();
        let classes = setup.hosts.measurements.flows.iter().map(|flow| flow.class as u32).collect();
        let network = setup.plain(PortWatch::new(port, leads_here, classes));
        let (scenario, base) = (scenario.clone(), base.to_owned());
        Ok(Playback { scenario, base, seed, port, network, now: Time::ZERO })
    }

    /// Returns the names of all ports, each with the names of its queues.
    pub fn ports(&self) -> Vec<(String, &[String])> {
        let ports = self.network.hosts().link_ends.iter().zip(&self.network.directions);
        ports.map(|(ends, direction)| (port_name(ends), &*direction.queue_names)).collect()
    }

    /// Returns the packets at the port from `from` to `until`. The span ends earlier if it has at least
    /// `enough` packets. If `from` is before the start of the previous span, the run starts again.
    ///
    /// # Errors
    /// The errors of [`Playback::new`].
    pub fn span(&mut self, from: Time, until: Time, enough: usize) -> Result<Span, ConfigError> {
        if from < self.network.observers.from {
            *self = Playback::new(&self.scenario, &self.base, self.seed, self.port)?;
        }
        let until = until.min(self.scenario.duration).max(from);
        self.network.observers.forget_before(from);
        self.advance(from);
        let length = until.saturating_sub(from).as_picoseconds();
        let mut reached = from;
        for step in 1..=STEPS {
            let part = (u128::from(length) * u128::from(step) / u128::from(STEPS)) as u64;
            reached = from + Time::from_picoseconds(part);
            self.advance(reached);
            if self.network.observers.len() >= enough {
                break;
            }
        }
        // The network can already be at a later time than `reached`.
        let until = reached.max(self.now.min(until));
        Ok(Span { from, until, packets: self.network.observers.records() })
    }

    /// Returns the packet memory of the port from `from` to `until`, in `samples` intervals of equal length;
    /// `None` if the port has no memory that queues share. If `from` is before the current time, the run
    /// starts again.
    ///
    /// # Errors
    /// The errors of [`Playback::new`].
    pub fn memory(
        &mut self,
        from: Time,
        until: Time,
        samples: u32,
    ) -> Result<Option<MemorySpan>, ConfigError> {
        if self.now > from || self.network.observers.memory.is_none() {
            *self = Playback::new(&self.scenario, &self.base, self.seed, self.port)?;
            self.network.observers.memory = {
                let Network { directions, edge, .. } = &self.network;
                MemoryWatch::new(directions, &edge.link_ends, self.port)
            };
        }
        let Some(watch) = &self.network.observers.memory else { return Ok(None) };
        let mut span = watch.span();
        let until = until.min(self.scenario.duration).max(from);
        self.network.observers.forget_before(from);
        self.advance(from);
        self.network.observers.memory.iter_mut().for_each(|watch| watch.clear(from));
        let length = u128::from(until.saturating_sub(from).as_picoseconds());
        for step in 1..=samples {
            let part = (length * u128::from(step) / u128::from(samples)) as u64;
            let reached = from + Time::from_picoseconds(part);
            self.advance(reached);
            // This function returns only the memory, so it discards the records of packets.
            self.network.observers.forget_before(reached);
            self.network.observers.memory.iter_mut().for_each(|watch| watch.sample(reached, &mut span));
        }
        Ok(Some(span))
    }

    fn advance(&mut self, until: Time) {
        if until > self.now {
            self.network.run_until(until);
            // The events up to `until` have run, so all ports are at that time.
            self.now = until;
        }
    }
}
