//! Meters: how well a packet stream keeps to a profile, as a color per packet (RFC 3290 §5).
//!
//! Every meter counts IP bytes (header included, link layer not) and starts with its buckets full.

pub(crate) mod bucket;
mod early_tcm;
mod per_flow;
mod rate_based;
mod single_rate_tcm;
mod token_bucket;
mod token_bucket_with_debt;
mod tsw;
mod two_buckets;
mod two_rate_tcm;
mod two_rate_tcm_rfc4115;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use early_tcm::{EarlyTcm, EarlyTcmConfig};
pub use per_flow::FlowMeters;
pub use rate_based::{MarkerBucketConfig, RateBasedMarker, RateBasedMarkerConfig};
pub use single_rate_tcm::{SingleRateTcm, SingleRateTcmConfig};
pub use token_bucket::{TokenBucket, TokenBucketConfig};
pub use token_bucket_with_debt::{TokenBucketWithDebt, TokenBucketWithDebtConfig};
pub use tsw::{Tsw2cm, Tsw2cmConfig, Tsw3cm, Tsw3cmConfig};
pub use two_rate_tcm::{TwoRateTcm, TwoRateTcmConfig};
pub use two_rate_tcm_rfc4115::{TwoRateTcmRfc4115, TwoRateTcmRfc4115Config};

use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::random::Streams;
use crate::units::{ByteSize, Rate, Time};

/// The contract of every meter.
pub trait Meter {
    /// The color of `packet`, which arrives at `now`; times never go backwards.
    ///
    /// A color-aware meter reads `packet.color` as the color that the packet already has.
    fn measure(&mut self, now: Time, packet: &Packet) -> Color;
}

/// Whether the color that a packet already has counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColorMode {
    /// It does not: every packet is taken for a green one.
    #[default]
    ColorBlind,
    /// It does: a packet never becomes greener than it was.
    ColorAware,
}

impl ColorMode {
    /// The color that a meter in this mode takes `packet` to have.
    #[inline]
    pub(crate) fn color_before(self, packet: &Packet) -> Color {
        match self {
            ColorMode::ColorBlind => Color::GREEN,
            ColorMode::ColorAware => packet.color,
        }
    }
    /// Calls `judge` with the color that a meter in this mode takes `packet` to have. It is compiled once for
    /// each mode, since most tests of colors drop out where every packet is green.
    #[expect(clippy::inline_always, reason = "so that green is known where it is")]
    #[inline(always)]
    pub(super) fn judge(self, packet: &Packet, judge: impl FnOnce(Color) -> Color) -> Color {
        match self {
            ColorMode::ColorBlind => judge(Color::GREEN),
            ColorMode::ColorAware => judge(packet.color),
        }
    }
}

/// The default mode of the markers of the drop precedence study, which only ran color-aware.
fn color_aware() -> ColorMode {
    ColorMode::ColorAware
}

fn require_rate(field: &str, rate: Rate) -> Result<(), ConfigError> {
    if rate.as_bits_per_second() == 0 {
        return Err(ConfigError::new(field, "the rate must be above 0").help("for example 1Mb/s"));
    }
    Ok(())
}

fn require_burst(field: &str, burst: ByteSize) -> Result<(), ConfigError> {
    if burst.as_bytes() == 0 {
        return Err(ConfigError::new(field, "the size must be above 0")
            .help("at least the largest packet, for example 15kB"));
    }
    Ok(())
}

/// Over what a meter measures (RFC 2475 §2.3.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeterScope {
    /// All packets together: one profile for the aggregate.
    #[default]
    Aggregate,
    /// The packets of each flow (addresses, ports, protocol) by themselves: the same profile for each.
    Flow,
}

impl MeterScope {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
    pub(crate) fn is_aggregate(&self) -> bool {
        *self == MeterScope::Aggregate
    }
}

/// A meter as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeterConfig {
    /// One token bucket: green within the profile, red (or another color) beyond it.
    TokenBucket(TokenBucketConfig),
    /// One token bucket that lends, up to a limit on the debts added up: the committed access rate of
    /// routers.
    TokenBucketWithDebt(TokenBucketWithDebtConfig),
    /// The single rate three color marker, srTCM (RFC 2697).
    SingleRateTcm(SingleRateTcmConfig),
    /// The two rate three color marker, trTCM (RFC 2698).
    TwoRateTcm(TwoRateTcmConfig),
    /// The two-rate, three-color marker with efficient handling of in-profile traffic (RFC 4115).
    Rfc4115(TwoRateTcmRfc4115Config),
    /// The time sliding window two color marker (Clark and Fang 1998).
    Tsw2cm(Tsw2cmConfig),
    /// The time sliding window three color marker, TSWTCM (RFC 2859).
    Tsw3cm(Tsw3cmConfig),
    /// The rate-based marker of the drop precedence study (Goyal, Misra and Jain 1999).
    RateBased(RateBasedMarkerConfig),
    /// The three color marker of February 1999, as in the drop precedence study.
    EarlyTcm(EarlyTcmConfig),
}

/// A meter of any kind, dispatched by one `match`.
///
/// Shared profiles and more than a cache line of state are elsewhere, so that many meters lie close together.
#[derive(Clone, Debug)]
pub enum AnyMeter {
    /// See [`TokenBucket`].
    TokenBucket(TokenBucket),
    /// See [`TokenBucketWithDebt`].
    TokenBucketWithDebt(TokenBucketWithDebt),
    /// See [`SingleRateTcm`].
    SingleRateTcm(SingleRateTcm),
    /// See [`TwoRateTcm`].
    TwoRateTcm(TwoRateTcm),
    /// See [`TwoRateTcmRfc4115`].
    Rfc4115(TwoRateTcmRfc4115),
    /// See [`Tsw2cm`].
    Tsw2cm(Box<Tsw2cm>),
    /// See [`Tsw3cm`].
    Tsw3cm(Box<Tsw3cm>),
    /// See [`RateBasedMarker`].
    RateBased(RateBasedMarker),
    /// See [`EarlyTcm`].
    EarlyTcm(Box<EarlyTcm>),
}

impl MeterConfig {
    /// The meter, with its buckets full.
    ///
    /// # Errors
    /// Where a rate or a burst is out of range, or the parameters contradict each other.
    pub fn build(&self, streams: &Streams) -> Result<AnyMeter, ConfigError> {
        let (kind, built) = match self {
            MeterConfig::TokenBucket(config) => ("token-bucket", config.build().map(AnyMeter::TokenBucket)),
            MeterConfig::TokenBucketWithDebt(config) => {
                ("token-bucket-with-debt", config.build().map(AnyMeter::TokenBucketWithDebt))
            }
            MeterConfig::SingleRateTcm(config) => {
                ("single-rate-tcm", config.build().map(AnyMeter::SingleRateTcm))
            }
            MeterConfig::TwoRateTcm(config) => ("two-rate-tcm", config.build().map(AnyMeter::TwoRateTcm)),
            MeterConfig::Rfc4115(config) => ("rfc4115", config.build().map(AnyMeter::Rfc4115)),
            MeterConfig::Tsw2cm(config) => {
                ("tsw2cm", config.build(streams).map(Box::new).map(AnyMeter::Tsw2cm))
            }
            MeterConfig::Tsw3cm(config) => {
                ("tsw3cm", config.build(streams).map(Box::new).map(AnyMeter::Tsw3cm))
            }
            MeterConfig::RateBased(config) => ("rate-based", config.build().map(AnyMeter::RateBased)),
            MeterConfig::EarlyTcm(config) => {
                ("early-tcm", config.build().map(Box::new).map(AnyMeter::EarlyTcm))
            }
        };
        built.map_err(|error| error.within(kind))
    }
}

impl AnyMeter {
    /// Whether it draws random numbers.
    fn is_random(&self) -> bool {
        matches!(self, AnyMeter::Tsw2cm(_) | AnyMeter::Tsw3cm(_))
    }
    /// [`Meter::measure`], inlined: a call that saves the registers of the longest meter would take as long
    /// as a short meter.
    #[expect(clippy::inline_always, reason = "its purpose")]
    #[inline(always)]
    pub(crate) fn measure_here(&mut self, now: Time, packet: &Packet) -> Color {
        match self {
            AnyMeter::TokenBucket(meter) => meter.measure(now, packet),
            AnyMeter::TokenBucketWithDebt(meter) => meter.measure(now, packet),
            AnyMeter::SingleRateTcm(meter) => meter.measure(now, packet),
            AnyMeter::TwoRateTcm(meter) => meter.measure(now, packet),
            AnyMeter::Rfc4115(meter) => meter.measure(now, packet),
            AnyMeter::Tsw2cm(meter) => meter.measure(now, packet),
            AnyMeter::Tsw3cm(meter) => meter.measure(now, packet),
            AnyMeter::RateBased(meter) => meter.measure(now, packet),
            AnyMeter::EarlyTcm(meter) => meter.measure(now, packet),
        }
    }
}

impl Meter for AnyMeter {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.measure_here(now, packet)
    }
}
