//! [`CongestionWindow`]: the state that all congestion controls change.

/// The congestion window and the slow-start threshold, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tcp) struct CongestionWindow {
    pub(in crate::tcp) segments: f64,
    pub(in crate::tcp) threshold: f64,
}
