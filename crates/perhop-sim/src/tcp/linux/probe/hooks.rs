//! The use of tail loss probes by the sender.

use perhop_qos::units::Time;

use super::super::super::congestion::Cause;
use super::super::super::sender::Sender;
use super::super::acknowledged::Ack;
use super::super::output::Forced;
use super::super::timer::Timer;
use super::super::{LinuxSender, State};
use super::TailProbe;

impl LinuxSender {
    /// Sends the probe: new data if the application has written some, otherwise the last segment again.
    pub(in crate::tcp::linux) fn send_probe(&mut self, stream: &mut Sender, now: Time) {
        if self.probe.end.is_some() || self.records.is_empty() {
            // Only one probe may be in flight.
            return self.restart_retransmission(stream, now);
        }
        let payload = stream.payload.min(stream.written.saturating_sub(stream.next));
        let has_new = stream.next < stream.end() && stream.next + payload <= stream.edge;
        self.output.force(if has_new { Forced::NewProbe } else { Forced::TailProbe });
    }
    /// Records that the probe was sent. Its timeout begins now.
    pub(in crate::tcp::linux) fn on_probe_sent(
        &mut self,
        stream: &mut Sender,
        now: Time,
        is_retransmission: bool,
    ) {
        self.probe = TailProbe { end: Some(stream.next), is_retransmission };
        self.timer = Timer::Off;
        self.restart_retransmission(stream, now);
    }

    /// Processes the answer to a probe. A loss that the probe repaired counts as a loss for congestion
    /// control (RFC 8985 §7.4.2, `tcp_process_tlp_ack`).
    pub(in crate::tcp::linux) fn process_probe_ack(
        &mut self,
        stream: &mut Sender,
        ack: &mut Ack,
        acknowledgment: u64,
    ) {
        let Some(end) = self.probe.end.filter(|end| acknowledgment >= *end) else { return };
        if !self.probe.is_retransmission || ack.repeats_probe {
            self.probe.end();
        } else if acknowledgment > end {
            // Data beyond the probe are acknowledged, and no duplicate of the probe was reported.
            self.begin_reduction(stream, Cause::Loss);
            self.enter(State::Cwr);
            self.reduce_by_marks(stream, ack.now);
            self.end_reduction();
            self.try_keep_open(stream);
            self.report_probe_recovery(stream, ack.time);
        } else if !ack.advances && !ack.is_no_duplicate() && !ack.selects {
            self.probe.end();
        } else {
            ack.answers_probe = true;
        }
    }
}
