//! [`Stay`]: the data that a queue has about a packet that left it.

use crate::units::Time;

/// The data that a queue has about a packet that left its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// The time at which the packet joined. It is valid only if the buffer manager [needs
    /// it](crate::buffer::BufferManager::needs_sojourn_times).
    pub since: Time,
    /// Remaining bytes in the queue of its flow, if flows have queues; up to 4 GiB.
    pub left: u32,
    /// The number of the flow's queue.
    pub flow: u16,
    /// Whether the flow's queue was empty since its previous packet.
    pub was_idle: bool,
}

impl Stay {
    /// The stay of a packet that finds an empty queue and leaves at once.
    pub(crate) const fn passing(now: Time) -> Stay {
        Stay { since: now, left: 0, flow: 0, was_idle: false }
    }
}
