//! [`TokenBucketWithDebt`]: the two-color token bucket that lends tokens (RFC 3290 §5.1.3, loose
//! conformance), with a limit on the sum of debts. It is the committed access rate of routers.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::{BucketProfile, ByWidth, Clock, Level, Word};
use super::contract::{Meter, is_red, red, require_burst, require_excess, require_rate};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The token bucket with debt as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TokenBucketWithDebtConfig {
    /// The rate at which tokens arrive, bits per second of IP packets. Arriving tokens first pay off debts.
    pub rate: Rate,
    /// The size of the bucket, IP bytes. A burst of this size conforms without a debt.
    pub burst: ByteSize,
    /// The limit on the sum of debts, IP bytes. Each packet that borrows adds the debt that it leaves to the
    /// sum. If the sum would exceed the limit, the packet is an excess packet. It sets the sum to 0, but does
    /// not change the debt.
    pub debt_limit: ByteSize,
    /// The color of packets that exceed the profile. Default: red.
    #[serde(default = "red", skip_serializing_if = "is_red")]
    pub excess: Color,
}

impl TokenBucketWithDebtConfig {
    /// Builds the meter, with a full bucket and no debt.
    ///
    /// # Errors
    /// The rate, the burst or the limit is 0, or the excess is green.
    pub fn build(&self) -> Result<TokenBucketWithDebt, ConfigError> {
        require_rate("rate", self.rate)?;
        require_burst("burst", self.burst)?;
        if self.debt_limit.as_bytes() == 0 {
            return Err(ConfigError::new("debt-limit", "with a limit of 0 no packet can borrow")
                .help("a bucket that does not lend is a token-bucket; a common limit is twice the burst"));
        }
        require_excess(self.excess)?;
        let narrow = LendingBucket::<u64>::full(self);
        let is_exact = narrow.profile.is_exact();
        Ok(TokenBucketWithDebt(ByWidth::choose(narrow, is_exact, || LendingBucket::full(self))))
    }
}

/// The meter with a token bucket that lends tokens. It is color-blind.
#[derive(Clone, Debug)]
pub struct TokenBucketWithDebt(ByWidth<LendingBucket<u64>, LendingBucket<u128>>);

/// The state of a meter, and the constants that all meters of its configuration share.
///
/// The bucket of the published description contains `level − debt` tokens. At least one of the two is 0 when
/// a packet is measured.
#[derive(Clone, Debug)]
struct LendingBucket<W> {
    profile: Arc<Profile<W>>,
    clock: Clock,
    level: Level<W>,
    /// The actual debt: the tokens that were spent and have not arrived yet.
    debt: W,
    /// The compounded debt: the sum of the actual debts after each packet that has borrowed since the last
    /// excess packet.
    compounded: W,
}

#[derive(Debug)]
struct Profile<W> {
    bucket: BucketProfile<W>,
    /// The limit of the compounded debt.
    limit: W,
    /// The time after which the debt is paid off and the bucket is full.
    longest: Time,
    /// The color of packets that exceed the profile.
    excess: Color,
}

impl<W: Word> Profile<W> {
    fn is_exact(&self) -> bool {
        self.bucket.is_exact(self.limit, self.longest)
    }
}

impl<W: Word> LendingBucket<W> {
    fn full(config: &TokenBucketWithDebtConfig) -> LendingBucket<W> {
        let bucket = BucketProfile::new(config.rate, config.burst);
        let limit = bucket.tokens(config.debt_limit);
        let longest = bucket.fills_in().saturating_add(bucket.time_for(limit));
        let (level, clock) = (bucket.full(), Clock::default());
        let profile = Arc::new(Profile { bucket, limit, longest, excess: config.excess });
        LendingBucket { profile, clock, level, debt: W::ZERO, compounded: W::ZERO }
    }
}

impl Meter for TokenBucketWithDebt {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.0.measure(now, packet)
    }
}

impl<W: Word> Meter for LendingBucket<W> {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let Profile { bucket, limit, longest, excess } = &*self.profile;
        let earned = bucket.earned(self.clock.elapsed(now, *longest));
        let paid = earned.min(self.debt);
        self.debt = self.debt - paid;
        self.level.top_up(earned - paid, bucket);
        let cost = bucket.cost(packet.length);
        // Cisco's worked example of CAR, reported by Ferrari (vectors/meter/token-bucket-with-debt.toml): a
        // packet that finds enough tokens conforms and does not change the compounded debt.
        if self.level.take(cost) {
            return Color::GREEN;
        }
        // In the same example, the actual debt is A' = A + L − T, and the compounded debt is C' = C + A'. A
        // sum that saturates is above the limit.
        let debt = self.debt.saturating_add(self.level.missing(cost));
        let compounded = self.compounded.saturating_add(debt);
        // Same example: a compounded debt above the extended limit makes the packet exceed. Then the
        // compounded debt becomes 0. The actual debt remains, and the excess packet adds nothing to it.
        if compounded > *limit {
            self.compounded = W::ZERO;
            return *excess;
        }
        self.level.drain();
        (self.debt, self.compounded) = (debt, compounded);
        Color::GREEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::FlowKey;

    #[test]
    fn extremes_do_not_overflow() {
        let config = TokenBucketWithDebtConfig {
            rate: Rate::from_bits_per_second(u64::MAX),
            burst: ByteSize::from_bytes(1),
            debt_limit: ByteSize::from_bytes(u64::MAX),
            excess: Color::RED,
        };
        let mut meter = config.build().unwrap();
        let packet = Packet::new(FlowKey::default(), u32::MAX);
        for now in [Time::ZERO, Time::ZERO, Time::MAX] {
            assert_eq!(meter.measure(now, &packet), Color::GREEN);
        }
    }
}
