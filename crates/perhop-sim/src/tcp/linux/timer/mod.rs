//! The single timer of the sender, and its purpose.

mod hooks;

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Off,
    Retransmission,
    /// A tail loss probe is due.
    Probe,
    /// RACK: a late segment may be lost.
    Reordering,
    /// QUIC: a late packet may be lost, or the probe timeout is due.
    LossDetection,
}

/// The number of ticks that are added to the timers of tail loss probes and of reordering
/// (`TCP_TIMEOUT_MIN`).
pub(super) const SLACK_TICKS: u64 = 2;
