//! [`Plain`]: the sets by which a witness is chosen.

use crate::decision_diagram::Set;

/// The sets that a witness is chosen from, built once.
#[derive(Debug)]
pub(crate) struct Plain {
    /// The packets that may exist.
    pub(crate) existing: Set,
    /// The preferred properties of a packet, the most important first.
    pub(crate) preferred: Vec<Set>,
}
