//! The one timer of the sender, and what it is set for.

mod hooks;

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Off,
    Retransmission,
    /// A tail loss probe.
    Probe,
    /// RACK: what is late may be lost.
    Reordering,
    /// QUIC: a packet may be late, or else a probe timeout.
    LossDetection,
}

/// Ticks that are added to the timers of tail loss probes and of reordering (`TCP_TIMEOUT_MIN`).
pub(super) const SLACK_TICKS: u64 = 2;
