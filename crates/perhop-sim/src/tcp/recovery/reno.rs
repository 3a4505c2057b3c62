//! Reno: fast recovery until any new acknowledgment (RFC 5681 §3.2).

use std::cmp::Ordering;

use perhop_qos::units::Time;

use crate::tcp::sender::{Phase, Sender};
use perhop_scenario::tcp::Growth;

impl Sender {
    pub(super) fn reno_duplicate(&mut self, now: Time) {
        self.duplicates += 1;
        match self.duplicates.cmp(&self.parameters.duplicate_threshold) {
            Ordering::Less => self.apply_limited_transmit(),
            Ordering::Equal => {
                if !self.is_fast_retransmit_barred() {
                    // RFC 5681 §3.2, steps 2 and 3: fast retransmit.
                    self.enter_recovery(now);
                }
                // ns-2 inflates the window for duplicates even if fast retransmit is barred, because a
                // segment has left the network.
                self.inflation = f64::from(self.duplicates);
            }
            // RFC 5681 §3.2, step 4: a further duplicate inflates the window.
            Ordering::Greater => self.inflation += 1.0,
        }
    }

    /// Ends recovery after any acknowledgment of new data, even if other losses remain (RFC 5681 §3.2, step
    /// 6).
    pub(super) fn reno_recovered(&mut self, now: Time, timeout: Time) {
        self.phase = Phase::Open;
        self.window.segments = self.window.threshold;
        self.inflation = 0.0;
        self.restart_timer(now, timeout);
        if self.parameters.growth == Growth::Always {
            // ns-2.35 tcp/tcp.cc, recv_newack_helper: this acknowledgment also grows the window.
            self.grow_window(now, self.payload, 1.0);
        }
    }
}
