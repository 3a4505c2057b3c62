//! Tahoe: fast retransmit without fast recovery (Jacobson 1988).

use std::cmp::Ordering;

use perhop_qos::units::Time;

use crate::tcp::sender::Sender;

impl Sender {
    pub(super) fn tahoe_duplicate(&mut self, now: Time) {
        self.duplicates += 1;
        match self.duplicates.cmp(&self.parameters.duplicate_threshold) {
            Ordering::Less => self.transmit_on_early_duplicate(),
            Ordering::Equal if !self.may_not_retransmit() => {
                // As after a timeout, but without waiting for one.
                self.notice_loss();
                self.start_again();
                self.restart_timer(now);
            }
            Ordering::Equal | Ordering::Greater => {}
        }
    }
}
