//! [`Setup`]: a scenario that is ready for both engines.

use std::collections::BTreeMap;

use perhop_net::{Direction, Event, Flights, Network};
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

/// The side of a direction of a link that a part of a network has (`crate::parallel`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// Both sides, because the link crosses no border or the network is not divided.
    Inside,
    /// The near side, with the port. Packets are delivered to another part.
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
    /// By flow that leaves its part of the network: the number of the flow by which it returns.
    pub(crate) returning: BTreeMap<usize, usize>,
}

impl Setup {
    /// Creates the plain engine, whose ports are observed by `observers`. Every step is an event of the
    /// agenda.
    pub fn plain<W: PortObservers>(self, observers: W) -> Network<Hosts, W> {
        let Setup { mut agenda, directions, mut hosts, .. } = self;
        for (number, source) in (0..).zip(&mut hosts.sources) {
            let slot = agenda.register(Event::Edge(HostEvent::Emission(number)));
            agenda.schedule(slot, source.due.at);
            source.slot = Some(slot);
        }
        let counts_from = hosts.measurements.warmup;
        let flights = Flights::default();
        Network { agenda, directions, flights, edge: hosts, observers, counts_from, packet_hops: 0 }
    }
}
