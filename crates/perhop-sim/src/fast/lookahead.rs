//! [`Lookahead`]: the sources of one host, which send ahead of the agenda.

use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

/// The sources of a host whose packets are all that enters the link away from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookahead {
    pub(super) feeders: Feeders,
    /// The first link on their way where packets are received by events: they send until one is in flight
    /// there.
    pub(super) barrier: LinkId,
    pub(super) prescheduled: Prescheduled,
}

/// Whether the arrival of a packet is put on the agenda before the packet is sent: it will find the port
/// idle, nothing is in flight before it, and nobody asks for it before it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prescheduled {
    /// Never: its port asks somebody about every packet, or its far end needs no event.
    Never,
    /// Where it can be, but nothing is now.
    Nothing,
    /// The next packet of this feeder.
    Next(Feeder),
}

/// One of the [`Feeders`], by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Feeder(u8);

/// Sources of one host, so few that each packet can look for the first among them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feeders {
    sources: [u32; Feeders::MOST],
    count: u8,
}

impl Feeders {
    /// How many there can be.
    pub(super) const MOST: usize = 4;

    /// `sources`, at least one and not more than there can be.
    pub(super) fn new(sources: &[usize]) -> Feeders {
        let mut feeders = Feeders { count: sources.len() as u8, ..Feeders::default() };
        for (place, source) in feeders.sources.iter_mut().zip(sources) {
            *place = *source as u32;
        }
        feeders
    }
    /// As an index into the hosts' sources.
    #[inline]
    pub(super) fn source(&self, Feeder(place): Feeder) -> usize {
        self.sources[usize::from(place) % Feeders::MOST] as usize
    }
    /// The one that comes first by `due`, of several the first in order.
    #[inline]
    pub(super) fn first_by(&self, due: impl Fn(usize) -> Time) -> Feeder {
        let mut first = Feeder::default();
        for place in 1..self.count {
            let other = Feeder(place);
            if due(self.source(other)) < due(self.source(first)) {
                first = other;
            }
        }
        first
    }
}
