//! [`Hierarchical`]: a bucket for premium packets and a bucket for all packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::{BucketProfile, Clock, Level, RatedBucket};
use super::contract::{Meter, require_burst, require_rate};
use crate::classifier::OneOrMany;
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The hierarchical meter as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HierarchicalConfig {
    /// The labels of premium packets.
    pub premium: OneOrMany<u8>,
    /// The rate of premium packets, bits per second of IP packets.
    pub premium_rate: Rate,
    /// The size of the bucket of premium packets, IP bytes.
    pub premium_burst: ByteSize,
    /// The rate of all packets together, bits per second of IP packets.
    pub rate: Rate,
    /// The size of the bucket of all packets, IP bytes.
    pub burst: ByteSize,
}

impl HierarchicalConfig {
    /// Builds the meter with full buckets.
    ///
    /// # Errors
    /// A rate or a burst is 0, or no packet is premium.
    pub fn build(&self) -> Result<Hierarchical, ConfigError> {
        require_rate("premium-rate", self.premium_rate)?;
        require_burst("premium-burst", self.premium_burst)?;
        require_rate("rate", self.rate)?;
        require_burst("burst", self.burst)?;
        if self.premium.0.is_empty() {
            return Err(ConfigError::new("premium", "the list is empty")
                .help("name a label, or use a token-bucket for all packets"));
        }
        Ok(Hierarchical {
            labels: self.premium.0.clone(),
            premium: RatedBucket::full(self.premium_rate, self.premium_burst),
            all: AllPackets::full(self.rate, self.burst),
        })
    }
}

/// The hierarchical meter.
///
/// Juniper, "Hierarchical Policer Overview": premium packets are limited by their own bucket. They also spend
/// tokens of the bucket of all packets, which never drops them. Other packets have the remaining tokens. In
/// the example of the document, these are 8 of 10 Mb/s if premium packets have 2 Mb/s. The bucket of all
/// packets therefore lends tokens to premium packets (inferred: without debts, other packets would have more
/// than the remaining tokens).
#[derive(Clone, Debug)]
pub struct Hierarchical {
    labels: Vec<u8>,
    premium: RatedBucket,
    all: AllPackets,
}

/// The bucket of all packets.
#[derive(Clone, Copy, Debug)]
struct AllPackets {
    profile: BucketProfile<u128>,
    clock: Clock,
    level: Level<u128>,
    /// The tokens that premium packets have spent and that have not arrived yet.
    debt: u128,
}

impl AllPackets {
    fn full(rate: Rate, burst: ByteSize) -> AllPackets {
        let profile = BucketProfile::new(rate, burst);
        AllPackets { profile, clock: Clock::default(), level: profile.full(), debt: 0 }
    }

    fn fill(&mut self, now: Time) {
        let longest = self.profile.fills_in().saturating_add(self.profile.time_for(self.debt));
        let earned = self.profile.earned(self.clock.elapsed(now, longest));
        let paid = earned.min(self.debt);
        self.debt -= paid;
        self.level.top_up(earned - paid, &self.profile);
    }

    /// Spends the tokens of a packet of `length` bytes if the bucket has enough. Returns whether they were
    /// spent.
    fn take(&mut self, now: Time, length: u32) -> bool {
        self.fill(now);
        self.level.take(self.profile.cost(length))
    }

    /// Spends the tokens of a packet of `length` bytes. If the bucket has too few, the missing tokens become
    /// a debt.
    fn borrow(&mut self, now: Time, length: u32) {
        self.fill(now);
        let cost = self.profile.cost(length);
        if !self.level.take(cost) {
            self.debt = self.debt.saturating_add(self.level.missing(cost));
            self.level.drain();
        }
    }
}

impl Meter for Hierarchical {
    /// Returns green or red for premium packets, and green or yellow for all others.
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let is_premium = self.labels.contains(&packet.label);
        match (is_premium, packet.length) {
            (false, length) if self.all.take(now, length) => Color::GREEN,
            (false, _) => Color::YELLOW,
            (true, length) if self.premium.take(now, length) => {
                self.all.borrow(now, length);
                Color::GREEN
            }
            (true, _) => Color::RED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_do_not_overflow() {
        let (fastest, largest) = (Rate::from_bits_per_second(u64::MAX), ByteSize::from_bytes(u64::MAX));
        for (rate, burst) in [(fastest, largest), (Rate::from_bits_per_second(1), ByteSize::from_bytes(1))] {
            let config = HierarchicalConfig {
                premium: OneOrMany(vec![0]),
                premium_rate: fastest,
                premium_burst: largest,
                rate,
                burst,
            };
            let mut meter = config.build().unwrap();
            let packet = Packet { length: u32::MAX, ..Packet::default() };
            for now in [Time::ZERO, Time::ZERO, Time::MAX, Time::MAX] {
                assert_eq!(meter.measure(now, &packet), Color::GREEN);
            }
        }
    }
}
