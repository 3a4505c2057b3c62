//! From a [`Scenario`] to a [`World`]: names become indices, policies become ports, paths are found.

mod captures;
mod probes;
mod replays;
mod sessions;
mod settling;
mod traffic;

use std::path::Path;

use perhop_qos::conditioner::TrafficConditioner;
use perhop_qos::error::ConfigError;
use perhop_qos::observer::Watch;
use perhop_qos::policy::{PolicyConfig, WireConfig, queue_names};
use perhop_qos::port::Port;
use perhop_qos::queue::GrowingRing;
use perhop_qos::random::Streams;
use perhop_qos::units::Time;

use crate::link::{Feeders, Link, Loss};
use crate::session::Transport;
use crate::world::{Event, Sender, World};
use perhop_measure::Measurements;
use perhop_measure::counters::PortTally;
use perhop_net::agenda::Agenda;
use perhop_scenario::routing::LinkId;
use perhop_scenario::topology::Topology;
use perhop_scenario::{InterfaceConfig, LinkConfig, Scenario};

pub(crate) use captures::captured;

/// The world of `scenario` for one replication, every random stream derived from `seed` and
/// `replication`. Trace files and captures are looked for relative to `base`.
///
/// # Errors
/// Whatever of the scenario cannot be built; a scenario that passed the checks of
/// [`perhop_scenario`] builds.
pub fn build_world(
    scenario: &Scenario,
    base: &Path,
    seed: u64,
    replication: u64,
) -> Result<World, ConfigError> {
    build_world_for(scenario, base, seed, replication, Onlookers::default())
}

/// Who looks on while a world runs. It ends with the same results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Onlookers {
    /// Nothing is to be ahead of the agenda: between two calls of [`World::run_until`] every port and counter is at
    /// the time that was asked for, and the run is slower.
    pub watched: bool,
    /// The directions of links that are captured, by their ends.
    pub captured: Vec<[String; 2]>,
}

/// The same world for `onlookers`.
///
/// # Errors
/// Those of [`build_world`].
pub fn build_world_for(
    scenario: &Scenario,
    base: &Path,
    seed: u64,
    replication: u64,
    onlookers: Onlookers,
) -> Result<World, ConfigError> {
    let builder = Builder::new(scenario, base, Streams::new(seed, replication))?;
    Builder { onlookers, ..builder }.build(())
}

/// As [`build_world`], and `watch` sees what happens at the world's ports.
///
/// # Errors
/// Those of [`build_world`].
pub fn build_world_seen_by<W: Watch>(
    watch: W,
    scenario: &Scenario,
    base: &Path,
    seed: u64,
    replication: u64,
) -> Result<World<W>, ConfigError> {
    let builder = Builder::new(scenario, base, Streams::new(seed, replication))?;
    Builder { is_observed: true, ..builder }.build(watch)
}

/// Errors of policies already lead from the scenario's root.
fn rooted(error: ConfigError, list: &str, index: usize) -> ConfigError {
    if error.path.first().is_some_and(|first| first == "policies") {
        error
    } else {
        error.within(index).within(list)
    }
}

/// Whether sources may run ahead of the agenda.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// On links where it makes no difference.
    WhereNobodyCanTell,
    /// Somebody looks at the world while it runs.
    Never,
}

struct Builder<'a> {
    scenario: &'a Scenario,
    base: &'a Path,
    streams: Streams,
    topology: Topology<'a>,
    /// Where the world is watched, no packet may be settled, no departure booked, and no source run ahead of time.
    onlookers: Onlookers,
    /// An observer is told what happens at each port, in the order of time.
    is_observed: bool,
    world: World,
}

/// One direction of a link, of the parts that its configuration names.
struct Direction {
    name: String,
    /// Conditioners of the output policy.
    output: TrafficConditioner,
    port: Port,
    queue_names: Vec<String>,
    loss: Option<Loss>,
    /// Conditioners of the far end's input policy.
    input: TrafficConditioner,
}

impl<'a> Builder<'a> {
    fn new(scenario: &'a Scenario, base: &'a Path, streams: Streams) -> Result<Builder<'a>, ConfigError> {
        let topology = Topology::new(scenario)?;
        let world = World {
            agenda: Agenda::new(),
            links: Vec::with_capacity(2 * scenario.links.len()),
            flow_paths: Vec::new(),
            templates: Vec::new(),
            paths: Vec::new(),
            measurements: Measurements::new(scenario),
            senders: Vec::new(),
            replays: Vec::new(),
            transport: Transport::default(),
            queue_probes: Vec::new(),
            horizon: Time::MAX,
            watch: (),
        };
        Ok(Builder {
            scenario,
            base,
            streams,
            topology,
            onlookers: Onlookers::default(),
            is_observed: false,
            world,
        })
    }

    /// Builds it all, in the order in which one part needs another.
    fn build<W: Watch>(mut self, watch: W) -> Result<World<W>, ConfigError> {
        self.assemble()?;
        self.find_ways_on();
        self.await_warmup();
        let ahead = if self.onlookers.watched { Ahead::Never } else { Ahead::WhereNobodyCanTell };
        if ahead == Ahead::WhereNobodyCanTell {
            self.settle();
            self.book();
        }
        let mut world = self.world.seen_by(watch);
        world.start_senders(ahead);
        Ok(world)
    }

    /// All that the scenario names, before anything happens.
    fn assemble(&mut self) -> Result<(), ConfigError> {
        let scenario = self.scenario;
        for (index, link) in scenario.links.iter().enumerate() {
            self.add_link(link).map_err(|error| rooted(error, "links", index))?;
        }
        self.add_taps();
        for (index, traffic) in scenario.traffic.iter().enumerate() {
            self.add_traffic(index, traffic).map_err(|error| error.within(index).within("traffic"))?;
        }
        self.add_probes().map_err(|error| error.within("queues").within("measure"))?;
        self.add_connection_probes().map_err(|error| error.within("connections").within("measure"))
    }

    fn add_link(&mut self, config: &'a LinkConfig) -> Result<(), ConfigError> {
        if config.cost == 0 {
            return Err(ConfigError::new("cost", "a link that costs nothing makes shortest paths ambiguous")
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
        let link = self.still_link(direction, config.delay, [from, to]);
        self.world.links.push(link);
        Ok(())
    }

    /// What the configurations of both interfaces make of the direction from `from` to `to`.
    fn direction(&self, config: &LinkConfig, from: &str, to: &str) -> Result<Direction, ConfigError> {
        let plain = InterfaceConfig::default();
        let near = config.interfaces.get(from).unwrap_or(&plain);
        let far = config.interfaces.get(to).unwrap_or(&plain);
        let name = format!("{from}->{to}");
        let streams = self.streams.child("port").child(&name);
        let wire =
            WireConfig { rate: near.rate.unwrap_or(config.rate), framing: config.framing(), ring: near.ring };
        let (mut output, port, queue_names) = match &near.output {
            None => {
                (TrafficConditioner::default(), Port::build(None, &wire, &[], &streams)?, queue_names(None))
            }
            Some(policy) => {
                let config = self.policy(policy, from, "output")?;
                let interfaces = self.topology.interfaces(from);
                let built = config.build_conditioner(interfaces, &streams.child("output"));
                let output = built.map_err(|error| in_policy(error, policy))?;
                let port = config
                    .build_port(&wire, interfaces, &streams)
                    .map_err(|error| in_policy(error, policy))?;
                (output, port, queue_names(config.queueing.as_ref()))
            }
        };
        let mut input = match &far.input {
            None => TrafficConditioner::default(),
            Some(policy) => {
                let config = self.policy(policy, to, "input")?;
                let built = config.build_conditioner(self.topology.interfaces(to), &streams.child("input"));
                built.map_err(|error| in_policy(error, policy))?
            }
        };
        output.count_from(self.world.measurements.warmup);
        input.count_from(self.world.measurements.warmup);
        let loss = (config.loss > 0.0)
            .then(|| Loss { probability: config.loss, stream: streams.child("loss").stream() });
        Ok(Direction { name, output, port, queue_names, loss, input })
    }

    /// The next link, of `direction` between the nodes `from` and `to`, before anything happens on it.
    fn still_link(&mut self, direction: Direction, delay: Time, [from, to]: [&str; 2]) -> Link {
        let Direction { name, output, port, queue_names, loss, input } = direction;
        let id = LinkId(self.world.links.len() as u32);
        let tally = PortTally::new(port.queues().len());
        Link {
            straight: output.is_empty() && port.is_open(),
            leads_to_host: self.topology.is_host(to),
            settles: false,
            books: false,
            answers: false,
            uneventful: loss.is_none(),
            ends_plainly: self.topology.is_host(to) && input.is_empty(),
            delay,
            transmitted: 0,
            arrival: self.world.agenda.register(Event::Arrival(id)),
            far_interface: self.topology.interface(to, from),
            in_flight: GrowingRing::default(),
            next: None,
            driven_by: None,
            announced: None,
            announces: false,
            punctual: false,
            feeders: Feeders::default(),
            input,
            output,
            poll: self.world.agenda.register(Event::Poll(id)),
            halt: id,
            port,
            tally,
            poll_at: None,
            tap: None,
            loss,
            reacts: false,
            name,
            ends: [from.to_owned(), to.to_owned()],
            queue_names,
        }
    }

    fn policy(&self, name: &str, node: &str, side: &str) -> Result<&'a PolicyConfig, ConfigError> {
        let missing = || {
            ConfigError::new(
                &format!("interfaces.{node}.{side}"),
                format!("there is no policy called {name}"),
            )
        };
        self.scenario.policies.get(name).ok_or_else(missing)
    }
}

impl<W: Watch> World<W> {
    /// Puts the senders on the agenda, or lets them run ahead of it where nobody could tell.
    fn start_senders(&mut self, ahead: Ahead) {
        let mut feeders = vec![Vec::new(); self.links.len()];
        for (sender, Sender { flow, .. }) in self.senders.iter().enumerate() {
            feeders[self.link_of(*flow, 0).index()].push(sender);
        }
        for (link, feeders) in feeders.iter().enumerate() {
            let id = LinkId(link as u32);
            let watched = settling::is_watched(self, id);
            let Link { leads_to_host, reacts, .. } = &self.links[link];
            // A link from host to host has no event that could call a halt to running ahead.
            if watched || ahead == Ahead::Never || *leads_to_host || *reacts || feeders.len() > Feeders::MOST
            {
                for sender in feeders {
                    let slot = self.agenda.register(Event::Emission(*sender as u32));
                    self.agenda.schedule(slot, self.senders[*sender].due.at);
                    self.senders[*sender].slot = Some(slot);
                }
            } else {
                let link = &mut self.links[link];
                link.feeders = Feeders::new(feeders);
                link.announces = link.straight && !link.settles && !feeders.is_empty();
            }
        }
        for link in 0..self.links.len() {
            if !self.links[link].feeders.is_empty() {
                self.go_ahead(Time::ZERO, LinkId(link as u32));
            }
        }
    }
}

fn in_policy(error: ConfigError, policy: &str) -> ConfigError {
    error.within(policy).within("policies")
}
