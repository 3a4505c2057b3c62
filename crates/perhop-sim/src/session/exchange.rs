//! What passes between the ends of a dialogue: segments that arrive, segments that are sent, timers, and what the
//! applications hear of them.

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::{Carried, End, Transport};
use crate::link::payload;
use crate::tcp::{Event as TcpEvent, Transmitted};
use crate::world::{Flow, World};

/// What an application does about what it hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing: its connection has no more to send than before.
    Silence,
    /// It sends or closes.
    Act,
    /// Nothing, and it is the last that it hears: its end is closed.
    Farewell,
}

impl<W: Watch> World<W> {
    /// The wake-up of an end came.
    pub(crate) fn connection_timer(&mut self, now: Time, end: usize) {
        let End { connection, armed, .. } = &mut self.transport.ends[end];
        if *armed == now {
            *armed = Time::MAX;
            connection.on_timer(now);
            self.serve(now, end);
        }
    }

    /// `packet` delivers the segment that it carries.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport { ends, segments, .. } = &mut self.transport;
        let Carried { end: place, generation, segment, .. } = segments.carried(packet);
        let place = *place as usize;
        // A recording's segments are for nobody. A late segment of a connection that is over: its successor in
        // this place has other ports.
        let Some(end) = ends.get_mut(place).filter(|end| end.generation == *generation) else {
            return segments.release(packet);
        };
        if end.armed < now && end.connection.next_timer() < now {
            return self.receive_late(now, place, packet);
        }
        segment.ecn = packet.ecn;
        end.connection.on_segment(now, segment);
        segments.release(packet);
        self.serve(now, place);
    }

    /// The same, at an end that is ahead of the agenda: its timers expire first.
    #[inline(never)]
    fn receive_late(&mut self, now: Time, end: usize, packet: &Packet) {
        let next = |world: &Self| world.transport.ends[end].connection.next_timer();
        while let Some(expires) = Some(next(self)).filter(|expires| *expires < now) {
            self.transport.ends[end].connection.on_timer(expires);
            self.serve(expires, end);
        }
        self.receive(now, packet);
    }

    /// Sends what an end has to send, lets its application answer what it hears, and arms its timer.
    pub(super) fn serve(&mut self, now: Time, end: usize) {
        let answer = loop {
            while self.send_segment(now, end) {}
            match self.hear(now, end) {
                Answer::Act => {}
                answer => break answer,
            }
        };
        self.arm(end);
        if answer == Answer::Farewell {
            self.retire(end / 2);
        }
    }

    /// Lets the application at `place` hear of what happened there, until it does something about it.
    fn hear(&mut self, now: Time, place: usize) -> Answer {
        let Transport { sessions, ends, .. } = &mut self.transport;
        let end = &mut ends[place];
        while let Some(event) = end.connection.poll_event() {
            if let TcpEvent::Received(bytes) = event {
                let tally = &mut sessions[end.session].tally;
                tally.received[place % 2] += if now >= self.warmup { bytes } else { 0 };
                end.arrived += bytes;
                if end.arrived < end.awaited {
                    continue;
                }
            }
            return self.answer(now, place, event);
        }
        Answer::Silence
    }

    /// Puts the next segment of an end, if it has one to send, into a packet and the packet on its way. Whether
    /// there may be another.
    fn send_segment(&mut self, now: Time, place: usize) -> bool {
        let Transport { ends, segments, .. } = &mut self.transport;
        let End { connection, flow, generation, .. } = &mut ends[place];
        let (held, carried) = segments.vacant();
        let transmitted = connection.transmit(now, &mut carried.segment);
        if transmitted == Transmitted::Nothing {
            return false;
        }
        let tally = &mut self.tallies[*flow];
        let number = tally.next_sequence;
        tally.next_sequence = number.wrapping_add(1);
        carried.end = place as u32 ^ 1;
        carried.generation = *generation;
        carried.number = number;
        let Flow { template, path, .. } = &self.flows[*flow];
        let mut packet = *template;
        packet.length = connection.parameters().ip_length(&carried.segment);
        packet.sent_at = now;
        packet.ecn = carried.segment.ecn;
        packet.payload = payload(*flow, held);
        segments.take();
        if now >= self.warmup {
            tally.offered.add(packet.length);
        }
        self.forward(now, self.paths[*path as usize], &mut packet);
        transmitted == Transmitted::Segment
    }

    /// A wake-up that comes too early costs a look; the timer seldom moves nearer, so few are asked for.
    fn arm(&mut self, end: usize) {
        let End { connection, armed, slot, .. } = &mut self.transport.ends[end];
        let time = connection.next_timer();
        if time < *armed {
            *armed = time;
            self.agenda.schedule(*slot, time);
        }
    }
}
