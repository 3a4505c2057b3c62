//! [`Phase`] and [`Acks`]: where BBR version 3 is in a probe of the rate.

use super::facts::ONE;

/// What the pace does while the rate is probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// More than the rate, until losses, marks, or no more rate.
    Up,
    /// Less, until the queue is gone.
    Down,
    /// The rate.
    Cruise,
    /// The rate, for a round trip without bounds.
    Refill,
}

impl Phase {
    /// `bbr_pacing_gain`.
    pub(super) fn gain(self) -> u32 {
        match self {
            Phase::Up => ONE * 5 / 4,
            Phase::Down => ONE * 91 / 100,
            Phase::Cruise | Phase::Refill => ONE,
        }
    }
}

/// What acknowledgments tell of a probe (`bbr_ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}
