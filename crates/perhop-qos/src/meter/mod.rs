//! Meters: how well a packet stream keeps to a profile, as a color per packet (RFC 3290 §5).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::random::Streams;
use crate::units::Time;

/// The contract of every meter.
pub trait Meter {
    /// The color of `packet`, which arrives at `now`; times never go backwards.
    ///
    /// A color-aware meter reads `packet.color` as the color that the packet already has.
    fn measure(&mut self, now: Time, packet: &Packet) -> Color;
}

/// A meter as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MeterConfig {}

/// A meter of any kind: stored by value, dispatched by one `match`.
#[derive(Clone, Debug)]
pub enum AnyMeter {}

impl MeterConfig {
    /// The meter, with its buckets full.
    ///
    /// # Errors
    /// Where a rate or a burst is out of range, or the parameters contradict each other.
    pub fn build(&self, streams: &Streams) -> Result<AnyMeter, ConfigError> {
        let _ = streams;
        match *self {}
    }
}

impl Meter for AnyMeter {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let _ = (now, packet);
        match *self {}
    }
}
