//! [`Condition`]: the packets that match a filter.

use perhop_qos::classifier::MatchConfig;

/// The packets that match a filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condition {
    pub(crate) family: Family,
    pub(crate) matches: MatchConfig,
    /// Whether no packet matches.
    pub(crate) is_never: bool,
    /// Whether the filter matches properties outside the model.
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
