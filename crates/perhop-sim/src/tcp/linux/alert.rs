//! The states of loss recovery and their transitions (`tcp_fastretrans_alert`).

use super::super::congestion::Cause;
use super::super::sender::Sender;
use super::acknowledged::Ack;
use super::records::Marks;
use super::{LinuxSender, State};
use perhop_scenario::tcp::Recovery;

impl LinuxSender {
    /// Handles an acknowledgment that is unusual or arrives while a loss is known. `duplicates` is 1 for a
    /// duplicate acknowledgment, otherwise 0.
    pub(super) fn alert(&mut self, stream: &mut Sender, ack: &mut Ack, duplicates: u32) {
        let mut looks_for_loss = duplicates > 0 || (ack.selects && self.is_far_ahead(stream));
        if self.records.is_empty() {
            self.records.sacked = 0;
        }
        if ack.marked {
            self.undo.forget_threshold();
        }
        if self.leave_state(stream, ack) {
            return;
        }
        let is_beginning = match self.state {
            State::Recovery => {
                if !self.continue_recovery(stream, ack, duplicates, &mut looks_for_loss) {
                    return;
                }
                false
            }
            State::Loss => {
                self.process_loss(stream, ack, duplicates);
                self.identify_losses(stream, ack);
                if !(self.state == State::Open || ack.loses_retransmission) {
                    return;
                }
                if !self.react(stream, ack, duplicates) {
                    return;
                }
                true
            }
            State::Open | State::Disorder | State::Cwr => {
                if !self.react(stream, ack, duplicates) {
                    return;
                }
                true
            }
        };
        if looks_for_loss && stream.parameters.recovery == Recovery::Sack {
            self.mark_lost_by_count(is_beginning);
            self.report_losses(stream, ack.time);
        }
        self.output.retransmit_losses();
    }

    /// Ends the current state of loss recovery, if the acknowledgment covers the end of the state. Returns
    /// whether the acknowledgment needs no further processing.
    fn leave_state(&mut self, stream: &mut Sender, ack: &Ack) -> bool {
        if self.state == State::Open {
            self.undo.first_resent = None;
            return false;
        }
        if stream.unacknowledged < self.state_ends {
            return false;
        }
        match self.state {
            // The state ends when data beyond `state_ends` are acknowledged, because CWR has then reached the
            // receiver.
            State::Cwr if stream.unacknowledged != self.state_ends => {
                self.end_reduction();
                self.enter(State::Open);
            }
            State::Recovery => {
                if !stream.parameters.recovery.is_selective() {
                    self.forget_duplicates();
                }
                if self.try_undo_recovery(stream, ack) {
                    return true;
                }
                self.end_reduction();
            }
            _ => {}
        }
        false
    }

    /// Processes an acknowledgment during fast recovery. Returns whether losses must be repaired.
    fn continue_recovery(
        &mut self,
        stream: &mut Sender,
        ack: &mut Ack,
        duplicates: u32,
        looks_for_loss: &mut bool,
    ) -> bool {
        if !ack.advances {
            if !stream.parameters.recovery.is_selective() {
                self.add_duplicates(duplicates);
            }
        } else if self.try_undo_partial(stream, ack, looks_for_loss) {
            return false;
        }
        if self.try_undo_by_duplicates(stream) {
            self.try_to_open(stream, ack);
        }
        self.identify_losses(stream, ack);
        if self.state != State::Recovery {
            if !self.is_time_to_recover(stream) {
                return false;
            }
            self.enter_recovery(stream, ack.marked);
        }
        true
    }

    /// Processes an acknowledgment outside recovery. Returns whether fast recovery begins.
    fn react(&mut self, stream: &mut Sender, ack: &mut Ack, duplicates: u32) -> bool {
        if !stream.parameters.recovery.is_selective() {
            if ack.advances {
                self.forget_duplicates();
            }
            self.add_duplicates(duplicates);
        }
        if self.state <= State::Disorder {
            self.try_undo_by_duplicates(stream);
        }
        self.identify_losses(stream, ack);
        if !self.is_time_to_recover(stream) {
            self.try_to_open(stream, ack);
            return false;
        }
        self.enter_recovery(stream, ack.marked);
        true
    }

    pub(super) fn enter(&mut self, state: State) {
        if let Some(bbr) = &mut self.bbr {
            self.window = bbr.window_in(state, self.window);
        }
        self.state = state;
    }

    /// Begins fast recovery (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, stream: &mut Sender, marked: bool) {
        stream.statistics.fast_retransmits += 1;
        self.undo.forget_threshold();
        self.begin_undo(stream);
        if !matches!(self.state, State::Cwr | State::Recovery) {
            if !marked {
                self.undo.threshold = Some(self.current_threshold());
            }
            self.begin_reduction(stream, Cause::Loss);
        }
        self.enter(State::Recovery);
        self.react_to_loss(stream);
        self.apply_reduction_at_once(stream);
    }

    /// Whether fast recovery must begin (`tcp_time_to_recover`).
    fn is_time_to_recover(&self, stream: &Sender) -> bool {
        let by_count = stream.parameters.recovery != Recovery::Rack;
        self.records.lost > 0 || (by_count && self.records.sacked + 1 > self.reordering)
    }
    /// Whether SACKed data are so far ahead that reordering does not explain the gap
    /// (`tcp_force_fast_retransmit`).
    pub(super) fn is_far_ahead(&self, stream: &Sender) -> bool {
        let explained = stream.unacknowledged + u64::from(self.reordering) * stream.payload;
        self.records.forward_most(stream.unacknowledged) > explained
    }

    /// Marks the segments that the acknowledgment shows to be lost (`tcp_identify_packet_loss`).
    fn identify_losses(&mut self, stream: &mut Sender, ack: &mut Ack) {
        if self.records.is_empty() {
            return;
        }
        match stream.parameters.recovery {
            Recovery::Rack => {
                let before = self.records.retransmitted;
                if self.mark_lost_by_time(stream, ack.time) {
                    ack.restarts_timer = false;
                }
                ack.loses_retransmission |= before > self.records.retransmitted;
            }
            Recovery::Sack | Recovery::Quic => {}
            // `tcp_newreno_mark_lost`: the first segment is lost after the last duplicate that reordering
            // explains, and after a partial acknowledgment.
            Recovery::NewReno | Recovery::Tahoe | Recovery::Reno => {
                let begins = self.state < State::Recovery && self.records.sacked >= self.reordering;
                let goes_on = self.state == State::Recovery && ack.advances;
                let head = self.records.head_number();
                let is_new = self.records.head().is_some_and(|record| !record.marks.has(Marks::LOST));
                if (begins || goes_on) && is_new {
                    self.records.mark_lost(head);
                }
            }
        }
        self.report_losses(stream, ack.time);
    }

    /// Marks lost segments by the number of SACKed segments (`tcp_update_scoreboard`, `tcp_mark_head_lost`).
    /// Without RACK, a segment is lost if more segments above it are SACKed than reordering explains. At the
    /// beginning of recovery, the first segment is also lost.
    fn mark_lost_by_count(&mut self, is_beginning: bool) {
        let Some(most) = self.records.sacked.checked_sub(self.reordering) else {
            if is_beginning && !self.records.is_empty() {
                self.records.mark_lost(self.records.head_number());
            }
            return;
        };
        let (mut sacked, mut number) = (0, self.records.head_number());
        while let Some(record) = self.records.get(number) {
            let marks = record.marks;
            sacked += u32::from(marks.has(Marks::SACKED));
            if sacked > most {
                return;
            }
            if !marks.has(Marks::LOST) {
                self.records.mark_lost(number);
            }
            number += 1;
        }
    }

    /// Begins a reduction if the acknowledgment reports marks. If no reduction is in progress, enters the
    /// state `Open` or `Disorder` (`tcp_try_to_open`).
    pub(super) fn try_to_open(&mut self, stream: &mut Sender, ack: &Ack) {
        if !self.has_resent() {
            self.undo.first_resent = None;
        }
        if ack.marked {
            self.enter_cwr(stream, ack.now);
        }
        if self.state != State::Cwr {
            self.try_keep_open(stream);
        }
    }
    /// Enters the state `Disorder` if segments are SACKed or were retransmitted, otherwise the state `Open`.
    /// The caller must have checked that no loss is known (`tcp_try_keep_open`).
    pub(super) fn try_keep_open(&mut self, stream: &Sender) {
        let is_disordered = self.records.sacked + self.records.lost > 0 || self.has_resent();
        let state = if is_disordered { State::Disorder } else { State::Open };
        if self.state != state {
            self.enter(state);
            self.state_ends = stream.next;
        }
    }
    /// Whether the first segment in flight was retransmitted, or a retransmission is in flight
    /// (`tcp_any_retrans_done`).
    pub(super) fn has_resent(&self) -> bool {
        self.records.retransmitted > 0
            || self.records.head().is_some_and(|record| record.marks.has(Marks::SENT_AGAIN))
    }
}
