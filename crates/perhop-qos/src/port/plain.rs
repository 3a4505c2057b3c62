//! The queue of a port without a policy. It is allocated when the first packet joins it.
//!
//! In a large network, most ports have no policy. Few of them ever store a packet, because departures are
//! precomputed. A queue and its buffer manager would need half of the memory of such a port.

use std::sync::LazyLock;

use super::{Departure, Port};
use crate::buffer::{AnyBuffer, TailDrop, TailDropConfig};
use crate::observer::Place;
use crate::queue::{Queue, QueueId};
use crate::{DropCause, Observer, Packet, Time};

/// The queue and the buffer manager of all ports without a policy that have not allocated their own.
static IDLE: LazyLock<(Queue, AnyBuffer)> =
    LazyLock::new(|| (Queue::default(), AnyBuffer::TailDrop(TailDrop::default())));

impl Port {
    /// The queues, in the order of the policy's leaf classes.
    pub fn queues(&self) -> &[Queue] {
        if self.queues.is_empty() { std::slice::from_ref(&IDLE.0) } else { &self.queues }
    }
    /// The buffer managers, one for each queue.
    pub fn buffers(&self) -> &[AnyBuffer] {
        if self.buffers.is_empty() { std::slice::from_ref(&IDLE.1) } else { &self.buffers }
    }
    /// Allocates the queue of a port without a policy. The queue counts the packets with a pending departure.
    #[cold]
    #[inline(never)]
    pub(super) fn add_plain_queue(&mut self) {
        let (mut queue, buffer) = IDLE.clone();
        self.pending.count_in(&mut queue);
        self.queues = Box::new([queue]);
        self.buffers = Box::new([buffer]);
    }
    /// Processes `packet` like [`precompute_departure`](Port::precompute_departure), for a port that has not
    /// allocated its queue. The buffer manager is tail drop, so the number of pending departures decides.
    #[inline]
    pub(super) fn precompute_without_queue<O: Observer>(
        &mut self,
        now: Time,
        packet: &Packet,
        mut observer: O,
    ) -> Option<Departure> {
        let Port { pending, ring, pace, .. } = self;
        pending.forget_departed(now);
        let place = Place { queue: QueueId(0), precedence: packet.color };
        if pending.len() as u64 >= TailDropConfig::DEFAULT_PACKETS {
            observer.arrived(now, place, packet);
            observer.dropped(now, Some(place), packet, DropCause::QueueFull);
            return None;
        }
        let starts = ring.free_at().max(now);
        if starts > now {
            pending.add_uncounted(starts, packet.length, place.precedence);
        }
        let departure = Departure { starts, ends: starts.saturating_add(pace.time(starts, packet.length)) };
        ring.push_alone(packet.length, departure.ends);
        observer.departure_precomputed(now, place, packet, departure);
        Some(departure)
    }
    /// Allocates the queue of a port without a policy, and returns the place of `packet` in it. If the port
    /// already has queues, no class matches `packet`, and the function drops it.
    #[cold]
    #[inline(never)]
    pub(super) fn place_without_queue<O: Observer>(
        &mut self,
        now: Time,
        packet: &Packet,
        observer: &mut O,
    ) -> Option<Place> {
        if !self.queues.is_empty() {
            observer.dropped(now, None, packet, DropCause::NoClass);
            return None;
        }
        self.add_plain_queue();
        Some(Place { queue: QueueId(0), precedence: self.queues[0].precedence_of(packet) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::{Framing, HeaderStack};
    use crate::policy::WireConfig;
    use crate::port::Sent;
    use crate::random::Streams;
    use crate::ring::RingConfig;
    use crate::units::Rate;

    fn plain_port() -> Port {
        let rate = Rate::from_bits_per_second(8_000_000);
        let (framing, headers) = (Framing::Raw, HeaderStack::EMPTY);
        let wire = WireConfig { rate, framing, headers, ring: RingConfig::default() };
        Port::build(None, &wire, &[], &Streams::new(1, 0)).unwrap()
    }

    #[test]
    fn the_first_packet_that_waits_allocates_the_queue() {
        let mut port = plain_port();
        let mut packet = Packet { length: 1000, ..Packet::default() };
        assert!(matches!(port.send(Time::ZERO, &mut packet, ()), Sent::Transmitted(_)));
        assert!(port.queues.is_empty() && port.buffers.is_empty());
        assert_eq!((port.queues().len(), port.buffers().len()), (1, 1));
        assert_eq!(port.send(Time::ZERO, &mut packet, ()), Sent::Queued);
        assert_eq!((port.queues.len(), port.queues()[0].occupancy().packets), (1, 1));
        assert_eq!(plain_port().queues()[0].occupancy().packets, 0, "the queue belongs to one port");
    }

    /// Compares a port that has not allocated its queue with a port that has it from the start.
    #[test]
    fn pending_departures_count_like_a_queue() {
        let ms = Time::from_milliseconds;
        let (mut lazy, mut eager) = (plain_port(), plain_port());
        eager.add_plain_queue();
        let mut packet = Packet { length: 1000, ..Packet::default() };
        for step in 0..400 {
            // A packet is sent in 1 ms. Packets arrive twice as fast for 100 ms, and do not arrive at all for
            // 50 ms.
            let now = Time::from_microseconds(500 * step) + ms(50 * (step / 200));
            let departures =
                [&mut lazy, &mut eager].map(|port| port.precompute_departure(now, &mut packet, ()));
            assert_eq!(departures[0], departures[1], "step {step}");
        }
        assert!(lazy.queues.is_empty());
        for now in [ms(245), ms(400)] {
            for port in [&mut lazy, &mut eager] {
                port.release_departed(now);
            }
            assert_eq!(lazy.queues()[0].occupancy(), eager.queues()[0].occupancy());
        }
        assert_eq!((lazy.queues.len(), lazy.queues()[0].occupancy().packets), (1, 0));
    }

    /// The limit is the default limit of a class without `buffer`.
    #[test]
    fn the_queue_holds_64_packets() {
        let mut port = plain_port();
        let mut packet = Packet { length: 1000, ..Packet::default() };
        let mut dropped = 0;
        for _ in 0..100 {
            let sent = port.send(Time::ZERO, &mut packet, ());
            dropped += u32::from(matches!(sent, Sent::Dropped(DropCause::QueueFull)));
        }
        assert_eq!((port.backlog(), dropped), (64, 35));
    }
}
