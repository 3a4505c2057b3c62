//! [`Stay`]: the stay of a packet in a queue, for the buffer manager that decides at the head.

use crate::units::Time;

/// The stay of a packet that has left the head of a queue: its arrival, and the state of its flow's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// The time at which the packet joined the queue. It is valid only if the buffer manager [needs sojourn
    /// times](crate::buffer::BufferManager::needs_sojourn_times).
    pub since: Time,
    /// The state of the queue of the packet's flow, if flows have queues.
    pub flow: FlowStay,
}

/// The state of a flow's queue after a packet has left it.
// The state is one word, because the processor cannot forward the stores of several fields to a load of the
// whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowStay(u64);

impl FlowStay {
    /// Creates the state of the queue with the number `flow`, in which `left` bytes remain.
    pub(crate) const fn new(flow: u16, left: u32, was_idle: bool) -> FlowStay {
        FlowStay(left as u64 | (flow as u64) << 32 | (was_idle as u64) << 48)
    }
    /// The number of the queue.
    #[inline]
    pub const fn number(self) -> u16 {
        (self.0 >> 32) as u16
    }
    /// The bytes that remain in the queue, limited to 4 GiB.
    #[inline]
    pub const fn left(self) -> u32 {
        self.0 as u32
    }
    /// Whether the queue was found empty after its previous packet.
    #[inline]
    pub const fn was_idle(self) -> bool {
        self.0 >> 48 != 0
    }
}

impl Stay {
    /// Returns the stay of a packet that finds an empty queue and leaves at once.
    pub(crate) const fn passing(now: Time) -> Stay {
        Stay { since: now, flow: FlowStay::new(0, 0, false) }
    }
}
