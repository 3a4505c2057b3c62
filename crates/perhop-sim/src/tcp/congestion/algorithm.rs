//! [`Algorithm`]: the interface of congestion-control algorithms.

use perhop_qos::units::Time;

/// The congestion window and the slow-start threshold, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tcp) struct CongestionWindow {
    pub(in crate::tcp) segments: f64,
    pub(in crate::tcp) threshold: f64,
}

impl CongestionWindow {
    /// RFC 5681 §3.1: slow start while cwnd < ssthresh.
    pub(in crate::tcp) fn in_slow_start(&self) -> bool {
        self.segments < self.threshold
    }
}

/// An algorithm of congestion control. Slow start is common to all: see
/// [`Congestion::on_ack`](super::Congestion::on_ack).
pub(super) trait Algorithm {
    /// `acknowledged` segments were acknowledged in congestion avoidance; `round_trip` is the smoothed
    /// round-trip time, if it is known.
    fn on_ack(
        &mut self,
        now: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        round_trip: impl FnOnce() -> Option<Time>,
    );
    /// An acknowledgment arrived while the sender is application-limited: the time until `now` must not count
    /// for growth.
    fn on_application_limited(&mut self, now: Time);
    /// A congestion event: loss, timeout or ECN mark. Returns the new slow-start threshold, segments.
    /// `in_use` is the part of the window that is reduced, segments.
    fn on_congestion_event(&mut self, window: &CongestionWindow, in_use: f64) -> f64;
}
