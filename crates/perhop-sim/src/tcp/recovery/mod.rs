//! Loss recovery before the timer expires: what duplicate acknowledgments and new ones do.
//!
//! One file per flavor, each the paper's or the RFC's steps; this one tells them apart.

mod new_reno;
mod reno;
mod sack;
mod tahoe;

use perhop_qos::units::Time;

use super::sender::{Phase, Sender, Timing};
use perhop_scenario::tcp::{FastRetransmit, Recovery};

impl Sender {
    /// A duplicate acknowledgment arrived; `news` tells whether its SACK blocks say anything new.
    pub(super) fn on_duplicate(&mut self, now: Time, news: bool) {
        match self.parameters.recovery {
            Recovery::Tahoe => self.tahoe_duplicate(now),
            Recovery::Reno => self.reno_duplicate(now),
            Recovery::NewReno => self.new_reno_duplicate(now),
            Recovery::Sack => self.sack_duplicate(now, news),
        }
    }

    /// `acknowledged` bytes are new, in fast recovery.
    pub(super) fn recover(&mut self, now: Time, acknowledged: u64) {
        match self.parameters.recovery {
            Recovery::Tahoe | Recovery::Reno => self.reno_recovered(now),
            Recovery::NewReno => self.new_reno_recover(now, acknowledged),
            Recovery::Sack => self.sack_recover(now),
        }
    }

    /// Whether duplicate acknowledgments now are about a window whose loss was already noticed. RFC 6582
    /// §3.2, step 2: only an acknowledgment of more than `recover` is about another one.
    fn is_about_old_loss(&self) -> bool {
        self.recovery_point.is_some_and(|point| self.unacknowledged <= point)
    }
    /// The same for Tahoe and Reno, which may be told not to care.
    fn may_not_retransmit(&self) -> bool {
        self.parameters.fast_retransmit == FastRetransmit::OncePerWindow && self.is_about_old_loss()
    }

    /// Loss was noticed: the threshold, unless ECN reduced it for the same window (RFC 3168 §6.1.2).
    fn notice_loss(&mut self) {
        self.statistics.fast_retransmits += 1;
        if self.mark_point.is_none_or(|point| self.unacknowledged > point) {
            self.reduce();
        }
        self.recovery_point = Some(self.highest);
        self.timing = Timing::NONE;
    }

    /// Fast retransmit and into fast recovery.
    fn enter_recovery(&mut self, now: Time) {
        self.notice_loss();
        self.phase = Phase::Recovery;
        self.window.segments = self.window.threshold;
        self.retransmit = true;
        self.restart_timer(now);
    }

    /// RFC 3042: each of the first duplicates lets one new segment out. They leave the window alone.
    fn transmit_on_early_duplicate(&mut self) {
        if self.parameters.limited_transmit && self.phase == Phase::Open {
            self.inflation = f64::from(self.duplicates);
        }
    }
}
