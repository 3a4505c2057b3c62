//! Congestion control: growth of the window, and its reduction after congestion events.

mod cubic;
mod window;

use perhop_qos::units::Time;
use perhop_scenario::tcp::{CongestionControl, Parameters};

use cubic::Cubic;
pub(super) use window::CongestionWindow;

/// The minimum threshold, segments (RFC 5681 §3.1, equation 4).
const LEAST_THRESHOLD: f64 = 2.0;

/// The signal of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A loss, or a timeout.
    Loss,
    /// An ECN mark.
    Mark,
}

impl Cause {
    /// Returns the fraction of the window that remains after a mark in congestion avoidance: 0.8 for Reno and
    /// 0.85 for CUBIC (RFC 8511 §3). Returns `None` if the reduction is the same as after a loss.
    pub(super) fn factor(self, parameters: &Parameters, is_in_slow_start: bool) -> Option<f64> {
        if !parameters.abe || self == Cause::Loss || is_in_slow_start {
            return None;
        }
        Some(if parameters.congestion == CongestionControl::Cubic { 0.85 } else { 0.8 })
    }
}

/// The congestion control of a sender. All algorithms have the same slow start.
#[derive(Clone, Debug)]
pub(super) enum Congestion {
    /// Additive increase, multiplicative decrease (RFC 5681 §3.1): one more segment per round trip, and half
    /// of the window after congestion.
    Reno,
    Cubic(Box<Cubic>),
}

impl Congestion {
    pub(super) fn new(control: CongestionControl) -> Congestion {
        match control {
            // The other algorithms need a record of every segment, so module `linux` has them.
            CongestionControl::Reno
            | CongestionControl::Dctcp
            | CongestionControl::Prague
            | CongestionControl::Bbr
            | CongestionControl::Bbr3
            | CongestionControl::Ledbat => Congestion::Reno,
            CongestionControl::Cubic => Congestion::Cubic(Box::default()),
        }
    }
    /// Grows the window for `acknowledged` segments outside loss recovery. `round_trip` is the smoothed
    /// round-trip time, if known.
    #[allow(clippy::inline_always)] // the fast path of every acknowledgment
    #[inline(always)]
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        round_trip: impl FnOnce() -> Option<Time>,
    ) {
        // RFC 5681 §3.1: slow start while cwnd < ssthresh.
        if window.segments < window.threshold {
            window.segments += acknowledged;
            return;
        }
        match self {
            // RFC 5681 §3.1, equation 3: cwnd += SMSS·SMSS/cwnd for each acknowledgment.
            Congestion::Reno => window.segments += acknowledged / window.segments,
            Congestion::Cubic(cubic) => cubic.on_ack(now, window, acknowledged, round_trip),
        }
    }
    /// Excludes the time until `now` from growth, because an acknowledgment arrived while the sender was
    /// application-limited.
    pub(super) fn on_application_limited(&mut self, now: Time) {
        if let Congestion::Cubic(cubic) = self {
            cubic.on_application_limited(now);
        }
    }
    /// Reacts to a congestion event: loss, timeout or ECN mark. Returns the new slow-start threshold,
    /// segments. `in_use` is the number of segments from which the threshold is computed. `factor` is the
    /// fraction of `in_use` that remains, if it is not the algorithm's default.
    pub(super) fn on_congestion_event(
        &mut self,
        window: &CongestionWindow,
        in_use: f64,
        factor: Option<f64>,
    ) -> f64 {
        let threshold = match self {
            Congestion::Reno if let Some(factor) = factor => libm::floor(in_use * factor),
            // RFC 5681 §3.1, equation 4: half, in whole segments, because partial segments are not sent.
            Congestion::Reno => libm::floor(in_use / 2.0),
            Congestion::Cubic(cubic) => cubic.on_congestion_event(window, in_use, factor),
        };
        threshold.max(LEAST_THRESHOLD)
    }
}
