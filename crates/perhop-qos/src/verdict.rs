//! [`Verdict`]: the decision about a packet, and [`DropCause`]: the cause of a drop.

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

/// The cause of a drop. Every drop has exactly one cause and one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropCause {
    /// The queue had reached its hard limit (tail drop).
    QueueFull,
    /// Active queue management selected the packet at random.
    EarlyRandom,
    /// Active queue management dropped the packet without a random choice. The average was at or above the
    /// maximum threshold, the packet had waited too long, or a later acknowledgment supersedes it (CAKE's
    /// filter).
    EarlyForced,
    /// An action of a traffic conditioner dropped the packet.
    Policed,
    /// The node has no route to the destination.
    NoRoute,
    /// No class of the port's policy takes the packet.
    NoClass,
    /// The wire lost the packet.
    Lost,
    /// The packet is longer than the MTU of the interface, and may not be fragmented.
    TooBig,
    /// The queue was at the limit of its part of a shared memory, or the memory had no free unit.
    SharedMemory,
    /// The queues of the port had reached the port's limit of a shared memory.
    PortMemory,
    /// The memory of the interface by which the packet arrived had no room for its priority, whose sender was
    /// paused too late or not at all.
    Headroom,
}

impl DropCause {
    /// Every cause, in the order of their counters.
    pub const ALL: [DropCause; 11] = [
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
        DropCause::Headroom,
    ];
    /// The number of causes.
    pub const COUNT: usize = DropCause::ALL.len();

    /// Whether only ports with a [shared memory](crate::buffer::PortMemory) have this cause.
    pub const fn needs_shared_memory(self) -> bool {
        matches!(self, DropCause::SharedMemory | DropCause::PortMemory)
    }
    /// Whether only networks with [priority flow control](crate::policy::PauseConfig) drop for it.
    pub const fn needs_pauses(self) -> bool {
        matches!(self, DropCause::Headroom)
    }
    /// The index in [`DropCause::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
    /// The name of the cause in results.
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
            DropCause::Headroom => "headroom",
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(self.name())
    }
}
