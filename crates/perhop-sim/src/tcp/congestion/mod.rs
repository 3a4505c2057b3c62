//! Congestion control: how the window grows, and what is left of it after congestion.

mod cubic;
mod reno;

use perhop_qos::units::Time;
use perhop_scenario::tcp::CongestionControl;

use cubic::Cubic;
use reno::Reno;

/// The congestion window and the slow-start threshold, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CongestionWindow {
    pub(super) segments: f64,
    pub(super) threshold: f64,
}

impl CongestionWindow {
    /// RFC 5681 §3.1: slow start while cwnd < ssthresh.
    pub(super) fn in_slow_start(&self) -> bool {
        self.segments < self.threshold
    }
}

/// The least threshold, segments (RFC 5681 §3.1, equation 4).
const LEAST_THRESHOLD: f64 = 2.0;

/// An algorithm of congestion control. Slow start is the same for all.
trait Algorithm {
    /// `acknowledged` segments arrived in congestion avoidance; `round_trip` is the smoothed one, if it is known.
    fn avoid(
        &mut self,
        now: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        round_trip: impl FnOnce() -> Option<Time>,
    );
    /// The sender does not use its window: the time until `now` must not count for growth.
    fn hold(&mut self, now: Time);
    /// Congestion: the threshold to continue with. `used` is how much of the window counts, segments.
    fn reduce(&mut self, window: &CongestionWindow, used: f64) -> f64;
}

/// Any of the algorithms: stored by value, dispatched by one `match`.
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
    /// `acknowledged` segments arrived outside loss recovery; `round_trip` is the smoothed one, if it is known.
    #[allow(clippy::inline_always)] // most acknowledgments do it
    #[inline(always)]
    pub(super) fn grow(
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
            Congestion::Reno(reno) => reno.avoid(now, window, acknowledged, round_trip),
            Congestion::Cubic(cubic) => cubic.avoid(now, window, acknowledged, round_trip),
        }
    }
    /// See [`Algorithm::hold`].
    pub(super) fn hold(&mut self, now: Time) {
        match self {
            Congestion::Reno(reno) => reno.hold(now),
            Congestion::Cubic(cubic) => cubic.hold(now),
        }
    }
    /// See [`Algorithm::reduce`].
    pub(super) fn reduce(&mut self, window: &CongestionWindow, used: f64) -> f64 {
        let threshold = match self {
            Congestion::Reno(reno) => reno.reduce(window, used),
            Congestion::Cubic(cubic) => cubic.reduce(window, used),
        };
        threshold.max(LEAST_THRESHOLD)
    }
}
