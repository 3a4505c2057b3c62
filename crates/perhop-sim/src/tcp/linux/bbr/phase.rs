//! [`Phase`]: the phase of a rate probe of BBR version 3. [`Acks`]: the phase whose effect acknowledgments
//! show.

use super::facts::ONE;

/// A phase of a rate probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The pace is above the rate, until losses or marks occur or the rate stops growing.
    Up,
    /// The pace is below the rate, until the queue is empty.
    Down,
    /// The pace is the rate.
    Cruise,
    /// The pace is the rate, for a round trip without the short-term bounds.
    Refill,
}

impl Phase {
    /// The gain of the pace in this phase (`bbr_pacing_gain`).
    pub(super) fn gain(self) -> u32 {
        match self {
            Phase::Up => ONE * 5 / 4,
            Phase::Down => ONE * 91 / 100,
            Phase::Cruise | Phase::Refill => ONE,
        }
    }
}

/// The phase whose effect acknowledgments show (`bbr_ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}
