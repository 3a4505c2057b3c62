//! What passes between the ends of a dialogue: segments that arrive, segments that are sent, timers, and what the
//! applications hear of them.

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::Transport;
use super::end::Served;
use crate::link::flow_of;
use crate::tcp::{Event as TcpEvent, Transmitted};
use crate::world::World;
use perhop_scenario::routing::LinkId;

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
        let held = packet.payload as u32;
        let number = self.transport.segments.at(held).number;
        self.measurements.deliver(now, flow_of(packet), packet, number);
        self.take_in(now, held, packet)
    }

    /// The segment that `packet` carries, in the place `held`, comes to its end.
    #[inline(always)]
    fn take_in(&mut self, now: Time, held: u32, packet: &mut Packet) -> Option<LinkId> {
        let Transport { ends, segments, .. } = &mut self.transport;
        let carried = segments.at(held);
        let place = carried.end as usize;
        // A recording's segments are for nobody. A late segment of a connection that is over: its successor in
        // this place has other ports.
        let Some(end) = ends.get_mut(place).filter(|end| end.generation == carried.generation) else {
            segments.give_back(held);
            return None;
        };
        if end.is_late(now) {
            return self.receive_late(now, place, held, packet);
        }
        carried.segment.ecn = packet.ecn;
        end.connection.on_segment(now, &carried.segment);
        // The answer is written over it.
        let tally = &mut self.measurements.counters[flow_of(&end.template)];
        let served = end.serve(now, now >= self.measurements.warmup, held, carried, tally, packet);
        if served.transmitted == Transmitted::Last && served.heard.is_none() {
            end.arm(&mut self.agenda);
            return Some(end.link);
        }
        if served.transmitted == Transmitted::Nothing {
            segments.give_back(held);
        }
        if self.follow_up(now, place, packet, served) {
            self.serve(now, place);
        }
        None
    }

    /// The same, at an end that is ahead of the agenda: its timers expire first.
    #[inline(never)]
    fn receive_late(&mut self, now: Time, end: usize, held: u32, packet: &mut Packet) -> Option<LinkId> {
        let next = |world: &Self| world.transport.ends[end].connection.next_timer();
        while let Some(expires) = Some(next(self)).filter(|expires| *expires < now) {
            self.transport.ends[end].connection.on_timer(expires);
            self.serve(expires, end);
        }
        self.take_in(now, held, packet)
    }

    /// Sends what an end has to send, lets its application answer what it hears, and arms its timer.
    #[inline(never)]
    pub(super) fn serve(&mut self, now: Time, place: usize) {
        let mut packet = Packet::default();
        loop {
            let Transport { ends, segments, .. } = &mut self.transport;
            let (end, held) = (&mut ends[place], segments.take());
            let tally = &mut self.measurements.counters[flow_of(&end.template)];
            let served =
                end.serve(now, now >= self.measurements.warmup, held, segments.at(held), tally, &mut packet);
            if served.transmitted == Transmitted::Nothing {
                segments.give_back(held);
            }
            if !self.follow_up(now, place, &mut packet, served) {
                return;
            }
        }
    }

    /// What an end has transmitted leaves, and its application acts on what it heard; where there is neither more to send nor to
    /// hear, its timer is armed. Whether there may be.
    #[inline(never)]
    fn follow_up(&mut self, now: Time, place: usize, packet: &mut Packet, served: Served) -> bool {
        let Served { transmitted, heard } = served;
        let end = &mut self.transport.ends[place];
        let link = end.link;
        if transmitted != Transmitted::Segment && heard.is_none() {
            end.arm(&mut self.agenda);
        }
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
}
