//! [`Pool`]: the shared units of a packet memory.

use std::sync::Arc;

use super::config::MemoryConfig;
use super::limits::Fall;
use super::units::Count;

/// Units that ports of a node may share.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) size: u64,
    pub(super) free: Count,
    pub(super) fall: Fall,
}

impl Pool {
    /// Creates the pool that `config` describes. All its units are free.
    pub(super) fn new(config: &MemoryConfig) -> Arc<Pool> {
        let size = u64::from(config.shared);
        Arc::new(Pool { size, free: Count::new(size), fall: Fall::new(config.pool_fall) })
    }
}

/// The identity of a pool of units. All ports that share the pool have the same key. Another pool has another
/// key while one of these ports exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoolKey(pub(super) usize);
