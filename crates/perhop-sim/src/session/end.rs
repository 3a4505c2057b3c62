//! [`End`]: one end of a connection, and what its application waits for.

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::segments::Carried;
use crate::event::SimAgenda;
use crate::tcp::{Connection, ConnectionEvent as TcpEvent, Transmitted};
use perhop_measure::counters::FlowCounters;
use perhop_net::agenda::Slot;
use perhop_scenario::routing::LinkId;

/// One end of a connection.
///
/// Its fields, and those of all that it consists of, are in the order of how often they are looked at: what
/// most segments need takes a few cache lines, of several hundred connections in turn.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct End {
    /// The place of the other end.
    pub(super) peer: u32,
    /// Which of the connections that had this place it is of.
    pub(super) generation: u32,
    /// The instant of its wake-up on the agenda, no later than its next timer; [`Time::MAX`] where it waits
    /// for none.
    pub(super) armed: Time,
    pub(super) session: usize,
    /// Of the transaction under way: bytes that have arrived here, and as many as the application waits for.
    pub(super) arrived: u64,
    pub(super) awaited: u64,
    /// Payload bytes that arrived in order after the warm-up, on this connection.
    pub(super) received: u64,
    /// What all packets of the flow that leads away from it have in common, and the link by which they leave.
    pub(super) template: Packet,
    pub(super) link: LinkId,
    pub(super) connection: Connection,
    pub(super) slot: Slot,
    pub(super) closed: bool,
}

/// What came of serving an end once.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    pub(super) transmitted: Transmitted,
    /// What its application heard after the last segment, and may act on.
    pub(super) heard: Option<TcpEvent>,
}

#[allow(clippy::inline_always)] // every segment asks these
impl End {
    /// Its wake-up came, if it waits for one at `now`: whether a timer has expired. Where the timer has moved
    /// away since the wake-up was asked for, another one is, and nothing happens: a host has no such instant,
    /// and an end that is ahead of the agenda passes it.
    pub(super) fn wake(&mut self, now: Time, agenda: &mut SimAgenda) -> bool {
        if self.armed != now {
            return false;
        }
        self.armed = Time::MAX;
        if self.connection.next_timer() > now {
            self.arm(agenda);
            return false;
        }
        self.on_timer(now);
        true
    }

    /// A timer has expired. Linux, `tcp_write_timeout`: after a timeout the way may be to blame, and the
    /// socket takes another hash.
    pub(super) fn on_timer(&mut self, now: Time) {
        let timeouts = self.connection.timeouts();
        self.connection.on_timer(now);
        if self.connection.timeouts() != timeouts {
            self.template.rehash();
        }
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
    #[inline(always)]
    pub(super) fn arm(&mut self, agenda: &mut SimAgenda) {
        let time = self.connection.next_timer();
        if time < self.armed {
            self.armed = time;
            agenda.schedule(self.slot, time);
        }
    }

    /// Puts its next segment, if it has one to send, into `carried`, which is in the place `held`, and its
    /// packet into `packet`; `tally` is its flow's. After the last its application hears what there is to
    /// hear. What leaves and arrives while the run `is_measured` is counted.
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        now: Time,
        is_measured: bool,
        held: u32,
        carried: &mut Carried,
        tally: &mut FlowCounters,
        packet: &mut Packet,
    ) -> Served {
        let (transmitted, length) = self.connection.transmit(now, &mut carried.segment);
        if transmitted == Transmitted::Nothing {
            return Served { transmitted, heard: self.hear_of_anything(is_measured) };
        }
        carried.end = self.peer;
        carried.generation = self.generation;
        carried.number = tally.next_sequence;
        tally.next_sequence = tally.next_sequence.wrapping_add(1);
        *packet = self.template;
        packet.payload |= u64::from(held);
        packet.length = length;
        packet.sent_at = now;
        packet.marks = carried.segment.ecn.into();
        if is_measured {
            tally.offered.add(length);
        }
        let is_last = transmitted == Transmitted::Last;
        Served { transmitted, heard: if is_last { self.hear(is_measured) } else { None } }
    }

    /// What its application hears next and may act on. What arrives of a transaction before its last byte is
    /// only counted, as all that arrives while the run `is_measured`.
    #[inline(always)]
    fn hear(&mut self, is_measured: bool) -> Option<TcpEvent> {
        if !self.connection.is_unchanged() {
            return self.hear_of_anything(is_measured);
        }
        let bytes = self.connection.take_received();
        (bytes > 0 && self.completes_with(bytes, is_measured)).then_some(TcpEvent::Received(bytes))
    }

    /// What its application hears next and may act on, where there may be more than that bytes arrived.
    #[inline(never)]
    fn hear_of_anything(&mut self, is_measured: bool) -> Option<TcpEvent> {
        loop {
            let event = self.connection.poll_event()?;
            match event {
                TcpEvent::Received(bytes) if !self.completes_with(bytes, is_measured) => {}
                _ => return Some(event),
            }
        }
    }

    /// Counts `bytes` that arrived. Whether they are the last that the application waits for.
    #[inline(always)]
    fn completes_with(&mut self, bytes: u64, is_measured: bool) -> bool {
        if is_measured {
            self.received += bytes;
        }
        self.arrived += bytes;
        self.arrived >= self.awaited
    }
}
