//! Additive increase, multiplicative decrease (RFC 5681 §3.1).

use perhop_qos::units::Time;

use super::algorithm::{Algorithm, CongestionWindow};

/// One segment more per round trip; half after congestion.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Reno;

impl Algorithm for Reno {
    fn on_ack(
        &mut self,
        _: Time,
        window: &mut CongestionWindow,
        acknowledged: f64,
        _: impl FnOnce() -> Option<Time>,
    ) {
        // RFC 5681 §3.1, equation 3: cwnd += SMSS·SMSS/cwnd for each acknowledgment.
        window.segments += acknowledged / window.segments;
    }
    fn on_application_limited(&mut self, _: Time) {}
    fn on_congestion_event(&mut self, _: &CongestionWindow, in_use: f64) -> f64 {
        // RFC 5681 §3.1, equation 4: half, in whole segments, since parts of one are not sent.
        libm::floor(in_use / 2.0)
    }
}
