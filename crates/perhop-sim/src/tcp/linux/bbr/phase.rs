//! [`Phase`] and [`Acks`]: the phase of a rate probe of BBR version 3.

use super::facts::ONE;

/// The pace during a rate probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Above the rate, until losses or marks occur or the rate grows no further.
    Up,
    /// Below the rate, until the queue is empty.
    Down,
    /// At the rate.
    Cruise,
    /// At the rate, for a round trip without bounds.
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

/// The phase that acknowledgments reflect (`bbr_ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}
