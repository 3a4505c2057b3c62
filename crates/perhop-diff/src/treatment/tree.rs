//! [`Tree`]: the treatment of packets, without the packets.

use perhop_analysis::Field;
use serde_json::Value;

/// The number of a tree on one side.
pub(super) type TreeId = usize;

/// The treatment of packets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tree {
    Dropped,
    Leaves {
        /// The fields that are written with a new value.
        marks: Vec<(Field, u128)>,
        place: Place,
    },
    Metered {
        meter: usize,
        /// The treatment by color.
        colors: Vec<(usize, TreeId)>,
    },
}

/// The place at which the path of packets ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// The steps end before a queue.
    Onward,
    /// The packets match no class.
    NoClass,
    Queue {
        queue: usize,
        /// The index in `rows` of the queue.
        row: usize,
    },
}

/// A meter with its place in the policy.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    pub(super) name: String,
    pub(super) config: Value,
    pub(super) is_per_flow: bool,
}
