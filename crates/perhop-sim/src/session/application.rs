//! [`Application`]: the element that determines the data of a session.

use perhop_measure::applications::SpeedTally;
use perhop_net::agenda::Slot;

/// The element that determines when and how many data a session sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Application {
    /// The plan of the session.
    #[default]
    Plan,
    /// The player with this index.
    Player(usize),
    /// The browser with this index.
    Browser(usize),
}

/// A speed test. At the end of each time slice, it records the bytes that its connections have received.
#[derive(Debug)]
pub(crate) struct SpeedTest {
    pub(crate) slot: Slot,
    /// The index of the first session of the test. The test has the sessions of its bulk data and one more.
    pub(crate) first: usize,
    pub(crate) tally: SpeedTally,
}
