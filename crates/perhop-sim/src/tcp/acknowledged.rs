//! Processing of acknowledgments by the sender.

use perhop_qos::units::Time;

use super::congestion::Cause;
use super::segment::{Segment, Timestamps};
use super::sender::{OffsetOrNone, Phase, SackInformation, Sender, Timing};
use perhop_scenario::tcp::{Counting, Flags, Growth, Recovery, TimerRestart};

/// RFC 3465 §2.2, L: the maximum number of segments by which one acknowledgment grows the window in slow
/// start.
const SLOW_START_LIMIT: f64 = 2.0;

#[allow(clippy::inline_always)] // the fast path of every acknowledgment
impl Sender {
    /// Processes the acknowledgment in `segment`.
    #[inline(always)]
    pub(super) fn on_acknowledgment(&mut self, now: Time, segment: &Segment) {
        if segment.acknowledgment > self.unacknowledged {
            // RFC 9293 §3.10.7.4: ignore the acknowledgment of data that was never sent.
            if segment.acknowledgment <= self.highest {
                self.on_new_ack(now, segment);
            }
        } else if !self.is_redundant_ack(segment) {
            self.on_duplicate_ack(now, segment);
        }
    }

    /// Whether `segment` changes no state. Such a segment acknowledges no new data and reports no duplicate
    /// data, the window is unchanged, and no data are in flight.
    pub(super) fn is_redundant_ack(&self, segment: &Segment) -> bool {
        self.highest == self.unacknowledged
            && segment.window == self.last_window
            && segment.sack.is_empty()
            && !segment.has(Flags::ECE)
    }

    /// Processes `segment`, which acknowledges new data. Restarts the timer and grows the congestion window,
    /// if permitted.
    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, segment: &Segment) {
        if !(self.is_fast_path() && segment.sack.is_empty()) {
            return self.on_new_ack_slow_path(now, segment);
        }
        let echoes = self.echoes_congestion(segment);
        self.update_window(segment);
        if echoes {
            self.on_congestion_mark(segment.acknowledgment);
        }
        let acknowledged = segment.acknowledgment - self.unacknowledged;
        let timeout = self.sample_round_trip(now, segment);
        self.unacknowledged = segment.acknowledgment;
        self.next = self.next.max(segment.acknowledgment);
        self.restart_timer(now, timeout);
        if !echoes {
            self.grow_window(now, acknowledged, SLOW_START_LIMIT);
        }
    }

    /// Does the same as [`Sender::on_new_ack`] without the fast path.
    #[inline(never)]
    pub(super) fn on_new_ack_slow_path(&mut self, now: Time, segment: &Segment) {
        if self.with_linux(|linux, stream| linux.on_acknowledgment(stream, now, segment)).is_some() {
            return;
        }
        let echoes = self.echoes_congestion(segment);
        self.update_scoreboard(segment);
        self.update_window(segment);
        if echoes {
            self.on_congestion_mark(segment.acknowledgment);
        }
        let acknowledged = segment.acknowledgment - self.unacknowledged;
        let timeout = self.sample_round_trip(now, segment);
        self.advance(segment.acknowledgment);
        let Some(growth_limit) = self.recover_or_open(now, acknowledged, timeout) else { return };
        self.restart_timer(now, timeout);
        if !echoes {
            self.grow_window(now, acknowledged, growth_limit);
        }
    }
    /// Records that all data below `acknowledgment` has arrived, and ends a window probe.
    pub(super) fn advance(&mut self, acknowledgment: u64) {
        if acknowledgment > self.unacknowledged {
            self.probe_at = Time::MAX;
            self.probe_due = false;
            self.probes = 0;
        }
        self.unacknowledged = acknowledgment;
        self.next = self.next.max(acknowledgment);
    }

    /// Processes `segment`, which acknowledges no new data. It may be a duplicate in the sense of RFC 5681, a
    /// window update, or a data segment.
    #[inline(never)]
    pub(super) fn on_duplicate_ack(&mut self, now: Time, segment: &Segment) {
        if self.with_linux(|linux, stream| linux.on_acknowledgment(stream, now, segment)).is_some() {
            return;
        }
        let sack = self.update_scoreboard(segment);
        let is_duplicate = self.is_duplicate(segment);
        if segment.acknowledgment == self.unacknowledged {
            self.update_window(segment);
        }
        if self.echoes_congestion(segment) {
            self.on_congestion_mark(segment.acknowledgment);
        }
        if is_duplicate {
            self.detect_loss(now, sack);
        }
    }

    /// Whether `segment` has ECE set and ECN was negotiated.
    #[inline]
    fn echoes_congestion(&self, segment: &Segment) -> bool {
        segment.has(Flags::ECE) && self.ecn
    }

    /// Adds the SACK blocks of `segment` to the scoreboard, if the sender uses SACK recovery.
    #[inline]
    fn update_scoreboard(&mut self, segment: &Segment) -> SackInformation {
        if segment.sack.is_empty() || self.parameters.recovery != Recovery::Sack {
            return SackInformation::Known;
        }
        self.add_sack_blocks(segment)
    }

    /// RFC 6675 §4, `Update`: records the SACK blocks of `segment`.
    #[inline(never)]
    fn add_sack_blocks(&mut self, segment: &Segment) -> SackInformation {
        let mut information = SackInformation::Known;
        for (start, end) in segment.sack.iter() {
            let is_valid = start >= self.unacknowledged.max(segment.acknowledgment)
                && end <= self.highest
                && start < end;
            if is_valid && self.scoreboard.add(start, end) {
                information = SackInformation::New;
            }
        }
        information
    }

    /// RFC 5681 §2: an acknowledgment without data, SYN or FIN, that repeats the highest acknowledged number,
    /// while data are in flight, with the window unchanged.
    fn is_duplicate(&self, segment: &Segment) -> bool {
        segment.acknowledgment == self.unacknowledged
            && self.next > self.unacknowledged
            && !segment.has_text()
            && segment.window == self.last_window
    }

    /// Sets the offered window to the window in `segment`, as Linux does (`tcp_may_update_window`): an
    /// acknowledgment of new data may move the right edge of the window back. Returns whether the window is
    /// larger than the previously offered window.
    pub(super) fn take_window(&mut self, segment: &Segment) -> bool {
        let is_larger = segment.window > self.last_window;
        self.update_window(segment);
        if segment.acknowledgment > self.unacknowledged {
            self.edge = segment.acknowledgment + u64::from(segment.window);
        }
        is_larger
    }

    /// RFC 9293 §3.10.7.4: SND.WND. The right edge of the window never moves back.
    #[inline]
    pub(super) fn update_window(&mut self, segment: &Segment) {
        if segment.window != self.last_window {
            self.last_window = segment.window;
            self.largest_window = self.largest_window.max(u64::from(segment.window));
        }
        self.edge = self.edge.max(segment.acknowledgment + u64::from(segment.window));
    }

    /// Continues or ends recovery after an acknowledgment of `acknowledged` new bytes. Returns the maximum
    /// number of segments by which slow start may grow the window. Returns `None` if recovery has set the
    /// window and the timer, which restarts with `timeout`.
    fn recover_or_open(&mut self, now: Time, acknowledged: u64, timeout: Time) -> Option<f64> {
        self.scoreboard.advance(self.unacknowledged);
        self.duplicates = 0;
        self.limited_transmit_bytes = 0;
        self.retransmit = false;
        let growth_limit = match self.phase {
            Phase::Recovery => {
                self.recover(now, acknowledged, timeout);
                return None;
            }
            Phase::Loss => {
                if self.recovery_point.get().is_none_or(|point| self.unacknowledged >= point) {
                    self.phase = Phase::Open;
                }
                1.0
            }
            Phase::Open | Phase::Recorded => SLOW_START_LIMIT,
        };
        self.inflation = 0.0;
        Some(growth_limit)
    }

    /// Whether no loss is known or suspected and no closed window is probed (header prediction, Jacobson
    /// 1990). An acknowledgment of new data then needs no retransmission, and the windows alone determine the
    /// next segment.
    #[inline(always)]
    pub(super) fn is_fast_path(&self) -> bool {
        let is_fast_path = self.phase == Phase::Open
            && self.duplicates == 0
            && self.scoreboard.is_empty()
            && self.probe_at == Time::MAX
            && !self.probe_due;
        debug_assert!(!is_fast_path || self.has_no_recovery_state(), "recovery state on the fast path");
        is_fast_path
    }

    /// Whether the state of recovery has its initial values. This follows from the conditions of the fast
    /// path, so it is only asserted.
    fn has_no_recovery_state(&self) -> bool {
        self.limited_transmit_bytes == 0 && self.inflation == 0.0 && !self.retransmit && self.probes == 0
    }

    /// Takes the round-trip sample of `segment`, if it has one. Returns the timeout with which the timer
    /// restarts.
    #[inline(always)]
    fn sample_round_trip(&mut self, now: Time, segment: &Segment) -> Time {
        let Timing { end, sent } = self.timing;
        let is_timed = segment.acknowledgment >= end;
        let before = self.rtt.rto();
        if let Some(Timestamps { echo, .. }) = segment.timestamps() {
            self.rtt.sample(&self.parameters, echo, now, self.window.segments);
        } else if is_timed {
            self.rtt.sample(&self.parameters, sent, now, self.window.segments);
        } else {
            return before;
        }
        if is_timed {
            self.timing = Timing::NONE;
        }
        match self.parameters.timer_restart {
            TimerRestart::AfterSample => self.rtt.rto(),
            TimerRestart::BeforeSample => before,
        }
    }

    /// RFC 6298 §5.2, §5.3: stops the retransmission timer if no data are in flight. Otherwise, restarts it
    /// with `timeout`.
    pub(super) fn restart_timer(&mut self, now: Time, timeout: Time) {
        let in_flight = self.highest > self.unacknowledged;
        self.deadline = if in_flight { now + timeout } else { Time::MAX };
    }

    /// Grows the window for `acknowledged` bytes. In slow start with byte counting, the growth is at most
    /// `limit` segments (RFC 3465 §2.2, §2.3: two, and one after a timeout).
    #[inline(always)]
    pub(super) fn grow_window(&mut self, now: Time, acknowledged: u64, limit: f64) {
        if self.parameters.growth == Growth::WhenLimited && !self.cwnd_limited {
            return self.congestion.on_application_limited(now);
        }
        let segments = match self.parameters.counting {
            Counting::Acknowledgments | Counting::Segments => 1.0,
            Counting::Bytes if acknowledged == self.payload => 1.0,
            Counting::Bytes => (acknowledged as f64 / self.payload as f64).min(limit),
        };
        let Sender { congestion, window, rtt, parameters, .. } = self;
        congestion.on_ack(now, window, segments, || rtt.smoothed(parameters));
    }

    /// RFC 3168 §6.1.2: reduces the window as for a lost segment, once per window of data, without a
    /// retransmission.
    fn on_congestion_mark(&mut self, acknowledgment: u64) {
        let done = |point: OffsetOrNone| point.get().is_some_and(|point| acknowledgment <= point);
        if self.phase != Phase::Open || done(self.mark_point) || done(self.recovery_point) {
            return;
        }
        self.statistics.congestion_marks += 1;
        self.mark_point = OffsetOrNone::at(self.highest);
        self.reduce_threshold(Cause::Mark);
        // The threshold is at least two segments, but a window of one segment must not grow to two.
        self.window.segments = self.window.segments.min(self.window.threshold);
    }
}
