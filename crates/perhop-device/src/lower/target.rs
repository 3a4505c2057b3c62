//! [`Target`]: the platform for which a policy is lowered.

use perhop_qos::buffer::DropSpacing;

use super::memory::MemoryShare;
use crate::profile::ProfileRules;

/// The platform for which a policy is lowered: the rules of its profile, and values that override them.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The rules of the platform's profile.
    pub rules: &'a ProfileRules,
    /// The default limit of a class's queue, packets; `None` for the rule of the profile.
    pub queue_limit: Option<u64>,
    /// The rule for the distances between random drops.
    pub drop_spacing: DropSpacing,
    /// The packet memory of the port of a switch; `None` if queues have separate limits.
    pub memory: Option<MemoryShare<'a>>,
}
