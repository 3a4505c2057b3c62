//! [`Plain`]: the sets by which a witness is chosen.

use crate::decision_diagram::Set;

/// What witnesses are chosen by, made once.
#[derive(Debug)]
pub(crate) struct Plain {
    /// The packets that may exist.
    pub(crate) existing: Set,
    /// What a packet had best look like, the most important first.
    pub(crate) preferred: Vec<Set>,
}
