//! Departures that are precomputed on arrival. On this path, the port stores no packets.

use super::judge::judge;
use super::{Departure, Port};
use crate::buffer::BufferManager;
use crate::observer::Place;
use crate::queue::QueueId;
use crate::{Observer, Packet, Time, Verdict};

impl Port {
    /// Removes the packets whose precomputed departure is at or before `now`. If a port [precomputes
    /// departures](Port::precomputes_departures), call this function before you read its queue or its
    /// averages.
    pub fn release_departed(&mut self, now: Time) {
        if self.queues.is_empty() {
            self.pending.forget_departed(now);
            if self.pending.is_empty() {
                return;
            }
            self.add_plain_queue();
        }
        let Port { pending, queues, buffers, peaks, .. } = self;
        pending.release_departed(now, queues, &mut buffers[0], peaks.as_deref_mut());
    }

    /// Whether the times of a packet are known when it arrives. This is true if the port has one FIFO, a ring
    /// of one packet, and a buffer manager that decides on arrival, and if it shares no pool with other
    /// ports. In a shared pool, each departure makes room for other ports.
    pub fn precomputes_departures(&self) -> bool {
        self.gates.is_empty()
            && self.classifier.is_single()
            && self.is_single
            && self.queues()[0].is_fifo()
            && self.buffers()[0].decides_on_arrival()
            && self.shared_pool().is_none()
            && self.ring.is_single()
    }

    /// Sends `packet` through a port that [precomputes departures](Port::precomputes_departures). Returns its
    /// departure, which can be in the future, or `None` if the packet is dropped. The result is the same as
    /// with [`send`](Port::send) and all later [polls](Port::poll_transmit). `observer` receives the
    /// departure at once, so it receives events packet by packet and not in the order of time.
    ///
    /// Lindley 1952, "The theory of queues with a single server": the wait of a packet is the remaining wait
    /// and transmission time of the previous packet when the packet arrives.
    #[expect(clippy::inline_always, reason = "every packet at a port with a queue calls it")]
    #[inline(always)]
    pub fn precompute_departure<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut observer: O,
    ) -> Option<Departure> {
        debug_assert!(self.precomputes_departures() && self.backlog == 0);
        if self.queues.is_empty() {
            return self.precompute_without_queue(now, packet, observer);
        }
        let Port { pending, queues, buffers, ring, pace, peaks, .. } = self;
        let buffer = &mut buffers[0];
        pending.release_departed(now, queues, buffer, peaks.as_deref_mut());
        if let Some(peaks) = peaks {
            peaks.record(now, QueueId(0), queues);
        }
        let queue = &mut queues[0];
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
            buffer.departed(now, place.precedence, packet.length, queue.occupancy());
        }
        let departure = Departure { starts, ends: starts.saturating_add(pace.time(starts, packet.length)) };
        ring.push_alone(packet.length, departure.ends);
        if passes {
            observer.departure_precomputed(now, place, packet, departure);
        } else {
            observer.dequeued(starts, place, packet, departure);
        }
        Some(departure)
    }
}
