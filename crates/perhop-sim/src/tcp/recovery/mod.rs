//! Loss recovery before the retransmission timer expires.
//!
//! Each algorithm has a file with the steps of its paper or RFC. This file selects the algorithm and has the
//! steps that several algorithms share.

mod new_reno;
mod reno;
mod sack;
mod tahoe;

use perhop_qos::units::Time;

use super::congestion::Cause;
use super::sender::{OffsetOrNone, Phase, SackInformation, Sender, Timing};
use perhop_scenario::tcp::{FastRetransmit, Recovery};

impl Sender {
    /// Processes a duplicate acknowledgment, and starts recovery if it indicates a loss.
    pub(super) fn detect_loss(&mut self, now: Time, sack: SackInformation) {
        match self.parameters.recovery {
            Recovery::Tahoe => self.tahoe_duplicate(now),
            Recovery::Reno => self.reno_duplicate(now),
            Recovery::NewReno => self.new_reno_duplicate(now),
            Recovery::Sack | Recovery::Rack | Recovery::Quic => self.sack_duplicate(now, sack),
        }
    }

    /// Processes the acknowledgment of `acknowledged` new bytes during fast recovery. The timer restarts with
    /// `timeout`.
    pub(super) fn recover(&mut self, now: Time, acknowledged: u64, timeout: Time) {
        match self.parameters.recovery {
            Recovery::Tahoe | Recovery::Reno => self.reno_recovered(now, timeout),
            Recovery::NewReno => self.new_reno_recover(now, acknowledged, timeout),
            Recovery::Sack | Recovery::Rack | Recovery::Quic => self.sack_recover(now, timeout),
        }
    }

    /// Whether duplicate acknowledgments belong to a window of data in which a loss is already known. Such an
    /// acknowledgment does not cover more than `recover` (RFC 6582 §3.2, step 2).
    fn is_loss_known(&self) -> bool {
        self.recovery_point.get().is_some_and(|point| self.unacknowledged <= point)
    }
    /// Whether Tahoe and Reno must not use fast retransmit now, because it is configured to occur only once
    /// per window of data.
    fn is_fast_retransmit_barred(&self) -> bool {
        self.parameters.fast_retransmit == FastRetransmit::OncePerWindow && self.is_loss_known()
    }

    /// Starts a recovery. Reduces the threshold, unless an ECN mark has already reduced it for this window
    /// (RFC 3168 §6.1.2).
    fn on_loss_detected(&mut self) {
        self.statistics.fast_retransmits += 1;
        if self.mark_point.get().is_none_or(|point| self.unacknowledged > point) {
            self.reduce_threshold(Cause::Loss);
        }
        self.recovery_point = OffsetOrNone::at(self.highest);
        self.timing = Timing::NONE;
    }

    /// Enters fast recovery and requests the retransmission of the first unacknowledged segment.
    fn enter_recovery(&mut self, now: Time) {
        self.on_loss_detected();
        self.phase = Phase::Recovery;
        self.window.segments = self.window.threshold;
        self.retransmit = true;
        self.restart_timer(now, self.rtt.rto());
    }

    /// Permits one new segment for each of the first duplicates (RFC 3042). The congestion window does not
    /// change.
    fn apply_limited_transmit(&mut self) {
        if self.parameters.limited_transmit && self.phase == Phase::Open {
            self.inflation = f64::from(self.duplicates);
        }
    }
}
