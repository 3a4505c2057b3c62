//! [`PacketRateMeter`]: the two-color meter that counts packets, like policers of a control plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::require_excess;
use super::contract::{Meter, is_red, red};
use super::token_bucket::{SoleBucket, TokenBucketConfig};
use crate::units::PacketRate;
use crate::{ByteSize, Color, ConfigError, Packet, QueueSize, Rate, Time};

/// The two-color meter that counts packets, color-blind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PacketRateConfig {
    /// Packets per second, regardless of their length.
    pub rate: PacketRate,
    /// The size of the bucket, packets. A burst of this size conforms.
    pub burst: QueueSize,
    /// The color of packets that exceed the profile. Default: red.
    #[serde(default = "red", skip_serializing_if = "is_red")]
    pub excess: Color,
}

impl PacketRateConfig {
    /// Builds the meter, with a full bucket.
    ///
    /// # Errors
    /// The rate or the burst is out of range, the burst does not count packets, or the excess is green.
    pub fn build(&self) -> Result<PacketRateMeter, ConfigError> {
        let (rate, QueueSize::Packets(burst @ 1..=MOST_BURST)) =
            (self.rate.as_packets_per_second(), self.burst)
        else {
            return Err(ConfigError::new("burst", format!("a burst of {} is out of range", self.burst))
                .help(format!("1 to {MOST_BURST} packets, for example 50 packets")));
        };
        if !(1..=MOST_RATE).contains(&rate) {
            return Err(ConfigError::new("rate", format!("a rate of {} is out of range", self.rate))
                .help(format!("1 to {MOST_RATE} packets/s, for example 500 packets/s")));
        }
        require_excess(self.excess)?;
        let (rate, burst) = (Rate::from_bits_per_second(8 * rate), ByteSize::from_bytes(burst));
        Ok(PacketRateMeter(SoleBucket::full(&TokenBucketConfig { rate, burst, excess: self.excess })))
    }
}

/// The upper limits of the rate and the burst for which 64 bits are exact. A packet costs at most 10¹²
/// tokens. In one second, at most 10¹² tokens arrive for each packet of the rate.
const MOST_RATE: u64 = 1_000_000_000;
const MOST_BURST: u64 = 1_000_000;

/// The two-color meter that counts packets, color-blind.
///
/// Cisco, control plane policing: `police rate 500 pps burst 50 packets`. The meter counts packets as a
/// [token bucket](super::TokenBucket) counts bytes.
#[derive(Clone, Debug)]
pub struct PacketRateMeter(SoleBucket<u64>);

impl Meter for PacketRateMeter {
    #[inline]
    fn measure(&mut self, now: Time, _: &Packet) -> Color {
        self.0.judge(now, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowKey;

    #[test]
    fn the_largest_burst_is_exact_at_rates_that_share_no_divisor_with_a_second() {
        // At a prime rate, a packet costs 10¹² tokens.
        for rate in [3, 999_999_937] {
            let rate = PacketRate::from_packets_per_second(rate);
            let burst = QueueSize::Packets(MOST_BURST);
            let mut meter = PacketRateConfig { rate, burst, excess: Color::RED }.build().unwrap();
            let packet = Packet::new(FlowKey::default(), 1500);
            for at in [Time::ZERO, Time::from_seconds(18_000_000)] {
                let green = (0..=MOST_BURST).filter(|_| meter.measure(at, &packet) == Color::GREEN);
                assert_eq!(green.count() as u64, MOST_BURST);
            }
        }
    }
}
