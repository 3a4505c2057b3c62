//! [`Receiver`]: the half of a connection that puts the stream together and acknowledges.

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;

use super::rtt::Clock;
use super::segment::{Range, SackBlocks, Segment};
use perhop_scenario::tcp::Flags;
use perhop_scenario::tcp::LONGEST_DELAY;
use perhop_scenario::tcp::{Acknowledgment, Parameters};

/// Whether an acknowledgment is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// None.
    Nothing,
    /// One by the delayed-acknowledgment timer at the latest.
    Delayed,
    /// One now, on data if there are any to send.
    Now,
    /// One now, in a segment of its own: on data it would not count as a duplicate.
    Alone,
}

/// Longest time for a segment that is taken for the last of something. Linux 2.0 and 2.2: HZ/50.
const DELAY_AFTER_SHORT: Time = Time::from_milliseconds(20);

/// An offset that no FIN has.
const NO_FIN: u64 = u64::MAX;

/// The receiving half of a connection.
#[derive(Clone, Debug)]
#[repr(C)] // in the order of how often they are looked at
pub(super) struct Receiver {
    due: Due,
    congestion_experienced: bool,
    /// Segments in order since the last acknowledgment.
    unacknowledged: u32,
    /// The next offset expected: everything below has arrived.
    next: u64,
    /// The offset up to which the sender may send: it never goes back.
    edge: u64,
    /// Offset of the FIN, once seen; [`NO_FIN`] before.
    fin: u64,
    /// When a delayed acknowledgment is due; [`Time::MAX`] where none is.
    deadline: Time,
    /// RFC 7323 §4.3: Last.ACK.sent.
    last_sent: u64,
    /// The receive buffer, bytes, and how much of it waits for the application.
    buffer: u64,
    unread: u64,
    /// By how much the edge advances at least.
    least_advance: u64,
    acknowledgment: Acknowledgment,
    /// What arrived out of order, disjoint, the most recent first. Its storage is kept between losses.
    beyond: Vec<Range>,
    /// RFC 7323 §4.3: TS.Recent.
    echo: Time,
    /// Segments that are still acknowledged at once at the start.
    quick: u32,
    payload: u64,
    /// Of estimated delays: the clock, the last arrival in order and the estimate, all in ticks.
    clock: Clock,
    last_arrival: Option<u64>,
    estimate: u64,
}

impl Receiver {
    /// Nothing received yet. `clock_phase` shifts the clock's ticks, as the sender's.
    pub(super) fn new(parameters: &Parameters, clock_phase: Time) -> Receiver {
        let clock = Clock::new(parameters.clock, clock_phase);
        let (first, quick) = match parameters.acknowledgment {
            Acknowledgment::EveryPacket => (Time::ZERO, 0),
            Acknowledgment::Delayed { quick, .. } => (Time::ZERO, quick),
            Acknowledgment::Estimated { first, quick } => (first, quick),
        };
        let (buffer, payload) = (u64::from(parameters.window), u64::from(parameters.payload()));
        Receiver {
            acknowledgment: parameters.acknowledgment,
            payload,
            next: 0,
            buffer,
            unread: 0,
            edge: buffer,
            least_advance: payload.min(buffer / 2),
            beyond: Vec::new(),
            fin: NO_FIN,
            due: Due::Nothing,
            deadline: Time::MAX,
            unacknowledged: 0,
            quick,
            clock,
            last_arrival: None,
            estimate: clock.ticks_in(first).max(1),
            echo: Time::ZERO,
            last_sent: 0,
            congestion_experienced: false,
        }
    }

    /// RFC 7323 §4.3: which of the timestamps that arrive is echoed.
    pub(super) fn note_timestamps(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps
            && segment.sequence <= self.last_sent
            && timestamps.value >= self.echo
        {
            self.echo = timestamps.value;
        }
    }

    /// Takes in the data and the FIN of `segment`. The answer is how many bytes are new and in order.
    #[allow(clippy::inline_always)] // most segments are expected
    #[inline(always)]
    pub(super) fn on_data(&mut self, now: Time, segment: &Segment) -> u64 {
        if self.expects(segment) {
            self.next += u64::from(segment.length);
            self.owe(now, segment.length);
            return u64::from(segment.length);
        }
        self.on_unexpected_data(now, segment)
    }

    /// Header prediction (Jacobson 1990): whether `segment` is the one that comes next where nothing is missing and nothing
    /// ends, all of it is welcome, and it says nothing of congestion.
    #[inline]
    fn expects(&self, segment: &Segment) -> bool {
        segment.sequence == self.next
            && segment.length > 0
            && segment.sequence + u64::from(segment.length) <= self.edge
            && !segment.flags.intersects(Flags::FIN | Flags::CWR)
            && segment.ecn != Ecn::CongestionExperienced
            && !self.misses_something()
            && self.fin == NO_FIN
    }

    /// The same where any segment may come.
    #[inline(never)]
    pub(super) fn on_unexpected_data(&mut self, now: Time, segment: &Segment) -> u64 {
        let start = segment.sequence;
        let sent_to = start + u64::from(segment.length);
        // RFC 9293 §3.10.7.4: what lies beyond the window is cut off.
        let end = sent_to.min(self.edge.max(self.next));
        if segment.has(Flags::CWR) {
            self.congestion_experienced = false;
        }
        // RFC 3168 §6.1.3: ECE on every acknowledgment from the first CE until a CWR. §6.1.5: data outside of
        // the window do not count.
        if segment.ecn == Ecn::CongestionExperienced && start < end && end > self.next {
            self.congestion_experienced = true;
        }
        if segment.has(Flags::FIN) && end == sent_to {
            self.fin = end;
        }
        if start > self.next {
            if start < end {
                self.keep(start, end);
            }
            self.due = Due::Alone;
            return 0;
        }
        if end <= self.next && self.fin != self.next {
            // Old, or beyond a closed window: the sender has missed an acknowledgment, or probes.
            self.due = Due::Alone;
            return 0;
        }
        self.take_in_order(now, end, segment.length)
    }

    /// Takes in data up to `end` that leave nothing out, and the FIN behind them.
    fn take_in_order(&mut self, now: Time, end: u64, length: u32) -> u64 {
        let before = self.next;
        let had_gap = !self.beyond.is_empty();
        self.next = self.next.max(end);
        if had_gap {
            self.close_gap();
        }
        let received = self.next - before;
        let finished = self.fin == self.next;
        if finished {
            self.next += 1;
        }
        // RFC 5681 §4.2: at once when all or part of a gap is filled.
        if had_gap || finished {
            self.due = Due::Now;
        } else {
            self.owe(now, length);
        }
        received
    }

    /// Takes in what waited for the offsets below `next`.
    #[inline(never)]
    fn close_gap(&mut self) {
        // At most as many turns as there are ranges, each of which goes for good.
        while let Some(index) = self.beyond.iter().position(|range| range.start <= self.next) {
            self.next = self.next.max(self.beyond.remove(index).end);
        }
    }

    /// A segment with `length` payload bytes arrived in order: acknowledged now or later.
    #[allow(clippy::inline_always)] // see above
    #[inline(always)]
    fn owe(&mut self, now: Time, length: u32) {
        let expires = match self.acknowledgment {
            Acknowledgment::EveryPacket => return self.due = Due::Now,
            Acknowledgment::Delayed { timeout, .. } => now + timeout,
            Acknowledgment::Estimated { .. } => self.expiry_by_estimate(now, length),
        };
        self.unacknowledged += 1;
        if self.quick > 0 {
            self.quick -= 1;
            self.due = Due::Now;
        } else if self.unacknowledged >= 2 {
            // RFC 1122 §4.2.3.2: an acknowledgment for at least every second segment.
            self.due = Due::Now;
        } else if self.due == Due::Nothing {
            self.due = Due::Delayed;
            self.deadline = expires;
        }
    }

    /// When a segment that arrived `now` is acknowledged, if nothing else causes it before.
    #[inline(never)]
    fn expiry_by_estimate(&mut self, now: Time, length: u32) -> Time {
        let arrival = self.clock.ticks_at(now);
        if let Some(last) = self.last_arrival.replace(arrival) {
            // Linux 2.0 and 2.2 net/ipv4/tcp_input.c, tcp_delack_estimator: ato = ato/2 + gap.
            self.estimate = self.estimate / 2 + (arrival - last).max(1);
        }
        // tcp_send_delayed_ack, and the delay of HZ/50 after a segment that was pushed: here one of less than
        // half the size, for there is no PSH.
        let short = 2 * u64::from(length) < self.payload;
        let most = if short { DELAY_AFTER_SHORT } else { LONGEST_DELAY };
        self.clock.instant(arrival + self.estimate.min(self.clock.ticks_in(most).max(1)))
    }

    /// Offsets `start` to `end` wait for what is missing before them.
    fn keep(&mut self, mut start: u64, mut end: u64) {
        self.beyond.retain(|range| {
            let apart = range.end < start || end < range.start;
            if !apart {
                (start, end) = (start.min(range.start), end.max(range.end));
            }
            apart
        });
        // RFC 2018 §4: the first block is the one that the most recent segment is part of.
        self.beyond.insert(0, Range { start, end });
    }

    /// `bytes` wait for the application.
    pub(super) fn leave_unread(&mut self, bytes: u64) {
        self.unread += bytes;
    }
    /// The application takes `bytes` out of the buffer.
    pub(super) fn read(&mut self, bytes: u64) {
        let has_room = |receiver: &Receiver| receiver.edge >= receiver.next + receiver.payload;
        let was_closed = !has_room(self);
        self.unread = self.unread.saturating_sub(bytes);
        self.open_window();
        if was_closed && has_room(self) {
            // The sender waits for a window of a segment at least: it is told.
            self.due = Due::Alone;
        }
    }
    /// RFC 9293 §3.8.6.2.2: the edge advances by a segment or half the buffer, never by less.
    fn open_window(&mut self) {
        self.advance_to(self.next + self.buffer.saturating_sub(self.unread));
    }
    /// The same where the application has left nothing.
    #[inline]
    pub(super) fn open_whole_window(&mut self) {
        debug_assert_eq!(self.unread, 0, "the application reads at once");
        self.advance_to(self.next + self.buffer);
    }
    #[inline]
    fn advance_to(&mut self, edge: u64) {
        if edge >= self.edge + self.least_advance {
            self.edge = edge;
        }
    }
    /// Bytes that wait for the application.
    pub(super) fn unread(&self) -> u64 {
        self.unread
    }

    /// The delayed-acknowledgment timer's instant; [`Time::MAX`] while it is off.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }
    pub(super) fn on_timer(&mut self, now: Time) {
        if self.deadline <= now {
            self.deadline = Time::MAX;
            self.due = Due::Now;
        }
    }
    /// An acknowledgment is owed whatever arrived.
    pub(super) fn acknowledge_now(&mut self) {
        self.due = Due::Now;
    }
    pub(super) fn due(&self) -> Due {
        self.due
    }
    /// Whether something arrived out of order that waits for what is missing before it.
    pub(super) fn misses_something(&self) -> bool {
        !self.beyond.is_empty()
    }
    /// Whether the peer's FIN has arrived, whatever is missing before it.
    pub(super) fn has_seen_the_end(&self) -> bool {
        self.fin != NO_FIN
    }
    /// Whether the peer's FIN and everything before it has arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin < self.next
    }

    /// RFC 7323 §4.3: the timestamp that is echoed; zero before there was one.
    pub(super) fn echo(&self) -> Time {
        self.echo
    }
    /// Writes acknowledgment, window and the echo of congestion into `segment`, which is about to be sent.
    pub(super) fn stamp(&mut self, segment: &mut Segment) {
        segment.flags |= Flags::ACK;
        if self.congestion_experienced {
            segment.flags |= Flags::ECE;
        }
        segment.acknowledgment = self.next;
        segment.window = self.edge.saturating_sub(self.next) as u32;
        self.due = Due::Nothing;
        self.deadline = Time::MAX;
        self.unacknowledged = 0;
        self.last_sent = self.next;
    }
    /// Adds to `blocks` what arrived out of order, `most` of it at most.
    pub(super) fn write_blocks(&self, most: usize, blocks: &mut SackBlocks) {
        self.beyond.iter().take(most).for_each(|range| blocks.push(range.start, range.end));
    }
}
