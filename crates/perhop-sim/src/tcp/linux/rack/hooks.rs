//! The use of RACK by the sender.

use perhop_qos::units::Time;

use super::super::super::sender::Sender;
use super::super::acknowledged::Ack;
use super::super::records::{Record, Verdict};
use super::super::timer::{SLACK_TICKS, Timer};
use super::super::{LinuxSender, State, microseconds};
use super::PERSISTS_FOR;

/// Whether the first of two segments was sent after the second (RFC 8985 §5.1, `RACK_sent_after`).
fn is_sent_after(sent: u64, other_sent: u64, end: u64, other_end: u64) -> bool {
    sent > other_sent || (sent == other_sent && end > other_end)
}

impl LinuxSender {
    /// Updates the state of RACK by the segment of `record`, which is delivered (RFC 8985 §6.2, step 2,
    /// `tcp_rack_advance`).
    pub(in crate::tcp::linux) fn advance_rack(&mut self, now: u64, record: &Record) {
        let round_trip = now - record.sent;
        if round_trip < self.least.get() && record.marks.is_sent_again() {
            // The round trip is too short for the retransmission, so the first transmission arrived.
            return;
        }
        self.rack.has_advanced = true;
        self.rack.round_trip = round_trip;
        if is_sent_after(record.sent, self.rack.sent, record.end, self.rack.end) {
            (self.rack.sent, self.rack.end) = (record.sent, record.end);
        }
    }

    /// Returns the permitted lateness of segments, microseconds (RFC 8985 §6.2, step 4, `tcp_rack_reo_wnd`).
    fn reordering_window(&self, stream: &Sender) -> u64 {
        let is_evident = self.state >= State::Recovery || self.records.sacked >= self.reordering;
        if !self.has_reordered && is_evident {
            return 0;
        }
        let smoothed = self.smoothed(stream).unwrap_or(0) >> 3;
        ((self.least.get() >> 2).saturating_mul(u64::from(self.rack.steps))).min(smoothed)
    }
    /// Marks lost segments. Returns the time until the last of the other late segments would be lost,
    /// microseconds; `None` if no segment is late (RFC 8985 §6.2, step 5, `tcp_rack_detect_loss`).
    fn detect_losses(&mut self, stream: &Sender, now: u64) -> Option<u64> {
        let window = self.reordering_window(stream);
        let (rack, mut last) = (self.rack, 0);
        self.records.walk_by_time(|record| {
            if !is_sent_after(rack.sent, record.sent, rack.end, record.end) {
                return Verdict::Unknown;
            }
            let left = rack.until_lost(now, record, window);
            last = last.max(left);
            if left <= 0 { Verdict::Lost } else { Verdict::NotYet }
        });
        (last > 0).then_some(last.unsigned_abs())
    }

    /// Detects losses after an acknowledgment. Returns whether the reordering timer was set
    /// (`tcp_rack_mark_lost`).
    pub(in crate::tcp::linux) fn mark_lost_by_time(&mut self, stream: &mut Sender, time: Time) -> bool {
        if !std::mem::take(&mut self.rack.has_advanced) {
            return false;
        }
        let Some(left) = self.detect_losses(stream, microseconds(time)) else { return false };
        let ticks = (self.ticks_of(left) + SLACK_TICKS).min(self.rto_ticks(stream));
        self.set_timer(stream, time, Timer::Reordering, ticks);
        true
    }
    /// Declares late segments lost (`tcp_rack_reo_timeout`).
    pub(in crate::tcp::linux) fn on_reordering_timer(&mut self, stream: &mut Sender, time: Time) {
        let (before, losses) = (self.in_flight(), self.records.losses);
        self.detect_losses(stream, microseconds(time));
        self.report_losses(stream, time);
        if self.in_flight() != before {
            if self.state != State::Recovery {
                self.enter_recovery(stream, false);
                self.reduce_window(stream, 1, self.records.losses - losses, false);
            }
            self.output.retransmit_losses();
        }
        if self.timer != Timer::Retransmission {
            self.restart_retransmission(stream, time);
        }
    }

    /// Widens the reordering window by a quarter of the minimum round-trip time for every round trip with
    /// duplicates (RFC 8985 §6.2, step 4, `tcp_rack_update_reo_wnd`).
    pub(in crate::tcp::linux) fn adapt_reordering_window(&mut self, ack: &Ack) {
        let Some(sent_with) = ack.delivered_before.filter(|before| *before > 0) else { return };
        if sent_with < self.rack.round_began {
            self.rack.has_duplicate = false;
        }
        if std::mem::take(&mut self.rack.has_duplicate) {
            self.rack.steps = self.rack.steps.saturating_add(1);
            self.rack.round_began = self.delivered;
            self.rack.persists = PERSISTS_FOR;
        } else if self.rack.persists == 0 {
            self.rack.steps = 1;
        }
    }
}
