//! The settings of a packet memory and of its queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buffer::fill_tables::{self, FillStep};
use crate::buffer::mred::options::EcnConfig;
use crate::{Color, ConfigError};

/// The largest number of units. The product of two such numbers fits in 64 bits.
const MOST_UNITS: u32 = 1 << 30;
/// The denominator of the factor of the free memory, [`SharedMemoryConfig::alpha`].
pub(super) const ALPHA_PARTS: u64 = 1024;
/// Bytes of an Ethernet header and check sequence (IEEE 802.3, 3.1.1).
const ETHERNET: u32 = 18;

/// The packet memory of a port. Its `shared-memory` queues take units from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemoryConfig {
    /// The size of a unit, bytes. A packet takes whole units.
    pub unit_bytes: u32,
    /// The bytes of memory that a packet uses in addition to its IP bytes. Default: 18, an Ethernet header
    /// and check sequence.
    #[serde(default = "ethernet", skip_serializing_if = "is_ethernet")]
    pub overhead: u32,
    /// The size of the shared memory, units. It does not include the reserved units of the queues.
    pub shared: u32,
    /// The name of the shared memory. Ports of one node that write the same name share one memory, and must
    /// have equal `unit-bytes`, `shared` and `pool-fall`. Default: only this port uses the shared memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// The units that are reserved for the port, in addition to the shared memory. All queues of the port can
    /// use these units. They are used before the shared memory.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u32,
    /// The largest number of units that all queues of the port together may use in addition to their own
    /// reserved units. Default: only the size of the memory limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The range over which the limits of the queues fall to `port-minimum`. The range counts the units that
    /// all queues of the port use in addition to their reserved units. Default: the limits do not fall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_fall: Option<FallConfig>,
    /// The range over which the limits of the queues fall to `pool-minimum`. The range counts the used units
    /// of the shared memory. Default: the limits do not fall.
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

/// The range of used units over which the limits of queues fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FallConfig {
    /// The number of used units up to which a queue has its full limit.
    pub start: u32,
    /// The number of used units at which a queue reaches its minimum.
    pub end: u32,
    /// The limit of a queue between `start` and `end`.
    #[serde(default)]
    pub slope: FallSlope,
}

/// The limit of a queue between the two ends of a range. Vendors publish only the ends. `late` and `early`
/// are the upper and the lower bound of all possible slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FallSlope {
    /// The limit falls by the same amount for each used unit.
    #[default]
    Linear,
    /// The limit falls to the minimum as soon as the start is exceeded.
    Early,
    /// The limit falls to the minimum when the end is reached.
    Late,
}

/// A queue that uses units from the memory of its port, `queueing.memory`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SharedMemoryConfig {
    /// The units that are reserved for this queue. The queue uses them first and releases them last.
    #[serde(skip_serializing_if = "is_zero")]
    pub reserved: u32,
    /// The largest number of units that the queue may use in addition to its reserved units. Default: the
    /// queue has no limit of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// A dynamic limit: the queue admits a packet only while the units that it uses in addition to its
    /// reserved units are fewer than this factor times the free units of the shared memory. The factor is a
    /// multiple of 1/1024, such as 0.125 or 8. Default: no such limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// The limit, units, at and above the end of `port-fall`. Default: the limit does not fall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port_minimum: Option<u32>,
    /// The limit, units, at and above the end of `pool-fall`. Default: the limit does not fall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool_minimum: Option<u32>,
    /// Weighted tail drop: for each drop precedence, beginning with 0, the largest number of units that the
    /// whole queue may use with an arriving packet of this precedence. Precedences above the last listed one
    /// have its threshold. Default: no thresholds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<u32>,
    /// Early drops and ECN marks by the fill level of the queue. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profiles: Option<MemoryProfilesConfig>,
}

/// The fill profiles of a queue with shared memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemoryProfilesConfig {
    /// The number of units at which the queue is full. Fill levels are percentages of it.
    pub full: u32,
    /// The steps of each drop precedence, beginning with precedence 0, in ascending order of the fill level.
    /// Precedences above the last listed one use its steps.
    pub precedences: Vec<Vec<FillStep>>,
    /// The treatment of ECN-capable packets that the profile selects. Default: they are dropped like other
    /// packets.
    #[serde(default, skip_serializing_if = "fill_tables::ignores_ecn")]
    pub ecn: EcnConfig,
}

impl MemoryConfig {
    /// The bytes that Ethernet adds to the IP bytes of a packet: a header and a check sequence.
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
            let message = format!(
                "the fall begins at {} units and ends at {}, which is not later",
                self.start, self.end
            );
            return Err(ConfigError::new("end", message)
                .help("write a larger number than `start`")
                .within(field));
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
                let message = "a minimum needs a `limit`, which falls to this minimum";
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
        if let Some(profiles) = &self.profiles {
            profiles.check().map_err(|error| error.within("profiles"))?;
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

impl MemoryProfilesConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_units("full", self.full)?;
        if self.full == 0 {
            return Err(
                ConfigError::new("full", "a queue of 0 units has no fill level").help("for example 600")
            );
        }
        fill_tables::check(&self.precedences)
    }
}

/// Returns `alpha` as a multiple of 1/[`ALPHA_PARTS`].
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
        let profiles = |full| {
            let precedences = vec![vec![FillStep { fill: 50, drop: 10 }]];
            let profiles = MemoryProfilesConfig { full, precedences, ecn: EcnConfig::default() };
            SharedMemoryConfig { profiles: Some(profiles), ..queue.clone() }
        };
        assert!(profiles(600).check().is_ok());
        for (config, path) in [
            (profiles(0), "profiles.full"),
            (profiles(MOST_UNITS + 1), "profiles.full"),
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
