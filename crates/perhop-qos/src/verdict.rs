//! [`Verdict`]: the decision about a packet, and [`DropCause`]: the reason of a drop.

use std::fmt;

use serde::Serialize;

/// The decision of a conditioner or a buffer manager about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The packet passes.
    Pass,
    /// The packet passes with the congestion-experienced codepoint (RFC 3168).
    MarkCe,
    /// The packet is dropped.
    Drop(DropCause),
}

/// Why a packet was dropped: every drop has exactly one cause and one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropCause {
    /// The queue was at its hard limit (tail drop).
    QueueFull,
    /// Active queue management drew the packet at random.
    EarlyRandom,
    /// Active queue management did not decide: its average was at or above its maximum threshold, the packet
    /// had waited too long, or a later acknowledgment supersedes it (CAKE's filter).
    EarlyForced,
    /// A traffic conditioner's action was to drop.
    Policed,
    /// The node has no route to the destination.
    NoRoute,
    /// No class of the port's policy takes the packet.
    NoClass,
    /// The wire lost it.
    Lost,
    /// The packet is longer than the MTU of the interface, and may not be fragmented.
    TooBig,
    /// The queue was at the limit of its part of a shared memory, or that memory had no free unit.
    SharedMemory,
    /// The queues of the port were at its limit of a shared memory.
    PortMemory,
}

impl DropCause {
    /// Every cause, in the order of their counters.
    pub const ALL: [DropCause; 10] = [
        DropCause::QueueFull,
        DropCause::EarlyRandom,
        DropCause::EarlyForced,
        DropCause::Policed,
        DropCause::NoRoute,
        DropCause::NoClass,
        DropCause::Lost,
        DropCause::TooBig,
        DropCause::SharedMemory,
        DropCause::PortMemory,
    ];
    /// The number of causes.
    pub const COUNT: usize = DropCause::ALL.len();

    /// Whether only ports with a [shared memory](crate::buffer::PortMemory) drop for it.
    pub const fn needs_shared_memory(self) -> bool {
        matches!(self, DropCause::SharedMemory | DropCause::PortMemory)
    }
    /// The index in [`DropCause::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropCause::QueueFull => "queue-full",
            DropCause::EarlyRandom => "early-random",
            DropCause::EarlyForced => "early-forced",
            DropCause::Policed => "policed",
            DropCause::NoRoute => "no-route",
            DropCause::NoClass => "no-class",
            DropCause::Lost => "lost",
            DropCause::TooBig => "too-big",
            DropCause::SharedMemory => "shared-memory",
            DropCause::PortMemory => "port-memory",
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.name())
    }
}
