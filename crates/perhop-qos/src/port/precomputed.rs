//! Departures that are precomputed on arrival: the way through a port that keeps no packets.

use super::{Departure, Port, judge};
use crate::buffer::{AnyBuffer, BufferManager};
use crate::observer::{Observer, Place};
use crate::packet::{Color, Packet};
use crate::queue::{GrowingRing, Queue, QueueId};
use crate::units::Time;
use crate::verdict::Verdict;

/// The packets that have gone on and still count as waiting, in order of departure.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingDepartures(GrowingRing<Pending>);

#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// When its first bit goes out.
    starts: Time,
    /// IP bytes.
    length: u32,
    precedence: Color,
}

impl PendingDepartures {
    /// Those that have left by `now` no longer wait in `queue`, as `buffer` is told.
    #[inline]
    fn release_departed(&mut self, now: Time, queue: &mut Queue, buffer: &mut AnyBuffer) {
        while let Some(&Pending { starts, length, precedence }) = self.0.front()
            && starts <= now
        {
            self.0.drop_front();
            queue.forget_pending(precedence, length);
            buffer.departed(starts, precedence, queue.occupancy());
        }
    }
    /// A packet of `length` IP bytes waits in `queue` until it `starts`.
    #[inline]
    fn add(&mut self, starts: Time, length: u32, precedence: Color, queue: &mut Queue) {
        queue.count_pending(precedence, length);
        self.0.push_back(Pending { starts, length, precedence });
    }
}

impl Port {
    /// Packets whose precomputed departure has come by `now` no longer wait. To be called before somebody looks at the
    /// queue or the averages of a port that [precomputes departures](Port::precomputes_departures).
    pub fn release_departed(&mut self, now: Time) {
        self.pending.release_departed(now, &mut self.queues[0], &mut self.buffers[0]);
    }

    /// Whether a packet's times are known when it arrives: one queue, first in, first out, before a ring of one packet, with
    /// a buffer manager that decides on arrival.
    pub fn precomputes_departures(&self) -> bool {
        self.policers.is_empty()
            && self.classifier.is_single()
            && self.scheduler.is_single()
            && self.queues[0].is_fifo()
            && self.buffers[0].decides_on_arrival()
            && self.ring.is_single()
    }

    /// `packet` arrives at a port that [precomputes departures](Port::precomputes_departures). The answer is its
    /// departure, which may lie ahead, or `None` if it ends here: what [`send`](Port::send) and all
    /// [polls](Port::poll_transmit) after it would find. `observer` hears of the departure at once, with its time: of
    /// this port's packets one by one, and not in the order of time.
    ///
    /// Lindley 1952, "The theory of queues with a single server": a packet's wait is what is left, when it arrives, of the
    /// packet's before, and of that one's transmission.
    #[expect(clippy::inline_always, reason = "what every packet does at a port with a queue")]
    #[inline(always)]
    pub fn precompute_departure<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut observer: O,
    ) -> Option<Departure> {
        debug_assert!(self.precomputes_departures() && self.backlog == 0);
        let Port { pending, queues, buffers, ring, pace, .. } = self;
        let (queue, buffer) = (&mut queues[0], &mut buffers[0]);
        pending.release_departed(now, queue, buffer);
        let place = Place { queue: QueueId(0), precedence: queue.precedence_of(packet) };
        let verdict = buffer.admit(now, packet, place.precedence, queue.occupancy());
        let passes = verdict == Verdict::Pass;
        if !passes {
            observer.arrived(now, place, packet);
            judge(now, place, packet, verdict, &mut observer).ok()?;
            observer.enqueued(now, place, packet);
        }
        let starts = ring.free_at().max(now);
        if starts > now {
            pending.add(starts, packet.length, place.precedence, queue);
        } else {
            buffer.departed(now, place.precedence, queue.occupancy());
        }
        let departure = Departure { starts, ends: starts.saturating_add(pace.time(packet.length)) };
        ring.push_alone(packet.length, departure.ends);
        if passes {
            observer.departure_precomputed(now, place, packet, departure);
        } else {
            observer.dequeued(starts, place, packet, departure);
        }
        Some(departure)
    }
}
