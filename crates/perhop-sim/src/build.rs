//! Conversion of a [`Scenario`] to a [`Setup`]: names become indices, policies become ports, and paths are
//! computed.

mod captures;
mod lengths;
mod pauses;
mod probes;
mod replays;
mod sessions;
mod traffic;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use perhop_measure::counters::PortTally;
use perhop_measure::{Measurements, flow_count};
use perhop_net::agenda::Agenda;
use perhop_net::{Direction, Event, InFlight, Loss, Pauses, find_sharers};
use perhop_qos::buffer::MemoryPools;
use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::error::ConfigError;
use perhop_qos::packet::Ingress;
use perhop_qos::policy::{PolicyConfig, WireConfig, queue_names};
use perhop_qos::port::Port;
use perhop_qos::random::Streams;
use perhop_scenario::routing::LinkId;
use perhop_scenario::tcp::Parameters;
use perhop_scenario::topology::Topology;
use perhop_scenario::{InterfaceConfig, LinkConfig, Scenario};

use crate::event::SimAgenda;
use crate::flow::FLOWS;
use crate::fragments::Fragments;
use crate::hosts::{FarNode, Hosts};
use crate::link_ends::{LinkEnds, port_name};
use crate::session::Transport;
use crate::setup::{Crossing, Entering, Setup};

/// Builds one replication of `scenario`, ready for either engine. Every random stream is derived from `seed`
/// and `replication`. Paths of trace files and recordings are relative to `base`. `captured` has the
/// directions of links to capture, each as its sending and its receiving node.
///
/// # Errors
/// An element of the scenario cannot be built. A scenario that passed the checks of [`perhop_scenario`] has
/// no such elements.
pub fn set_up(
    scenario: &Scenario,
    base: &Path,
    seed: u64,
    replication: u64,
    captured: &[[String; 2]],
) -> Result<Setup, ConfigError> {
    let mut builder = Builder::new(scenario, base, Streams::new(seed, replication))?;
    builder.assemble(captured)?;
    let Builder { agenda, directions, hosts, entering, pauses, .. } = builder;
    let crossings = vec![Crossing::Inside; directions.len()];
    Ok(Setup { agenda, directions, hosts, entering, crossings, returning: BTreeMap::new(), pauses })
}

/// Prefixes the path of `error` with its place in the scenario, unless the path already begins at the root.
fn rooted(error: ConfigError, list: &str, index: usize) -> ConfigError {
    if error.path.first().is_some_and(|first| first == "policies") {
        error
    } else {
        error.within(index).within(list)
    }
}

struct Builder<'a> {
    scenario: &'a Scenario,
    base: &'a Path,
    streams: Streams,
    topology: Topology<'a>,
    agenda: SimAgenda,
    directions: Vec<Direction>,
    /// The memory that the ports of each node share.
    pools: BTreeMap<&'a str, MemoryPools>,
    hosts: Hosts,
    entering: Vec<Entering>,
    pauses: Option<Pauses>,
    /// The names of the queues of ports without a policy.
    plain_queue_names: Arc<[String]>,
    /// The TCP parameters of all sessions. Equal parameters are stored once.
    parameters: Vec<Arc<Parameters>>,
}

impl<'a> Builder<'a> {
    fn new(scenario: &'a Scenario, base: &'a Path, streams: Streams) -> Result<Builder<'a>, ConfigError> {
        let (measurements, flows) = (Measurements::new(scenario), flow_count(scenario));
        let topology = Topology::new(scenario)?;
        let hosts = Hosts {
            flow_paths: Vec::with_capacity(flows),
            templates: Vec::with_capacity(flows),
            paths: Vec::new(),
            sources: Vec::new(),
            replays: Vec::new(),
            transport: Transport::new(measurements.warmup, measurements.duration),
            queue_probes: Vec::new(),
            fragments: Fragments::default(),
            taps: Vec::new(),
            link_ends: LinkEnds::new(&topology),
            far_nodes: Vec::new(),
            measurements,
        };
        Ok(Builder {
            scenario,
            base,
            streams,
            topology,
            agenda: Agenda::new(),
            directions: Vec::with_capacity(2 * scenario.links.len()),
            pools: BTreeMap::new(),
            hosts,
            entering: Vec::new(),
            pauses: None,
            plain_queue_names: queue_names(None).into(),
            parameters: Vec::new(),
        })
    }

    /// Builds all elements of the scenario, each after the elements on which it depends. The slots of the
    /// agenda are registered in this order, which determines the order of simultaneous events.
    fn assemble(&mut self, captured: &[[String; 2]]) -> Result<(), ConfigError> {
        let scenario = self.scenario;
        for (index, link) in scenario.links.iter().enumerate() {
            self.add_link(link).map_err(|error| rooted(error, "links", index))?;
        }
        find_sharers(&mut self.directions);
        self.pauses = self.pauses()?;
        self.add_taps(captured);
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            self.add_traffic(index, traffic).map_err(|error| error.within(index).within("traffic"))?;
        }
        self.add_fragments();
        if self.hosts.templates.len() > FLOWS {
            let message = format!("{} flows, including those of fragments", self.hosts.templates.len());
            return Err(ConfigError::new("traffic", message).help(format!("at most {FLOWS}")));
        }
        self.add_probes().map_err(|error| error.within("queues").within("measure"))?;
        self.add_connection_probes().map_err(|error| error.within("connections").within("measure"))?;
        self.hosts.transport.reserve_connections();
        self.await_warmup();
        Ok(())
    }

    fn add_link(&mut self, config: &'a LinkConfig) -> Result<(), ConfigError> {
        if config.cost == 0 {
            return Err(ConfigError::new("cost", "a link with cost 0 makes shortest paths ambiguous")
                .help("at least 1"));
        }
        let [a, b] = &config.between;
        self.add_direction(config, a, b)?;
        self.add_direction(config, b, a)
    }

    fn add_direction(
        &mut self,
        config: &'a LinkConfig,
        from: &'a str,
        to: &'a str,
    ) -> Result<(), ConfigError> {
        let direction = self.direction(config, from, to)?;
        self.directions.push(direction);
        self.entering.push(Entering::Sources);
        let far_node = if self.topology.is_host(to) { FarNode::Host } else { FarNode::Router };
        self.hosts.far_nodes.push(far_node);
        self.hosts.link_ends.push([self.topology.node(from)?, self.topology.node(to)?]);
        self.hosts.taps.push(None);
        Ok(())
    }

    /// Builds the next direction of a link, from node `from` to node `to`, with the configurations of the
    /// interfaces at both nodes.
    fn direction(
        &mut self,
        config: &LinkConfig,
        from: &'a str,
        to: &'a str,
    ) -> Result<Direction, ConfigError> {
        let plain = InterfaceConfig::default();
        let near = config.interfaces.get(from).unwrap_or(&plain);
        let far = config.interfaces.get(to).unwrap_or(&plain);
        let streams = self.streams.child("port").child(port_name([from, to]));
        let wire = config.wire(near);
        let output = self.conditioner(near.output.as_deref(), from, "output", &streams)?;
        let (port, queue_names) = self.port(near.output.as_deref(), from, &wire, &streams)?;
        let port = port.changing(&config.rate_changes)?;
        let output = wire.leaving_by(output, &port);
        let input = self.conditioner(far.input.as_deref(), to, "input", &streams)?;
        let loss = (config.loss > 0.0).then(|| {
            Box::new(Loss {
                probability: config.loss,
                stream: streams.child("loss").stream(),
                fragmentation: wire.headers.fragmentation(),
            })
        });
        let id = LinkId(self.directions.len() as u32);
        Ok(Direction {
            delay: config.delay,
            in_flight: InFlight::default(),
            arrival: self.agenda.register(Event::Arrival(id)),
            ingress: Ingress::new(self.topology.interface(to, from), wire.headers.encapsulation()),
            mtu: config.mtu(near).map_or(Direction::UNLIMITED, |mtu| mtu.as_bytes() as u16),
            input: input.boxed(),
            output: output.boxed(),
            poll: self.agenda.register(Event::Poll(id)),
            poll_at: None,
            sharing: None,
            loss,
            tally: PortTally::new(port.queues().len()),
            port,
            queue_names,
        })
    }

    /// Builds the port of `node` that sends on `wire`. Returns the port and the names of its queues.
    fn port(
        &mut self,
        policy: Option<&str>,
        node: &'a str,
        wire: &WireConfig,
        streams: &Streams,
    ) -> Result<(Port, Arc<[String]>), ConfigError> {
        let Some(policy) = policy else {
            return Ok((Port::build(None, wire, &[], streams)?, Arc::clone(&self.plain_queue_names)));
        };
        let config = self.policy(policy, node, "output")?;
        let pools = self.pools.entry(node).or_default();
        let port = config.build_port_in(wire, self.topology.interfaces(node), streams, pools);
        Ok((port.map_err(|error| in_policy(error, policy))?, queue_names(config.queueing.as_ref()).into()))
    }

    /// Builds the conditioners at one `side` (`input` or `output`) of an interface of `node`.
    fn conditioner(
        &self,
        policy: Option<&str>,
        node: &str,
        side: &str,
        streams: &Streams,
    ) -> Result<TrafficConditioner, ConfigError> {
        let Some(policy) = policy else { return Ok(TrafficConditioner::default()) };
        let config = self.policy(policy, node, side)?;
        let built = config.build_conditioner(self.topology.interfaces(node), &streams.child(side));
        let mut conditioner = built.map_err(|error| in_policy(error, policy))?;
        conditioner.count_from(self.hosts.measurements.warmup);
        Ok(conditioner)
    }

    fn policy(&self, name: &str, node: &str, side: &str) -> Result<&'a PolicyConfig, ConfigError> {
        self.scenario.policies.get(name).ok_or_else(|| {
            let at = format!("interfaces.{node}.{side}");
            ConfigError::new(&at, format!("there is no policy called {name}"))
        })
    }
}

fn in_policy(error: ConfigError, policy: &str) -> ConfigError {
    error.within(policy).within("policies")
}
