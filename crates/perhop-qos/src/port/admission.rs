//! The input side of a port's queues: the checks before a packet joins its queue.

use super::Port;
use super::judge::judge;
use crate::buffer::BufferManager;
use crate::observer::Place;
use crate::queue::{Entrance, QueueId, Room};
use crate::{DropCause, Observer, Packet, Time, Verdict};

/// The way in which a packet joins a queue.
#[derive(Clone, Copy)]
pub(super) enum Joins {
    AsOneMore,
    /// The packet joins a queue that may drop other packets afterwards.
    AmongFlows,
    /// The packet joins a tin of CAKE. CAKE stores the packet.
    IntoTin,
    InPlaceOfAnother,
}

impl Port {
    /// Determines whether `packet` may join its queue at `place`. The gate, the buffer manager and the queue
    /// decide in this order.
    #[inline]
    pub(super) fn admit<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        packet: &mut Packet,
        observer: &mut O,
    ) -> Result<(Verdict, Joins), DropCause> {
        observer.arrived(now, place, packet);
        if self.peaks.is_some() {
            self.record_peak(now, place.queue);
        }
        let index = place.queue.index();
        let refused = if index < self.gates.len() { self.refuses(now, index, packet) } else { None };
        let queue = &self.queues[index];
        let verdict = match refused {
            Some(cause) => Verdict::Drop(cause),
            None => self.buffers[index].admit(now, packet, place.precedence, queue.occupancy()),
        };
        judge(now, place, packet, verdict, observer)?;
        let joins = match queue.entrance() {
            Entrance::Open => Joins::AsOneMore,
            Entrance::DropsAfterwards => Joins::AmongFlows,
            Entrance::Tin => Joins::IntoTin,
            Entrance::MakesRoom => self.make_room(now, place, packet, observer)?,
        };
        observer.enqueued(now, place, packet);
        Ok((verdict, joins))
    }

    /// Returns the reason why the gate before queue `index` drops `packet`, or `None` if it admits the
    /// packet.
    #[inline(never)]
    fn refuses(&mut self, now: Time, index: usize, packet: &Packet) -> Option<DropCause> {
        self.ring.advance(now);
        let (backlog, ring) = (self.backlog, &self.ring);
        let is_congested = || backlog > 0 || !ring.admits(packet.length);
        self.gates.get_mut(index)?.refuses(now, packet, &self.queues, is_congested)
    }

    /// Makes room for `packet` in a queue that may drop another packet instead. Returns how `packet` joins
    /// the queue.
    #[inline(never)]
    fn make_room<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        packet: &Packet,
        observer: &mut O,
    ) -> Result<Joins, DropCause> {
        let queue = &mut self.queues[place.queue.index()];
        match queue.make_room(packet) {
            Room::Free => Ok(Joins::AsOneMore),
            Room::Refused => {
                observer.dropped(now, Some(place), packet, DropCause::QueueFull);
                Err(DropCause::QueueFull)
            }
            Room::Discarded(other) => {
                let place = Place { precedence: queue.precedence_of(&other), ..place };
                observer.dropped(now, Some(place), &other, DropCause::QueueFull);
                Ok(Joins::InPlaceOfAnother)
            }
        }
    }

    /// Adds `packet`, which has been admitted at `place`, to its queue.
    #[inline]
    pub(super) fn join<O: Observer>(
        &mut self,
        now: Time,
        place: Place,
        packet: &Packet,
        joins: Joins,
        observer: &mut O,
    ) {
        let queue = &mut self.queues[place.queue.index()];
        queue.push_as(now, place.precedence, packet);
        self.shaped_until = None;
        if matches!(joins, Joins::InPlaceOfAnother) {
            if let Some(scheduler) = &mut self.scheduler {
                scheduler.replaced(place.queue, queue);
            }
            return;
        }
        self.backlog += 1;
        if let Some(scheduler) = &mut self.scheduler {
            scheduler.enqueued(now, place.queue, packet.length, queue);
        }
        match joins {
            Joins::AsOneMore | Joins::InPlaceOfAnother => {}
            Joins::AmongFlows if !queue.exceeds_limit() => {}
            Joins::AmongFlows => self.drop_excess(now, place.queue, observer),
            Joins::IntoTin => self.join_tin(now, place.queue, packet, observer),
        }
    }
    /// Drops packets of queue `id` until the queue is within its limit.
    #[inline(never)]
    fn drop_excess<O: Observer>(&mut self, now: Time, id: QueueId, observer: &mut O) {
        let index = id.index();
        while let Some((packet, flow)) = self.queues[index].discard_excess() {
            let queue = &self.queues[index];
            self.backlog -= 1;
            self.buffers[index].discarded_from_flow(flow);
            let place = Place { queue: id, precedence: queue.precedence_of(&packet) };
            observer.dropped(now, Some(place), &packet, DropCause::QueueFull);
            if let Some(scheduler) = &mut self.scheduler {
                scheduler.discarded(now, id, packet.length, queue);
            }
        }
    }
}
