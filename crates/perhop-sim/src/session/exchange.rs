//! What passes between the ends of a dialogue: segments that arrive, segments that are sent, timers, and what the
//! applications hear of them.

use perhop_qos::observer::Watch;
use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::{Carried, Dialogue, Transport};
use crate::link::payload;
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
    /// The wake-up of an end came; `end` is twice its dialogue's place, and one more for the server.
    pub(crate) fn connection_timer(&mut self, now: Time, end: usize) {
        let (place, end) = (end / 2, end % 2);
        let dialogue = &mut self.transport.dialogues[place];
        if dialogue.armed[end] == now {
            dialogue.armed[end] = Time::MAX;
            dialogue.ends[end].on_timer(now);
            self.serve(now, place, end);
        }
    }

    /// `packet` delivers the segment that it carries.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport { dialogues, segments, .. } = &mut self.transport;
        let Carried { dialogue, generation, end, .. } = segments.carried(packet);
        let (place, end) = (*dialogue as usize, usize::from(*end));
        // A recording's segments are for nobody. A late segment of a connection that is over: its successor in
        // this place has other ports.
        let dialogue = dialogues.get(place).filter(|dialogue| dialogue.generation == *generation);
        let Some(dialogue) = dialogue else { return segments.release(packet) };
        if dialogue.ends[end].next_timer() < now {
            self.catch_up_with_timers(now, place, end);
        }
        let Transport { dialogues, segments, .. } = &mut self.transport;
        let segment = &mut segments.carried(packet).segment;
        segment.ecn = packet.ecn;
        dialogues[place].ends[end].on_segment(now, segment);
        segments.release(packet);
        self.serve(now, place, end);
    }

    /// Lets the timers of an end that is ahead of the agenda expire before `now`.
    #[inline(never)]
    fn catch_up_with_timers(&mut self, now: Time, place: usize, end: usize) {
        let next = |world: &Self| world.transport.dialogues[place].ends[end].next_timer();
        while let Some(expires) = Some(next(self)).filter(|expires| *expires < now) {
            self.transport.dialogues[place].ends[end].on_timer(expires);
            self.serve(expires, place, end);
        }
    }

    /// Sends what an end has to send, lets its application answer what it hears, and arms its timer.
    pub(super) fn serve(&mut self, now: Time, place: usize, end: usize) {
        let answer = loop {
            while self.send_segment(now, place, end) {}
            match self.hear(now, place, end) {
                Answer::Act => {}
                answer => break answer,
            }
        };
        self.arm(place, end);
        if answer == Answer::Farewell {
            self.retire(place);
        }
    }

    /// Lets the application at `end` hear of what happened there, until it does something about it.
    fn hear(&mut self, now: Time, place: usize, end: usize) -> Answer {
        while let Some(event) = self.transport.dialogues[place].ends[end].poll_event() {
            let answer = self.answer(now, place, end, event);
            if answer != Answer::Silence {
                return answer;
            }
        }
        Answer::Silence
    }

    /// Puts the next segment of an end, if it has one to send, into a packet and the packet on its way. Whether
    /// there may be another.
    fn send_segment(&mut self, now: Time, place: usize, end: usize) -> bool {
        let Transport { dialogues, segments, .. } = &mut self.transport;
        let Dialogue { flows, generation, ends, .. } = &mut dialogues[place];
        let (flow, connection) = (flows[end], &mut ends[end]);
        let Some(outgoing) = connection.next_outgoing(now) else { return false };
        let tally = &mut self.tallies[flow];
        let number = tally.next_sequence;
        tally.next_sequence = number.wrapping_add(1);
        let (held, carried) = segments.place();
        connection.write(now, outgoing, &mut carried.segment);
        carried.dialogue = place as u32;
        carried.generation = *generation;
        carried.number = number;
        carried.end = 1 - end as u8;
        let Flow { template, path, .. } = &self.flows[flow];
        let mut packet = *template;
        packet.length = connection.parameters().ip_length(&carried.segment);
        packet.sent_at = now;
        packet.ecn = carried.segment.ecn;
        packet.payload = payload(flow, held);
        if now >= self.warmup {
            tally.offered.add(packet.length);
        }
        self.forward(now, self.paths[*path as usize], &mut packet);
        !outgoing.is_last()
    }

    /// A wake-up that comes too early costs a look; the timer seldom moves nearer, so few are asked for.
    fn arm(&mut self, place: usize, end: usize) {
        let Dialogue { ends, armed, slots, .. } = &mut self.transport.dialogues[place];
        let time = ends[end].next_timer();
        if time < armed[end] {
            armed[end] = time;
            self.agenda.schedule(slots[end], time);
        }
    }
}
