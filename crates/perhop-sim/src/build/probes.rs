//! Probes: what a scenario's `measure` asks for beyond the counters that every run keeps.

use perhop_qos::error::ConfigError;
use perhop_qos::units::Time;

use super::Builder;
use crate::probe::{DelaySamples, PacketLog, QueueSamples, Samples, ThroughputSamples};
use crate::session::{CLIENT, ConnectionProbe, SERVER, Session};
use crate::world::{Event, Flow, QueueProbe};
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
            let link = self.world.links.iter().position(|link| link.name == name).ok_or_else(missing)?;
            if config.every == Time::ZERO {
                return Err(ConfigError::new("every", "an interval of 0 takes for ever")
                    .help("for example 10ms")
                    .within(index));
            }
            let slot = self.world.agenda.register(Event::QueueSample(index as u32));
            self.world.agenda.schedule(slot, measure.warmup);
            let samples = QueueSamples::default();
            self.world.queue_probes.push(QueueProbe {
                link: LinkId(link as u32),
                every: config.every,
                slot,
                samples,
            });
        }
        if let Some(every) = measure.throughput_every.filter(|every| *every > Time::ZERO) {
            let classes = self.world.class_names.len();
            let samples = ThroughputSamples::new(measure.warmup, self.scenario.duration, every, classes);
            self.samples().throughput = Some(samples);
        }
        if !measure.packets.is_empty() {
            let named = |flow: &Flow| measure.packets.contains(&self.scenario.traffic[flow.traffic].name);
            let kept = self.world.flows.iter().map(named).collect();
            self.samples().packets = Some(PacketLog { kept, ..PacketLog::default() });
        }
        if let Some(every) = measure.delay_every.filter(|every| *every > Time::ZERO) {
            let samples = DelaySamples::new(measure.warmup, self.scenario.duration, every);
            self.samples().delays = vec![samples; self.world.class_names.len()];
        }
        Ok(())
    }

    /// The samples of what arrives.
    fn samples(&mut self) -> &mut Samples {
        self.world.samples.get_or_insert_default()
    }

    /// Puts the probes of TCP connections on the agenda.
    pub(super) fn add_connection_probes(&mut self) -> Result<(), ConfigError> {
        let measure = &self.scenario.measure;
        for (index, config) in measure.connections.iter().enumerate() {
            let ConnectionProbeConfig { traffic, flow, end, every } = config;
            let all = &self.world.transport.sessions;
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
            if *every == Time::ZERO {
                return Err(ConfigError::new("every", "an interval of 0 takes for ever")
                    .help("for example 10ms")
                    .within(index));
            }
            let end = match end {
                ConnectionEnd::Client => CLIENT,
                ConnectionEnd::Server => SERVER,
            };
            let slot = self.world.agenda.register(Event::ConnectionSample(index as u32));
            self.world.agenda.schedule(slot, measure.warmup);
            let probe = ConnectionProbe { sessions, end, every: *every, slot, samples: Vec::new() };
            self.world.transport.probes.push(probe);
        }
        Ok(())
    }
}
