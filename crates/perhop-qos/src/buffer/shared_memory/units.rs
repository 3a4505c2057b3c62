//! [`Count`]: a number of units that several queues or ports change. [`UnitSize`]: the size of a unit.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number of units.
///
/// Only one thread at a time uses the ports of a memory, so relaxed loads and stores suffice. Both compile to
/// plain moves. The count is atomic only because a port can move to another thread.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn new(units: u64) -> Count {
        Count(AtomicU64::new(units))
    }
    #[inline]
    pub(super) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
    #[inline]
    pub(super) fn set(&self, units: u64) {
        self.0.store(units, Relaxed);
    }
}

/// The number of bits of the reciprocal. A multiplication by the reciprocal replaces a division. For n < 2^20
/// bytes and units of u < 2^16 bytes, the rounding of the reciprocal adds less than n / 2^40 < 1 / u to the
/// quotient, so the integer part is exact.
const RECIPROCAL_BITS: u32 = 40;
/// The length from which on the number of units is computed by a division, bytes.
const DIVIDED_FROM: u32 = 1 << 19;

/// The size of a unit, and the bytes that a packet needs in the memory in addition to its IP bytes.
#[derive(Clone, Copy, Debug)]
pub struct UnitSize {
    bytes: u32,
    overhead: u32,
    /// 2^[`RECIPROCAL_BITS`] / `bytes`, rounded up.
    reciprocal: u64,
}

impl UnitSize {
    pub(super) fn new(bytes: u32, overhead: u32) -> UnitSize {
        UnitSize { bytes, overhead, reciprocal: (1_u64 << RECIPROCAL_BITS).div_ceil(bytes.into()) }
    }
    /// The size of a unit, bytes.
    pub fn bytes(self) -> u32 {
        self.bytes
    }
    /// The number of units that a packet of `length` IP bytes needs.
    #[inline]
    pub fn units(self, length: u32) -> u64 {
        let bytes = length.saturating_add(self.overhead);
        if bytes >= DIVIDED_FROM {
            return u64::from(bytes.div_ceil(self.bytes));
        }
        (u64::from(bytes + self.bytes - 1) * self.reciprocal) >> RECIPROCAL_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_match_the_division() {
        for unit in [1, 2, 3, 160, 208, 254, 256, 320, 416, 1500, 65_535] {
            let size = UnitSize::new(unit, 0);
            let edges = (1..=2000).flat_map(|count: u32| {
                let whole = count.saturating_mul(unit);
                [whole - 1, whole, whole.saturating_add(1)]
            });
            let others = [DIVIDED_FROM - 1, DIVIDED_FROM, 2 * DIVIDED_FROM + 1, u32::MAX];
            for length in edges.chain(others) {
                assert_eq!(size.units(length), u64::from(length.div_ceil(unit)), "{length} / {unit}");
            }
        }
    }
}
