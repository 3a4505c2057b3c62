//! [`End`]: one end of a dialogue: its connection, and what its application waits for.

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::Segments;
use crate::agenda::{Agenda, Slot};
use crate::probe::FlowCounters;
use crate::routing::LinkId;
use crate::tcp::{Connection, Event as TcpEvent, Transmitted};
use crate::world::Event;

/// One end of a dialogue.
#[derive(Debug)]
pub(super) struct End {
    pub(super) connection: Connection,
    pub(super) session: usize,
    /// What all packets of the flow that leads away from it have in common, and the link by which they leave.
    pub(super) template: Packet,
    pub(super) link: LinkId,
    /// The place of the dialogue's other end.
    pub(super) peer: u32,
    /// Which of the connections that had this place it is of.
    pub(super) generation: u32,
    pub(super) slot: Slot,
    /// The instant of its wake-up on the agenda, no later than its next timer; [`Time::MAX`] where it waits for none.
    pub(super) armed: Time,
    pub(super) closed: bool,
    /// Of the transaction under way: bytes that have arrived here, and as many as the application waits for.
    pub(super) arrived: u64,
    pub(super) awaited: u64,
}

#[allow(clippy::inline_always)] // every segment asks these
impl End {
    /// Its wake-up came, if it waits for one at `now`: whether it does.
    pub(super) fn wake(&mut self, now: Time) -> bool {
        let is_awaited = self.armed == now;
        if is_awaited {
            self.armed = Time::MAX;
            self.connection.on_timer(now);
        }
        is_awaited
    }

    /// Whether a timer expires before `now`, because it is ahead of the agenda.
    #[inline]
    pub(super) fn is_late(&self, now: Time) -> bool {
        debug_assert!(
            self.armed <= self.connection.next_timer(),
            "a timer of which the agenda does not know"
        );
        self.armed < now && self.connection.next_timer() < now
    }

    /// A wake-up that comes too early costs a look; the timer seldom moves nearer, so few are asked for.
    #[inline]
    pub(super) fn arm(&mut self, agenda: &mut Agenda<Event>) {
        let time = self.connection.next_timer();
        if time < self.armed {
            self.armed = time;
            agenda.schedule(self.slot, time);
        }
    }

    /// Puts its next segment, if it has one to send, into `packet`, which is still to leave; `tally` is its flow's.
    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        now: Time,
        segments: &mut Segments,
        tally: &mut FlowCounters,
        packet: &mut Packet,
    ) -> Transmitted {
        let (held, carried) = segments.vacant();
        let transmitted = self.connection.transmit(now, &mut carried.segment);
        if transmitted != Transmitted::Nothing {
            carried.end = self.peer;
            carried.generation = self.generation;
            carried.number = tally.next_sequence;
            tally.next_sequence = tally.next_sequence.wrapping_add(1);
            *packet = self.template;
            packet.length = self.connection.parameters().ip_length(&carried.segment);
            packet.sent_at = now;
            packet.ecn = carried.segment.ecn;
            packet.payload |= u64::from(held);
            segments.take();
        }
        transmitted
    }

    /// What its application hears next and may act on. What arrives of a transaction before its last byte is only counted:
    /// `count` is told of the session and how many bytes.
    #[inline]
    pub(super) fn hear(&mut self, mut count: impl FnMut(usize, u64)) -> Option<TcpEvent> {
        loop {
            let event = self.connection.poll_event()?;
            let TcpEvent::Received(bytes) = event else { return Some(event) };
            count(self.session, bytes);
            self.arrived += bytes;
            if self.arrived >= self.awaited {
                return Some(event);
            }
        }
    }
}
