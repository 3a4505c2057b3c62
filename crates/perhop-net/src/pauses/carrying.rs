//! The steps of packets and pause frames in a network with [`Pauses`].

use perhop_qos::observer::{Observer, PortObservers};
use perhop_qos::packet::Packet;
use perhop_qos::queue::QueueId;
use perhop_qos::units::Time;
use perhop_qos::verdict::{DropCause, Verdict};
use perhop_scenario::routing::LinkId;

use super::level::{Frame, Signal};
use super::observing::{Call, Counting};
use super::{FlowControl, Pausable, Pauses};
use crate::counters::PortCounters;
use crate::direction::Direction;
use crate::network::{Edge, Network};

impl<E: Edge, W: PortObservers, P: FlowControl> Network<E, W, P> {
    /// Passes `packet`, which has passed the output conditioners, to the port of `link`. Drops the packet if
    /// the memory of the interface at which it arrived has no room.
    pub(crate) fn enqueue_counted(&mut self, now: Time, link: LinkId, packet: &mut Packet) {
        let place = self.directions[link.index()].port.place(packet);
        let Some((port, mut counters)) = self.counted_port(link, Call::Arrival) else { return };
        if let Some(place) = place
            && !counters.observer.pauses.has_room(link, place.queue, packet)
        {
            counters.observer.pauses.refused(link, place.queue, packet);
            counters.arrived(now, place, packet);
            counters.dropped(now, Some(place), packet, DropCause::Headroom);
            drop(counters);
        } else if port.enqueue(now, packet, counters) == Verdict::Drop(DropCause::SharedMemory) {
            self.record_pool_drop(now, link);
        }
        self.send_pause_frames(now);
    }

    /// Moves all packets that `link`'s port transmits at `now` to its wire.
    pub(crate) fn transmit_counted(&mut self, now: Time, link: LinkId) {
        let mut packet = Packet::default();
        loop {
            let Some((port, counters)) = self.counted_port(link, Call::Departure) else { return };
            let departure = port.poll_transmit(now, &mut packet, counters);
            self.send_pause_frames(now);
            let Some(departure) = departure else { return };
            self.launch(link, &packet, departure);
        }
    }

    /// Returns the port of `link`, with observers that count its packets at their
    /// [`Level`](super::level::Level)s.
    #[expect(clippy::type_complexity, reason = "the observers of a port, with those of its packets' memory")]
    fn counted_port(
        &mut self,
        link: LinkId,
        call: Call,
    ) -> Option<(&mut perhop_qos::Port, PortCounters<'_, E, Counting<'_, W::Observer<'_>>>)> {
        let pauses = self.pauses.state()?;
        let next = self.observers.of_port(link.index());
        let Direction { port, tally, .. } = &mut self.directions[link.index()];
        let counters = PortCounters {
            tally,
            sink: &mut self.edge,
            link,
            counts_from: self.counts_from,
            ends: Time::MAX,
            observer: Counting { pauses, link, call, next },
        };
        Some((port, counters))
    }

    /// Sends a pause frame for each level that has crossed a threshold at `now`.
    ///
    /// A pause frame is sent after the packet on the wire and before all queued packets (IEEE 802.1Q, 36.1.2:
    /// the MAC control sublayer is below the queues). Its transmission does not delay the packets.
    fn send_pause_frames(&mut self, now: Time) {
        let Some(pauses) = self.pauses.state() else { return };
        while let Some(number) = pauses.crossed.pop() {
            let level = &pauses.levels[number as usize];
            let (signal, depth) = (level.sent, level.sent_depth);
            let (paused, priority) = (level.link, usize::from(level.priority));
            let Pausable { reverse, responses, .. } = &pauses.links[paused.index()];
            let (reverse, response) = (*reverse, responses[priority]);
            let frame_time = pauses.links[reverse.index()].frame_time;
            let Direction { port, delay, .. } = &mut self.directions[reverse.index()];
            let effective = port.wire_free_at(now) + frame_time + *delay + response;
            let Pausable { frames, slot, .. } = &mut pauses.links[paused.index()];
            // Classes have different response times, so a later frame may take effect before an earlier one.
            let place = frames.partition_point(|frame| frame.effective <= effective);
            if place == 0 {
                self.agenda.schedule(*slot, effective);
            }
            frames.insert(place, Frame { effective, level: number, signal, depth });
        }
    }

    /// Applies the pause frames that take effect at the port of `link` at `now`.
    pub(crate) fn apply_pause_frames(&mut self, now: Time, link: LinkId) {
        let Some(pauses) = self.pauses.state() else { return };
        let mut resumes = false;
        while let Some(frame) = pauses.links[link.index()].frames.front().copied()
            && frame.effective <= now
        {
            pauses.links[link.index()].frames.pop_front();
            let (level, counts_from) = (&mut pauses.levels[frame.level as usize], pauses.counts_from);
            let priority = level.priority;
            match frame.signal {
                Signal::Pause => level.begin(now, frame.depth, counts_from),
                Signal::Resume => level.end(now, counts_from),
            }
            let port = &mut self.directions[link.index()].port;
            for queue in pauses.queues(link, priority) {
                match frame.signal {
                    Signal::Pause => port.pause(queue),
                    Signal::Resume => port.resume(queue),
                }
            }
            resumes |= frame.signal == Signal::Resume;
        }
        if let Some(next) = pauses.links[link.index()].frames.front() {
            self.agenda.schedule(pauses.links[link.index()].slot, next.effective);
        }
        if resumes {
            self.transmit(now, link);
        }
    }
}

impl Pauses {
    /// Whether the bytes of each level equal the bytes of the waiting packets that it counts.
    pub fn is_conserved(&self, directions: &[Direction]) -> bool {
        let mut held = vec![0; self.levels.len()];
        self.visit_waiting(directions, |level, _, length| held[level] += length);
        self.levels.iter().zip(held).all(|(level, held)| level.held == held)
    }

    /// Calls `visit` for each waiting packet that a level counts, with the level, the direction of the port
    /// at which the packet waits, and the IP bytes of the packet.
    pub(super) fn visit_waiting(&self, directions: &[Direction], mut visit: impl FnMut(usize, LinkId, u64)) {
        for (number, direction) in directions.iter().enumerate() {
            let link = LinkId(number as u32);
            for (queue, content) in (0..).zip(direction.port.queues()) {
                for packet in content.iter() {
                    if let Some(level) = self.level_of(link, QueueId(queue), packet) {
                        visit(level, link, packet.length.into());
                    }
                }
            }
        }
    }
}
