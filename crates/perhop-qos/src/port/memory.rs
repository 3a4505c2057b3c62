//! The packet memory of ports: pools that several ports share, and the check that no unit is lost.

use std::collections::BTreeMap;

use super::Port;
use crate::buffer::{AnyBuffer, MemoryQueue, PoolKey, PortMemory};

impl Port {
    /// The queues that use the memory of the port, and their numbers.
    pub fn memory_queues(&self) -> impl Iterator<Item = (usize, &MemoryQueue)> {
        self.buffers.iter().enumerate().filter_map(|(index, buffer)| match buffer {
            AnyBuffer::SharedMemory(queue) => Some((index, queue)),
            _ => None,
        })
    }

    /// The memory that the queues of the port use, if any.
    pub fn memory(&self) -> Option<&PortMemory> {
        self.memory_queues().next().map(|(_, queue)| queue.port())
    }

    /// The pool that the port may share with other ports of its node. Ports with one pool depend on each
    /// other: before a packet arrives at one of them, all of them must have sent the packets that are due.
    pub fn shared_pool(&self) -> Option<PoolKey> {
        self.memory().filter(|memory| memory.has_named_pool()).map(PortMemory::pool)
    }

    /// Whether each queue uses exactly the units of its packets, and the port exactly the units of its
    /// queues.
    fn holds_its_units(&self) -> bool {
        let mut shared = 0;
        for (index, queue) in self.memory_queues() {
            let packets: u64 =
                self.queues[index].iter().map(|packet| queue.packet_units(packet.length)).sum();
            // The queue does not store a packet with a precomputed departure, but it uses the units of that
            // packet.
            if packets > queue.units() || (self.pending.is_empty() && packets < queue.units()) {
                return false;
            }
            shared += queue.shared_units();
        }
        self.memory().is_none_or(|memory| memory.shared_units() == shared)
    }

    /// Whether each used unit of memory belongs to a packet, and each pool counts exactly the units that its
    /// ports use. `ports` must contain all ports that share the pools.
    pub fn is_memory_conserved<'a>(ports: impl IntoIterator<Item = &'a Port>) -> bool {
        // For each pool: the units that it counts as used, and the sum of the units that its ports use.
        let mut pools: BTreeMap<PoolKey, (u64, u64)> = BTreeMap::new();
        for port in ports {
            if !port.holds_its_units() {
                return false;
            }
            if let Some(memory) = port.memory() {
                pools.entry(memory.pool()).or_insert((memory.pool_use(), 0)).1 += memory.units_of_pool();
            }
        }
        pools.values().all(|(used, sum)| used == sum)
    }
}
