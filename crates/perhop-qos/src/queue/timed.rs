//! [`TimedPackets`]: in order of arrival, and when each joined.

use super::growing_ring::GrowingRing;
use super::stay::Stay;
use crate::{Packet, Time};

/// Packets in order of arrival, each with the time at which it joined: for a buffer manager that [asks for
/// it](crate::buffer::BufferManager::asks_for_stays).
///
/// A packet's descriptor has no room for that time, and most queues need none.
#[derive(Clone, Debug, Default)]
pub(super) struct TimedPackets(GrowingRing<Timed>);

#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    packet: Packet,
    since: Time,
}

impl TimedPackets {
    #[inline]
    pub(super) fn head(&self) -> Option<&Packet> {
        self.0.front().map(|timed| &timed.packet)
    }
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: &Packet) {
        self.0.push_back(Timed { packet: *packet, since: now });
    }
    /// Forgets the head, which there must be.
    #[inline]
    pub(super) fn drop_head(&mut self) -> Stay {
        let since = self.0.front().map_or(Time::ZERO, |timed| timed.since);
        self.0.drop_front();
        Stay { since, ..Stay::default() }
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.0.iter().map(|timed| &timed.packet)
    }
}
