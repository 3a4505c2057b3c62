//! [`End`]: one end of a connection, and the data that its application waits for.

use perhop_qos::packet::Packet;
use perhop_qos::units::Time;

use super::segments::Carried;
use crate::event::SimAgenda;
use crate::flow::{Template, flow_in, rehashed};
use crate::tcp::{Connection, ConnectionEvent as TcpEvent, Transmitted};
use perhop_measure::counters::FlowCounters;
use perhop_net::agenda::Slot;
use perhop_scenario::routing::LinkId;

/// One end of a connection.
///
/// The fields, and the fields inside them, are ordered by frequency of use. Most segments then access few
/// cache lines, which matters when several hundred connections alternate.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct End {
    /// The place of the other end.
    pub(super) peer: u32,
    /// The generation of the place: the number of connections that used it earlier.
    pub(super) generation: u32,
    /// The time of the wake-up on the agenda, not later than the next timer; [`Time::MAX`] if no wake-up is
    /// scheduled.
    pub(super) armed: Time,
    /// The payload word of the packets that this end sends, without the place of a segment.
    pub(super) payload: u64,
    /// Bytes of the current transaction that have arrived here.
    pub(super) arrived: u64,
    /// Bytes of the current transaction that the application waits for.
    pub(super) awaited: u64,
    /// The number of payload bytes that arrived here in order after the warm-up.
    pub(super) received: u64,
    /// The link over which the packets of this end leave.
    pub(super) link: LinkId,
    pub(super) slot: Slot,
    pub(super) session: u32,
    pub(super) closed: bool,
    pub(super) connection: Connection,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<End>() == 10 * 64, "a network has two ends for each connection");

/// The flow of the packets that an end sends.
pub(super) struct OutgoingFlow<'h> {
    /// The header fields that all packets of the flow share.
    template: &'h Packet,
    /// The counters of the flow.
    tally: &'h mut FlowCounters,
}

impl<'h> OutgoingFlow<'h> {
    /// Finds the flow of `end` in `templates` and `counters`.
    #[inline]
    pub(super) fn find(
        end: &End,
        templates: &'h [Template],
        counters: &'h mut [FlowCounters],
    ) -> OutgoingFlow<'h> {
        let flow = flow_in(end.payload);
        OutgoingFlow { template: &templates[flow].0, tally: &mut counters[flow] }
    }
}

/// The result of serving an end once.
#[derive(Clone, Copy)]
pub(crate) struct Served {
    pub(super) transmitted: Transmitted,
    /// The event for the application after the last segment, if any. The application may react to it.
    pub(super) event: Option<TcpEvent>,
}

#[allow(clippy::inline_always)] // used by every segment
impl End {
    /// Returns the index of the session.
    #[inline]
    pub(crate) fn session(&self) -> usize {
        self.session as usize
    }
    /// Returns the flow of the packets that this end sends, and the link over which they leave.
    pub(crate) fn outgoing(&self) -> (usize, LinkId) {
        (flow_in(self.payload), self.link)
    }

    /// Handles the wake-up of this end, if one is scheduled at `now`. Returns whether a timer has expired. If
    /// the timer was moved to a later time, only schedules another wake-up.
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

    /// Handles an expired timer. After a timeout, the path may have failed, so the socket chooses another
    /// flow hash (Linux, `tcp_write_timeout`).
    pub(super) fn on_timer(&mut self, now: Time) {
        let timeouts = self.connection.timeouts();
        self.connection.on_timer(now);
        if self.connection.timeouts() != timeouts {
            self.payload = rehashed(self.payload);
        }
    }

    /// Whether a timer expires before `now`, a time ahead of the agenda.
    #[inline]
    pub(super) fn is_late(&self, now: Time) -> bool {
        debug_assert!(self.armed <= self.connection.next_timer(), "a timer is not on the agenda");
        self.armed < now && self.connection.next_timer() < now
    }

    /// Schedules a wake-up for the next timer, if the scheduled wake-up is later. A wake-up that is too early
    /// only costs time. Timers rarely move to an earlier time, so few wake-ups are scheduled.
    #[inline(always)]
    pub(super) fn arm(&mut self, agenda: &mut SimAgenda) {
        let time = self.connection.next_timer();
        if time < self.armed {
            self.armed = time;
            agenda.schedule(self.slot, time);
        }
    }

    /// Writes the next segment of this end, if there is one, to `carried` at place `held`, and the packet of
    /// the segment to `packet`. `flow` is the outgoing flow of this end. After the last segment, returns the
    /// next event for the application. The packet counts as offered if `is_measured`.
    #[inline(always)]
    pub(super) fn serve(
        &mut self,
        now: Time,
        is_measured: bool,
        held: u32,
        carried: &mut Carried,
        flow: OutgoingFlow,
        packet: &mut Packet,
    ) -> Served {
        let (transmitted, length) = self.connection.transmit(now, &mut carried.segment);
        if transmitted == Transmitted::Nothing {
            return Served { transmitted, event: self.poll_any_event(is_measured) };
        }
        carried.end = self.peer;
        carried.generation = self.generation;
        let OutgoingFlow { template, tally } = flow;
        carried.segment.serial = tally.next_sequence;
        tally.next_sequence = tally.next_sequence.wrapping_add(1);
        *packet = *template;
        packet.payload = self.payload | u64::from(held);
        packet.length = length;
        packet.sent_at = now;
        packet.marks = carried.segment.ecn.into();
        if is_measured {
            tally.offered.add(length);
        }
        let is_last = transmitted == Transmitted::Last;
        Served { transmitted, event: if is_last { self.poll_event(is_measured) } else { None } }
    }

    /// Returns the next event for the application. Arrived bytes are an event only if the last byte of a
    /// transaction has arrived. Otherwise, they are only counted. Bytes count as received if `is_measured`.
    #[inline(always)]
    fn poll_event(&mut self, is_measured: bool) -> Option<TcpEvent> {
        if !self.connection.is_unchanged() {
            return self.poll_any_event(is_measured);
        }
        let bytes = self.connection.take_received();
        (bytes > 0 && self.completes_with(bytes, is_measured)).then_some(TcpEvent::Received(bytes))
    }

    /// Does the same as [`End::poll_event`] when events other than arrived bytes are possible.
    #[inline(never)]
    fn poll_any_event(&mut self, is_measured: bool) -> Option<TcpEvent> {
        loop {
            let event = self.connection.poll_event()?;
            match event {
                TcpEvent::Received(bytes) if !self.completes_with(bytes, is_measured) => {}
                _ => return Some(event),
            }
        }
    }

    /// Counts `bytes` that arrived. Returns whether they complete the transaction that the application
    /// awaits.
    #[inline(always)]
    fn completes_with(&mut self, bytes: u64, is_measured: bool) -> bool {
        if is_measured {
            self.received += bytes;
        }
        self.arrived += bytes;
        self.arrived >= self.awaited
    }
}
