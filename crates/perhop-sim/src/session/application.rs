//! [`Application`]: who decides what a session sends.

use perhop_measure::applications::SpeedTally;
use perhop_net::agenda::Slot;

/// Who decides what a session sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Application {
    /// Its plan.
    #[default]
    Plan,
    /// The player at a place.
    Player(usize),
    /// The browser at a place.
    Browser(usize),
}

/// A speed test: what its connections have received by the ends of equal slices of its time.
#[derive(Debug)]
pub(crate) struct SpeedTest {
    pub(crate) slot: Slot,
    /// The first of its sessions; those of its bulk data, and one more.
    pub(crate) first: usize,
    pub(crate) tally: SpeedTally,
}
