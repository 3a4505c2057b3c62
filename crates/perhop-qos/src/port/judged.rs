//! The path of packets that a buffer manager can still drop after they have left their queue.
//!
//! This path has its own file and its own functions, because it would otherwise slow down the path of all
//! other packets.

use super::heads::Heads;
use super::judge::judge;
use super::{Departure, Port};
use crate::buffer::BufferManager;
use crate::observer::Place;
use crate::queue::{QueueId, Stay};
use crate::{DropCause, Observer, Packet, Time};

impl Port {
    /// Runs the scheduler until a packet enters the ring. The caller ensures that the ring has room and that
    /// at least one packet waits.
    #[inline(never)]
    pub(super) fn serve_judged<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut observer: O,
    ) -> Option<Departure> {
        while self.backlog > 0 {
            let id = self.choose(now)?;
            let queue = &self.queues[id.index()];
            let head = queue.head().filter(|head| self.ring.admits(head.length))?;
            let place = Place { queue: id, precedence: queue.precedence_of(head) };
            *packet = *head;
            let stay = self.take_head(now, place, packet.length);
            if self.leaves(now, place, stay, packet, &mut observer) {
                return Some(self.hand_over(now, place, packet, &mut observer));
            }
        }
        None
    }

    /// Removes the head at `place`, which has `length` IP bytes. The caller has copied this packet. Returns
    /// the stay of the packet in the queue.
    // The function does not return the packet. A tuple of a packet and a place would be stored in several
    // pieces, and the processor cannot forward several stores to one load. This would cost 8 ns.
    #[expect(clippy::inline_always, reason = "a call would take a tenth of the time")]
    #[inline(always)]
    pub(super) fn take_head(&mut self, now: Time, place: Place, length: u32) -> Stay {
        if self.peaks.is_some() {
            self.record_peak(now, place.queue);
        }
        self.backlog -= 1;
        self.queues[place.queue.index()].take_head(place.precedence, length)
    }

    /// Applies the verdict of the buffer manager to `packet`, which has left its queue after this `stay`, and
    /// notifies the scheduler. Returns whether the packet is sent. The queue is not charged for a dropped
    /// packet.
    #[expect(clippy::inline_always, reason = "a call would take a tenth of the time")]
    #[inline(always)]
    pub(super) fn leaves<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        stay: Stay,
        packet: &mut Packet,
        observer: &mut O,
    ) -> bool {
        let Port { queues, buffers, scheduler, .. } = self;
        let (queue, buffer) = (&queues[place.queue.index()], &mut buffers[place.queue.index()]);
        let verdict = buffer.release(now, packet, place.precedence, stay, queue.occupancy());
        if judge(now, place, packet, verdict, observer).is_err() {
            self.dropped_at_head(now, place.queue, stay.flow.number(), packet.length);
            return false;
        }
        if let Some(scheduler) = scheduler {
            scheduler.dequeued(now, place.queue, packet.length, queue);
        }
        true
    }

    /// Notifies queue `id` and the scheduler that the head of this `flow`, of `length` IP bytes, has been
    /// dropped.
    #[inline(never)]
    fn dropped_at_head(&mut self, now: Time, id: QueueId, flow: u16, length: u32) {
        let queue = &mut self.queues[id.index()];
        queue.refund(flow, length);
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.dropped(now, id, length, queue);
        }
    }

    /// Processes `packet`, which finds an idle port and bypasses its only queue, at `place`.
    ///
    /// # Errors
    /// The error is the cause of the drop if the buffer manager drops the packet at the head.
    #[inline]
    pub(super) fn pass<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        packet: &mut Packet,
        observer: &mut O,
    ) -> Result<(), DropCause> {
        match self.heads {
            Heads::Free => {
                let index = place.queue.index();
                let occupancy = self.queues[index].occupancy();
                self.buffers[index].departed(now, place.precedence, packet.length, occupancy);
                Ok(())
            }
            Heads::Judged | Heads::InFragments | Heads::Cake => {
                self.pass_judged(now, place, packet, observer)
            }
        }
    }

    #[inline(never)]
    fn pass_judged<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        packet: &mut Packet,
        observer: &mut O,
    ) -> Result<(), DropCause> {
        let (index, stay) = (place.queue.index(), Stay::passing(now));
        let occupancy = self.queues[index].occupancy();
        let verdict = self.buffers[index].release(now, packet, place.precedence, stay, occupancy);
        judge(now, place, packet, verdict, observer)
    }
}
