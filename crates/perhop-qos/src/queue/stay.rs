//! [`Stay`]: the data that a queue has about a packet that left it.

use crate::units::Time;

/// The data that a queue has about a packet that left its head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// The time at which the packet joined. It is valid only if the buffer manager [needs
    /// it](crate::buffer::BufferManager::needs_sojourn_times).
    pub since: Time,
    /// The queue of its flow, if flows have queues.
    pub flow: FlowStay,
}

/// The state of the queue of a flow after a packet left it.
// One word, because the processor cannot forward the stores of several fields to the load of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowStay(u64);

impl FlowStay {
    /// Creates the state of the queue of number `flow` with this number of bytes `left`.
    pub(crate) const fn new(flow: u16, left: u32, was_idle: bool) -> FlowStay {
        FlowStay(left as u64 | (flow as u64) << 32 | (was_idle as u64) << 48)
    }
    /// The number of the flow's queue.
    #[inline]
    pub const fn number(self) -> u16 {
        (self.0 >> 32) as u16
    }
    /// Remaining bytes in the queue; up to 4 GiB.
    #[inline]
    pub const fn left(self) -> u32 {
        self.0 as u32
    }
    /// Whether the queue was empty since its previous packet.
    #[inline]
    pub const fn was_idle(self) -> bool {
        self.0 >> 48 != 0
    }
}

impl Stay {
    /// The stay of a packet that finds an empty queue and leaves at once.
    pub(crate) const fn passing(now: Time) -> Stay {
        Stay { since: now, flow: FlowStay::new(0, 0, false) }
    }
}
