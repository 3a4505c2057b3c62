//! The feedback of marks in acknowledgments, and the immediate acknowledgment of marks.

use perhop_scenario::tcp::Flags;

use super::super::marks::Owed;
use super::super::segment::Segment;
use super::{PendingAck, Receiver};

impl Receiver {
    /// Reports the counter of marks from now on, if the feedback is accurate ECN.
    pub(in crate::tcp) fn begin_counting(&mut self) {
        self.echo.begin_counting(&self.marks);
    }
    /// Sets the feedback for the ACK of the handshake.
    pub(in crate::tcp) fn begin_handshake_ack(&mut self) {
        self.echo.begin_handshake_ack();
    }
    /// Sets the feedback for acknowledgments after the ACK of the handshake.
    pub(in crate::tcp) fn end_handshake_ack(&mut self) {
        self.echo.end_handshake_ack(&self.marks);
    }

    /// Returns whether Linux acknowledges `segment` at once. Linux does so if the segment has CWR, because
    /// the window of the sender can then be one segment (`tcp_ecn_accept_cwr`). With RFC 3168 feedback, the
    /// first marked segment and the segment after it are also acknowledged quickly (`__tcp_ecn_check_ce`).
    /// `echoed` are the ECN flags of acknowledgments before this segment.
    pub(super) fn answer_congestion(&mut self, segment: &Segment, echoed: Flags) -> bool {
        let Some(delay) = &mut self.adaptive else { return false };
        if self.echo.is_accurate() || segment.length == 0 {
            return false;
        }
        if self.echo.is_classic() && self.echo.flags == Flags::ECE && echoed != Flags::ECE {
            delay.on_first_mark();
        }
        segment.has(Flags::CWR)
    }

    pub(super) fn answer_at_once(&mut self) {
        if self.marks.owed.is_some() {
            self.pending_ack = PendingAck::Pure;
        } else if self.pending_ack != PendingAck::Pure {
            self.pending_ack = PendingAck::Immediate;
        }
    }
    /// Writes the acknowledgment of the data before a change of marks, if it has not been sent yet.
    pub(in crate::tcp) fn write_owed(&mut self, segment: &mut Segment) {
        let Some(owed) = self.marks.owed.take() else { return };
        let Owed { acknowledgment, echo } = *owed;
        segment.flags |= Flags::ACK | echo;
        segment.acknowledgment = acknowledgment;
        segment.window = self.edge.saturating_sub(acknowledgment) as u32;
    }
}
