//! Recovery by selective acknowledgment (RFC 6675 §5).

use perhop_qos::units::Time;

use crate::tcp::sender::{Phase, SackInformation, Sender};

impl Sender {
    pub(super) fn sack_duplicate(&mut self, now: Time, sack: SackInformation) {
        // RFC 6675 §2: a duplicate is an acknowledgment with new SACK information.
        if sack == SackInformation::Known || self.phase == Phase::Recovery {
            return;
        }
        self.duplicates += 1;
        // §5.1: after a timeout, recovery does not begin before RecoveryPoint is acknowledged.
        if self.recovery_point.get().is_some_and(|point| self.unacknowledged < point) {
            return;
        }
        // §5, steps 1 and 2: recovery begins at the threshold of duplicates, or when SACK information shows a
        // loss.
        let threshold = self.parameters.duplicate_threshold;
        let lost = self.scoreboard.lost_below(threshold, self.payload);
        if self.duplicates >= threshold || self.unacknowledged < lost {
            // Step 4: the first lost segment is retransmitted at once. Then the segments that the pipe
            // permits are sent.
            self.enter_recovery(now);
            self.next = self.highest;
            self.retransmitted = self.unacknowledged;
            self.rescued = false;
        }
    }

    pub(super) fn sack_recover(&mut self, now: Time, timeout: Time) {
        // RFC 6675 §5, step A: an acknowledgment of RecoveryPoint ends recovery.
        if self.recovery_point.get().is_none_or(|point| self.unacknowledged >= point) {
            self.phase = Phase::Open;
        }
        self.restart_timer(now, timeout);
    }
}
