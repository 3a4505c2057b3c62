//! Probes: what a scenario's `measure` asks for beyond the counters that every run keeps.

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;

use super::Builder;
use crate::event::HostEvent;
use crate::hosts::QueueProbe;
use crate::session::{ConnectionProbe, Session};
use perhop_measure::tcp::{CLIENT, SERVER};
use perhop_net::Event;
use perhop_scenario::routing::LinkId;
use perhop_scenario::{ConnectionEnd, ConnectionProbeConfig};

impl Builder<'_> {
    /// Puts the probes of queues on the agenda, and makes room for throughput and delay over time.
    pub(super) fn add_probes(&mut self) -> Result<(), ConfigError> {
        let measure = &self.scenario.measure;
        for (index, config) in measure.queues.iter().enumerate() {
            let name = format!("{}->{}", config.from, config.to);
            let missing = || {
                ConfigError::new("to", format!("there is no link from {} to {}", config.from, config.to))
                    .within(index)
            };
            let link = self.directions.iter().position(|link| link.name == name).ok_or_else(missing)?;
            refuse_zero(config.every).map_err(|error| error.within(index))?;
            let slot = self.agenda.register(Event::Edge(HostEvent::QueueSample(index as u32)));
            self.agenda.schedule(slot, measure.warmup);
            let (link, every, samples) = (LinkId(link as u32), config.every, Vec::new());
            self.directions[link.index()].port.watch_peaks(measure.warmup);
            let most = Vec::new();
            self.hosts.queue_probes.push(QueueProbe { link, every, slot, samples, most });
        }
        self.hosts.measurements.add_samples(self.scenario);
        Ok(())
    }

    /// Puts the probes of TCP connections on the agenda.
    pub(super) fn add_connection_probes(&mut self) -> Result<(), ConfigError> {
        let measure = &self.scenario.measure;
        for (index, config) in measure.connections.iter().enumerate() {
            let ConnectionProbeConfig { traffic, flow, end, every } = config;
            let all = &self.hosts.transport.sessions;
            let of_traffic = |session: &Session| self.scenario.traffic[session.traffic].name == *traffic;
            let first = all.iter().position(of_traffic).ok_or_else(|| {
                ConfigError::new("traffic", format!("there is no TCP traffic called {traffic}")).within(index)
            })?;
            let count = all.iter().filter(|session| of_traffic(session)).count();
            // The sessions of one entry stand side by side.
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

/// Refuses probes that look all the time.
fn refuse_zero(every: Time) -> Result<(), ConfigError> {
    if every > Time::ZERO {
        return Ok(());
    }
    Err(ConfigError::new("every", "an interval of 0 takes for ever").help("for example 10ms"))
}
