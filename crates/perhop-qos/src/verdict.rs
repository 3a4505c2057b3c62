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

/// The cause of a drop. Each drop has exactly one cause, and each cause has a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropCause {
    /// The queue had reached its hard limit (tail drop).
    QueueFull,
    /// Active queue management has selected the packet at random.
    EarlyRandom,
    /// Active queue management has dropped the packet without a random choice: the average was at or above
    /// the maximum threshold, the packet had waited too long, or a later acknowledgment makes it redundant
    /// (CAKE's filter).
    EarlyForced,
    /// An action of a traffic conditioner has dropped the packet.
    Policed,
    /// The node has no route to the destination.
    NoRoute,
    /// No class of the port's policy matches the packet.
    NoClass,
    /// The wire has lost the packet.
    Lost,
    /// The packet is longer than the MTU of the interface and must not be fragmented.
    TooBig,
    /// The queue had reached its limit on the shared memory, or the memory had no free units.
    SharedMemory,
    /// The queues of the port had reached the port's limit on the shared memory.
    PortMemory,
    /// The memory of the interface on which the packet arrived had no room for its priority. The sender was
    /// paused too late or not at all.
    Headroom,
}

impl DropCause {
    /// All causes, in the order of their counters.
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

    /// Whether this cause can occur only at ports with a [shared memory](crate::buffer::PortMemory).
    pub const fn needs_shared_memory(self) -> bool {
        matches!(self, DropCause::SharedMemory | DropCause::PortMemory)
    }
    /// Whether this cause can occur only in networks with [priority flow
    /// control](crate::policy::PauseConfig).
    pub const fn needs_pauses(self) -> bool {
        matches!(self, DropCause::Headroom)
    }
    /// The index of the cause in [`DropCause::ALL`].
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
