//! The count of marks that acknowledgments report.

use perhop_qos::units::Time;
use perhop_scenario::tcp::{EcnFeedback, Flags};

use super::super::super::segment::Segment;
use super::super::super::sender::Sender;
use super::super::LinuxSender;
use super::super::acknowledged::Ack;

/// Number of values of the counter.
const VALUES: u32 = 8;

impl LinuxSender {
    /// Expects the ACK of the handshake. Instead of the counter, it reports the ECN field with which the
    /// SYN-ACK arrived (RFC 9768 §3.2.2.1). The SYN-ACK was not ECN-capable.
    pub(in crate::tcp) fn expect_handshake_ack(&mut self) {
        self.feedback.awaits_handshake_ack = true;
    }
    /// Reads the marks that `segment`, the acknowledgment `ack`, reports. Returns whether there are any.
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
    /// Counts the marked segments among the `delivered` ones. If the feedback is only ECE, all of them count.
    /// If the counter may have wrapped, the largest number that agrees with it counts (RFC 9768 appendix
    /// A.2.1).
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
