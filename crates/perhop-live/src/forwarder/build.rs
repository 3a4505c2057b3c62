//! Conversion of a [`ForwarderConfig`] to a [`Forwarder`]: names become indices, policies become ports.

use std::collections::BTreeSet;

use hdrhistogram::Histogram;
use perhop_measure::counters::PortTally;
use perhop_net::agenda::Agenda;
use perhop_net::{Direction, Edge, Event, Flights, InFlight, Loss, Network, find_sharers};
use perhop_qos::accounting::Accounting;
use perhop_qos::buffer::MemoryPools;
use perhop_qos::conditioner::{ConditionerConfig, TrafficConditioner};
use perhop_qos::error::ConfigError;
use perhop_qos::observer::PortObservers;
use perhop_qos::packet::{Ingress, InterfaceId};
use perhop_qos::policy::{WireConfig, queue_names};
use perhop_qos::port::Port;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

use super::Forwarder;
use super::devices::{Devices, FarEnd};
use super::entrance::{Entrance, Input};
use super::exit::Exit;
use super::flows::FlowDrops;
use super::passed::Passed;
use super::routes::Routes;
use super::slots::Slots;
use super::totals::Totals;
use crate::config::{DirectionConfig, ForwarderConfig, InputConfig, SentFrames, SocketKind};
use crate::frame::LinkLayer;
use crate::wire::{DeviceId, Wire};

/// The length of the shortest Ethernet frame without its checksum, bytes (IEEE 802.3 §3.2.8).
const SHORTEST_FRAME: u32 = 60;
/// The largest recorded lateness of frames, nanoseconds (100 s).
const LATEST: u64 = 100_000_000_000;

impl<W: Wire, O: PortObservers> Forwarder<W, O> {
    /// Builds the forwarder of `config` between the devices of `wire`, observed by `observers`.
    ///
    /// # Errors
    /// A part of the configuration cannot be built.
    pub fn build(config: &ForwarderConfig, wire: W, observers: O) -> Result<Forwarder<W, O>, ConfigError> {
        if config.slots == 0 {
            return Err(ConfigError::new("slots", "there is no room for any frame").help("for example 32768"));
        }
        if config.longest_frame < SHORTEST_FRAME {
            let message = format!("no IP packet fits into a frame of {} bytes", config.longest_frame);
            return Err(ConfigError::new("longest-frame", message).help("for example 2048"));
        }
        let names = config.devices();
        let link_layer = match config.socket {
            SocketKind::Tun => LinkLayer::Bare,
            SocketKind::AfPacket | SocketKind::AfXdp => LinkLayer::Ethernet,
        };
        let run = Streams::new(config.seed, config.replication);
        let mut agenda = Agenda::new();
        let network = Network {
            directions: directions(config, &run, &mut agenda)?,
            agenda,
            edge: Devices {
                link_layer,
                inputs: inputs(config, &run)?,
                entrances: entrances(config, &names)?,
                routes: routes(config)?,
                far_ends: far_ends(config, &names),
                names: config.directions.iter().map(|direction| direction.name.clone()).collect(),
                outbox: Vec::with_capacity(1024),
                slots: Slots::new(config.slots, config.longest_frame as usize),
                totals: Totals::default(),
                flows: FlowDrops::new(),
                passed: config.directions.iter().map(|direction| Passed::with_rate(direction.rate)).collect(),
                counts_from: Time::ZERO,
            },
            observers,
            pauses: (),
            counts_from: Time::ZERO,
            packet_hops: 0,
            flights: Flights::default(),
        };
        let exits = Exit::all(config, &names, link_layer)?;
        let send_delay = Histogram::new_with_bounds(1, LATEST, 3)
            .map_err(|error| ConfigError::new("", error.to_string()))?;
        Ok(Forwarder { wire, network, last: Time::ZERO, node: config.node.clone(), exits, send_delay })
    }
}

/// Builds the directions in their order. Their names must be distinct.
fn directions(
    config: &ForwarderConfig,
    run: &Streams,
    agenda: &mut Agenda<Event<<Devices as Edge>::Event>>,
) -> Result<Vec<Direction>, ConfigError> {
    let (mut directions, mut names) = (Vec::new(), BTreeSet::new());
    let mut pools = MemoryPools::default();
    for (index, direction) in config.directions.iter().enumerate() {
        let built = if names.insert(direction.name.as_str()) {
            build_direction(LinkId(index as u32), direction, run, &mut pools, agenda)
        } else {
            Err(ConfigError::new(
                "name",
                format!("an earlier direction already has the name {}", direction.name),
            ))
        };
        directions.push(built.map_err(|error| error.within(index).within("directions"))?);
    }
    find_sharers(&mut directions);
    Ok(directions)
}

fn build_direction(
    link: LinkId,
    config: &DirectionConfig,
    run: &Streams,
    pools: &mut MemoryPools,
    agenda: &mut Agenda<Event<<Devices as Edge>::Event>>,
) -> Result<Direction, ConfigError> {
    let streams = streams_of(run, &config.name);
    let DirectionConfig { rate, framing, headers, ring, .. } = *config;
    let wire = WireConfig { rate, framing, headers, ring };
    let interfaces = &config.output_interfaces;
    let accounting = Accounting::new(config.overhead).map_err(|error| error.within("overhead"))?;
    let output = conditioner(&config.output, interfaces, &streams.child("output"))
        .map_err(|error| error.within("output"))?
        .counting(accounting);
    let port = Port::build_in(config.queueing.as_ref(), &wire, interfaces, &streams, pools)?;
    let port = port.counting(accounting);
    // Frames that keep their tags and labels carry the marks in them, independent of the emulated wire.
    let keeps_marks = config.sends_on.is_some() && config.sent_frames == SentFrames::Kept;
    let output = if keeps_marks { output } else { wire.leaving_by(output, &port) };
    // Without `input`, another process conditions the packets.
    let input = conditioner(
        config.input.as_deref().unwrap_or_default(),
        &config.input_interfaces,
        &streams.child("input"),
    )
    .map_err(|error| error.within("input"))?
    .counting(input_accounting(config.input_overhead)?);
    if !(0.0..=1.0).contains(&config.loss) {
        return Err(ConfigError::new("loss", format!("{} is not a probability", config.loss))
            .help("a number from 0 to 1"));
    }
    let loss = (config.loss > 0.0).then(|| {
        Box::new(Loss {
            probability: config.loss,
            stream: streams.child("loss").stream(),
            fragmentation: wire.headers.fragmentation(),
        })
    });
    Ok(Direction {
        delay: config.delay,
        ingress: Ingress::new(InterfaceId(config.far_interface), headers.encapsulation()),
        // The devices of the operating system have their own MTUs.
        mtu: Direction::UNLIMITED,
        arrival: agenda.register(Event::Arrival(link)),
        in_flight: InFlight::default(),
        input: input.boxed(),
        output: output.boxed(),
        poll: agenda.register(Event::Poll(link)),
        poll_at: None,
        sharing: None,
        tally: PortTally::new(port.queues().len()),
        port,
        loss,
        queue_names: queue_names(config.queueing.as_ref()).into(),
    })
}

/// Returns the far end of each direction. `devices` are all devices.
fn far_ends(config: &ForwarderConfig, devices: &[&str]) -> Vec<FarEnd> {
    let device = |name: &str| devices.iter().position(|known| *known == name);
    let far_end = |direction: &DirectionConfig| match direction.sends_on.as_deref().and_then(device) {
        Some(index) => FarEnd::Device(DeviceId(index as u16)),
        None => FarEnd::Node,
    };
    config.directions.iter().map(far_end).collect()
}

/// Builds the inputs in their order.
fn inputs(config: &ForwarderConfig, run: &Streams) -> Result<Vec<Input>, ConfigError> {
    let build = |config: &InputConfig| {
        let streams = streams_of(run, &config.name).child("input");
        let conditioner = conditioner(&config.input, &config.input_interfaces, &streams)
            .map_err(|error| error.within("input"))?
            .counting(input_accounting(config.input_overhead)?);
        Ok(Input {
            name: config.name.clone(),
            conditioner,
            ingress: InterfaceId(config.far_interface).into(),
            dropped: Default::default(),
        })
    };
    let built = config.inputs.iter().enumerate().map(|(index, input)| {
        build(input).map_err(|error: ConfigError| error.within(index).within("inputs"))
    });
    built.collect()
}

/// Returns the random streams of the direction `name`, which the simulator also uses for this direction.
fn streams_of(run: &Streams, name: &str) -> Streams {
    run.child("port").child(name)
}

/// Builds a conditioner from `stages`, like [`perhop_qos::policy::PolicyConfig::build_conditioner`].
fn conditioner(
    stages: &[ConditionerConfig],
    interfaces: &[String],
    side: &Streams,
) -> Result<TrafficConditioner, ConfigError> {
    TrafficConditioner::build(stages, interfaces, &side.child("conditioners"))
}

fn input_accounting(overhead: i32) -> Result<Accounting, ConfigError> {
    Accounting::new(overhead).map_err(|error| error.within("input-overhead"))
}

/// Returns the treatment of the frames that arrive on each of `devices`.
fn entrances(config: &ForwarderConfig, devices: &[&str]) -> Result<Vec<Option<Entrance>>, ConfigError> {
    let mut entrances = vec![None; devices.len()];
    let mut open = |name: &str, entrance| {
        let place = devices.iter().position(|known| *known == name).map(|index| &mut entrances[index]);
        match place {
            Some(closed @ None) => {
                *closed = Some(entrance);
                Ok(())
            }
            _ => Err(ConfigError::new("", format!("direction {name} already has a destination"))),
        }
    };
    for (index, direction) in config.directions.iter().enumerate() {
        let Some(name) = &direction.receives_on else { continue };
        let others = direction.other_frames;
        open(name, Entrance { input: None, direction: Some(LinkId(index as u32)), others })
            .map_err(|error| error.within("receives-on").within(index).within("directions"))?;
    }
    for (index, input) in config.inputs.iter().enumerate() {
        let direction = input.leads_to.as_ref().map(|name| direction_called(config, "leads-to", name));
        let direction = direction.transpose().map_err(|error| error.within(index).within("inputs"))?;
        let others = direction.map(|direction| config.directions[direction.index()].other_frames);
        open(&input.device, Entrance { input: Some(index), direction, others: others.unwrap_or_default() })
            .map_err(|error| error.within("device").within(index).within("inputs"))?;
    }
    Ok(entrances)
}

fn routes(config: &ForwarderConfig) -> Result<Routes, ConfigError> {
    let mut routes = Routes::new();
    for (index, route) in config.routes.iter().enumerate() {
        let direction = direction_called(config, "direction", &route.direction)
            .map_err(|error| error.within(index).within("routes"))?;
        routes.add(route.to, direction);
    }
    Ok(routes)
}

/// Returns the direction called `name`. The configuration names it at `field`.
fn direction_called(config: &ForwarderConfig, field: &str, name: &str) -> Result<LinkId, ConfigError> {
    let place = config.directions.iter().position(|direction| direction.name == name);
    place
        .map(|index| LinkId(index as u32))
        .ok_or_else(|| ConfigError::new(field, format!("there is no direction called {name}")))
}
