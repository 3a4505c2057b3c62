//! [`TokenBucket`]: the two-color meter with one token bucket (RFC 3290 §5.1.3 and A.3).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::{BucketProfile, ByWidth, Clock, Level, Word};
use super::contract::{Meter, is_red, red, require_burst, require_excess, require_rate};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The two-color token bucket as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TokenBucketConfig {
    /// The rate at which tokens arrive, bits per second of IP packets.
    pub rate: Rate,
    /// The size of the bucket, IP bytes. A longer packet never conforms.
    pub burst: ByteSize,
    /// The color of packets that exceed the profile. Default: red.
    #[serde(default = "red", skip_serializing_if = "is_red")]
    pub excess: Color,
}

impl TokenBucketConfig {
    /// Builds the meter, with a full bucket.
    ///
    /// # Errors
    /// The rate or the burst is 0, or the excess is green.
    pub fn build(&self) -> Result<TokenBucket, ConfigError> {
        require_rate("rate", self.rate)?;
        require_burst("burst", self.burst)?;
        require_excess(self.excess)?;
        let narrow = SoleBucket::<u64>::full(self);
        let is_exact = narrow.profile.bucket.is_exact(0, narrow.profile.longest);
        Ok(TokenBucket(ByWidth::choose(narrow, is_exact, || SoleBucket::full(self))))
    }
}

/// The meter with a two-color token bucket. It is color-blind.
#[derive(Clone, Debug)]
pub struct TokenBucket(ByWidth<SoleBucket<u64>, SoleBucket<u128>>);

/// The state of a meter, and the constants that all meters of its configuration share.
#[derive(Clone, Debug)]
pub(super) struct SoleBucket<W> {
    profile: Arc<Profile<W>>,
    clock: Clock,
    level: Level<W>,
}

#[derive(Debug)]
struct Profile<W> {
    bucket: BucketProfile<W>,
    /// The time after which an empty bucket is full.
    longest: Time,
    /// The color of excess packets, and the color of conforming packets. The lookup in this table avoids a
    /// branch that the processor cannot predict.
    colors: [Color; 2],
}

impl<W: Word> SoleBucket<W> {
    pub(super) fn full(config: &TokenBucketConfig) -> SoleBucket<W> {
        let bucket = BucketProfile::new(config.rate, config.burst);
        let colors = [config.excess, Color::GREEN];
        let profile = Arc::new(Profile { bucket, longest: bucket.fills_in(), colors });
        SoleBucket { profile, clock: Clock::default(), level: bucket.full() }
    }
}

impl Meter for TokenBucket {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.0.measure(now, packet)
    }
}

impl<W: Word> SoleBucket<W> {
    /// Returns the color of a packet of `length` bytes that arrives at `now`.
    #[allow(clippy::inline_always)] // executed for every metered packet; it has two callers
    #[inline(always)]
    pub(super) fn judge(&mut self, now: Time, length: u32) -> Color {
        let Profile { bucket, longest, colors } = &*self.profile;
        self.level.top_up(bucket.earned(self.clock.elapsed(now, *longest)), bucket);
        // RFC 3290 A.3, strict conformance: the bucket must have tokens for the entire packet, and an excess
        // packet spends no tokens.
        let conforms = self.level.take(bucket.cost(length));
        colors[usize::from(conforms)]
    }
}

impl<W: Word> Meter for SoleBucket<W> {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.judge(now, packet.length)
    }
}
