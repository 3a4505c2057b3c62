//! [`Receiver`]: the receiving half of a connection: reassembly and acknowledgments.

use perhop_qos::packet::Ecn;
use perhop_qos::units::Time;

use super::delay::{AdaptiveDelay, EstimatedDelay, When};
use super::marks::{Arrival, Echo, Marks};
use super::packets::ArrivedPackets;
use super::reassembly::OutOfOrder;
use super::rtt::Clock;
use super::segment::{Range, SackBlocks, Segment};
use super::tuning::Tuning;
use perhop_scenario::tcp::{Acknowledgment, Flags, Parameters, Recovery};

mod ecn;
mod window;

/// The acknowledgment that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingAck {
    /// No acknowledgment is due.
    None,
    /// At the expiry of the delayed-acknowledgment timer, unless an earlier segment carries the
    /// acknowledgment.
    Delayed,
    /// At once. A data segment carries the acknowledgment if one can be sent.
    Immediate,
    /// At once, in a segment without data, which the peer counts as a duplicate acknowledgment.
    Pure,
}

/// The value of [`Receiver::fin`] before the FIN has arrived.
const NO_FIN: u64 = u64::MAX;

/// The receiving half of a connection.
#[derive(Clone, Debug)]
#[repr(C)] // most frequently used first
pub(super) struct Receiver {
    pending_ack: PendingAck,
    /// The feedback of ECN marks in acknowledgments.
    echo: Echo,
    /// The number of segments that arrived in order since the last acknowledgment.
    unacknowledged: u32,
    /// RCV.NXT: the next expected offset.
    next: u64,
    /// The right edge of the offered window, which never moves back.
    edge: u64,
    /// The offset of the FIN; [`NO_FIN`] before it has arrived.
    fin: u64,
    /// Returns the time at which the delayed-acknowledgment timer expires; [`Time::MAX`] while it is off.
    deadline: Time,
    /// RFC 7323 §4.3, `Last.ACK.sent`: the acknowledgment number of the last segment sent.
    last_ack_sent: u64,
    /// The offered size of the receive buffer, bytes.
    buffer: u64,
    /// The minimum step by which the right edge advances, bytes.
    least_advance: u64,
    acknowledgment: Acknowledgment,
    /// The QUIC packets that have arrived; `None` for TCP.
    packets: Option<Box<ArrivedPackets>>,
    /// Data that arrived out of order.
    out_of_order: OutOfOrder,
    /// RFC 7323 §4.3, `TS.Recent`: the timestamp that the next segment echoes.
    ts_recent: Time,
    /// The state of Linux's adaptive delays, if the receiver uses them.
    adaptive: Option<Box<AdaptiveDelay>>,
    /// Bytes in the buffer that are in order and that the application has not read.
    unread: u64,
    payload: u64,
    /// The number of further segments that are acknowledged at once, because the connection is new.
    quick: u32,
    /// RFC 2883: whether duplicate data are reported.
    reports_duplicates: bool,
    /// Whether acknowledgments carry SACK blocks.
    reports_selectively: bool,
    /// The state of the delays of Linux 2.0 and 2.2, if the receiver uses them.
    estimated: Option<Box<EstimatedDelay>>,
    /// The automatic size of the buffer; `None` if the size is fixed.
    tuning: Option<Box<Tuning>>,
    /// RFC 2883: the duplicate data that the next acknowledgment reports, if any.
    duplicate: Range,
    /// The marks that arrived. RFC 3168 feedback does not use them.
    pub(super) marks: Marks,
}

impl Receiver {
    /// Creates the receiver of a new connection. `clock_phase` shifts the ticks of the clock, as for the
    /// sender.
    pub(super) fn new(parameters: &Parameters, clock_phase: Time) -> Receiver {
        let clock = Clock::new(parameters.clock, clock_phase);
        let (estimated, quick) = match parameters.acknowledgment {
            Acknowledgment::EveryPacket | Acknowledgment::Adaptive { .. } => (None, 0),
            Acknowledgment::Delayed { quick, .. } => (None, quick),
            Acknowledgment::Estimated { first, quick } => {
                (Some(Box::new(EstimatedDelay::new(clock, first))), quick)
            }
        };
        let adaptive = match parameters.acknowledgment {
            Acknowledgment::Adaptive { least, most, quick } => {
                let compresses = parameters.ack_compression && parameters.recovery.is_selective();
                let delay = AdaptiveDelay::new(clock, least, most, quick, compresses);
                Some(Box::new(delay.growing_to(u64::from(parameters.window))))
            }
            _ => None,
        };
        let (buffer, payload) = (u64::from(parameters.first_window()), u64::from(parameters.payload()));
        let largest = u64::from(parameters.window);
        let tuning = parameters.autotuning.then(|| Box::new(Tuning::new(payload, largest)));
        Receiver {
            acknowledgment: parameters.acknowledgment,
            payload,
            next: 0,
            buffer,
            unread: 0,
            edge: buffer,
            least_advance: payload.min(buffer / 2),
            out_of_order: OutOfOrder::default(),
            fin: NO_FIN,
            pending_ack: PendingAck::None,
            deadline: Time::MAX,
            unacknowledged: 0,
            quick,
            estimated,
            ts_recent: Time::ZERO,
            last_ack_sent: 0,
            adaptive,
            tuning,
            packets: (parameters.recovery == Recovery::Quic).then(Box::default),
            reports_duplicates: parameters.dsack,
            reports_selectively: parameters.recovery.is_selective(),
            duplicate: Range::default(),
            echo: Echo::new(parameters.ecn_feedback),
            marks: Marks::default(),
        }
    }

    /// RFC 7323 §4.3: updates TS.Recent, the timestamp to echo.
    pub(super) fn update_ts_recent(&mut self, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps()
            && segment.sequence <= self.last_ack_sent
            && { timestamps.value } >= self.ts_recent
        {
            self.ts_recent = timestamps.value;
        }
    }

    /// Processes the data and the FIN of `segment`. Returns the number of new bytes in order.
    #[allow(clippy::inline_always)] // the fast path of every data segment
    #[inline(always)]
    pub(super) fn on_data(&mut self, now: Time, segment: &Segment) -> u64 {
        if self.is_predicted(segment) {
            self.next += u64::from(segment.length);
            self.schedule_ack(now, segment);
            return u64::from(segment.length);
        }
        if self.packets.is_some() {
            return self.on_packet(now, segment);
        }
        self.on_unpredicted_data(now, segment)
    }

    /// Whether `segment` is the next in order of a stream without gaps, fits into the window, and has no FIN
    /// and no change of congestion signals (header prediction, Jacobson 1990).
    #[inline]
    fn is_predicted(&self, segment: &Segment) -> bool {
        segment.sequence == self.next
            && segment.length > 0
            && segment.sequence + u64::from(segment.length) <= self.edge
            && !segment.flags.intersects(Flags::FIN | Flags::CWR)
            && (segment.ecn == Ecn::CongestionExperienced) == self.echo.expects_mark
            && !self.has_gap()
            && self.fin == NO_FIN
            && self.packets.is_none()
    }

    /// Processes a QUIC packet with data or FIN. A packet that is out of order or marked is acknowledged at
    /// once (RFC 9000 §13.2.1). Every second packet is also acknowledged at once (§13.2.2).
    #[inline(never)]
    fn on_packet(&mut self, now: Time, segment: &Segment) -> u64 {
        let (pending_ack, deadline, unacknowledged) = (self.pending_ack, self.deadline, self.unacknowledged);
        let received = self.on_unpredicted_data(now, segment);
        (self.pending_ack, self.deadline) = (pending_ack, deadline);
        self.unacknowledged = unacknowledged;
        let number = segment.packet().map_or(0, |packet| packet.number);
        let is_out_of_order = self.packets.as_mut().is_some_and(|packets| packets.add(number, now));
        self.schedule_ack(now, segment);
        if is_out_of_order || segment.ecn == Ecn::CongestionExperienced || self.is_finished() {
            self.pending_ack = PendingAck::Immediate;
        }
        received
    }
    /// Writes the numbers of the packets that have arrived. Returns the delay of the acknowledgment,
    /// microseconds.
    pub(super) fn write_packets(&self, now: Time, blocks: &mut SackBlocks) -> u32 {
        self.packets.as_ref().map_or(0, |packets| {
            packets.write(blocks);
            packets.delay(now)
        })
    }

    /// Does the same as [`Receiver::on_data`] without header prediction.
    #[inline(never)]
    pub(super) fn on_unpredicted_data(&mut self, now: Time, segment: &Segment) -> u64 {
        let start = segment.sequence;
        let sent_to = start + u64::from(segment.length);
        // RFC 9293 §3.10.7.4: data outside the window are trimmed.
        let end = sent_to.min(self.edge.max(self.next));
        let arrival = Arrival {
            is_marked: segment.ecn == Ecn::CongestionExperienced,
            has_cwr: segment.has(Flags::CWR),
            is_new: start < end && end > self.next,
            awaiting: (self.next > self.last_ack_sent).then_some(self.next),
        };
        let echoed = self.echo.flags;
        let answers_at_once = self.echo.on_arrival(&mut self.marks, &arrival);
        let answers_at_once = self.answer_congestion(segment, echoed) || answers_at_once;
        if segment.has(Flags::FIN) && end == sent_to {
            self.fin = end;
        }
        if start > self.next {
            if start < end {
                if self.reports_selectively {
                    self.grow_buffer(segment.length);
                }
                self.note_repeated(start, end);
                self.out_of_order.add(start, end);
            }
            self.acknowledge_out_of_order(now);
            if answers_at_once {
                self.pending_ack = PendingAck::Pure;
            }
            return 0;
        }
        self.note_repeated(start, end.min(self.next));
        if end <= self.next && self.fin != self.next {
            // The segment has old data, because the sender missed an acknowledgment, or the segment is a
            // zero-window probe.
            self.pending_ack = PendingAck::Pure;
            if let Some(delay) = &mut self.adaptive {
                delay.on_old_data(end < self.last_ack_sent);
            }
            return 0;
        }
        self.note_overtaken(end);
        let received = self.accept_in_order(now, end, segment);
        if answers_at_once {
            self.answer_at_once();
        }
        if self.has_duplicate() {
            self.pending_ack = PendingAck::Pure;
        }
        received
    }

    /// RFC 2883 §4: records the data from `start` up to `end` for the next report, if they had already
    /// arrived.
    fn note_repeated(&mut self, start: u64, end: u64) {
        let is_old = end <= self.next || self.out_of_order.contains(start, end);
        if self.reports_duplicates && start < end && is_old {
            self.duplicate = Range { start, end };
        }
    }
    /// Records duplicate data, if data that now arrived in order up to `end` had already arrived out of order
    /// (`tcp_ofo_queue`).
    fn note_overtaken(&mut self, end: u64) {
        if let Some(range) = self.out_of_order.first_below(end)
            && !self.has_duplicate()
        {
            self.note_repeated(range.start, range.end.min(end));
        }
    }
    /// Acknowledges data that arrived out of order. The duplicate acknowledgment is sent at once, unless it
    /// is compressed with others.
    fn acknowledge_out_of_order(&mut self, now: Time) {
        let unacknowledged = self.next - self.last_ack_sent;
        if let Some(delay) = &mut self.adaptive {
            delay.on_overtaking_data();
        }
        match &mut self.adaptive {
            Some(delay) if self.duplicate.is_empty() => {
                match delay.out_of_order(now, self.next, unacknowledged, self.deadline) {
                    When::Now => self.pending_ack = PendingAck::Pure,
                    When::At(time) => self.deadline = self.deadline.min(time),
                }
            }
            _ => self.pending_ack = PendingAck::Pure,
        }
    }

    /// Accepts data in order up to `end`, and the FIN after them. Returns the number of new bytes.
    fn accept_in_order(&mut self, now: Time, end: u64, segment: &Segment) -> u64 {
        let length = segment.length;
        let before = self.next;
        let had_gap = !self.out_of_order.is_empty();
        self.next = self.next.max(end);
        if had_gap {
            self.next = self.out_of_order.take_reached(self.next);
        }
        let received = self.next - before;
        let finished = self.fin == self.next;
        if finished {
            self.next += 1;
        }
        // RFC 5681 §4.2: the acknowledgment is sent at once when all or a part of a gap is filled.
        if had_gap || finished {
            self.pending_ack = PendingAck::Immediate;
            self.tune(now, segment);
            if let Some(delay) = &mut self.adaptive {
                delay.on_arrival(now, length);
                delay.gap_moved(self.next);
                self.grow_buffer(length);
            }
        } else {
            self.schedule_ack(now, segment);
        }
        received
    }

    /// Acknowledges `segment`, which arrived in order, at once or after a delay.
    #[allow(clippy::inline_always)] // the fast path of every data segment
    #[inline(always)]
    fn schedule_ack(&mut self, now: Time, segment: &Segment) {
        let expires = match self.acknowledgment {
            Acknowledgment::EveryPacket => return self.pending_ack = PendingAck::Immediate,
            Acknowledgment::Delayed { timeout, .. } => now + timeout,
            Acknowledgment::Estimated { .. } => self.estimated_expiry(now, segment.length),
            Acknowledgment::Adaptive { .. } => return self.schedule_adaptively(now, segment),
        };
        self.unacknowledged += 1;
        if self.quick > 0 {
            self.quick -= 1;
            self.pending_ack = PendingAck::Immediate;
        } else if self.unacknowledged >= 2 {
            // RFC 1122 §4.2.3.2: at least every second segment is acknowledged.
            self.pending_ack = PendingAck::Immediate;
        } else if self.pending_ack == PendingAck::None {
            self.pending_ack = PendingAck::Delayed;
            self.deadline = expires;
        }
    }

    /// Returns the time at which the acknowledgment of a segment of `length` bytes is due by the rules of
    /// Linux 2.0 and 2.2.
    fn estimated_expiry(&mut self, now: Time, length: u32) -> Time {
        self.estimated.as_mut().map_or(now, |delay| delay.expiry(now, length, self.payload))
    }
    /// Acknowledges `segment`, which arrived in order, as Linux does.
    #[inline(never)]
    fn schedule_adaptively(&mut self, now: Time, segment: &Segment) {
        self.tune(now, segment);
        let length = segment.length;
        let unacknowledged = self.next - self.last_ack_sent;
        let Some(delay) = &mut self.adaptive else { return };
        delay.on_arrival(now, length);
        self.buffer = delay.grow(self.buffer, length, self.payload);
        match delay.in_order(now, unacknowledged, self.deadline) {
            When::Now => self.pending_ack = PendingAck::Immediate,
            When::At(time) => {
                self.pending_ack = PendingAck::Delayed;
                self.deadline = self.deadline.min(time);
            }
        }
    }
    /// Sets the timeout and the round-trip time of this host's sender, which limit the delays.
    pub(super) fn learn_round_trip(&mut self, timeout: Time, round_trip: Option<Time>) {
        if let Some(delay) = &mut self.adaptive {
            delay.learn(timeout, round_trip);
        }
    }
    /// Records that data are sent at `now`.
    pub(super) fn on_data_sent(&mut self, now: Time) {
        if let Some(delay) = &mut self.adaptive {
            delay.on_data_sent(now);
        }
    }

    /// The time at which the delayed-acknowledgment timer expires; [`Time::MAX`] while it is off.
    pub(super) fn deadline(&self) -> Time {
        self.deadline
    }
    pub(super) fn on_timer(&mut self, now: Time) {
        if self.deadline <= now {
            self.deadline = Time::MAX;
            self.pending_ack = if self.has_gap() { PendingAck::Pure } else { PendingAck::Immediate };
            if let Some(delay) = &mut self.adaptive {
                delay.on_timer();
            }
        }
    }
    /// Makes an acknowledgment due at once.
    pub(super) fn acknowledge_now(&mut self) {
        self.pending_ack = PendingAck::Immediate;
    }
    /// Makes an acknowledgment due at once, in a segment without data.
    pub(super) fn acknowledge_purely(&mut self) {
        self.pending_ack = PendingAck::Pure;
    }
    pub(super) fn pending_ack(&self) -> PendingAck {
        self.pending_ack
    }
    /// Whether data arrived out of order and earlier data are missing.
    pub(super) fn has_gap(&self) -> bool {
        !self.out_of_order.is_empty()
    }
    /// Whether the peer's FIN has arrived, even if earlier data are missing.
    pub(super) fn has_seen_fin(&self) -> bool {
        self.fin != NO_FIN
    }
    /// Whether the peer's FIN and all data before it have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin < self.next
    }

    /// Returns the timestamp to echo; zero before the first timestamp (RFC 7323 §4.3).
    pub(super) fn ts_recent(&self) -> Time {
        self.ts_recent
    }
    /// Writes acknowledgment, window and ECE into `segment`, which is sent now.
    pub(super) fn write_acknowledgment(&mut self, segment: &mut Segment) {
        segment.flags |= Flags::ACK | self.echo.flags;
        segment.acknowledgment = self.next;
        segment.window = self.edge.saturating_sub(self.next) as u32;
        if let Some(delay) = &mut self.adaptive {
            delay.on_acknowledged();
        }
        self.pending_ack = PendingAck::None;
        self.deadline = Time::MAX;
        self.unacknowledged = 0;
        self.last_ack_sent = self.next;
    }
    /// Whether the next acknowledgment reports duplicate data.
    pub(super) fn has_duplicate(&self) -> bool {
        !self.duplicate.is_empty()
    }
    /// Adds at most `limit` blocks to `blocks`: duplicate data (RFC 2883), then data that arrived out of
    /// order.
    pub(super) fn write_blocks(&mut self, limit: usize, blocks: &mut SackBlocks) {
        let twice = std::mem::take(&mut self.duplicate);
        let twice = (!twice.is_empty()).then_some(&twice);
        let all = twice.into_iter().chain(self.out_of_order.iter());
        all.take(limit).for_each(|range| blocks.push(range.start, range.end));
    }
}
