//! [`Application`]: the element that determines the traffic of a session.

use perhop_measure::applications::SpeedTally;
use perhop_net::agenda::Slot;

/// The element that decides the data of a session.
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

/// A speed test. It records the bytes that its connections have received by the end of each slice of its
/// time.
#[derive(Debug)]
pub(crate) struct SpeedTest {
    pub(crate) slot: Slot,
    /// The index of the first session of the test. The test has the sessions of its bulk data and one more.
    pub(crate) first: usize,
    pub(crate) tally: SpeedTally,
}
