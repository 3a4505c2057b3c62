//! [`RateBasedMarker`]: the rate-based marker, RBM, of Goyal, Misra and Jain, "Effect of Number of
//! Drop Precedences in Assured Forwarding" (draft-goyal-dpstdy-diffserv-00, 1999), §2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::RatedBucket;
use super::contract::{ColorMode, Meter, color_aware, require_burst, require_rate};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The rate-based marker as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RateBasedMarkerConfig {
    /// One bucket for each drop precedence except the last one, beginning with green: n-1 buckets mark n
    /// precedences.
    pub buckets: Vec<MarkerBucketConfig>,
    /// Whether the meter considers the color that a packet already has. Default: it does.
    #[serde(default = "color_aware")]
    pub mode: ColorMode,
}

/// One bucket of the rate-based marker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MarkerBucketConfig {
    /// The rate at which tokens arrive, bits per second of IP packets.
    pub rate: Rate,
    /// The size of the bucket, IP bytes.
    pub burst: ByteSize,
}

impl RateBasedMarkerConfig {
    /// Builds the meter, with full buckets.
    ///
    /// # Errors
    /// There is no bucket or there are too many, or a rate or a burst is 0.
    pub fn build(&self) -> Result<RateBasedMarker, ConfigError> {
        let most = Color::COUNT - 1;
        if self.buckets.is_empty() || self.buckets.len() > most {
            return Err(ConfigError::new(
                "buckets",
                format!("{} buckets mark {} drop precedences", self.buckets.len(), self.buckets.len() + 1),
            )
            .help(format!("write 1 to {most} buckets: one for each precedence except the last")));
        }
        let build = |(index, bucket): (usize, &MarkerBucketConfig)| {
            bucket.build().map_err(|error| error.within(index).within("buckets"))
        };
        let buckets = self.buckets.iter().enumerate().map(build).collect::<Result<_, _>>()?;
        Ok(RateBasedMarker { buckets, mode: self.mode })
    }
}

impl MarkerBucketConfig {
    fn build(&self) -> Result<RatedBucket, ConfigError> {
        require_rate("rate", self.rate)?;
        require_burst("burst", self.burst)?;
        Ok(RatedBucket::full(self.rate, self.burst))
    }
}

/// The rate-based marker. Its buckets are independent. A packet uses the first bucket that has enough tokens,
/// beginning with the bucket of its own precedence.
#[derive(Clone, Debug)]
pub struct RateBasedMarker {
    buckets: Vec<RatedBucket>,
    mode: ColorMode,
}

impl Meter for RateBasedMarker {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let color = self.mode.color_before(packet);
        // §2: "packets pre-marked with a drop precedence can not use tokens of higher precedence buckets
        // and [...] cannot be upgraded to a higher precedence. However, a marker can degrade the drop
        // precedence of a packet."
        for (level, bucket) in self.buckets.iter_mut().enumerate().skip(color.index()) {
            if bucket.take(now, packet.length) {
                return Color::new(level);
            }
        }
        color.max(Color::new(self.buckets.len()))
    }
}
