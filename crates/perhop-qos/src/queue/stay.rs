//! [`Stay`]: the data of a queue about a packet that has left it.

use crate::units::Time;

/// The data of a queue about a packet that has left its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// The time at which it joined; unknown unless the buffer manager [needs
    /// it](crate::buffer::BufferManager::needs_sojourn_times).
    pub since: Time,
    /// Remaining bytes in the queue of its flow, if flows have queues; up to 4 GiB.
    pub left: u32,
    /// The number of the flow's queue.
    pub flow: u16,
    /// Whether that queue was empty since the previous packet.
    pub was_idle: bool,
}

impl Stay {
    /// The stay of a packet that finds an empty queue and leaves at once.
    pub(crate) const fn passing(now: Time) -> Stay {
        Stay { since: now, left: 0, flow: 0, was_idle: false }
    }
}
