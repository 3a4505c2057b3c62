//! Rates of a class: guarantee, priority and shaper. Percentages keep their base until they are lowered.

use serde::Serialize;

use crate::policy::ShapeKind;

/// The guarantee of a class: a minimum, or a share of the excess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// A minimum, kilobits per second.
    Kilobits(u64),
    /// A minimum, bits per second.
    BitsPerSecond(u64),
    /// A minimum, percent of the enclosing rate.
    Percent(u64),
    /// A percentage of the rate that priority classes and minima leave.
    RemainingPercent(u64),
    /// A share of the rate that priority classes and minima leave, relative to the ratios of the other
    /// classes.
    RemainingRatio(u64),
}

impl Guarantee {
    /// Whether it is a minimum, and not a share of the excess.
    pub fn is_minimum(self) -> bool {
        matches!(self, Guarantee::Kilobits(_) | Guarantee::BitsPerSecond(_) | Guarantee::Percent(_))
    }
}

/// The priority of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Priority {
    /// The level; 1 is served before 2.
    pub level: u8,
    /// The rate up to which the priority applies under congestion.
    pub rate: PriorityRate,
    /// The burst of the policer at that rate, bytes.
    pub burst: Option<u64>,
}

/// The rate up to which a priority applies under congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityRate {
    /// No limit.
    Unlimited,
    /// Kilobits per second.
    Kilobits(u64),
    /// Percent of the enclosing rate.
    Percent(u64),
}

/// A rate of a policer or shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficRate {
    /// Bits per second.
    BitsPerSecond(u64),
    /// Percent of the enclosing rate.
    Percent(u64),
}

/// The shaper of a class: its maximum rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    /// Whether the shaper limits the average rate or the peak rate.
    pub kind: ShapeKind,
    /// The rate.
    pub rate: TrafficRate,
    /// The committed burst: bits if the rate is in bits per second, milliseconds at that rate if the rate is
    /// a percentage.
    pub burst: Option<u64>,
    /// The excess burst, in the unit of `burst`.
    pub excess_burst: Option<u64>,
}
