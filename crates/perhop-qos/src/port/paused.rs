//! The functions of a port for priority flow control: pauses of queues, and the next possible start of a
//! frame.

use super::Port;
use crate::observer::Place;
use crate::queue::QueueId;
use crate::{Packet, Time};

impl Port {
    /// Delays all packets of `queue` until [`resume`](Port::resume). The class of the queue must have
    /// `pause`. Packets in the transmit ring are still sent.
    pub fn pause(&mut self, queue: QueueId) {
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.pause(queue);
        }
    }
    /// Ends the pause of `queue`. The driver must then call [`poll_transmit`](Port::poll_transmit).
    pub fn resume(&mut self, queue: QueueId) {
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.resume(queue);
        }
        self.shaped_until = None;
    }
    /// Returns the place where `packet` would wait, or `None` if no class matches.
    pub fn place(&self, packet: &Packet) -> Option<Place> {
        let queue = self.classifier.classify(packet)?;
        let precedence = self.queues()[queue.index()].precedence_of(packet);
        Some(Place { queue, precedence })
    }
    /// The first time, not before `now`, at which a frame that overtakes all packets can start. It is the end
    /// of the packet that is being sent.
    pub fn wire_free_at(&mut self, now: Time) -> Time {
        self.ring.advance(now);
        self.ring.next_release().map_or(now, |ends| ends.max(now))
    }
}
