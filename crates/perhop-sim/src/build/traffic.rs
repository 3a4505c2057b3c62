//! Conversion of the traffic of the scenario to flows with paths and senders.

use perhop_qos::error::ConfigError;
use perhop_qos::packet::{FlowKey, Packet};
use perhop_qos::units::Time;

use super::{Builder, sessions};
use crate::flow::Template;
use crate::hosts::FlowSource;
use perhop_measure::Flow;
use perhop_net::Direction;
use perhop_net::source::Source;
use perhop_scenario::plan::Plan;
use perhop_scenario::routing::LinkId;
use perhop_scenario::{SourceConfig, TraceEntry, TrafficConfig, read_recording, read_trace};

impl<'a> Builder<'a> {
    /// Adds the flows and senders of `config`, the traffic entry of the scenario with index `index`.
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
        let class = self.hosts.measurements.class_of(config);
        if let Some((_, tcp)) = Plan::for_source(&config.source) {
            let back = self.topology.path(to, from)?.filter(|path| !path.is_empty()).ok_or_else(no_route)?;
            let longest = self.longest_segment_packet(&path, &back, self.topology.address(from)?);
            let tcp = longest.map_or_else(|| tcp.clone(), |longest| tcp.within(longest));
            let parameters = tcp.build().map_err(|error| error.within("tcp").within("source"))?;
            let parameters = self.share(parameters);
            return self.add_sessions(index, config, [&path, &back], class, &parameters);
        }
        if let SourceConfig::Pcap(pcap) = &config.source {
            let recording =
                read_recording(self.base, pcap).map_err(|error| error.within("pcap").within("source"))?;
            return self.add_replay(index, config, &path, class, recording);
        }
        let trace = self.trace_of(config)?;
        let first = self.add_path(&path);
        let back = match config.source.back() {
            Some(source) => {
                let path =
                    self.topology.path(to, from)?.filter(|path| !path.is_empty()).ok_or_else(no_route)?;
                Some((source, self.add_path(&path), path, self.hosts.measurements.class_of_answers(class)))
            }
            None => None,
        };
        for number in 0..config.count {
            let key = self.flow_key(config, number)?;
            let template = sessions::template(config.dscp, key);
            let flow =
                self.hosts.measurements.add_flow(Flow { traffic: index, number, class, answers: false });
            self.add_flow_path(first, template, &path);
            if config.dont_fragment {
                self.hosts.fragments.refuse(flow);
            }
            let (streams, start) = config.flow_start(number, &self.streams);
            let stops = config.stop.unwrap_or(Time::MAX);
            let stream = streams.child("source").stream();
            self.add_sender(flow, Source::new(&config.source, start, stream, trace.clone()), stops);
            if let Some((source, first, path, class)) = &back {
                let class = *class;
                let flow =
                    self.hosts.measurements.add_flow(Flow { traffic: index, number, class, answers: true });
                let dscp = config.reply_dscp.unwrap_or(config.dscp);
                self.add_flow_path(*first, sessions::template(dscp, key.reversed()), path);
                // The clocks of a player and the server are not synchronized, so the server starts at a
                // random phase.
                let phase = streams.child("phase").stream().uniform();
                let start = start + Time::from_seconds_f64(phase * interval(source));
                let stream = streams.child("back").stream();
                self.add_sender(flow, Source::new(source, start, stream, Vec::new()), stops);
            }
        }
        Ok(())
    }

    /// Returns the packets of the trace that `config` replays, or an empty list if `config` does not replay a
    /// trace.
    fn trace_of(&self, config: &TrafficConfig) -> Result<Vec<TraceEntry>, ConfigError> {
        match &config.source {
            SourceConfig::Trace(trace) => read_trace(self.base, &trace.file)
                .map_err(|error| ConfigError::new("source.trace.file", error.to_string())),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the key of flow `number` of `config`.
    pub(super) fn flow_key(&self, config: &TrafficConfig, number: u32) -> Result<FlowKey, ConfigError> {
        let ends = [self.topology.address(&config.from)?, self.topology.address(&config.to)?];
        Ok(config.flow_key(ends, number))
    }

    /// Sets the path and the header fields of the flow that was added to the measurements last. `path` is the
    /// start of the path in [`Hosts::paths`](crate::hosts::Hosts). Announces the flow to the conditioners of
    /// `links`.
    pub(super) fn add_flow_path(&mut self, path: u32, template: Packet, links: &[LinkId]) {
        let key = template.flow_key();
        for link in links {
            let Direction { output, input, .. } = &mut self.directions[link.index()];
            for conditioner in [output, input].into_iter().flatten() {
                conditioner.announce(&key);
            }
        }
        self.hosts.flow_paths.push(path);
        self.hosts.templates.push(Template(template));
    }

    /// Adds the path over `links`. Returns the start of the path in [`Hosts::paths`](crate::hosts::Hosts).
    pub(super) fn add_path(&mut self, links: &[LinkId]) -> u32 {
        let place = self.hosts.paths.len() as u32;
        self.hosts.paths.extend(links);
        place
    }

    fn add_sender(&mut self, flow: usize, source: Option<Source>, stops: Time) {
        let Some(mut source) = source else { return };
        let due = source.next_packet();
        let Template(template) = self.hosts.templates[flow];
        if due.at < stops {
            self.hosts.sources.push(FlowSource { template, due, stops, flow, slot: None, source });
        }
    }
}

/// Returns the seconds between two packets of a CBR source; 0 for other sources.
fn interval(source: &SourceConfig) -> f64 {
    match source {
        SourceConfig::Cbr(cbr) => 8.0 * cbr.packet.counted() as f64 / cbr.rate.as_bits_per_second() as f64,
        _ => 0.0,
    }
}
