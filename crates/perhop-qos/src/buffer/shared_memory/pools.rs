//! [`MemoryPools`]: the pools of units that ports of a node share.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::config::{FallConfig, MemoryConfig};
use super::pool::Pool;
use super::port_memory::PortMemory;
use crate::ConfigError;

/// The pools of a node that have been created, by their name [`MemoryConfig::pool`].
#[derive(Debug, Default)]
pub struct MemoryPools {
    named: BTreeMap<String, NamedPool>,
}

#[derive(Debug)]
struct NamedPool {
    settings: PoolSettings,
    pool: Arc<Pool>,
}

/// The settings that all ports of a pool have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PoolSettings {
    unit_bytes: u32,
    shared: u32,
    pool_fall: Option<FallConfig>,
}

impl MemoryPools {
    /// Adds a port with the memory `config`. The port shares the pool that `config` names with the ports that
    /// were added before. If `config` names no pool, the port has a pool of its own.
    ///
    /// # Errors
    /// A number is out of range, a fall ends before it starts, or an earlier port describes the same pool
    /// with other settings.
    pub fn port(&mut self, config: &MemoryConfig) -> Result<Arc<PortMemory>, ConfigError> {
        config.check()?;
        let pool = match &config.pool {
            Some(name) => self.named(name, config)?,
            None => Pool::new(config),
        };
        Ok(Arc::new(PortMemory::new(config, pool)))
    }

    fn named(&mut self, name: &str, config: &MemoryConfig) -> Result<Arc<Pool>, ConfigError> {
        let MemoryConfig { unit_bytes, shared, pool_fall, .. } = *config;
        let settings = PoolSettings { unit_bytes, shared, pool_fall };
        let known = match self.named.entry(name.to_owned()) {
            Entry::Vacant(place) => place.insert(NamedPool { settings, pool: Pool::new(config) }),
            Entry::Occupied(known) => known.into_mut(),
        };
        if known.settings == settings {
            return Ok(Arc::clone(&known.pool));
        }
        let message = format!("another port of this node describes the pool {name} in another way");
        Err(ConfigError::new("pool", message).help(
            "write the same `unit-bytes`, `shared` and `pool-fall` for all its ports, or name another pool",
        ))
    }
}
