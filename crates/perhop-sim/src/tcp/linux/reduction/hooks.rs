//! The reduction of the window by the sender.

use perhop_scenario::tcp::{Reduction as InUse, WindowReduction};

use super::super::super::congestion::Cause;
use super::super::super::sender::Sender;
use super::super::output::Forced;
use super::super::{LinuxSender, Scalable, State};
use super::{Reduction, UNLIMITED};

/// Returns `factor` times `segments`, rounded down.
fn scaled(segments: u32, factor: f64) -> u32 {
    (f64::from(segments) * factor) as u32
}

impl LinuxSender {
    /// Begins a reduction of the window (`tcp_init_cwnd_reduction`).
    pub(in crate::tcp::linux) fn begin_reduction(&mut self, stream: &mut Sender, cause: Cause) {
        self.state_ends = stream.next;
        self.probe.end();
        self.credit = 0;
        self.reduction = Reduction { window_before: self.window, delivered: 0, sent: 0 };
        self.reduce_threshold(stream, cause);
        stream.cwr_due = stream.ecn;
    }
    /// Sets the threshold after congestion, by the rule of the congestion control.
    pub(in crate::tcp::linux) fn reduce_threshold(&mut self, stream: &Sender, cause: Cause) {
        let factor = cause.factor(&stream.parameters, self.is_in_slow_start());
        let in_use = match stream.parameters.reduction {
            InUse::Window => self.window,
            InUse::FlightSize => self.in_flight().min(self.window),
        };
        if let Some(start) = &mut self.conservative {
            start.end();
        }
        if let Some(bbr) = &mut self.bbr {
            bbr.on_reduction(self.window);
            return;
        }
        self.threshold = match (&mut self.cubic, self.scalable.as_deref()) {
            (Some(cubic), _) => {
                let threshold = cubic.on_congestion(self.window, in_use);
                factor.map_or(threshold, |factor| scaled(in_use, factor))
            }
            (None, None) => factor.map_or(in_use >> 1, |factor| scaled(in_use, factor)),
            (None, Some(Scalable::Dctcp(dctcp))) => dctcp.reduced(self.window),
            // `prague_ssthresh`: Prague reduces the window itself.
            (None, Some(Scalable::Prague(_))) => self.threshold,
        }
        .max(2);
    }
    /// Returns the threshold that the undo of a spurious reduction restores (`tcp_current_ssthresh`).
    pub(in crate::tcp::linux) fn current_threshold(&self) -> u32 {
        if matches!(self.state, State::Cwr | State::Recovery) {
            self.threshold
        } else {
            self.threshold.max((self.window >> 1) + (self.window >> 2))
        }
    }

    /// Sets the window for `delivered` segments, so that the window reaches the threshold when one window of
    /// data is delivered. After an acknowledgment that `advances` without new `losses`, one additional
    /// segment may be sent.
    pub(in crate::tcp::linux) fn reduce_window(
        &mut self,
        stream: &Sender,
        delivered: u32,
        losses: u32,
        advances: bool,
    ) {
        let is_proportional = stream.parameters.window_reduction == WindowReduction::Proportional;
        if delivered == 0 || !is_proportional || self.bbr.is_some() {
            return;
        }
        self.reduction.delivered += delivered;
        let Reduction { window_before, delivered: all, sent } = self.reduction;
        let in_flight = self.in_flight();
        let allowed = if self.threshold < in_flight {
            let share = (u64::from(self.threshold) * u64::from(all)).div_ceil(u64::from(window_before));
            (share as u32).saturating_sub(sent)
        } else {
            let safe = u32::from(advances && losses == 0);
            (all.saturating_sub(sent).max(delivered) + safe).min(self.threshold - in_flight)
        };
        // The first retransmission leaves at once.
        self.window = in_flight + allowed.max(u32::from(sent == 0));
    }
    /// Sets the window to the threshold at once, if the reduction is not proportional. The first
    /// retransmission leaves regardless of the window (RFC 6675 §5, step 4.3).
    pub(in crate::tcp::linux) fn apply_reduction_at_once(&mut self, stream: &Sender) {
        if stream.parameters.window_reduction == WindowReduction::AtOnce {
            if !self.has_own_control() {
                self.window = self.window.min(self.threshold);
            }
            if self.state == State::Recovery {
                self.output.force(Forced::FirstLoss);
            }
        }
    }
    /// Ends the reduction (`tcp_end_cwnd_reduction`).
    pub(in crate::tcp::linux) fn end_reduction(&mut self) {
        let is_undone = self.state != State::Cwr && !self.undo.is_possible();
        if self.threshold < UNLIMITED && !is_undone && !self.has_own_control() {
            self.window = self.threshold;
        }
    }

    /// Begins a reduction for ECN marks, without a loss (`tcp_enter_cwr`).
    pub(in crate::tcp::linux) fn enter_cwr(&mut self, stream: &mut Sender, now: u64) {
        self.undo.forget_threshold();
        if self.state < State::Cwr {
            self.undo.forget();
            self.begin_reduction(stream, Cause::Mark);
            self.enter(State::Cwr);
            self.reduce_by_marks(stream, now);
            self.apply_reduction_at_once(stream);
            stream.statistics.congestion_marks += 1;
        }
    }
}
