//! Reduction of the congestion window: proportional rate reduction (RFC 9937; `tcp_cwnd_reduction`).

mod hooks;

/// The value of the threshold if there is no threshold (`TCP_INFINITE_SSTHRESH`).
pub(super) const UNLIMITED: u32 = 0x7fff_ffff;

/// The current reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// `prior_cwnd`: the window before the reduction, segments.
    pub(super) window_before: u32,
    /// `prr_delivered`: the number of segments delivered since the reduction began.
    delivered: u32,
    /// `prr_out`: the number of segments sent since the reduction began.
    pub(super) sent: u32,
}
