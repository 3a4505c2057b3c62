//! [`DropProfile`]: random drops from a queue, weighted by drop precedence.

use std::collections::BTreeMap;

use serde::Serialize;

use super::at::At;
use crate::policy::Basis;

/// The unit of thresholds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdUnit {
    /// Packets.
    #[default]
    Packets,
    /// Bytes.
    Bytes,
    /// Microseconds at the class's rate.
    Microseconds,
    /// Percent of the queue's limit.
    Percent,
}

/// Thresholds and averaging; `None` and missing values mean the default of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DropProfile {
    /// The field that has the drop precedence.
    pub basis: Basis,
    /// The unit of all thresholds.
    pub unit: ThresholdUnit,
    /// The exponent n of the averaging weight 2⁻ⁿ.
    pub exponent: Option<u32>,
    /// The line that enables ECN: ECN-capable packets are marked instead of dropped at random.
    pub ecn: Option<At<()>>,
    /// Thresholds by precedence.
    pub precedences: BTreeMap<u8, At<Thresholds>>,
    /// Thresholds by codepoint.
    pub dscps: BTreeMap<u8, At<Thresholds>>,
    /// Thresholds by drop precedence within the device.
    pub discard_classes: BTreeMap<u8, At<Thresholds>>,
    /// Thresholds by class of service.
    pub classes_of_service: BTreeMap<u8, At<Thresholds>>,
    /// Thresholds of all values without their own thresholds.
    pub aggregate: Option<At<Option<Thresholds>>>,
}

impl DropProfile {
    /// Whether any value has its own thresholds.
    pub fn has_thresholds(&self) -> bool {
        let maps = [&self.precedences, &self.dscps, &self.discard_classes, &self.classes_of_service];
        maps.iter().any(|map| !map.is_empty())
    }

    /// Whether the unit of its thresholds is bytes or a time.
    pub fn counts_bytes(&self) -> bool {
        matches!(self.unit, ThresholdUnit::Bytes | ThresholdUnit::Microseconds)
    }
}

/// Thresholds of one drop precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Thresholds {
    /// The average above which some packets are dropped, in the unit of [`DropProfile::unit`].
    pub min: u64,
    /// The average above which all packets are dropped.
    pub max: u64,
    /// The number n: 1 of n packets is dropped just below `max`.
    pub mark_probability_denominator: u64,
}
