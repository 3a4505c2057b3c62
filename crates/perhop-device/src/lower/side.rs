//! [`Side`]: one direction of a port, ready to be lowered.

use crate::intent::{Limiter, PlainQueue, Policy};

use super::labels::Labels;
use super::marking::Markings;
use super::reference::Reference;

/// One direction of a port.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// The path of the packets.
    pub path: SidePath<'a>,
    /// The policy, and the rates that its numbers refer to.
    pub policy: Option<(&'a Policy, Reference)>,
    /// An earlier policy that only marks and polices, and the rates that its numbers refer to.
    pub before: Option<(&'a Policy, Reference)>,
    /// Limiters in front of the policy, in order.
    pub limiters: &'a [Limiter],
    /// The fields that the device writes on this side.
    pub markings: Markings,
    /// The number of the first label that classes can use.
    pub labels: Labels,
    /// The bytes per packet that the policy counts in addition to the IP bytes.
    pub overhead: i32,
}

/// The path of the packets of one direction of a port.
#[derive(Clone, Copy, Debug)]
pub enum SidePath<'a> {
    /// Packets from the wire.
    Arrival,
    /// Packets to the device itself.
    ToDevice,
    /// Packets to the wire.
    Departure {
        /// The queue of the port if the policy does not queue.
        plain: &'a PlainQueue,
        /// Whether packets get a new tag and lose the class of service of the old tag.
        has_new_tag: bool,
    },
}
