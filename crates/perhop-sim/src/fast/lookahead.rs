//! [`Lookahead`]: the sources of one host that send ahead of the agenda.

use perhop_qos::units::Time;
use perhop_scenario::routing::LinkId;

/// The sources of a host whose access link no other packets enter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookahead {
    pub(super) feeders: Feeders,
    /// The first link on the path of the sources whose packets are received by events. The sources send until
    /// a packet is in flight on this link.
    pub(super) barrier: LinkId,
    pub(super) prescheduled: Prescheduled,
}

/// Whether the arrival of a packet is scheduled before the packet is sent. The packet must find the port
/// idle, no packet may be in flight ahead of it, and no other code may read the packet before it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prescheduled {
    /// Never, because the port decides about every packet or the far end does not need an event.
    Never,
    /// Possible, but no arrival is scheduled now.
    Nothing,
    /// The next packet of this feeder.
    Next(Feeder),
}

/// One of the [`Feeders`], by its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Feeder(u8);

/// The sources of one host. Their number is small, so that each packet can search for the earliest source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feeders {
    sources: [u32; Feeders::MOST],
    count: u8,
}

impl Feeders {
    /// The maximum number of sources.
    pub(super) const MOST: usize = 4;

    /// Creates the list of one to [`Feeders::MOST`] sources.
    pub(super) fn new(sources: &[usize]) -> Feeders {
        let mut feeders = Feeders { count: sources.len() as u8, ..Feeders::default() };
        for (place, source) in feeders.sources.iter_mut().zip(sources) {
            *place = *source as u32;
        }
        feeders
    }
    /// Returns the index of a feeder in the sources of all hosts.
    #[inline]
    pub(super) fn source(&self, Feeder(place): Feeder) -> usize {
        self.sources[usize::from(place) % Feeders::MOST] as usize
    }
    /// Returns the feeder with the earliest `due`. Among feeders with equal times, returns the first of the
    /// list.
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
