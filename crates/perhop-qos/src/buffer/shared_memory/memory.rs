//! [`SharedMemory`]: the units that the queues of ports hold.

use super::config::{FallConfig, MemoryConfig, SharedMemoryConfig};
use super::limits::{Fall, Limits, UNLIMITED};
use super::units::Count;
use crate::{Color, ConfigError, DropCause};

/// A multiplication in place of a division. With n < 2^20 bytes and units of u < 2^16 bytes, the rounding of
/// the reciprocal adds less than n / 2^40 < 1 / u to a quotient, which changes no whole part.
const RECIPROCAL_BITS: u32 = 40;
/// Bytes of a packet from which the quotient needs a division.
const DIVIDED_FROM: u32 = 1 << 19;

/// The number of a pool in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolId(usize);

/// The number of a port in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortId(usize);

/// A packet memory in units, with pools that ports share, ports, and their queues.
///
/// A packet of a queue takes first reserved units of the queue, then of the port, then of the pool, and
/// releases them in the opposite order. The numbers of units of queues, ports and pools are therefore the
/// whole state; packets do not store theirs.
#[derive(Debug)]
pub struct SharedMemory {
    unit_bytes: u32,
    /// 2^[`RECIPROCAL_BITS`] / `unit_bytes`, rounded up.
    reciprocal: u64,
    overhead: u32,
    pools: Box<[Pool]>,
    ports: Box<[Part]>,
    queues: Box<[QueuePart]>,
}

/// Units that ports share.
#[derive(Debug)]
struct Pool {
    size: u64,
    free: Count,
    fall: Fall,
}

/// The part of a port.
#[derive(Debug)]
struct Part {
    pool: usize,
    reserved: u64,
    limit: u64,
    fall: Fall,
    /// The units of its queues above their reserved ones.
    shared: Count,
}

/// The part of a queue.
#[derive(Debug)]
struct QueuePart {
    port: usize,
    reserved: u64,
    limits: Limits,
    /// All its units.
    used: Count,
}

/// Adds pools, ports and queues to a memory.
#[derive(Debug)]
pub struct MemoryBuilder {
    unit_bytes: u32,
    overhead: u32,
    pools: Vec<Pool>,
    ports: Vec<Part>,
    queues: Vec<QueuePart>,
}

impl MemoryConfig {
    /// Begins a memory with the pool of this configuration.
    ///
    /// # Errors
    /// A number is out of range, or a fall ends before it starts.
    pub fn builder(&self) -> Result<(MemoryBuilder, PoolId), ConfigError> {
        self.check()?;
        let mut builder = MemoryBuilder::new(self.unit_bytes, self.overhead);
        let pool = builder.pool(self.shared, self.pool_fall);
        Ok((builder, pool))
    }
}

impl MemoryBuilder {
    fn new(unit_bytes: u32, overhead: u32) -> MemoryBuilder {
        MemoryBuilder { unit_bytes, overhead, pools: Vec::new(), ports: Vec::new(), queues: Vec::new() }
    }
    /// Adds a pool of `units`; `fall` defines how the limits of queues fall with its use.
    pub fn pool(&mut self, units: u32, fall: Option<FallConfig>) -> PoolId {
        let size = u64::from(units);
        self.pools.push(Pool { size, free: Count::new(size), fall: Fall::new(fall) });
        PoolId(self.pools.len() - 1)
    }
    /// Adds a port that draws on `pool`, with the settings of the port in `config`.
    ///
    /// # Errors
    /// A number is out of range, or the fall ends before it starts.
    pub fn port(&mut self, pool: PoolId, config: &MemoryConfig) -> Result<PortId, ConfigError> {
        config.check_port()?;
        self.ports.push(Part {
            pool: pool.0,
            reserved: config.reserved.into(),
            limit: config.limit.map_or(UNLIMITED, u64::from),
            fall: Fall::new(config.port_fall),
            shared: Count::default(),
        });
        Ok(PortId(self.ports.len() - 1))
    }
    /// Adds a queue of `port` and returns its number in the memory.
    ///
    /// # Errors
    /// The errors of [`SharedMemoryConfig::check`].
    pub fn queue(&mut self, port: PortId, config: &SharedMemoryConfig) -> Result<usize, ConfigError> {
        let limits = Limits::new(config)?;
        let reserved = config.reserved.into();
        self.queues.push(QueuePart { port: port.0, reserved, limits, used: Count::default() });
        Ok(self.queues.len() - 1)
    }
    /// Builds the memory, which is empty.
    pub fn build(self) -> SharedMemory {
        let MemoryBuilder { unit_bytes, overhead, pools, ports, queues } = self;
        let reciprocal = (1_u64 << RECIPROCAL_BITS).div_ceil(unit_bytes.into());
        SharedMemory {
            unit_bytes,
            reciprocal,
            overhead,
            pools: pools.into(),
            ports: ports.into(),
            queues: queues.into(),
        }
    }
}

impl SharedMemory {
    /// The units of a packet of `length` IP bytes.
    #[inline]
    pub fn units(&self, length: u32) -> u64 {
        let bytes = length.saturating_add(self.overhead);
        if bytes >= DIVIDED_FROM {
            return u64::from(bytes.div_ceil(self.unit_bytes));
        }
        (u64::from(bytes + self.unit_bytes - 1) * self.reciprocal) >> RECIPROCAL_BITS
    }

    /// Gives a packet of `length` IP bytes and drop precedence `precedence` its units of queue `queue`.
    ///
    /// # Errors
    /// [`QueueFull`](DropCause::QueueFull): above the threshold of its drop precedence.
    /// [`SharedMemory`](DropCause::SharedMemory): above the limit of the queue, or no free unit in the pool.
    /// [`PortMemory`](DropCause::PortMemory): above the limit of the port.
    #[inline]
    pub fn admit(&self, queue: usize, length: u32, precedence: Color) -> Result<(), DropCause> {
        let part = &self.queues[queue];
        let used = part.used.get();
        let wanted = used + self.units(length);
        if wanted > part.limits.thresholds[precedence.index()] {
            return Err(DropCause::QueueFull);
        }
        // In the usual case, a queue with a reserved part uses no shared units.
        if wanted > part.reserved {
            self.take_shared(part, used, wanted)?;
        }
        part.used.set(wanted);
        debug_assert!(self.is_conserved());
        Ok(())
    }

    /// Takes the units above its reserved units that queue `part` needs to grow from `used` to `wanted`
    /// units.
    #[inline]
    fn take_shared(&self, part: &QueuePart, used: u64, wanted: u64) -> Result<(), DropCause> {
        let port = &self.ports[part.port];
        let pool = &self.pools[port.pool];
        let (before, after) = (used.saturating_sub(part.reserved), wanted - part.reserved);
        let (port_used, free) = (port.shared.get(), pool.free.get());
        let limits = &part.limits;
        let fits = limits.dynamic_admits(before, free)
            && port.fall.allows(after, limits.shared, limits.port_minimum, port_used)
            && pool.fall.allows(after, limits.shared, limits.pool_minimum, pool.size - free);
        if !fits {
            return Err(DropCause::SharedMemory);
        }
        let port_wanted = port_used + (after - before);
        if port_wanted > port.limit {
            return Err(DropCause::PortMemory);
        }
        let taken = port_wanted.saturating_sub(port.reserved) - port_used.saturating_sub(port.reserved);
        if taken > free {
            return Err(DropCause::SharedMemory);
        }
        port.shared.set(port_wanted);
        pool.free.set(free - taken);
        Ok(())
    }

    /// Takes back the units of a packet of `length` IP bytes, which leaves queue `queue`.
    #[inline]
    pub fn release(&self, queue: usize, length: u32) {
        let part = &self.queues[queue];
        let used = part.used.get();
        let left = used - self.units(length);
        if used > part.reserved {
            let port = &self.ports[part.port];
            let pool = &self.pools[port.pool];
            let given = used - left.max(part.reserved);
            let port_used = port.shared.get();
            let port_left = port_used - given;
            let returned = port_used.saturating_sub(port.reserved) - port_left.saturating_sub(port.reserved);
            port.shared.set(port_left);
            pool.free.set(pool.free.get() + returned);
        }
        part.used.set(left);
        debug_assert!(self.is_conserved());
    }

    /// The number of queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }
    /// The units of queue `queue`.
    pub fn queue_units(&self, queue: usize) -> u64 {
        self.queues[queue].used.get()
    }
    /// The units of the queues of `port` above their reserved ones.
    pub fn port_units(&self, port: PortId) -> u64 {
        self.ports[port.0].shared.get()
    }
    /// The free units of `pool`.
    pub fn free_units(&self, pool: PoolId) -> u64 {
        self.pools[pool.0].free.get()
    }

    /// Whether the units of the queues are the used reserved units and the used units of ports and pools.
    fn is_conserved(&self) -> bool {
        let of_port = |number: usize| -> u64 {
            let own = self.queues.iter().filter(|queue| queue.port == number);
            own.map(|queue| queue.used.get().saturating_sub(queue.reserved)).sum()
        };
        let ports = || self.ports.iter().enumerate();
        let of_pool = |number: usize| -> u64 {
            let own = ports().filter(|(_, port)| port.pool == number);
            own.map(|(_, port)| port.shared.get().saturating_sub(port.reserved)).sum()
        };
        ports().all(|(number, port)| port.shared.get() == of_port(number))
            && self
                .pools
                .iter()
                .enumerate()
                .all(|(number, pool)| pool.size - pool.free.get() == of_pool(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_division() {
        for unit in [1, 2, 3, 160, 208, 254, 256, 320, 416, 1500, 65_535] {
            let memory = MemoryBuilder::new(unit, 0).build();
            let edges = (1..=2000).flat_map(|count: u32| {
                let whole = count.saturating_mul(unit);
                [whole - 1, whole, whole.saturating_add(1)]
            });
            let others = [DIVIDED_FROM - 1, DIVIDED_FROM, 2 * DIVIDED_FROM + 1, u32::MAX];
            for length in edges.chain(others) {
                assert_eq!(memory.units(length), u64::from(length.div_ceil(unit)), "{length} / {unit}");
            }
        }
    }
}
