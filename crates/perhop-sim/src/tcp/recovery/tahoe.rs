//! Tahoe: fast retransmit without fast recovery (Jacobson 1988).

use std::cmp::Ordering;

use perhop_qos::units::Time;

use crate::tcp::sender::Sender;

impl Sender {
    pub(super) fn tahoe_duplicate(&mut self, now: Time) {
        self.duplicates += 1;
        match self.duplicates.cmp(&self.parameters.duplicate_threshold) {
            Ordering::Less => self.apply_limited_transmit(),
            Ordering::Equal if !self.is_fast_retransmit_barred() => {
                // The reaction is the same as to a timeout, although the timer has not expired.
                self.on_loss_detected();
                self.enter_loss();
                self.restart_timer(now, self.rtt.rto());
            }
            Ordering::Equal | Ordering::Greater => {}
        }
    }
}
