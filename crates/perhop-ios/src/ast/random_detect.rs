//! [`RandomDetect`]: WRED as the router writes it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::at::At;

/// What tells WRED the drop precedence of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The IP precedence: the router's default.
    #[default]
    Precedence,
    /// The DSCP.
    Dscp,
}

/// `random-detect` with all that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RandomDetect {
    /// What tells the drop precedence.
    pub basis: Basis,
    /// n in the weight 2⁻ⁿ of the average.
    pub exponent: Option<u32>,
    /// `random-detect ecn`: packets that can be are marked in place of a random drop.
    pub ecn: Option<At<()>>,
    /// `random-detect precedence …`, by precedence.
    pub precedences: BTreeMap<u8, At<Thresholds>>,
    /// `random-detect dscp …`, by codepoint.
    pub dscps: BTreeMap<u8, At<Thresholds>>,
}

impl RandomDetect {
    /// Whether its thresholds count bytes.
    pub fn counts_bytes(&self) -> bool {
        false
    }
}

/// Thresholds of one drop precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Thresholds {
    /// Packets from which on some are dropped.
    pub min: u64,
    /// Packets from which on all are dropped.
    pub max: u64,
    /// One in how many is dropped just below `max`.
    pub mark_probability_denominator: u64,
}
