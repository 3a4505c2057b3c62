//! [`RandomDetect`]: WRED as the router writes it.

use std::collections::BTreeMap;

pub use perhop_device::Basis;
use serde::Serialize;

use super::at::At;

/// What thresholds are counted in.
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

/// `random-detect` with all that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RandomDetect {
    /// What tells the drop precedence.
    pub basis: Basis,
    /// What all thresholds are counted in.
    pub unit: ThresholdUnit,
    /// n in the weight 2⁻ⁿ of the average.
    pub exponent: Option<u32>,
    /// `random-detect ecn`: packets that can be are marked in place of a random drop.
    pub ecn: Option<At<()>>,
    /// `random-detect precedence …`, by precedence.
    pub precedences: BTreeMap<u8, At<Thresholds>>,
    /// `random-detect dscp …`, by codepoint.
    pub dscps: BTreeMap<u8, At<Thresholds>>,
    /// `random-detect discard-class …`, by discard class.
    pub discard_classes: BTreeMap<u8, At<Thresholds>>,
    /// `random-detect cos …`, by class of service.
    pub classes_of_service: BTreeMap<u8, At<Thresholds>>,
    /// `… aggregate`: the thresholds of all values that have none of their own.
    pub aggregate: Option<At<Option<Thresholds>>>,
}

impl RandomDetect {
    /// Whether its thresholds count bytes, or time.
    pub fn counts_bytes(&self) -> bool {
        matches!(self.unit, ThresholdUnit::Bytes | ThresholdUnit::Microseconds)
    }
}

/// Thresholds of one drop precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Thresholds {
    /// From which on some are dropped, in the unit of [`RandomDetect::unit`].
    pub min: u64,
    /// From which on all are dropped.
    pub max: u64,
    /// One in how many is dropped just below `max`.
    pub mark_probability_denominator: u64,
}
