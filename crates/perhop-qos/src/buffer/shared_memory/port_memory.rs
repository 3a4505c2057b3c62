//! [`PortMemory`]: the units of a packet memory that the queues of one port use.

use std::sync::Arc;

use super::config::MemoryConfig;
use super::limits::{Fall, Limits, UNLIMITED};
use super::pool::{Pool, PoolKey};
use super::units::{Count, UnitSize};
use crate::DropCause;

/// The memory of a port: the units that its queues share, and the pool from which they take more units.
///
/// A packet first takes reserved units of its queue, then units of the port, then units of the pool. Units
/// are released in the opposite order. It is therefore enough to count the used units of each queue, port and
/// pool. A packet does not store which units it uses.
#[derive(Debug)]
pub struct PortMemory {
    /// The units that the queues of the port use in addition to their reserved units.
    shared: Count,
    /// The units that are reserved for the port. The queues use them before units of the pool.
    reserved: u64,
    /// The largest permitted value of `shared`.
    limit: u64,
    /// The range of `shared` over which the limits of the queues fall.
    fall: Fall,
    pool: Arc<Pool>,
    unit: UnitSize,
    /// Whether other ports may use the pool.
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

    /// The size of a unit.
    pub fn unit(&self) -> UnitSize {
        self.unit
    }

    /// Takes units for a queue with `limits` whose use above its reserved units grows from `before` to
    /// `after` units.
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

    /// Releases `given` units that a queue used in addition to its reserved units.
    #[inline]
    pub(super) fn give_back(&self, given: u64) {
        let used = self.shared.get();
        let left = used - given;
        let returned = self.pool_units(used) - self.pool_units(left);
        self.shared.set(left);
        self.pool.free.set(self.pool.free.get() + returned);
    }

    /// The number of units of the pool among `shared` units that the queues use.
    #[inline]
    fn pool_units(&self, shared: u64) -> u64 {
        shared.saturating_sub(self.reserved)
    }

    /// The units that the queues use in addition to their reserved units.
    pub fn shared_units(&self) -> u64 {
        self.shared.get()
    }
    /// The number of [`shared_units`](Self::shared_units) that come from the pool.
    pub fn units_of_pool(&self) -> u64 {
        self.pool_units(self.shared.get())
    }
    /// The units that are reserved for the port. Its queues use them before units of the pool.
    pub fn reserved_units(&self) -> u64 {
        self.reserved
    }
    /// The number of units in the pool.
    pub fn pool_size(&self) -> u64 {
        self.pool.size
    }
    /// The used units of the pool, including those that other ports use.
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
    /// Whether other ports may use the pool.
    pub fn has_named_pool(&self) -> bool {
        self.has_named_pool
    }
}
