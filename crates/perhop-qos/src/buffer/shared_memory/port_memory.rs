//! [`PortMemory`]: the part of a packet memory that the queues of one port hold.

use std::sync::Arc;

use super::config::MemoryConfig;
use super::limits::{Fall, Limits, UNLIMITED};
use super::pool::{Pool, PoolKey};
use super::units::{Count, UnitSize};
use crate::DropCause;

/// The memory of a port: units that its queues share, in addition to those of a pool.
///
/// A packet first takes reserved units of its queue, then units of the port, then units of the pool. Units
/// are released in the opposite order. It is therefore enough to count the units of queues, ports and pools.
/// Packets do not store their units.
#[derive(Debug)]
pub struct PortMemory {
    /// The units that the queues of the port hold in addition to their reserved units.
    shared: Count,
    /// The units of the port, which the queues use before the pool.
    reserved: u64,
    /// The largest value of `shared`.
    limit: u64,
    /// The values of `shared` over which the limits of the queues fall.
    fall: Fall,
    pool: Arc<Pool>,
    unit: UnitSize,
    /// Whether other ports may draw on the pool.
    has_named_pool: bool,
}

impl PortMemory {
    pub(super) fn new(config: &MemoryConfig, pool: Arc<Pool>) -> PortMemory {
        PortMemory {
            shared: Count::default(),
            reserved: config.reserved.into(),
            limit: config.limit.map_or(UNLIMITED, u64::from),
            fall: Fall::new(config.port_fall),
            pool,
            unit: UnitSize::new(config.unit_bytes, config.overhead),
            has_named_pool: config.pool.is_some(),
        }
    }

    /// The size of its units.
    pub fn unit(&self) -> UnitSize {
        self.unit
    }

    /// Takes units for a queue with `limits` that grows from `before` to `after` units in addition to its
    /// reserved units.
    #[inline]
    pub(super) fn take(&self, limits: &Limits, before: u64, after: u64) -> Result<(), DropCause> {
        let pool = &*self.pool;
        let (used, free) = (self.shared.get(), pool.free.get());
        let fits = limits.dynamic_admits(before, free)
            && self.fall.allows(after, limits.shared, limits.port_minimum, used)
            && pool.fall.allows(after, limits.shared, limits.pool_minimum, pool.size - free);
        if !fits {
            return Err(DropCause::SharedMemory);
        }
        let wanted = used + (after - before);
        if wanted > self.limit {
            return Err(DropCause::PortMemory);
        }
        let taken = self.pool_units(wanted) - self.pool_units(used);
        if taken > free {
            return Err(DropCause::SharedMemory);
        }
        self.shared.set(wanted);
        pool.free.set(free - taken);
        Ok(())
    }

    /// Releases `given` units that a queue held in addition to its reserved units.
    #[inline]
    pub(super) fn give_back(&self, given: u64) {
        let used = self.shared.get();
        let left = used - given;
        let returned = self.pool_units(used) - self.pool_units(left);
        self.shared.set(left);
        self.pool.free.set(self.pool.free.get() + returned);
    }

    /// The units of the pool among `shared` units of the queues.
    #[inline]
    fn pool_units(&self, shared: u64) -> u64 {
        shared.saturating_sub(self.reserved)
    }

    /// The units that the queues hold in addition to their reserved units.
    pub fn shared_units(&self) -> u64 {
        self.shared.get()
    }
    /// The part of [`shared_units`](Self::shared_units) that comes from the pool.
    pub fn units_of_pool(&self) -> u64 {
        self.pool_units(self.shared.get())
    }
    /// The units of the port, which its queues share before they use the pool.
    pub fn reserved_units(&self) -> u64 {
        self.reserved
    }
    /// All units of the pool.
    pub fn pool_size(&self) -> u64 {
        self.pool.size
    }
    /// The used units of the pool, including the units of other ports.
    pub fn pool_use(&self) -> u64 {
        self.pool.size - self.pool.free.get()
    }
    /// The free units of the pool.
    pub fn free_units(&self) -> u64 {
        self.pool.free.get()
    }
    /// The identity of the pool.
    pub fn pool(&self) -> PoolKey {
        PoolKey(Arc::as_ptr(&self.pool).addr())
    }
    /// Whether other ports may draw on the pool.
    pub fn has_named_pool(&self) -> bool {
        self.has_named_pool
    }
}
