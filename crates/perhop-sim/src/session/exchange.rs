//! What passes between the ends of a dialogue: segments that arrive, segments that are sent, timers, and what the
//! applications hear of them.

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::{Carried, Transport};
use crate::link::flow_of;
use crate::routing::LinkId;
use crate::tcp::{Event as TcpEvent, Transmitted};
use crate::world::World;

#[allow(clippy::inline_always)] // parts of `receive`, which every segment takes
impl<W: Watch> World<W> {
    /// The wake-up of an end came.
    pub(crate) fn connection_timer(&mut self, now: Time, end: usize) {
        if self.transport.ends[end].wake(now) {
            self.serve(now, end);
        }
    }

    /// `packet` delivers the segment that it carries. Where that is answered the answer takes the place of `packet`, and
    /// leaves by the link that is returned.
    pub(crate) fn receive(&mut self, now: Time, packet: &mut Packet) -> Option<LinkId> {
        let Transport { ends, segments, .. } = &mut self.transport;
        let Carried { end, generation, segment, .. } = segments.carried(packet);
        let place = *end as usize;
        // A recording's segments are for nobody. A late segment of a connection that is over: its successor in
        // this place has other ports.
        let Some(end) = ends.get_mut(place).filter(|end| end.generation == *generation) else {
            segments.release(packet);
            return None;
        };
        if end.is_late(now) {
            return self.receive_late(now, place, packet);
        }
        segment.ecn = packet.ecn;
        end.connection.on_segment(now, segment);
        segments.release(packet);
        match self.serve_once(now, place, packet) {
            Served { transmitted: Transmitted::Nothing, heard: None, .. } => None,
            Served { transmitted: Transmitted::Last, heard: None, link } => Some(link),
            served => {
                if self.follow_up(now, place, packet, served.transmitted, served.heard) {
                    self.serve(now, place);
                }
                None
            }
        }
    }

    /// The same, at an end that is ahead of the agenda: its timers expire first.
    #[inline(never)]
    fn receive_late(&mut self, now: Time, end: usize, packet: &mut Packet) -> Option<LinkId> {
        let next = |world: &Self| world.transport.ends[end].connection.next_timer();
        while let Some(expires) = Some(next(self)).filter(|expires| *expires < now) {
            self.transport.ends[end].connection.on_timer(expires);
            self.serve(expires, end);
        }
        self.receive(now, packet)
    }

    /// Sends what an end has to send, lets its application answer what it hears, and arms its timer.
    #[inline(never)]
    pub(super) fn serve(&mut self, now: Time, place: usize) {
        let mut packet = Packet::default();
        loop {
            let served = self.serve_once(now, place, &mut packet);
            if !self.follow_up(now, place, &mut packet, served.transmitted, served.heard) {
                return;
            }
        }
    }

    /// What an end has `transmitted` leaves, and its application acts on what it `heard`. Whether there may be more to send
    /// or to hear.
    #[inline(never)]
    fn follow_up(
        &mut self,
        now: Time,
        place: usize,
        packet: &mut Packet,
        transmitted: Transmitted,
        heard: Option<TcpEvent>,
    ) -> bool {
        let link = self.transport.ends[place].link;
        if transmitted != Transmitted::Nothing {
            self.forward(now, link, packet);
        }
        match heard {
            None => transmitted == Transmitted::Segment,
            Some(TcpEvent::Closed) => {
                self.transport.ends[place].arm(&mut self.agenda);
                self.retire(place);
                false
            }
            Some(event) => {
                self.answer(now, place, event);
                true
            }
        }
    }

    /// Writes the next segment of an end into `packet`. After the last its application hears what there is to hear; where
    /// that is nothing the timer is armed.
    #[inline(always)]
    fn serve_once(&mut self, now: Time, place: usize, packet: &mut Packet) -> Served {
        let Transport { sessions, ends, segments, .. } = &mut self.transport;
        let end = &mut ends[place];
        let tally = &mut self.tallies[flow_of(&end.template)];
        let transmitted = end.transmit(now, segments, tally, packet);
        let is_measured = now >= self.warmup;
        if is_measured && transmitted != Transmitted::Nothing {
            tally.offered.add(packet.length);
        }
        let mut heard = None;
        if transmitted != Transmitted::Segment {
            heard = end.hear(|session, bytes| {
                if is_measured {
                    sessions[session].tally.received[place % 2] += bytes;
                }
            });
            if heard.is_none() {
                end.arm(&mut self.agenda);
            }
        }
        Served { transmitted, heard, link: end.link }
    }
}

/// What came of serving an end once.
#[derive(Clone, Copy)]
struct Served {
    transmitted: Transmitted,
    /// What its application heard after the last segment, and may act on.
    heard: Option<TcpEvent>,
    /// By which its packets leave.
    link: LinkId,
}
