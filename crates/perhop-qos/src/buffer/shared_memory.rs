//! Shared memory: several queues store their packets in one packet memory. Each queue has reserved memory,
//! and a limit on its use of the shared memory.
//!
//! Choudhury and Hahne 1998, "Dynamic queue length thresholds for shared-memory packet switches", compares
//! such limits. [`MemoryPools`] has the units that ports share, and [`PortMemory`] the units of one port.
//! [`MemoryQueue`] is the buffer manager of a queue. [`config`] has the settings.

pub(super) mod config;
mod limits;
mod pool;
mod pools;
mod port_memory;
mod units;

use std::sync::Arc;

use config::{MemoryProfilesConfig, SharedMemoryConfig};
use limits::Limits;
pub use pool::PoolKey;
pub use pools::MemoryPools;
pub use port_memory::PortMemory;
pub use units::UnitSize;

use super::contract::BufferManager;
use super::fill_tables::FillTables;
use crate::queue::Occupancy;
use crate::random::Streams;
use crate::{Color, ConfigError, DropCause, Packet, Time, Verdict};

/// The buffer manager of a queue that uses units of a [`PortMemory`]. A clone uses units of the same memory.
///
/// A packet uses memory from its admission until it leaves the queue. The caller must therefore add every
/// admitted packet to the queue. It must also record each [departure](BufferManager::departed) when it
/// happens, because a departure makes room for other queues.
#[derive(Clone, Debug)]
pub struct MemoryQueue {
    /// All units that the queue uses.
    used: u64,
    unit: UnitSize,
    /// The units that are reserved for this queue.
    reserved: u64,
    limits: Limits,
    port: Arc<PortMemory>,
    /// The fill profiles. They are in a box, because few queues have any.
    profiles: Option<Box<Profiles>>,
}

/// Early drops that depend on the fill level.
#[derive(Clone, Debug)]
struct Profiles {
    /// The number of units at a fill level of 100 percent.
    full: u64,
    tables: FillTables,
}

impl Profiles {
    fn new(config: &MemoryProfilesConfig, streams: &Streams) -> Result<Profiles, ConfigError> {
        let tables = FillTables::new(&config.precedences, config.ecn, streams)?;
        Ok(Profiles { full: config.full.into(), tables })
    }

    /// Returns the verdict on a packet that finds `used` units in the queue.
    fn judge(&mut self, packet: &Packet, precedence: Color, used: u64) -> Verdict {
        let fill = (used * 100 / self.full).min(100) as usize;
        self.tables.judge(packet, precedence, fill)
    }
}

impl PortMemory {
    /// Returns the buffer manager of another, empty queue.
    ///
    /// # Errors
    /// The errors are those of [`SharedMemoryConfig::check`].
    pub fn queue(
        self: &Arc<Self>,
        config: &SharedMemoryConfig,
        streams: &Streams,
    ) -> Result<MemoryQueue, ConfigError> {
        let limits = Limits::new(config)?;
        let reserved = config.reserved.into();
        let profiles =
            config.profiles.as_ref().map(|profiles| Profiles::new(profiles, streams).map(Box::new));
        let profiles = profiles.transpose().map_err(|error| error.within("profiles"))?;
        Ok(MemoryQueue { used: 0, unit: self.unit(), reserved, limits, port: Arc::clone(self), profiles })
    }
}

impl MemoryQueue {
    /// Takes the units of a packet of `length` IP bytes and drop precedence `precedence`.
    ///
    /// # Errors
    /// [`QueueFull`](DropCause::QueueFull): the queue would exceed the threshold of the drop precedence.
    /// [`SharedMemory`](DropCause::SharedMemory): the queue would exceed its limit, or the pool has too few
    /// free units. [`PortMemory`](DropCause::PortMemory): the port would exceed its limit.
    #[inline]
    pub fn take(&mut self, length: u32, precedence: Color) -> Result<(), DropCause> {
        let used = self.used;
        let wanted = used + self.unit.units(length);
        if wanted > u64::from(self.limits.thresholds[precedence.index()]) {
            return Err(DropCause::QueueFull);
        }
        // Usually the reserved units of the queue suffice, and no shared units are used.
        if wanted > self.reserved {
            self.port.take(&self.limits, used.saturating_sub(self.reserved), wanted - self.reserved)?;
        }
        self.used = wanted;
        Ok(())
    }

    /// Releases the units of a packet of `length` IP bytes, which leaves the queue.
    #[inline]
    pub fn give_back(&mut self, length: u32) {
        let used = self.used;
        let left = used - self.unit.units(length);
        if used > self.reserved {
            self.port.give_back(used - left.max(self.reserved));
        }
        self.used = left;
    }

    /// The units that the queue uses.
    pub fn units(&self) -> u64 {
        self.used
    }
    /// The units that the queue uses in addition to its reserved units.
    pub fn shared_units(&self) -> u64 {
        self.used.saturating_sub(self.reserved)
    }
    /// The units of a packet of `length` IP bytes.
    pub fn packet_units(&self, length: u32) -> u64 {
        self.unit.units(length)
    }
    /// The units that are reserved for this queue.
    pub fn reserved_units(&self) -> u64 {
        self.reserved
    }
    /// Returns the largest number of units that the queue can use for packets of drop precedence `precedence`
    /// while no other queue uses the memory, or `None` if the queue has no limit of its own.
    pub fn most_units(&self, precedence: Color) -> Option<u64> {
        let threshold = u64::from(self.limits.thresholds[precedence.index()]);
        Some(threshold.min(self.limits.shared + self.reserved)).filter(|most| *most < u64::from(u32::MAX))
    }
    /// The memory of the queue's port.
    pub fn port(&self) -> &PortMemory {
        &self.port
    }
}

impl MemoryQueue {
    #[inline]
    fn taken(&mut self, length: u32, precedence: Color) -> Verdict {
        match self.take(length, precedence) {
            Ok(()) => Verdict::Pass,
            Err(cause) => Verdict::Drop(cause),
        }
    }

    /// Admits or drops a packet of a queue that can have early drops. This function is not inlined, so that
    /// the code for queues without early drops remains short.
    #[inline(never)]
    fn judge(&mut self, packet: &Packet, precedence: Color) -> Verdict {
        let Some(profiles) = &mut self.profiles else { return self.taken(packet.length, precedence) };
        match profiles.judge(packet, precedence, self.used) {
            Verdict::Drop(cause) => Verdict::Drop(cause),
            passed => match self.take(packet.length, precedence) {
                Ok(()) => passed,
                Err(cause) => Verdict::Drop(cause),
            },
        }
    }
}

impl BufferManager for MemoryQueue {
    #[inline]
    fn admit(&mut self, _: Time, packet: &Packet, precedence: Color, _: &Occupancy) -> Verdict {
        if self.profiles.is_some() {
            return self.judge(packet, precedence);
        }
        self.taken(packet.length, precedence)
    }
    #[inline]
    fn departed(&mut self, _: Time, _: Color, length: u32, _: &Occupancy) {
        self.give_back(length);
    }
    fn decides_on_arrival(&self) -> bool {
        true
    }
}
