//! [`AnyMeter`]: a meter of any kind, and its configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::Meter;
use super::early_tcm::{EarlyTcm, EarlyTcmConfig};
use super::hierarchical::{Hierarchical, HierarchicalConfig};
use super::packet_rate::{PacketRateConfig, PacketRateMeter};
use super::rate_based::{RateBasedMarker, RateBasedMarkerConfig};
use super::single_rate_tcm::{SingleRateTcm, SingleRateTcmConfig};
use super::token_bucket::{TokenBucket, TokenBucketConfig};
use super::token_bucket_with_debt::{TokenBucketWithDebt, TokenBucketWithDebtConfig};
use super::tsw::{Tsw2cm, Tsw2cmConfig, Tsw3cm, Tsw3cmConfig};
use super::two_rate_tcm::{TwoRateTcm, TwoRateTcmConfig};
use super::two_rate_tcm_rfc4115::{TwoRateTcmRfc4115, TwoRateTcmRfc4115Config};
use crate::random::Streams;
use crate::{Color, ConfigError, Packet, Time};

/// The packets that one meter measures (RFC 2475 §2.3.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeterScope {
    /// All packets: one profile applies to the aggregate.
    #[default]
    Aggregate,
    /// The packets of each flow (addresses, ports, protocol) separately. Each flow has its own meter with the
    /// same profile.
    Flow,
}

impl MeterScope {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires a reference
    pub(crate) fn is_aggregate(&self) -> bool {
        *self == MeterScope::Aggregate
    }
}

/// A meter as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeterConfig {
    /// One token bucket. Packets within the profile are green, all others red (or another color).
    TokenBucket(TokenBucketConfig),
    /// One token bucket that counts packets, not bytes. Packets within the profile are green, all others red
    /// (or another color).
    PacketRate(PacketRateConfig),
    /// A token bucket that lends tokens, with a limit on the sum of debts: the committed access rate of
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
    /// The three color marker of the draft of February 1999, as used in the drop precedence study.
    EarlyTcm(EarlyTcmConfig),
    /// A bucket for premium packets and a bucket for all packets: the hierarchical policer of routers.
    /// Premium packets are green or red, all others green or yellow.
    Hierarchical(HierarchicalConfig),
}

/// A meter of any kind, dispatched by one `match`.
///
/// Shared profiles, and states of more than a cache line, are stored separately on the heap, so that many
/// meters are close together in memory.
#[derive(Clone, Debug)]
pub enum AnyMeter {
    /// See [`TokenBucket`].
    TokenBucket(TokenBucket),
    /// See [`PacketRateMeter`].
    PacketRate(PacketRateMeter),
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
    /// See [`Hierarchical`].
    Hierarchical(Box<Hierarchical>),
}

impl MeterConfig {
    /// Builds the meter, with full buckets.
    ///
    /// # Errors
    /// A rate or a burst is out of range, or the parameters contradict each other.
    pub fn build(&self, streams: &Streams) -> Result<AnyMeter, ConfigError> {
        let (kind, built) = match self {
            MeterConfig::TokenBucket(config) => ("token-bucket", config.build().map(AnyMeter::TokenBucket)),
            MeterConfig::PacketRate(config) => ("packet-rate", config.build().map(AnyMeter::PacketRate)),
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
            MeterConfig::Hierarchical(config) => {
                ("hierarchical", config.build().map(Box::new).map(AnyMeter::Hierarchical))
            }
        };
        built.map_err(|error| error.within(kind))
    }
}

impl AnyMeter {
    /// Whether the meter draws random numbers.
    pub(super) fn is_random(&self) -> bool {
        matches!(self, AnyMeter::Tsw2cm(_) | AnyMeter::Tsw3cm(_))
    }
    /// Measures a packet like [`Meter::measure`], but inlined. A call would save the registers of the longest
    /// meter, which would take as long as a short meter.
    #[expect(clippy::inline_always, reason = "it exists to be inlined")]
    #[inline(always)]
    pub(crate) fn measure_here(&mut self, now: Time, packet: &Packet) -> Color {
        match self {
            AnyMeter::TokenBucket(meter) => meter.measure(now, packet),
            AnyMeter::PacketRate(meter) => meter.measure(now, packet),
            AnyMeter::TokenBucketWithDebt(meter) => meter.measure(now, packet),
            AnyMeter::SingleRateTcm(meter) => meter.measure(now, packet),
            AnyMeter::TwoRateTcm(meter) => meter.measure(now, packet),
            AnyMeter::Rfc4115(meter) => meter.measure(now, packet),
            AnyMeter::Tsw2cm(meter) => meter.measure(now, packet),
            AnyMeter::Tsw3cm(meter) => meter.measure(now, packet),
            AnyMeter::RateBased(meter) => meter.measure(now, packet),
            AnyMeter::EarlyTcm(meter) => meter.measure(now, packet),
            AnyMeter::Hierarchical(meter) => meter.measure(now, packet),
        }
    }
}

impl Meter for AnyMeter {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.measure_here(now, packet)
    }
}
