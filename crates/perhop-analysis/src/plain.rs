//! [`Plain`]: the sets that determine the choice of a witness.

use crate::decision_diagram::Set;

/// The sets from which a witness is chosen. They are built once per packet space.
#[derive(Debug)]
pub(crate) struct Plain {
    /// The packets that can exist.
    pub(crate) existing: Set,
    /// The preferred properties of a packet, beginning with the most important.
    pub(crate) preferred: Vec<Set>,
}
