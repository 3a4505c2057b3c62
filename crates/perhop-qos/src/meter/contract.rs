//! [`Meter`]: the interface of all meters, and the settings that their configurations share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The contract of every meter.
pub trait Meter {
    /// Returns the color of `packet`, which arrives at `now`. Times must not decrease.
    ///
    /// A color-aware meter uses `packet.color` as the color of the packet before metering.
    fn measure(&mut self, now: Time, packet: &Packet) -> Color;
}

/// Whether the meter considers the color that a packet already has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColorMode {
    /// Color-blind: the meter treats every packet as green.
    #[default]
    ColorBlind,
    /// Color-aware: the meter never makes a packet greener.
    ColorAware,
}

impl ColorMode {
    /// The color of `packet` before metering, for a meter in this mode.
    #[inline]
    pub(crate) fn color_before(self, packet: &Packet) -> Color {
        match self {
            ColorMode::ColorBlind => Color::GREEN,
            ColorMode::ColorAware => packet.color,
        }
    }
    /// Calls `judge` with the color of `packet` before metering, for a meter in this mode. The function is
    /// compiled once for each mode, because a mode in which all packets are green needs few tests of colors.
    #[expect(clippy::inline_always, reason = "the caller then knows the color green")]
    #[inline(always)]
    pub(super) fn judge(self, packet: &Packet, judge: impl FnOnce(Color) -> Color) -> Color {
        match self {
            ColorMode::ColorBlind => judge(Color::GREEN),
            ColorMode::ColorAware => judge(packet.color),
        }
    }
}

/// The default mode of the markers of the drop precedence study, which used them only as color-aware meters.
pub(super) fn color_aware() -> ColorMode {
    ColorMode::ColorAware
}

pub(super) fn require_rate(field: &str, rate: Rate) -> Result<(), ConfigError> {
    if rate.as_bits_per_second() == 0 {
        return Err(ConfigError::new(field, "the rate must be above 0").help("for example 1Mb/s"));
    }
    Ok(())
}

pub(super) fn require_burst(field: &str, burst: ByteSize) -> Result<(), ConfigError> {
    if burst.as_bytes() == 0 {
        return Err(ConfigError::new(field, "the size must be above 0")
            .help("at least the largest packet, for example 15kB"));
    }
    Ok(())
}

/// The default color of packets that exceed the profile of a two-color meter.
pub(super) fn red() -> Color {
    Color::RED
}
#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
pub(super) fn is_red(color: &Color) -> bool {
    *color == Color::RED
}
/// Checks that excess packets have another color than conforming packets. Otherwise the meter would have no
/// effect.
pub(super) fn require_excess(excess: Color) -> Result<(), ConfigError> {
    if excess == Color::GREEN {
        return Err(ConfigError::new("excess", "packets within the profile are green already")
            .help("for example yellow or red"));
    }
    Ok(())
}
