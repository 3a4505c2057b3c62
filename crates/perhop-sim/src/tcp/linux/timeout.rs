//! Retransmission timeouts (`tcp_retransmit_timer`, `tcp_enter_loss`) and F-RTO (RFC 5682).

use perhop_qos::units::Time;
use perhop_scenario::tcp::{Recovery, RepeatedTimeout};

use super::super::congestion::Cause;
use super::super::sender::Sender;
use super::acknowledged::Ack;
use super::output::Forced;
use super::timer::Timer;
use super::{LinuxSender, State, microseconds};

impl LinuxSender {
    /// Handles the expired retransmission timer.
    pub(super) fn on_timeout(&mut self, stream: &mut Sender, now: Time) {
        if self.records.is_empty() {
            self.timer = Timer::Off;
            return;
        }
        stream.statistics.timeouts += 1;
        self.probe.end();
        self.enter_loss(stream, now);
        self.timeouts += 1;
        self.output.force(Forced::Head);
        stream.rtt.back_off(&stream.parameters);
        let ticks = self.rto_ticks(stream);
        self.set_timer(stream, now, Timer::Retransmission, ticks);
    }

    fn enter_loss(&mut self, stream: &mut Sender, time: Time) {
        let (begins, now) = (self.state < State::Recovery, microseconds(time));
        self.mark_lost_by_timeout(stream, now);
        self.report_losses(stream, time);
        // The window is reduced once per window of data, and not again while data of the last reduction are
        // in flight.
        if self.state <= State::Disorder
            || self.state_ends <= stream.unacknowledged
            || (self.state == State::Loss && self.timeouts == 0)
            || stream.parameters.repeated_timeout == RepeatedTimeout::Reduce
        {
            self.undo.threshold = Some(self.current_threshold());
            self.reduction.window_before = self.window;
            self.reduce_threshold(stream, Cause::Loss);
            self.begin_undo(stream);
        }
        self.window = self.in_flight() + 1;
        self.credit = 0;
        let usual = stream.parameters.duplicate_threshold;
        if self.state <= State::Disorder && self.records.sacked >= usual {
            self.reordering = self.reordering.min(usual);
        }
        self.report_timeout(stream, time);
        self.enter(State::Loss);
        self.react_to_loss(stream);
        // net/ipv4/tcp_cubic.c, cubictcp_state: a timeout resets CUBIC.
        if let Some(cubic) = &mut self.cubic {
            cubic.reset();
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.reset(now, stream.next);
        }
        self.state_ends = stream.next;
        stream.cwr_due = stream.ecn;
        self.frto = stream.parameters.frto && (begins || self.timeouts > 0);
    }

    /// Declares all segments lost that are not SACKed (`tcp_timeout_mark_lost`). With RACK, recently sent
    /// segments are exempt.
    fn mark_lost_by_timeout(&mut self, stream: &Sender, now: u64) {
        if !stream.parameters.recovery.is_selective() {
            self.forget_duplicates();
        }
        let head = self.records.head_number();
        for number in head..=self.records.tail_number() {
            let is_recent = |record| self.rack.until_lost(now, record, 0) > 0;
            let by_time = stream.parameters.recovery == Recovery::Rack && number > head;
            if !(by_time && self.records.get(number).is_some_and(is_recent)) {
                self.records.mark_lost(number);
            }
        }
    }

    /// Processes an acknowledgment after a timeout (`tcp_process_loss`).
    pub(super) fn process_loss(&mut self, stream: &mut Sender, ack: &Ack, duplicates: u32) {
        let is_recovered = stream.unacknowledged >= self.state_ends;
        if ack.advances && self.try_undo_loss(stream, ack, false) {
            return;
        }
        if self.frto && self.continue_frto(stream, ack, duplicates, is_recovered) {
            return;
        }
        if is_recovered {
            self.try_undo_recovery(stream, ack);
            return;
        }
        if !stream.parameters.recovery.is_selective() {
            if stream.next > self.state_ends && duplicates > 0 {
                self.add_duplicates(duplicates);
            } else if ack.advances {
                self.forget_duplicates();
            }
        }
        self.output.retransmit_losses();
    }

    /// Performs F-RTO by RFC 5682 §3.1, also with SACK. Returns whether the acknowledgment needs no further
    /// processing.
    fn continue_frto(&mut self, stream: &mut Sender, ack: &Ack, duplicates: u32, is_recovered: bool) -> bool {
        // Step 3.b: data that were sent only once have arrived, so the timeout was spurious.
        if ack.proves_original && self.try_undo_loss(stream, ack, true) {
            return true;
        }
        if stream.next > self.state_ends {
            // Step 3.a.
            self.frto &= !(ack.selects || duplicates > 0);
        } else if ack.advances && !is_recovered {
            self.state_ends = stream.next;
            // Step 2.b: new data are sent, if there are any.
            if stream.next < stream.end() && stream.edge > stream.next {
                self.output.send_new_first();
                return true;
            }
            self.frto = false;
        }
        false
    }
    /// Ends F-RTO, because there are no new data to send.
    pub(super) fn give_up_frto(&mut self) {
        self.frto = false;
    }
}
