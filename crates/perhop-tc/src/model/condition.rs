//! [`Condition`]: the packets that a filter takes.

use perhop_qos::classifier::MatchConfig;

/// The packets that a filter takes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) family: Family,
    pub(crate) matches: MatchConfig,
    /// Whether no packet meets it.
    pub(crate) is_never: bool,
    /// Whether it matches properties outside the model.
    pub(crate) is_unseen: bool,
}

/// The version of IP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Family {
    #[default]
    Any,
    Four,
    Six,
}
