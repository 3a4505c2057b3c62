//! Reduction of the congestion window: proportional rate reduction (RFC 9937; `tcp_cwnd_reduction`).

mod hooks;

/// The threshold that stands for none (`TCP_INFINITE_SSTHRESH`).
pub(super) const UNLIMITED: u32 = 0x7fff_ffff;

/// The reduction under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// `prior_cwnd`: the window before, segments.
    pub(super) window_before: u32,
    /// `prr_delivered`, `prr_out`: segments delivered and sent since it began.
    delivered: u32,
    pub(super) sent: u32,
}
