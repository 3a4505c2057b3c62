//! [`Count`]: a number of units that queues and ports change together.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number of units.
///
/// One thread at a time uses the ports of a memory, so a relaxed load and a relaxed store suffice, which are
/// plain moves of the processor. The count is atomic only so that a port can move to another thread.
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
