//! The count of marks that acknowledgments report.

use perhop_qos::units::Time;
use perhop_scenario::tcp::{EcnFeedback, Flags};

use super::super::super::segment::Segment;
use super::super::super::sender::Sender;
use super::super::LinuxSender;
use super::super::acknowledged::Ack;

/// The number of values of the counter.
const VALUES: u32 = 8;

impl LinuxSender {
    /// Records that the next segment is the ACK of the handshake. Instead of the counter, this ACK reports
    /// the ECN field of the SYN-ACK, which was not ECN-capable (RFC 9768 §3.2.2.1).
    pub(in crate::tcp) fn expect_handshake_ack(&mut self) {
        self.feedback.awaits_handshake_ack = true;
    }
    /// Reads the marks that `segment` reports. `ack` has the properties of the acknowledgment. Returns
    /// whether the segment reports marks.
    ///
    /// Linux, `__tcp_accecn_process`: a counter is valid in an acknowledgment of new data or with a later
    /// timestamp. Any other acknowledgment may have been overtaken, for example the ACK of the handshake by
    /// the first data.
    pub(in crate::tcp::linux) fn read_marks(
        &mut self,
        stream: &Sender,
        ack: &Ack,
        segment: &Segment,
    ) -> bool {
        if stream.parameters.ecn_feedback != EcnFeedback::Accurate {
            return segment.has(Flags::ECE) && stream.ecn;
        }
        let stamp = segment.timestamps().map_or(Time::ZERO, |stamps| stamps.value);
        let is_late = stamp <= self.feedback.latest;
        self.feedback.latest = self.feedback.latest.max(stamp);
        let is_handshake_ack = std::mem::take(&mut self.feedback.awaits_handshake_ack);
        if is_handshake_ack || !stream.ecn || (is_late && !ack.advances && !ack.selects) {
            return false;
        }
        let counter = segment.flags.counter();
        self.feedback.more = counter.wrapping_sub(self.feedback.counter) % 8;
        self.feedback.counter = counter;
        self.feedback.more > 0
    }
    /// Counts the marked segments among the `delivered` segments. If the feedback is only ECE, all
    /// `delivered` segments count as marked. If the counter may have wrapped, the count is the largest number
    /// of marks that agrees with the counter (RFC 9768 appendix A.2.1).
    pub(in crate::tcp::linux) fn count_marks(&mut self, stream: &Sender, ack: &mut Ack, delivered: u32) {
        if !ack.marked {
            return;
        }
        ack.marks = match stream.parameters.ecn_feedback {
            EcnFeedback::Classic | EcnFeedback::Dctcp => delivered,
            EcnFeedback::Accurate => {
                let more = u32::from(self.feedback.more);
                delivered.checked_sub(more).map_or(more, |rest| more + rest / VALUES * VALUES)
            }
        };
        self.feedback.marked += ack.marks;
    }
}
