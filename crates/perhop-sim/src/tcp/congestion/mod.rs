//! Congestion control: growth of the window, and its reduction after congestion events.

mod algorithm;
mod cubic;
mod reno;

use perhop_qos::units::Time;
use perhop_scenario::tcp::CongestionControl;

use algorithm::Algorithm;
use cubic::Cubic;
use reno::Reno;

pub(super) use algorithm::CongestionWindow;

/// The least threshold, segments (RFC 5681 §3.1, equation 4).
const LEAST_THRESHOLD: f64 = 2.0;

/// The algorithm of one sender, stored by value and dispatched by one `match`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Congestion {
    Reno(Reno),
    Cubic(Cubic),
}

impl Congestion {
    pub(super) fn new(control: CongestionControl) -> Congestion {
        match control {
            CongestionControl::Reno => Congestion::Reno(Reno),
            CongestionControl::Cubic => Congestion::Cubic(Cubic::default()),
        }
    }
    /// `acknowledged` segments were acknowledged outside loss recovery; `round_trip` is the smoothed
    /// round-trip time, if it is known.
    #[allow(clippy::inline_always)] // the fast path of every acknowledgment
    #[inline(always)]
    pub(super) fn on_ack(
        &mut self,
        now: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        round_trip: impl FnOnce() -> Option<Time>,
    ) {
        if window.in_slow_start() {
            window.segments += acknowledged;
            return;
        }
        match self {
            Congestion::Reno(reno) => reno.on_ack(now, window, acknowledged, round_trip),
            Congestion::Cubic(cubic) => cubic.on_ack(now, window, acknowledged, round_trip),
        }
    }
    /// Forwards to [`Algorithm::on_application_limited`].
    pub(super) fn on_application_limited(&mut self, now: Time) {
        match self {
            Congestion::Reno(reno) => reno.on_application_limited(now),
            Congestion::Cubic(cubic) => cubic.on_application_limited(now),
        }
    }
    /// Forwards to [`Algorithm::on_congestion_event`], and bounds the threshold (RFC 5681 §3.1, equation 4).
    pub(super) fn on_congestion_event(&mut self, window: &CongestionWindow, in_use: f64) -> f64 {
        let threshold = match self {
            Congestion::Reno(reno) => reno.on_congestion_event(window, in_use),
            Congestion::Cubic(cubic) => cubic.on_congestion_event(window, in_use),
        };
        threshold.max(LEAST_THRESHOLD)
    }
}
