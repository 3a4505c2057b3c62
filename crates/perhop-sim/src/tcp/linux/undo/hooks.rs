//! The undo of a spurious reduction by the sender.

use super::super::super::sender::Sender;
use super::super::acknowledged::Ack;
use super::super::rack::PERSISTS_FOR;
use super::super::{LinuxSender, Scalable, State};

impl LinuxSender {
    /// Saves the state that an undo of the current reduction needs (`tcp_init_undo`).
    pub(in crate::tcp::linux) fn begin_undo(&mut self, stream: &Sender) {
        self.undo.began = Some(stream.unacknowledged);
        let in_flight = self.records.retransmitted + u32::from(self.probe.is_retransmission());
        self.undo.unexplained = Some(in_flight).filter(|count| *count > 0);
    }
    /// Whether `ack` answers data that were sent before the first retransmission (`tcp_packet_delayed`).
    fn is_delayed(&self, ack: &Ack) -> bool {
        self.undo.first_resent.is_none_or(|first| ack.echoes_before(first))
    }
    /// Whether the reduction is spurious and can be undone (`tcp_may_undo`).
    fn may_undo(&self, stream: &Sender, ack: &Ack) -> bool {
        let is_spurious = self.undo.is_explained() || self.is_delayed(ack);
        stream.parameters.undo && self.undo.is_possible() && is_spurious
    }

    /// Restores the window and the threshold (`tcp_undo_cwnd_reduction`).
    fn restore_window(&mut self, stream: &mut Sender) {
        if let Some(threshold) = self.undo.threshold {
            if self.bbr.is_none() {
                self.window = self.window.max(self.reduction.window_before);
            }
            if threshold > self.threshold {
                self.threshold = threshold;
                stream.cwr_due = false;
            }
            if let Some(Scalable::Prague(prague)) = self.scalable.as_deref_mut() {
                prague.undo();
            }
            self.report_undo(stream);
        }
        self.undo.forget();
        self.rack.has_advanced = true;
    }

    /// Undoes a spurious recovery after the end of the recovery is acknowledged (`tcp_try_undo_recovery`).
    /// Returns whether the state remains, because later data must be acknowledged first without SACK (RFC
    /// 6582 §3.2).
    pub(in crate::tcp::linux) fn try_undo_recovery(&mut self, stream: &mut Sender, ack: &Ack) -> bool {
        if self.may_undo(stream, ack) {
            self.restore_window(stream);
        } else {
            self.rack.persists = self.rack.persists.saturating_sub(1);
        }
        if self.must_stay(stream) {
            return true;
        }
        self.enter(State::Open);
        false
    }
    fn must_stay(&self, stream: &Sender) -> bool {
        stream.unacknowledged == self.state_ends && !stream.parameters.recovery.is_selective()
    }

    /// Undoes the reduction if every retransmission was unnecessary (`tcp_try_undo_dsack`).
    pub(in crate::tcp::linux) fn try_undo_by_duplicates(&mut self, stream: &mut Sender) -> bool {
        if !(stream.parameters.undo && self.undo.is_possible() && self.undo.is_explained()) {
            return false;
        }
        self.rack.persists = self.rack.persists.saturating_add(PERSISTS_FOR);
        self.restore_window(stream);
        true
    }

    /// Undoes the reduction if F-RTO (`by_frto`) or the acknowledgment shows that the timeout was spurious
    /// (`tcp_try_undo_loss`). Returns whether the reduction was undone.
    pub(in crate::tcp::linux) fn try_undo_loss(
        &mut self,
        stream: &mut Sender,
        ack: &Ack,
        by_frto: bool,
    ) -> bool {
        if !by_frto && !self.may_undo(stream, ack) {
            return false;
        }
        self.records.clear_losses();
        self.restore_window(stream);
        self.timeouts = 0;
        if !self.must_stay(stream) && (by_frto || stream.parameters.recovery.is_selective()) {
            self.enter(State::Open);
        }
        true
    }

    /// Undoes a spurious recovery when a part of the window is acknowledged (`tcp_try_undo_partial`). Returns
    /// whether the acknowledgment needs no further processing.
    pub(in crate::tcp::linux) fn try_undo_partial(
        &mut self,
        stream: &mut Sender,
        ack: &Ack,
        looks_for_loss: &mut bool,
    ) -> bool {
        if !(stream.parameters.undo && self.undo.is_possible() && self.is_delayed(ack)) {
            *looks_for_loss = self.is_far_ahead(stream);
            return false;
        }
        self.check_reordering(stream, ack.previous);
        if self.records.retransmitted > 0 {
            return true;
        }
        if !self.has_resent() {
            self.undo.first_resent = None;
        }
        self.records.clear_losses();
        self.restore_window(stream);
        self.try_keep_open(stream);
        false
    }
}
