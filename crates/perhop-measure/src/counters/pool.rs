//! [`PoolDrops`]: the ports that held a packet memory when it had no room for a packet.

use perhop_qos::units::Time;

/// The use of a pool of memory at one drop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// The time of the drop.
    pub at: Time,
    /// The used units of the pool.
    pub used: u64,
    /// The units of each port: first the port of the drop, then the other ports of the pool, in their order.
    pub by_port: Vec<u64>,
}

/// The use of a pool at the drops of one of its ports.
#[derive(Clone, Debug, Default)]
pub struct PoolDrops {
    /// All units of the pool.
    pub size: u64,
    /// The first drop.
    pub first: PoolUse,
    /// The drop at which the pool was fullest. Of equal drops, the first.
    pub fullest: PoolUse,
    is_empty: bool,
}

impl PoolDrops {
    /// Creates the record of a port that has not dropped a packet, in a pool of `size` units and `ports`
    /// ports.
    pub fn new(size: u64, ports: usize) -> PoolDrops {
        let nothing = PoolUse { by_port: Vec::with_capacity(ports), ..PoolUse::default() };
        PoolDrops { size, first: nothing.clone(), fullest: nothing, is_empty: true }
    }
    /// Whether the port has dropped a packet because of the pool.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }
    /// Whether a drop with `used` units of the pool in use changes the record.
    #[inline]
    pub fn admits(&self, used: u64) -> bool {
        self.is_empty || used > self.fullest.used
    }
    /// Records a drop at `at` with `used` units of the pool in use, of which the ports have `by_port`. It
    /// allocates no memory.
    pub fn record(&mut self, at: Time, used: u64, by_port: impl Iterator<Item = u64> + Clone) {
        if self.is_empty {
            self.first.fill(at, used, by_port.clone());
            self.is_empty = false;
        }
        self.fullest.fill(at, used, by_port);
    }
}

impl PoolUse {
    fn fill(&mut self, at: Time, used: u64, by_port: impl Iterator<Item = u64>) {
        (self.at, self.used) = (at, used);
        self.by_port.clear();
        self.by_port.extend(by_port);
    }
}
