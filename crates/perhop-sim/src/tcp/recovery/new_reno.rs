//! NewReno: fast recovery until the whole window is acknowledged (RFC 6582).

use std::cmp::Ordering;

use perhop_qos::units::Time;

use crate::tcp::sender::{Phase, Sender};

impl Sender {
    pub(super) fn new_reno_duplicate(&mut self, now: Time) {
        if self.phase == Phase::Recovery {
            // RFC 6582 §3.2, with step 4 of RFC 5681 §3.2: a further duplicate inflates the window.
            self.inflation += 1.0;
            return;
        }
        self.duplicates += 1;
        match self.duplicates.cmp(&self.parameters.duplicate_threshold) {
            Ordering::Less => self.apply_limited_transmit(),
            Ordering::Equal if !self.is_loss_known() => {
                // RFC 6582 §3.2, steps 2 and 3: fast retransmit. The window is inflated by the duplicates.
                let duplicates = self.duplicates;
                self.enter_recovery(now);
                self.impatient = true;
                self.inflation = f64::from(duplicates);
            }
            Ordering::Equal | Ordering::Greater => {}
        }
    }

    pub(super) fn new_reno_recover(&mut self, now: Time, acknowledged: u64, timeout: Time) {
        let payload = self.payload as f64;
        if self.recovery_point.get().is_none_or(|point| self.unacknowledged >= point) {
            // §3.2, full acknowledgment, option 1: min(ssthresh, max(FlightSize, SMSS) + SMSS), which avoids
            // a burst.
            let flight = self.flight() as f64 / payload;
            self.window.segments = self.window.threshold.min(flight.max(1.0) + 1.0);
            self.inflation = 0.0;
            self.phase = Phase::Open;
            self.restart_timer(now, timeout);
            return;
        }
        // §3.2, partial acknowledgment: the next hole is retransmitted. The window deflates by the
        // acknowledged amount, and then inflates by one segment if that amount is at least one segment.
        self.retransmit = true;
        self.inflation -= acknowledged as f64 / payload;
        if acknowledged as f64 >= payload {
            self.inflation += 1.0;
        }
        // Impatient variant: the timer restarts only at the first partial acknowledgment.
        if std::mem::take(&mut self.impatient) {
            self.restart_timer(now, timeout);
        }
    }
}
