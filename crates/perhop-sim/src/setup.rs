//! [`Setup`]: a scenario that is ready for both engines.

use std::collections::BTreeMap;

use perhop_net::{Direction, Event, Flights, Network, Pauses};
use perhop_qos::error::ConfigError;
use perhop_qos::observer::PortObservers;

use crate::event::{HostEvent, SimAgenda};
use crate::hosts::Hosts;

/// The kind of senders on a link that leaves a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entering {
    /// Only sources, whose packets do not depend on the rest of the network, or no sender.
    Sources,
    /// TCP or a recording, possibly with sources. Packets enter by events of the agenda, because TCP reacts
    /// to arrivals.
    Reactive,
}

/// The sides of a direction of a link that are in one part of a network (`crate::parallel`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// Both sides, because the link crosses no border or the network is not divided.
    Inside,
    /// The near side, with the port. Packets leave for another part.
    Leaves,
    /// The far side, with the input conditioners. Packets come from another part.
    Enters,
}

/// A scenario that is ready for both engines. Names are indices, policies are ports, and paths are computed.
#[derive(Debug)]
pub struct Setup {
    pub(crate) agenda: SimAgenda,
    /// The directions of links.
    pub(crate) directions: Vec<Direction>,
    pub(crate) hosts: Hosts,
    /// The kind of senders on each link.
    pub(crate) entering: Vec<Entering>,
    /// By link: the sides in this part of the network.
    pub(crate) crossings: Vec<Crossing>,
    /// By flow that leaves its part of the network and returns: the number of the returning flow.
    pub(crate) returning: BTreeMap<usize, usize>,
    /// The state of priority flow control, if an interface may send pause frames. Only the plain engine
    /// simulates pauses.
    pub(crate) pauses: Option<Pauses>,
}

impl Setup {
    /// Creates the plain engine, whose ports are observed by `observers`. Every step is an event of the
    /// agenda.
    ///
    /// # Panics
    /// If the network has pauses. [`pausing`](Setup::pausing) creates the engine for such a network.
    pub fn plain<W: PortObservers>(self, observers: W) -> Network<Hosts, W> {
        assert!(self.pauses.is_none(), "a network with pauses needs the engine of `pausing`");
        self.network(observers, ())
    }

    /// Creates the plain engine with priority flow control.
    ///
    /// # Errors
    /// If no interface may send pause frames, returns the unchanged setup.
    #[expect(clippy::result_large_err, reason = "called once for each replication")]
    pub fn pausing<W: PortObservers>(mut self, observers: W) -> Result<Network<Hosts, W, Pauses>, Setup> {
        match self.pauses.take() {
            Some(pauses) => Ok(self.network(observers, pauses)),
            None => Err(self),
        }
    }

    /// Refuses a network with pauses. `user` is the part of perhop that does not simulate pauses, for the
    /// message.
    ///
    /// # Errors
    /// An interface may send pause frames.
    pub fn without_pauses(self, user: &str) -> Result<Setup, ConfigError> {
        if self.pauses.is_none() {
            return Ok(self);
        }
        let message = format!("{user} does not simulate priority flow control, which this scenario uses");
        Err(ConfigError::new("policies", message).help("leave `pause` out, or use `perhop run`"))
    }

    fn network<W: PortObservers, P>(self, observers: W, pauses: P) -> Network<Hosts, W, P> {
        let Setup { mut agenda, directions, mut hosts, .. } = self;
        for (number, source) in (0..).zip(&mut hosts.sources) {
            let slot = agenda.register(Event::Edge(HostEvent::Emission(number)));
            agenda.schedule(slot, source.due.at);
            source.slot = Some(slot);
        }
        let counts_from = hosts.measurements.warmup;
        let flights = Flights::default();
        Network { agenda, directions, flights, edge: hosts, observers, pauses, counts_from, packet_hops: 0 }
    }
}
