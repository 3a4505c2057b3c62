//! Shared memory: queues that draw on one packet memory, each with a reserved part and a limit of the shared
//! part.
//!
//! Choudhury and Hahne 1998, "Dynamic queue length thresholds for shared-memory packet switches", compares
//! limits of this kind. [`SharedMemory`] has the memory, [`MemoryQueue`] is the buffer manager of one of its
//! queues, [`config`] has their settings.

pub(super) mod config;
mod limits;
mod memory;
mod units;

use std::sync::Arc;

pub use memory::{MemoryBuilder, PoolId, PortId, SharedMemory};

use super::contract::BufferManager;
use crate::queue::{Occupancy, Stay};
use crate::{Color, Packet, Time, Verdict};

/// The buffer manager of a queue that draws on a [`SharedMemory`]. A clone draws on the same memory.
///
/// A packet occupies memory from its admission until it leaves the queue, so every admitted packet must
/// join, and every packet that leaves must be [released](BufferManager::release).
#[derive(Clone, Debug)]
pub struct MemoryQueue {
    memory: Arc<SharedMemory>,
    queue: usize,
}

impl MemoryQueue {
    /// The buffer manager of queue number `queue` of `memory`.
    ///
    /// # Panics
    /// If `memory` has no such queue.
    pub fn new(memory: Arc<SharedMemory>, queue: usize) -> MemoryQueue {
        assert!(queue < memory.queues(), "the memory has {} queues", memory.queues());
        MemoryQueue { memory, queue }
    }
    /// The memory.
    pub fn memory(&self) -> &SharedMemory {
        &self.memory
    }
}

impl BufferManager for MemoryQueue {
    #[inline]
    fn admit(&mut self, _: Time, packet: &Packet, precedence: Color, _: &Occupancy) -> Verdict {
        match self.memory.admit(self.queue, packet.length, precedence) {
            Ok(()) => Verdict::Pass,
            Err(cause) => Verdict::Drop(cause),
        }
    }
    #[inline]
    fn release(&mut self, _: Time, packet: &Packet, _: Color, _: Stay, _: &Occupancy) -> Verdict {
        self.memory.release(self.queue, packet.length);
        Verdict::Pass
    }
}
