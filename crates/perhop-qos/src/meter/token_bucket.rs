//! Token buckets in exact integers, and [`TokenBucket`], the two-color meter (RFC 3290 §5.1.3 and A.3).
//!
//! A bucket counts credit in bit·ps/s, 10⁻¹² of a bit: a rate in bit/s times a time in picoseconds
//! is a whole number of them, so nothing is ever rounded and "green ≤ rate·Δt + burst" holds on
//! every interval to the last bit. 128 bits hold any rate, any time and any burst.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared_profile::{ByWidth, Clock, Level, SharedProfile, Word};
use super::{Meter, require_burst, require_rate};
use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// Tokens, in bit·ps/s.
pub(crate) type Credit = u128;

/// What a packet of `length` IP bytes takes out of a bucket.
pub(crate) fn cost(length: u32) -> Credit {
    Credit::from(length) * Credit::from(8 * PICOSECONDS_PER_SECOND)
}

/// The tokens for `size` bytes.
pub(super) fn credit(size: ByteSize) -> Credit {
    Credit::from(size.as_bytes()) * Credit::from(8 * PICOSECONDS_PER_SECOND)
}

/// Tokens that wait to be spent, never more than the size of the bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    credit: Credit,
    size: Credit,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn full(size: ByteSize) -> Bucket {
        let size = credit(size);
        Bucket { credit: size, size }
    }
    /// Adds `earned` as far as there is room, and returns what is left over.
    pub(crate) fn fill(&mut self, earned: Credit) -> Credit {
        let fitting = earned.min(self.size - self.credit);
        self.credit += fitting;
        earned - fitting
    }
    /// Adds `earned` as far as there is room; what is left over is lost.
    #[inline]
    fn top_up(&mut self, earned: Credit) {
        self.credit = self.credit.saturating_add(earned).min(self.size);
    }
    /// Whether there are tokens for `cost`.
    pub(crate) fn holds(&self, cost: Credit) -> bool {
        cost <= self.credit
    }
    /// Spends `cost`, or nothing if there is not enough; returns whether it did.
    ///
    /// Nobody can foretell which packets conform, so there is no branch here for a processor to guess wrong.
    #[inline]
    pub(crate) fn take(&mut self, cost: Credit) -> bool {
        let takes = Credit::from(cost <= self.credit);
        // All of the cost, or nothing.
        self.credit -= cost & takes.wrapping_neg();
        takes != 0
    }
}

/// Earns tokens at a constant rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refill {
    rate: Rate,
    last: Time,
}

impl Refill {
    /// Tokens at `rate` from time 0 on.
    pub(crate) fn new(rate: Rate) -> Refill {
        Refill { rate, last: Time::ZERO }
    }
    /// What was earned since the last call.
    pub(crate) fn earned(&mut self, now: Time) -> Credit {
        let elapsed = now.saturating_sub(self.last);
        self.last += elapsed;
        Credit::from(self.rate.as_bits_per_second()) * Credit::from(elapsed.as_picoseconds())
    }
}

/// A bucket that fills at a rate of its own.
///
/// It is brought up to date only when it is asked: what does not fit is lost, so once is as good as often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RatedBucket {
    refill: Refill,
    bucket: Bucket,
}

impl RatedBucket {
    /// A full bucket of size `burst` that fills at `rate`.
    pub(crate) fn full(rate: Rate, burst: ByteSize) -> RatedBucket {
        RatedBucket { refill: Refill::new(rate), bucket: Bucket::full(burst) }
    }
    /// The bucket as it is at `now`.
    pub(crate) fn at(&mut self, now: Time) -> &mut Bucket {
        self.bucket.top_up(self.refill.earned(now));
        &mut self.bucket
    }
}

/// The two-color token bucket as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TokenBucketConfig {
    /// Rate at which tokens arrive, bits per second of IP packets.
    pub rate: Rate,
    /// Size of the bucket in IP bytes; a larger packet never conforms.
    pub burst: ByteSize,
    /// Color of the packets that exceed the profile; by default red.
    #[serde(default = "red", skip_serializing_if = "is_red")]
    pub excess: Color,
}

pub(super) fn red() -> Color {
    Color::RED
}
#[allow(clippy::trivially_copy_pass_by_ref)] // serde asks for a reference
pub(super) fn is_red(color: &Color) -> bool {
    *color == Color::RED
}
/// The color of excess packets must differ from that of the others, or the meter would tell nothing.
pub(super) fn require_excess(excess: Color) -> Result<(), ConfigError> {
    if excess == Color::GREEN {
        return Err(ConfigError::new("excess", "packets within the profile are green already")
            .help("for example yellow or red"));
    }
    Ok(())
}

impl TokenBucketConfig {
    /// The meter, with its bucket full.
    ///
    /// # Errors
    /// Where rate or burst is 0, or the excess is green.
    pub fn build(&self) -> Result<TokenBucket, ConfigError> {
        require_rate("rate", self.rate)?;
        require_burst("burst", self.burst)?;
        require_excess(self.excess)?;
        let narrow = SoleBucket::<u64>::full(self);
        let is_exact = narrow.profile.bucket.is_exact(0, narrow.profile.longest);
        Ok(TokenBucket(ByWidth::choose(narrow, is_exact, || SoleBucket::full(self))))
    }
}

/// The two-color token bucket, color-blind.
#[derive(Clone, Debug)]
pub struct TokenBucket(ByWidth<SoleBucket<u64>, SoleBucket<u128>>);

/// What a meter has for itself, and what all of its configuration share.
#[derive(Clone, Debug)]
struct SoleBucket<W> {
    profile: Arc<Profile<W>>,
    clock: Clock,
    level: Level<W>,
}

#[derive(Debug)]
struct Profile<W> {
    bucket: SharedProfile<W>,
    /// When it is full for certain.
    longest: Time,
    /// Of the packets that exceed it and of those that conform: looked up, as nobody can foretell which it is.
    colors: [Color; 2],
}

impl<W: Word> SoleBucket<W> {
    fn full(config: &TokenBucketConfig) -> SoleBucket<W> {
        let bucket = SharedProfile::new(config.rate, config.burst);
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

impl<W: Word> Meter for SoleBucket<W> {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let Profile { bucket, longest, colors } = &*self.profile;
        self.level.top_up(bucket.earned(self.clock.elapsed(now, *longest)), bucket);
        // RFC 3290 A.3, strict conformance: enough tokens for the entire packet; an excess packet takes none.
        let conforms = self.level.take(bucket.cost(packet.length));
        colors[usize::from(conforms)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_do_not_overflow() {
        let fastest = Rate::from_bits_per_second(u64::MAX);
        let largest = ByteSize::from_bytes(u64::MAX);
        let mut bucket = RatedBucket::full(fastest, largest);
        assert!(bucket.at(Time::ZERO).take(cost(u32::MAX)));
        assert!(bucket.at(Time::MAX).holds(Bucket::full(largest).credit));
    }

    #[test]
    fn a_clock_that_steps_back_earns_nothing_twice() {
        let mut refill = Refill::new(Rate::from_bits_per_second(8));
        assert_eq!(refill.earned(Time::from_seconds(2)), 16 * 1_000_000_000_000);
        assert_eq!(refill.earned(Time::from_seconds(1)), 0);
        assert_eq!(refill.earned(Time::from_seconds(2)), 0);
    }
}
