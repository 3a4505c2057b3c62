//! Departures that are known on arrival: the way through a port that keeps no packets.

use super::{Departure, Port, judge};
use crate::buffer::{AnyBuffer, BufferManager};
use crate::observer::{Observer, Place};
use crate::packet::{Color, Packet};
use crate::queue::{GrowingRing, Queue, QueueId};
use crate::units::Time;
use crate::verdict::Verdict;

/// The packets that have gone on and still count as waiting, in order of departure.
#[derive(Clone, Debug, Default)]
pub(super) struct Bookings(GrowingRing<Booking>);

#[derive(Clone, Copy, Debug, Default)]
struct Booking {
    /// When its first bit goes out.
    starts: Time,
    /// IP bytes.
    length: u32,
    precedence: Color,
}

impl Bookings {
    /// Those that have left by `now` no longer wait in `queue`, as `buffer` is told.
    #[inline]
    fn let_go(&mut self, now: Time, queue: &mut Queue, buffer: &mut AnyBuffer) {
        while let Some(&Booking { starts, length, precedence }) = self.0.front()
            && starts <= now
        {
            self.0.drop_front();
            queue.forget_booked(precedence, length);
            buffer.departed(starts, precedence, queue.occupancy());
        }
    }
    /// A packet of `length` IP bytes waits in `queue` until it `starts`.
    #[inline]
    fn add(&mut self, starts: Time, length: u32, precedence: Color, queue: &mut Queue) {
        queue.count_booked(precedence, length);
        self.0.push_back(Booking { starts, length, precedence });
    }
}

impl Port {
    /// Packets that were booked and have left by `now` no longer wait: what there is to do before somebody looks at the queue
    /// of a port that [can book](Port::can_book), and at its averages.
    pub fn let_go(&mut self, now: Time) {
        self.booked.let_go(now, &mut self.queues[0], &mut self.buffers[0]);
    }

    /// Whether a packet's times are known when it arrives: one queue, first in, first out, before a ring of one packet, with
    /// a buffer manager that decides on arrival.
    pub fn can_book(&self) -> bool {
        self.policers.is_empty()
            && self.classifier.is_single()
            && self.scheduler.is_single()
            && self.queues[0].is_fifo()
            && self.buffers[0].decides_on_arrival()
            && self.ring.is_single()
    }

    /// What [`send`](Port::send) and all [polls](Port::poll_transmit) after it do to `packet`, at once, where the port
    /// [can book](Port::can_book): the departure, which may lie ahead, or `None` if it ends here. What `observer` is told of the
    /// departure has its time, so that it hears of this port's packets one by one and not in the order of time.
    ///
    /// Lindley 1952, "The theory of queues with a single server": a packet's wait is what is left, when it arrives, of the
    /// packet's before, and of that one's transmission.
    #[expect(clippy::inline_always, reason = "what every packet does at a port with a queue")]
    #[inline(always)]
    pub fn book<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut observer: O,
    ) -> Option<Departure> {
        debug_assert!(self.can_book() && self.backlog == 0);
        let Port { booked, queues, buffers, ring, pace, .. } = self;
        let (queue, buffer) = (&mut queues[0], &mut buffers[0]);
        booked.let_go(now, queue, buffer);
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
            booked.add(starts, packet.length, place.precedence, queue);
        } else {
            buffer.departed(now, place.precedence, queue.occupancy());
        }
        let departure = Departure { starts, ends: starts.saturating_add(pace.time(packet.length)) };
        ring.push_alone(packet.length, departure.ends);
        if passes {
            observer.booked(now, place, packet, departure);
        } else {
            observer.dequeued(starts, place, packet, departure);
        }
        Some(departure)
    }
}
