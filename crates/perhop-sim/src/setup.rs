//! [`Setup`]: a scenario made ready for either engine.

use perhop_net::{Direction, Event, Network};
use perhop_qos::observer::PortObservers;

use crate::event::{HostEvent, SimAgenda};
use crate::hosts::Hosts;

/// Who sends by a link away from a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entering {
    /// Sources alone, if anybody: what they send does not depend on what happens elsewhere.
    Sources,
    /// TCP or a recording, too: what enters is on the agenda, as TCP is, which answers what arrives.
    Reactive,
}

/// A scenario made ready for either engine: names are indices, policies are ports, and paths are found.
#[derive(Debug)]
pub struct Setup {
    pub(crate) agenda: SimAgenda,
    /// The directions of links.
    pub(crate) directions: Vec<Direction>,
    pub(crate) hosts: Hosts,
    /// By link.
    pub(crate) entering: Vec<Entering>,
}

impl Setup {
    /// The plain engine, its ports observed by `observers`. Everything happens when the agenda comes to it.
    pub fn plain<W: PortObservers>(self, observers: W) -> Network<Hosts, W> {
        let Setup { mut agenda, directions, mut hosts, .. } = self;
        for (number, source) in (0..).zip(&mut hosts.sources) {
            let slot = agenda.register(Event::Edge(HostEvent::Emission(number)));
            agenda.schedule(slot, source.due.at);
            source.slot = Some(slot);
        }
        let counts_from = hosts.measurements.warmup;
        Network { agenda, directions, edge: hosts, observers, counts_from }
    }
}
