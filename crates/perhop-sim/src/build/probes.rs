//! Probes: the measurements that a scenario requests in `measure`, in addition to the counters of every run.

use std::collections::BTreeMap;

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;

use super::Builder;
use crate::event::HostEvent;
use crate::hosts::QueueProbe;
use crate::session::ConnectionProbe;
use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_net::Event;
use perhop_scenario::routing::LinkId;
use perhop_scenario::{ConnectionEnd, ConnectionProbeConfig};

impl Builder<'_> {
    /// Schedules the probes of queues, and prepares the time series of throughput and delay.
    pub(super) fn add_probes(&mut self) -> Result<(), ConfigError> {
        let measure = &self.scenario.measure;
        let mut links = BTreeMap::new();
        // The loop over all links is slow in a large network, and most scenarios have no probes.
        if !measure.queues.is_empty() {
            for (index, link) in self.scenario.links.iter().enumerate() {
                let [a, b] = &link.between;
                links.entry([a, b]).or_insert(2 * index);
                links.entry([b, a]).or_insert(2 * index + 1);
            }
        }
        for (index, config) in measure.queues.iter().enumerate() {
            let missing = || {
                ConfigError::new("to", format!("there is no link from {} to {}", config.from, config.to))
                    .within(index)
            };
            let link = *links.get(&[&config.from, &config.to]).ok_or_else(missing)?;
            refuse_zero(config.every).map_err(|error| error.within(index))?;
            let slot = self.agenda.register(Event::Edge(HostEvent::QueueSample(index as u32)));
            self.agenda.schedule(slot, measure.warmup);
            let (link, every, samples) = (LinkId(link as u32), config.every, Vec::new());
            self.directions[link.index()].port.watch_peaks(measure.warmup);
            let most = Vec::new();
            self.hosts.queue_probes.push(QueueProbe { link, every, slot, samples, most });
        }
        self.hosts.measurements.add_samples(self.scenario);
        self.hosts.measurements.add_drop_samples();
        Ok(())
    }

    /// Schedules the probes of TCP connections.
    pub(super) fn add_connection_probes(&mut self) -> Result<(), ConfigError> {
        let measure = &self.scenario.measure;
        // By traffic entry: the index of its first session and the number of its sessions, which are
        // consecutive.
        let mut sessions: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (place, session) in self.hosts.transport.sessions.iter().enumerate() {
            sessions.entry(&self.scenario.traffic[session.traffic].name).or_insert((place, 0)).1 += 1;
        }
        for (index, config) in measure.connections.iter().enumerate() {
            let ConnectionProbeConfig { traffic, flow, end, every } = config;
            let (first, count) = *sessions.get(traffic.as_str()).ok_or_else(|| {
                ConfigError::new("traffic", format!("there is no TCP traffic called {traffic}")).within(index)
            })?;
            let sessions = match flow {
                None => first..first + count,
                Some(number) => first + *number as usize..first + (*number as usize + 1).min(count),
            };
            refuse_zero(*every).map_err(|error| error.within(index))?;
            let end = match end {
                ConnectionEnd::Client => CLIENT,
                ConnectionEnd::Server => SERVER,
            };
            let slot = self.agenda.register(Event::Edge(HostEvent::ConnectionSample(index as u32)));
            self.agenda.schedule(slot, measure.warmup);
            let probe = ConnectionProbe { sessions, end, every: *every, slot, samples: Vec::new() };
            self.hosts.transport.probes.push(probe);
        }
        Ok(())
    }
}

/// Rejects probes with an interval of 0.
fn refuse_zero(every: Time) -> Result<(), ConfigError> {
    if every > Time::ZERO {
        return Ok(());
    }
    Err(ConfigError::new("every", "a probe cannot take samples at intervals of 0").help("for example 10ms"))
}
