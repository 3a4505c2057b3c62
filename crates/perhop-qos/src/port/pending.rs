//! [`PendingDepartures`]: packets whose precomputed departure is in the future.

use super::peaks::Peaks;
use crate::buffer::{AnyBuffer, BufferManager};
use crate::queue::{GrowingRing, Queue, QueueId};
use crate::{Color, Time};

/// The packets that the port has already passed on but that still count as queued, in order of departure.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingDepartures(GrowingRing<Pending>);

#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// The time at which the first bit of the packet is sent.
    starts: Time,
    /// The length of the packet, IP bytes.
    length: u32,
    /// The drop precedence of the packet.
    precedence: Color,
}

impl PendingDepartures {
    /// Whether no departure is pending.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The number of pending departures.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
    /// Removes the packets that have left by `now`. No queue counts them.
    #[inline]
    pub(super) fn forget_departed(&mut self, now: Time) {
        while self.0.front().is_some_and(|pending| pending.starts <= now) {
            self.0.drop_front();
        }
    }
    /// Adds all packets to the counts of `queue`, which does not count them yet.
    pub(super) fn count_in(&self, queue: &mut Queue) {
        for Pending { length, precedence, .. } in self.0.iter() {
            queue.count_pending(*precedence, *length);
        }
    }
    /// Removes the packets that have left by `now` from the counts of the first queue, and notifies `buffer`.
    #[inline]
    pub(super) fn release_departed(
        &mut self,
        now: Time,
        queues: &mut [Queue],
        buffer: &mut AnyBuffer,
        mut peaks: Option<&mut Peaks>,
    ) {
        while let Some(&Pending { starts, length, precedence }) = self.0.front()
            && starts <= now
        {
            self.0.drop_front();
            if let Some(peaks) = &mut peaks {
                peaks.record(starts, QueueId(0), queues);
            }
            let queue = &mut queues[0];
            queue.forget_pending(precedence, length);
            buffer.departed(starts, precedence, length, queue.occupancy());
        }
    }
    /// Records that a packet of `length` IP bytes, which `queue` now counts, is queued until it `starts`.
    #[inline]
    pub(super) fn add(&mut self, starts: Time, length: u32, precedence: Color, queue: &mut Queue) {
        queue.count_pending(precedence, length);
        self.add_uncounted(starts, length, precedence);
    }
    /// Records that a packet of `length` IP bytes, which no queue counts, is queued until it `starts`.
    #[inline]
    pub(super) fn add_uncounted(&mut self, starts: Time, length: u32, precedence: Color) {
        self.0.push_back(Pending { starts, length, precedence });
    }
}
