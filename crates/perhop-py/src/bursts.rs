//! The policer bursts that traffic needs, for `perhop design policer`.

use perhop_lint::needed_burst::{self, TcpBurst};
use pyo3::prelude::*;

/// Returns the bytes that determine the burst for a TCP connection: the product of bandwidth and delay, the
/// bytes of the sawtooth above the rate, and the initial window. The fourth number is the burst, which is the
/// largest of the three.
#[pyfunction]
pub(crate) fn tcp_burst(rate_bps: f64, rtt_s: f64, packet: u64) -> (f64, f64, f64, f64) {
    let burst = TcpBurst::new(rate_bps, rtt_s, packet);
    (burst.product, burst.sawtooth, burst.initial, burst.committed())
}

/// Returns the burst of calls whose packets arrive at the same time, bytes.
#[pyfunction]
pub(crate) fn calls_burst(calls: f64, packet: u64, late: f64) -> f64 {
    needed_burst::calls_burst(calls, packet, late)
}
