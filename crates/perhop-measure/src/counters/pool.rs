//! [`PoolDrops`]: the ports that used a shared packet memory when it had no room for a packet.

use perhop_qos::units::Time;

/// The use of a memory pool at the time of a drop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// The time of the drop.
    pub at: Time,
    /// The number of used units of the pool.
    pub used: u64,
    /// The units that each port uses: first the port of the drop, then the other ports of the pool, in their
    /// order.
    pub by_port: Vec<u64>,
}

/// The use of a pool at the times of drops at one of its ports.
#[derive(Clone, Debug, Default)]
pub struct PoolDrops {
    /// The number of units of the pool.
    pub size: u64,
    /// The first drop.
    pub first: PoolUse,
    /// The drop at which the most units of the pool were used; of several such drops, the first.
    pub fullest: PoolUse,
    is_empty: bool,
}

impl PoolDrops {
    /// Creates the record of a port that has not dropped a packet. The pool has `size` units and `ports`
    /// ports.
    pub fn new(size: u64, ports: usize) -> PoolDrops {
        let nothing = PoolUse { by_port: Vec::with_capacity(ports), ..PoolUse::default() };
        PoolDrops { size, first: nothing.clone(), fullest: nothing, is_empty: true }
    }
    /// Whether the port has not dropped any packet because of the pool.
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }
    /// Whether [`record`](PoolDrops::record) must be called for a drop at which `used` units of the pool are
    /// used, because the drop is the first or has the highest use so far.
    #[inline]
    pub fn admits(&self, used: u64) -> bool {
        self.is_empty || used > self.fullest.used
    }
    /// Records a drop at `at` as the drop with the highest use so far. `used` units of the pool are used, and
    /// `by_port` are the units that each port uses. Allocates no memory.
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
