//! Policers of classes, and limiters in front of a policy.

use super::condition::Condition;
use super::marks::Action;
use super::rates::TrafficRate;

/// The policer of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Police {
    /// Rates and bursts.
    pub meter: Meter,
    /// The actions for conforming packets; empty for the device's default.
    pub conform: Vec<Action>,
    /// The actions for exceeding packets; empty for the device's default.
    pub exceed: Vec<Action>,
    /// The actions for violating packets; empty if the policer has no such color.
    pub violate: Vec<Action>,
    /// The colors of arriving packets, if the policer is color-aware.
    pub aware: Option<Awareness>,
    /// The effect of the colors that policers of inner classes give to the packets.
    pub inside: InsideColors,
}

/// The effect of the colors from policers of a nested policy on the outer policer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InsideColors {
    /// The outer policer ignores the colors.
    #[default]
    Ignored,
    /// Packets that conform to the inner policers use the tokens first. Packets that exceed them use the
    /// tokens that remain.
    Kept,
}

/// The rates and bursts of a policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meter {
    /// The policer counts bytes. Bursts are bytes if the rate is in bits per second, and milliseconds at that
    /// rate if the rate is a percentage.
    Bytes {
        /// The committed rate.
        rate: TrafficRate,
        /// The committed burst.
        burst: Option<u64>,
        /// The peak rate of the two-rate form.
        peak: Option<TrafficRate>,
        /// The excess or peak burst.
        excess_burst: Option<u64>,
    },
    /// The policer counts packets.
    Packets {
        /// Packets per second.
        rate: u64,
        /// Packets in a burst.
        burst: Option<u64>,
    },
}

/// The colors with which packets arrive at a policer.
#[derive(Clone, Debug, PartialEq)]
pub struct Awareness {
    /// The packets that arrive as conforming.
    pub conform: Condition,
    /// The packets that arrive as exceeding. `None`: all packets outside of `conform` arrive as exceeding.
    /// Otherwise all packets outside of both arrive as violating.
    pub exceed: Option<Condition>,
}

/// A limiter of a port in front of its policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Limiter {
    /// The name of the limiter in results.
    pub name: String,
    /// The line of the limiter.
    pub line: usize,
    /// The packets that the limiter measures.
    pub condition: Condition,
    /// The rate, bits per second.
    pub rate: u64,
    /// The normal burst, bytes.
    pub burst: u64,
    /// The extended burst, bytes. It is the limit itself and not an addition to the normal burst.
    pub extended_burst: u64,
    /// The action for conforming packets.
    pub conform: Action,
    /// The action for exceeding packets.
    pub exceed: Action,
}
