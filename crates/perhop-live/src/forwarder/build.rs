//! From a [`ForwarderConfig`] to a [`Forwarder`]: names become indices, policies become ports.

use std::collections::BTreeSet;

use hdrhistogram::Histogram;
use perhop_net::agenda::Agenda;
use perhop_qos::error::ConfigError;
use perhop_qos::observer::Watch;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;

use super::counters::{Books, Totals};
use super::direction::{Direction, Input};
use super::flows::FlowDrops;
use super::network::{Entrance, Network};
use super::routes::Routes;
use super::slots::Slots;
use super::{Event, Forwarder};
use crate::config::{ForwarderConfig, SocketKind};
use crate::frame::LinkLayer;
use crate::wire::{DeviceId, Wire};

/// Bytes of a frame on Ethernet, without its checksum (IEEE 802.3 §3.2.8).
const SHORTEST_FRAME: u32 = 60;
/// Frames are sent at most so late that it can be told how late, nanoseconds: 100 s.
const LATEST: u64 = 100_000_000_000;

impl<W: Wire, O: Watch> Forwarder<W, O> {
    /// The forwarder that `config` describes, between the devices of `wire`, seen by `watch`.
    ///
    /// # Errors
    /// Whatever of it cannot be built.
    pub fn build(config: &ForwarderConfig, wire: W, watch: O) -> Result<Forwarder<W, O>, ConfigError> {
        if config.slots == 0 {
            return Err(ConfigError::new("slots", "there is no room for any frame").help("for example 32768"));
        }
        if config.longest_frame < SHORTEST_FRAME {
            let message = format!("no IP packet fits into a frame of {} bytes", config.longest_frame);
            return Err(ConfigError::new("longest-frame", message).help("for example 2048"));
        }
        let devices = config.devices();
        let mut agenda = Agenda::new();
        let run = Streams::new(config.seed, config.replication);
        let directions = directions(config, &devices, &run, &mut agenda)?;
        let build_input =
            |(index, input)| Input::build(input, &run).map_err(|error| error.within(index).within("inputs"));
        let network = Network {
            link_layer: match config.socket {
                SocketKind::Tun => LinkLayer::Bare,
                SocketKind::AfPacket | SocketKind::AfXdp => LinkLayer::Ethernet,
            },
            agenda,
            directions,
            inputs: config.inputs.iter().enumerate().map(build_input).collect::<Result<_, _>>()?,
            entrances: entrances(config, &devices)?,
            routes: routes(config)?,
            outbox: Vec::with_capacity(1024),
            books: Books {
                slots: Slots::new(config.slots, config.longest_frame as usize),
                totals: Totals::default(),
                flows: FlowDrops::new(),
                counts_from: Time::ZERO,
                watch,
            },
            last: Time::ZERO,
        };
        // A bare packet has no place for an address.
        let neighbor = |name: &&str| {
            config.neighbors.get(*name).copied().filter(|_| network.link_layer == LinkLayer::Ethernet)
        };
        let neighbors = devices.iter().map(neighbor).collect();
        let lateness = Histogram::new_with_bounds(1, LATEST, 3)
            .map_err(|error| ConfigError::new("", error.to_string()))?;
        Ok(Forwarder { wire, network, node: config.node.clone(), neighbors, lateness })
    }
}

/// The directions in their order; no two have the same name.
fn directions(
    config: &ForwarderConfig,
    devices: &[&str],
    run: &Streams,
    agenda: &mut Agenda<Event>,
) -> Result<Vec<Direction>, ConfigError> {
    let device =
        |name: &str| devices.iter().position(|known| *known == name).map(|index| DeviceId(index as u16));
    let (mut directions, mut names) = (Vec::new(), BTreeSet::new());
    for (index, direction) in config.directions.iter().enumerate() {
        let sends_on = direction.sends_on.as_deref().and_then(device);
        let built = if names.insert(direction.name.as_str()) {
            Direction::build(index as u32, direction, run, agenda, sends_on)
        } else {
            Err(ConfigError::new("name", format!("there is already a direction {}", direction.name)))
        };
        directions.push(built.map_err(|error| error.within(index).within("directions"))?);
    }
    Ok(directions)
}

/// What becomes of the frames that arrive by each of `devices`.
fn entrances(config: &ForwarderConfig, devices: &[&str]) -> Result<Vec<Entrance>, ConfigError> {
    let mut entrances = vec![Entrance::Closed; devices.len()];
    let mut open = |name: &str, entrance| {
        let place = devices.iter().position(|known| *known == name).map(|index| &mut entrances[index]);
        match place {
            Some(closed @ Entrance::Closed) => {
                *closed = entrance;
                Ok(())
            }
            _ => Err(ConfigError::new("", format!("frames of {name} already go somewhere else"))),
        }
    };
    for (index, direction) in config.directions.iter().enumerate() {
        let entrance = Entrance::Direction { direction: index as u16, others: direction.other_frames };
        if let Some(name) = &direction.receives_on {
            open(name, entrance)
                .map_err(|error| error.within("receives-on").within(index).within("directions"))?;
        }
    }
    for (index, input) in config.inputs.iter().enumerate() {
        let entrance = match &input.leads_to {
            None => Entrance::Input(index as u16),
            Some(name) => {
                let direction = direction_called(config, "leads-to", name)
                    .map_err(|error| error.within(index).within("inputs"))?;
                let others = config.directions[direction].other_frames;
                Entrance::InputOf { input: index as u16, direction: direction as u16, others }
            }
        };
        open(&input.device, entrance)
            .map_err(|error| error.within("device").within(index).within("inputs"))?;
    }
    Ok(entrances)
}

fn routes(config: &ForwarderConfig) -> Result<Routes, ConfigError> {
    let mut routes = Routes::new();
    for (index, route) in config.routes.iter().enumerate() {
        let direction = direction_called(config, "direction", &route.direction)
            .map_err(|error| error.within(index).within("routes"))?;
        routes.add(route.to, direction as u16);
    }
    Ok(routes)
}

/// The place of the direction called `name`, which stands at `field`.
fn direction_called(config: &ForwarderConfig, field: &str, name: &str) -> Result<usize, ConfigError> {
    let place = config.directions.iter().position(|direction| direction.name == name);
    place.ok_or_else(|| ConfigError::new(field, format!("there is no direction called {name}")))
}
