//! The path of packets that enter the transmit ring in fragments, and of packets that are sent between
//! fragments.

use std::ops::ControlFlow;

use super::fragmenter::{Fragmenter, InProgress};
use super::{Departure, Port};
use crate::observer::Place;
use crate::queue::QueueId;
use crate::scheduler::Selection;
use crate::{Observer, Packet, Time};

impl Port {
    /// Moves fragments, and complete packets between them, into the ring. The caller ensures that the ring
    /// has room. Stops after a complete packet or the last fragment of a packet, and copies that packet to
    /// `packet`.
    #[inline(never)]
    pub(super) fn serve_fragments<O: Observer>(
        &mut self,
        now: Time,
        packet: &mut Packet,
        mut observer: O,
    ) -> Option<Departure> {
        let mut fragmenter = self.fragmenter.take()?;
        let mut step = ControlFlow::Continue(());
        while step.is_continue() && self.backlog > 0 && self.ring.has_room() {
            step = match self.head_to_serve(now, &fragmenter) {
                Some(id) => self.serve_head(now, &mut fragmenter, id, packet, &mut observer),
                None => self.serve_fragment(now, &mut fragmenter, packet, &mut observer),
            };
        }
        self.fragmenter = Some(fragmenter);
        step.break_value().flatten()
    }

    /// Returns the queue whose head is sent next. While a packet is in progress, only queues whose packets
    /// may be sent between fragments are considered.
    fn head_to_serve(&mut self, now: Time, fragmenter: &Fragmenter) -> Option<QueueId> {
        let is_in_progress = fragmenter.in_progress.is_some();
        if is_in_progress && !fragmenter.awaits_interleaving(&self.queues) {
            return None;
        }
        match self.select(now) {
            Selection::Serve(id) => (!is_in_progress || fragmenter.interleaves(id)).then_some(id),
            Selection::WaitUntil(time) => {
                self.shaped_until = (!is_in_progress).then_some(time);
                None
            }
            Selection::Idle => None,
        }
    }

    /// Moves the head of queue `id` into the ring, either completely or only its first fragment.
    fn serve_head<O: Observer>(
        &mut self,
        now: Time,
        fragmenter: &mut Fragmenter,
        id: QueueId,
        packet: &mut Packet,
        observer: &mut O,
    ) -> ControlFlow<Option<Departure>> {
        let queue = &self.queues[id.index()];
        let Some(head) = queue.head() else { return ControlFlow::Break(None) };
        let (is_whole, length) = (fragmenter.interleaves(id), head.length);
        let left = fragmenter.fragmentation.carried(length);
        if !self.ring.admits(if is_whole { length } else { left.min(fragmenter.fragmentation.most()) }) {
            return ControlFlow::Break(None);
        }
        let place = Place { queue: id, precedence: queue.precedence_of(head) };
        *packet = *head;
        let stay = self.take_head(now, place, length);
        if !self.leaves(now, place, stay, packet, observer) {
            return ControlFlow::Continue(());
        }
        if is_whole {
            let takes = fragmenter.time(fragmenter.fragmentation.interleaved_bytes(length));
            let departure = self.commit(now, length, takes);
            observer.dequeued(now, place, packet, departure);
            return ControlFlow::Break(Some(departure));
        }
        self.backlog += 1;
        fragmenter.in_progress = Some(InProgress { packet: *packet, place, starts: None, left });
        self.serve_fragment(now, fragmenter, packet, observer)
    }

    /// Moves the next fragment of the packet in progress into the ring. After the last fragment, the packet
    /// has left the port.
    fn serve_fragment<O: Observer>(
        &mut self,
        now: Time,
        fragmenter: &mut Fragmenter,
        packet: &mut Packet,
        observer: &mut O,
    ) -> ControlFlow<Option<Departure>> {
        let Some(mut sent) = fragmenter.in_progress else { return ControlFlow::Break(None) };
        let carried = sent.left.min(fragmenter.fragmentation.most());
        if !self.ring.admits(carried) {
            return ControlFlow::Break(None);
        }
        let takes = fragmenter.time(fragmenter.fragmentation.fragment_bytes(carried));
        let Departure { starts, ends } = self.commit(now, carried, takes);
        self.ring.advance(now);
        let starts = *sent.starts.get_or_insert(starts);
        sent.left -= carried;
        if sent.left > 0 {
            fragmenter.in_progress = Some(sent);
            return ControlFlow::Continue(());
        }
        fragmenter.in_progress = None;
        self.backlog -= 1;
        *packet = sent.packet;
        let departure = Departure { starts, ends };
        observer.dequeued(now, sent.place, packet, departure);
        ControlFlow::Break(Some(departure))
    }
}
