//! [`Stay`]: what a queue knows of a packet that has left it.

use crate::units::Time;

/// What a queue knows of a packet that has left its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// When it joined; not known unless the buffer manager [asks for
    /// it](crate::buffer::BufferManager::asks_for_stays).
    pub since: Time,
    /// Bytes that it leaves behind in the queue of its flow, where flows have queues; up to 4 GiB.
    pub left: u32,
    /// That queue.
    pub flow: u16,
    /// That queue was found empty since the packet before.
    pub was_idle: bool,
}

impl Stay {
    /// That of a packet that finds nothing before it and leaves at once.
    pub(crate) const fn passing(now: Time) -> Stay {
        Stay { since: now, left: 0, flow: 0, was_idle: false }
    }
}
