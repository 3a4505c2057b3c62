//! Traffic: from its entry in a scenario to flows, their paths and whoever sends on them.

use perhop_qos::error::ConfigError;
use perhop_qos::packet::{FlowKey, Protocol};
use perhop_qos::units::Time;

use super::{Builder, sessions};
use crate::link::Link;
use crate::probe::{Delays, FlowCounters};
use crate::source::Source;
use crate::world::{Flow, Sender, World};
use perhop_scenario::plan::Plan;
use perhop_scenario::routing::LinkId;
use perhop_scenario::{DelayScope, SourceConfig, TraceEntry, TrafficConfig, read_recording, read_trace};

impl<'a> Builder<'a> {
    /// The flows of `config`, the entry of the scenario's traffic with index `index`, and who sends on them.
    pub(super) fn add_traffic(&mut self, index: usize, config: &'a TrafficConfig) -> Result<(), ConfigError> {
        let (from, to) = (&config.from, &config.to);
        let no_route = || ConfigError::new("to", format!("there is no route from {from} to {to}"));
        let path = self.topology.path(from, to)?.filter(|path| !path.is_empty()).ok_or_else(no_route)?;
        if path.len() > usize::from(u8::MAX) {
            return Err(ConfigError::new(
                "to",
                format!("{} hops are more than an IP packet survives (255)", path.len()),
            ));
        }
        let trace = match &config.source {
            SourceConfig::Trace(trace) => read_trace(self.base, &trace.file)
                .map_err(|error| ConfigError::new("source.trace.file", error.to_string()))?,
            _ => Vec::new(),
        };
        let class = self.class(config.class.as_ref().unwrap_or(&config.name));
        if let Some((plan, tcp)) = Plan::of(&config.source) {
            let parameters = tcp.build().map_err(|error| error.within("tcp").within("source"))?;
            let back = self.topology.path(to, from)?.filter(|path| !path.is_empty()).ok_or_else(no_route)?;
            return self.add_sessions(index, config, [&path, &back], class, plan, parameters);
        }
        if let SourceConfig::Pcap(pcap) = &config.source {
            let recording =
                read_recording(self.base, pcap).map_err(|error| error.within("pcap").within("source"))?;
            return self.add_replay(index, config, &path, class, recording);
        }
        let first = self.add_path(&path);
        for number in 0..config.count {
            let key = self.flow_key(config, number, Protocol::UDP)?;
            let template = sessions::template(config.dscp, key);
            let flow = Flow { traffic: index, number, class, answers: false, path: first, template };
            let flow = self.add_flow(flow, &path);
            self.add_sender(flow, number, config, trace.clone());
        }
        Ok(())
    }

    /// What tells flow `number` of `config` from every other.
    pub(super) fn flow_key(
        &self,
        config: &TrafficConfig,
        number: u32,
        protocol: Protocol,
    ) -> Result<FlowKey, ConfigError> {
        let ends = [self.topology.address(&config.from)?, self.topology.address(&config.to)?];
        Ok(config.flow_key(ends, number, protocol))
    }

    /// Adds `flow`, and tells the conditioners on its `way` that it will come by.
    pub(super) fn add_flow(&mut self, flow: Flow, way: &[LinkId]) -> usize {
        let key = flow.template.flow_key();
        for link in way {
            let Link { output, input, .. } = &mut self.world.links[link.index()];
            output.announce(&key);
            input.announce(&key);
        }
        let distribution = self.distribution(flow.class);
        self.world.ways.push(flow.path);
        self.world.flows.push(flow);
        self.world.tallies.push(FlowCounters::new(distribution));
        self.world.flows.len() - 1
    }

    /// The place of `way` among the paths.
    pub(super) fn add_path(&mut self, way: &[LinkId]) -> u32 {
        let place = self.world.paths.len() as u32;
        self.world.paths.extend(way);
        place
    }

    fn add_sender(&mut self, flow: usize, number: u32, config: &TrafficConfig, trace: Vec<TraceEntry>) {
        let (streams, start) = config.flow_start(number, &self.streams);
        let stops = config.stop.unwrap_or(Time::MAX);
        let source = Source::new(&config.source, start, streams.child("source").stream(), trace);
        let Some(mut source) = source else { return };
        let due = source.next_packet();
        let template = self.world.flows[flow].template;
        if due.at < stops {
            self.world.senders.push(Sender { template, due, stops, flow, slot: None, source });
        }
    }

    /// The index of the class called `name`.
    pub(super) fn class(&mut self, name: &str) -> usize {
        let names = &mut self.world.class_names;
        names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        })
    }

    /// The place among the distributions of delay of the flow of `class` that is added next.
    fn distribution(&mut self, class: usize) -> usize {
        let World { flows, tallies, delays, .. } = &mut self.world;
        let shared = match self.scenario.measure.delays {
            DelayScope::PerClass => flows.iter().position(|flow| flow.class == class),
            DelayScope::PerFlow => None,
        };
        if let Some(flow) = shared {
            return tallies[flow].distribution;
        }
        delays.push(Delays::default());
        delays.len() - 1
    }
}
