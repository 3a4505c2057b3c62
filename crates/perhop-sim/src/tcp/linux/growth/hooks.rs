//! The growth of the congestion window by the sender.

use perhop_qos::units::Time;
use perhop_scenario::tcp::{Counting, Growth};

use super::super::super::sender::Sender;
use super::super::acknowledged::Ack;
use super::super::{LinuxSender, State};
use super::Usage;

impl LinuxSender {
    /// Whether the sender uses the window, so that it may grow (`tcp_is_cwnd_limited`). In slow start, the
    /// use of half of the window is sufficient.
    pub(in crate::tcp::linux) fn is_limited(&self) -> bool {
        self.usage.is_limited || (self.is_in_slow_start() && self.window < 2 * self.usage.most)
    }

    /// Updates the use of the window after new segments were sent or could not be sent (`tcp_cwnd_validate`).
    pub(in crate::tcp::linux) fn note_usage(&mut self, stream: &Sender, now: Time) {
        let (is_limited, flight) = (self.window_limits(), self.records.len());
        let usage = &mut self.usage;
        let is_over = stream.unacknowledged >= usage.ends;
        if is_over || is_limited || (!usage.is_limited && flight > usage.most) {
            *usage = Usage { is_limited, most: flight, ends: stream.next, ..*usage };
        }
        let now = self.clock.ticks_at(now);
        if self.is_limited() {
            (self.usage.since, self.usage.whole_at) = (0, now);
            return;
        }
        self.usage.since = self.usage.since.max(flight);
        let is_idle = now - self.usage.whole_at >= self.rto_ticks(stream);
        if stream.parameters.idle_restart && is_idle && !self.has_own_control() {
            self.shrink_unused(stream, now);
        }
    }
    /// Reduces a window that is not fully used (`tcp_cwnd_application_limited`, RFC 2861).
    fn shrink_unused(&mut self, stream: &Sender, now: u64) {
        if self.state == State::Open {
            let used = self.usage.since.max(stream.parameters.initial_segments() as u32);
            if used < self.window {
                self.threshold = self.current_threshold();
                self.window = u32::midpoint(self.window, used);
            }
            self.usage.since = 0;
        }
        self.usage.whole_at = now;
    }

    /// Halves the window after an idle time, once for each timeout that has passed, down to the initial
    /// window (`tcp_cwnd_restart`, RFC 2861).
    pub(in crate::tcp::linux) fn restart_after_idle(&mut self, stream: &Sender, now: Time) {
        let (sent, timeout) = (self.clock.ticks_at(stream.last_sent), self.rto_ticks(stream));
        let idle = self.clock.ticks_at(now) - sent;
        let restarts = stream.parameters.idle_restart && !self.has_own_control();
        if !restarts || stream.highest == 0 || idle <= timeout {
            return;
        }
        self.threshold = self.current_threshold();
        let least = (stream.parameters.initial_segments() as u32).min(self.window);
        let halvings = ((idle - 1) / timeout).min(31);
        self.window = (self.window >> halvings).max(least);
        self.usage.since = 0;
        self.usage.whole_at = self.clock.ticks_at(now);
    }

    /// Grows the window for `delivered` segments outside recovery (`tcp_cong_avoid`).
    pub(in crate::tcp::linux) fn grow_window(&mut self, stream: &Sender, ack: &Ack, delivered: u32) {
        if self.ledbat.is_some() {
            self.adapt_ledbat(ack, delivered);
            return;
        }
        if stream.parameters.growth == Growth::WhenLimited && !self.is_limited() {
            return;
        }
        let mut segments = match stream.parameters.counting {
            Counting::Acknowledgments => 1,
            Counting::Bytes | Counting::Segments => delivered,
        };
        if self.is_in_slow_start() {
            // RFC 5681 §3.1: slow start adds the acknowledged data, up to the threshold.
            let counted = match &mut self.conservative {
                Some(start) => start.growth(stream, segments),
                None => segments,
            };
            let grown = self.window.saturating_add(counted).min(self.threshold);
            segments = counted - (grown - self.window);
            self.window = grown;
            if segments == 0 {
                return;
            }
        }
        let per_increase = match &mut self.cubic {
            Some(cubic) => cubic.on_ack(self.clock.ticks_at(ack.time), self.clock, self.window, segments),
            None => self.window,
        };
        self.increase(per_increase, segments);
    }
    /// Grows the window by one segment per `per_increase` acknowledged segments (`tcp_cong_avoid_ai`).
    fn increase(&mut self, per_increase: u32, segments: u32) {
        if self.credit >= per_increase {
            self.credit = 0;
            self.window += 1;
        }
        self.credit += segments;
        self.window += self.credit / per_increase;
        self.credit %= per_increase;
    }

    /// Processes a round-trip sample of `round_trip` microseconds (`cubictcp_acked`).
    pub(in crate::tcp::linux) fn on_round_trip(&mut self, stream: &Sender, ack: &Ack, round_trip: u64) {
        if self.is_in_slow_start()
            && let Some(start) = &mut self.conservative
            && start.on_sample(stream, round_trip.max(1))
        {
            self.threshold = self.window;
        }
        let ticks = self.clock.ticks_at(ack.time);
        let Some(cubic) = &mut self.cubic else { return };
        if !cubic.take_round_trip(ticks, self.clock, round_trip.max(1)) {
            return;
        }
        let least = cubic.least_round_trip();
        let (is_in_slow_start, rate) = (self.is_in_slow_start(), self.pacing_rate(stream));
        if let Some(hystart) = &mut self.hystart
            && is_in_slow_start
            && hystart.is_over(stream, ack.now, round_trip.max(1), least, self.window, rate)
        {
            self.threshold = self.window;
        }
    }
    /// Returns the pace of a paced sender, bytes per second; 0 if unknown (`tcp_update_pacing_rate`,
    /// `prague_update_pacing_rate`).
    pub(in crate::tcp::linux) fn pacing_rate(&self, stream: &Sender) -> u64 {
        if let Some(bbr) = &self.bbr {
            return bbr.pacing_rate();
        }
        if self.quic.is_some() {
            // RFC 9002 §7.7: 1.25 windows per smoothed round trip.
            let bytes = u64::from(stream.full_packet) * u64::from(self.window);
            return (bytes * 125 * 80_000).checked_div(self.smoothed(stream).unwrap_or(0)).unwrap_or(0);
        }
        if let Some(pace) = self.prague_pace() {
            return if self.window < self.threshold / 2 { 2 * pace } else { pace };
        }
        let percent = match (self.window < self.threshold / 2, self.has_prague()) {
            (true, _) => 200,
            (false, false) => 120,
            (false, true) => 100,
        };
        // Prague counts headers.
        let segment = if self.has_prague() { u64::from(stream.full_packet) } else { stream.payload };
        let bytes = segment * u64::from(self.window.max(self.records.len()));
        (bytes * percent * 80_000).checked_div(self.smoothed(stream).unwrap_or(0)).unwrap_or(0)
    }
    /// Excludes the idle time until `now` from CUBIC's growth. The caller is about to send data while no data
    /// are in flight.
    pub(in crate::tcp::linux) fn on_first_in_flight(&mut self, stream: &Sender, now: Time) {
        if let Some(cubic) = &mut self.cubic {
            let idle = self.clock.ticks_at(now).saturating_sub(self.clock.ticks_at(stream.last_sent));
            cubic.skip(self.clock.ticks_at(now), idle);
        }
        self.restart_bbr(stream, now);
    }
}
