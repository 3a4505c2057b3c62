//! [`Target`]: the platform that a policy is lowered to.

use perhop_qos::buffer::DropSpacing;

use super::memory::MemoryShare;
use crate::profile::ProfileRules;

/// The platform that a policy is lowered to: the rules of its profile, and values set in their place.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The rules of its profile.
    pub rules: &'a ProfileRules,
    /// The limit of a class's queue without a written one, packets; `None` for the profile's rule.
    pub queue_limit: Option<u64>,
    /// The distances between random drops.
    pub drop_spacing: DropSpacing,
    /// The packet memory of the port of a switch; `None` where queues have limits of their own.
    pub memory: Option<MemoryShare<'a>>,
}
