//! Departures that are known on arrival: the way through a port that keeps no packets.

use super::{Departure, Port, judge};
use crate::buffer::BufferManager;
use crate::observer::{Observer, Place};
use crate::packet::{Color, Packet};
use crate::queue::QueueId;
use crate::units::Time;

/// A packet that has gone on and still counts as waiting.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Booking {
    /// When its first bit goes out.
    starts: Time,
    /// IP bytes.
    length: u32,
    precedence: Color,
}

impl Port {
    /// Whether a packet's times are known when it arrives: one queue, first in, first out, before a ring of one packet, with
    /// a buffer manager that decides on arrival, and nobody who asks whether packets wait.
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
        self.let_go(now);
        let queue = &self.queues[0];
        let place = Place { queue: QueueId(0), precedence: queue.precedence_of(packet) };
        observer.arrived(now, place, packet);
        let verdict = self.buffers[0].admit(now, packet, place.precedence, queue.occupancy());
        judge(now, place, packet, verdict, &mut observer).ok()?;
        observer.enqueued(now, place, packet);
        let starts = self.ring.free_at().max(now);
        if starts > now {
            self.queues[0].count(place.precedence, packet.length);
            self.booked.push_back(Booking { starts, length: packet.length, precedence: place.precedence });
        } else {
            self.buffers[0].departed(now, place.precedence, self.queues[0].occupancy());
        }
        let departure = Departure { starts, ends: starts + self.pace.time(packet.length) };
        self.ring.push_alone(packet.length, departure.ends);
        observer.dequeued(starts, place, packet, departure);
        Some(departure)
    }

    /// Those that were booked and have left by `now` no longer wait.
    #[inline]
    fn let_go(&mut self, now: Time) {
        while let Some(&Booking { starts, length, precedence }) = self.booked.front()
            && starts <= now
        {
            self.booked.drop_front();
            self.queues[0].uncount(precedence, length);
            self.buffers[0].departed(starts, precedence, self.queues[0].occupancy());
        }
    }
}
