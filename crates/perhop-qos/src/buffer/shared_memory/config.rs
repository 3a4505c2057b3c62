//! The settings of a packet memory and of its queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Color, ConfigError};

/// The largest number of units, so that products of two numbers fit in 64 bits.
const MOST_UNITS: u32 = 1 << 30;
/// Parts of one in which a factor of the free memory is counted.
pub(super) const ALPHA_PARTS: u64 = 1024;
/// Bytes of an Ethernet header and check sequence (IEEE 802.3, 3.1.1).
const ETHERNET: u32 = 18;

/// The packet memory of a port, of which its `shared-memory` queues take units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemoryConfig {
    /// The size of a unit, bytes. A packet takes whole units.
    pub unit_bytes: u32,
    /// Bytes of a packet in the memory beyond its IP bytes. Default: 18, an Ethernet header and check
    /// sequence.
    #[serde(default = "ethernet", skip_serializing_if = "is_ethernet")]
    pub overhead: u32,
    /// The shared memory, units. The reserved parts of the queues are not in it.
    pub shared: u32,
    /// The name of the shared memory. Ports of a node that give the same name share it, and have equal
    /// `unit-bytes`, `shared` and `pool-fall`. Default: the port alone has the shared memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Units in addition to the shared memory, reserved for the port and used by any of its queues. They are
    /// used before the shared memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u32,
    /// The most units that all queues of the port may hold beyond their own reserved parts. Default: no limit
    /// but the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The units that all queues of the port hold beyond their reserved parts while their limits fall to
    /// `port-minimum`. Default: the limits do not fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_fall: Option<FallConfig>,
    /// The used units of the shared memory while the limits of the queues fall to `pool-minimum`. Default:
    /// the limits do not fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_fall: Option<FallConfig>,
}

fn ethernet() -> u32 {
    ETHERNET
}
#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_ethernet(bytes: &u32) -> bool {
    *bytes == ETHERNET
}
#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
fn is_zero(units: &u32) -> bool {
    *units == 0
}

/// The usage of memory at which the limits of queues fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FallConfig {
    /// Used units up to which a queue has its whole limit.
    pub start: u32,
    /// Used units from which a queue has its minimum.
    pub end: u32,
    /// The limit between the two.
    #[serde(default)]
    pub slope: FallSlope,
}

/// The limit of a queue between the two ends of a fall. Vendors publish the ends only; `early` and `late`
/// enclose every slope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FallSlope {
    /// Falls by the same number for each used unit.
    #[default]
    Linear,
    /// Falls as soon as the start is exceeded.
    Early,
    /// Falls when the end is reached.
    Late,
}

/// A queue that takes units of the memory of its port, `queueing.memory`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SharedMemoryConfig {
    /// Units that only this queue uses. They are used before others, and given back after them.
    #[serde(skip_serializing_if = "is_zero")]
    pub reserved: u32,
    /// The most units beyond the reserved ones. Default: no limit of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// A dynamic limit: units beyond the reserved ones must be fewer than the free units of the shared memory
    /// times this factor, a multiple of 1/1024 such as 0.125 or 8. Default: no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The limit from the end of `port-fall` on, units. Default: `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_minimum: Option<u32>,
    /// The limit from the end of `pool-fall` on, units. Default: `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool_minimum: Option<u32>,
    /// Weighted tail drop: the most units of the whole queue for an arriving packet, by its drop precedence,
    /// from 0. Higher drop precedences have the last of them. Default: no thresholds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<u32>,
}

impl MemoryConfig {
    /// Bytes of a packet beyond its IP bytes on Ethernet: header and check sequence.
    pub const ETHERNET: u32 = ETHERNET;

    /// Checks the settings.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=65_535).contains(&self.unit_bytes) {
            let message = format!("units of {} bytes are out of range", self.unit_bytes);
            return Err(ConfigError::new("unit-bytes", message).help("1 to 65535, for example 256"));
        }
        if self.overhead > 255 {
            let message = format!("an overhead of {} bytes per packet is out of range", self.overhead);
            return Err(ConfigError::new("overhead", message).help("0 to 255; 18 for Ethernet"));
        }
        check_units("shared", self.shared)?;
        self.pool_fall.map_or(Ok(()), |fall| fall.check("pool-fall"))?;
        self.check_port()
    }
    /// Checks the settings of the port.
    pub(super) fn check_port(&self) -> Result<(), ConfigError> {
        check_units("reserved", self.reserved)?;
        check_units("limit", self.limit.unwrap_or(0))?;
        self.port_fall.map_or(Ok(()), |fall| fall.check("port-fall"))
    }
}

impl FallConfig {
    fn check(self, field: &str) -> Result<(), ConfigError> {
        check_units("end", self.end).map_err(|error| error.within(field))?;
        if self.end <= self.start {
            let message = format!("a fall from {} to {} units does not end", self.start, self.end);
            return Err(ConfigError::new("end", message).help("a larger number than `start`").within(field));
        }
        Ok(())
    }
}

impl SharedMemoryConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// A number is out of range, a minimum exceeds the limit, or the queue admits no packet.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_units("reserved", self.reserved)?;
        check_units("limit", self.limit.unwrap_or(0))?;
        self.alpha.map_or(Ok(0), alpha_parts)?;
        for (field, minimum) in [("port-minimum", self.port_minimum), ("pool-minimum", self.pool_minimum)] {
            let Some(minimum) = minimum else { continue };
            let Some(limit) = self.limit else {
                let message = "a minimum needs a `limit` that falls to it";
                return Err(ConfigError::new(field, message).help("write `limit`, or leave the minimum out"));
            };
            if minimum > limit {
                let message = format!("a minimum of {minimum} units exceeds the limit of {limit}");
                return Err(ConfigError::new(field, message).help("at most the limit"));
            }
        }
        if self.thresholds.len() > Color::COUNT {
            let message = format!("{} thresholds are too many", self.thresholds.len());
            return Err(ConfigError::new("thresholds", message)
                .help(format!("at most {}, one for each drop precedence", Color::COUNT)));
        }
        for (precedence, threshold) in self.thresholds.iter().enumerate() {
            check_units("thresholds", *threshold)?;
            if *threshold == 0 {
                let message = format!("every packet of drop precedence {precedence} is dropped at 0 units");
                return Err(ConfigError::new("thresholds", message).help("for example 600"));
            }
        }
        if self.reserved == 0 && self.limit == Some(0) {
            let message = "a queue without reserved units and with a limit of 0 drops every packet";
            return Err(
                ConfigError::new("limit", message).help("for example `reserved: 120` or `limit: 480`")
            );
        }
        Ok(())
    }
}

/// Returns `alpha` in parts.
pub(super) fn alpha_parts(alpha: f64) -> Result<u64, ConfigError> {
    let parts = alpha * ALPHA_PARTS as f64;
    let is_whole = parts.fract() == 0.0 && (1.0..=(ALPHA_PARTS * ALPHA_PARTS) as f64).contains(&parts);
    if !is_whole {
        let message = format!("a factor of {alpha} of the free memory is not possible");
        return Err(ConfigError::new("alpha", message)
            .help("a multiple of 1/1024 up to 1024, for example 0.125, 1.75 or 8"));
    }
    Ok(parts as u64)
}

fn check_units(field: &str, units: u32) -> Result<(), ConfigError> {
    if units > MOST_UNITS {
        let message = format!("{units} units are out of range");
        return Err(ConfigError::new(field, message).help(format!("at most {MOST_UNITS}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> MemoryConfig {
        MemoryConfig {
            unit_bytes: 256,
            overhead: 18,
            shared: 1000,
            reserved: 0,
            limit: None,
            port_fall: None,
            pool_fall: None,
            pool: None,
        }
    }

    #[test]
    fn a_memory_out_of_range_is_an_error() {
        let fall = Some(FallConfig { start: 20, end: 20, slope: FallSlope::Linear });
        for (config, path) in [
            (MemoryConfig { unit_bytes: 0, ..memory() }, "unit-bytes"),
            (MemoryConfig { unit_bytes: 65_536, ..memory() }, "unit-bytes"),
            (MemoryConfig { overhead: 256, ..memory() }, "overhead"),
            (MemoryConfig { shared: MOST_UNITS + 1, ..memory() }, "shared"),
            (MemoryConfig { reserved: u32::MAX, ..memory() }, "reserved"),
            (MemoryConfig { limit: Some(u32::MAX), ..memory() }, "limit"),
            (MemoryConfig { port_fall: fall, ..memory() }, "port-fall.end"),
            (MemoryConfig { pool_fall: fall, ..memory() }, "pool-fall.end"),
        ] {
            let error = config.check().unwrap_err();
            assert!(error.path.join(".") == path && error.help.is_some(), "{error}");
        }
        assert!(memory().check().is_ok());
    }

    #[test]
    fn a_queue_out_of_range_is_an_error() {
        let queue = SharedMemoryConfig { limit: Some(480), ..SharedMemoryConfig::default() };
        let nine = vec![1; Color::COUNT + 1];
        for (config, path) in [
            (SharedMemoryConfig { reserved: u32::MAX, ..queue.clone() }, "reserved"),
            (SharedMemoryConfig { limit: Some(0), ..queue.clone() }, "limit"),
            (SharedMemoryConfig { limit: Some(u32::MAX), ..queue.clone() }, "limit"),
            (SharedMemoryConfig { port_minimum: Some(481), ..queue.clone() }, "port-minimum"),
            (SharedMemoryConfig { limit: None, pool_minimum: Some(1), ..queue.clone() }, "pool-minimum"),
            (SharedMemoryConfig { thresholds: nine, ..queue.clone() }, "thresholds"),
            (SharedMemoryConfig { thresholds: vec![1, 0], ..queue.clone() }, "thresholds"),
            (SharedMemoryConfig { alpha: Some(0.0), ..queue.clone() }, "alpha"),
            (SharedMemoryConfig { alpha: Some(-1.0), ..queue.clone() }, "alpha"),
            (SharedMemoryConfig { alpha: Some(0.3), ..queue.clone() }, "alpha"),
            (SharedMemoryConfig { alpha: Some(f64::NAN), ..queue.clone() }, "alpha"),
            (SharedMemoryConfig { alpha: Some(2000.0), ..queue.clone() }, "alpha"),
        ] {
            let error = config.check().unwrap_err();
            assert!(error.path.join(".") == path && error.help.is_some(), "{error}");
        }
        for alpha in [1.0 / 128.0, 0.125, 1.75, 18.0, 1024.0] {
            assert!(SharedMemoryConfig { alpha: Some(alpha), ..queue.clone() }.check().is_ok(), "{alpha}");
        }
    }
}
