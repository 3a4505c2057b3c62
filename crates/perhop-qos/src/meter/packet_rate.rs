//! [`PacketRateMeter`]: the two-color meter that counts packets, as policers of a control plane do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contract::{Meter, is_red, red};
use super::token_bucket::{TokenBucket, TokenBucketConfig};
use crate::units::PacketRate;
use crate::{ByteSize, Color, ConfigError, Packet, QueueSize, Rate, Time};

/// The two-color meter that counts packets as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PacketRateConfig {
    /// Packets per second, whatever their size.
    pub rate: PacketRate,
    /// Size of the bucket in packets: how many conform at once.
    pub burst: QueueSize,
    /// Color of the packets that exceed the profile; by default red.
    #[serde(default = "red", skip_serializing_if = "is_red")]
    pub excess: Color,
}

impl PacketRateConfig {
    /// The meter, with its bucket full.
    ///
    /// # Errors
    /// Where rate or burst is 0 or out of range, the burst does not count packets, or the excess is green.
    pub fn build(&self) -> Result<PacketRateMeter, ConfigError> {
        let rate = self.rate.as_packets_per_second();
        let bits = rate.checked_mul(8).filter(|bits| *bits > 0).ok_or_else(|| {
            ConfigError::new("rate", format!("a rate of {}", self.rate))
                .help("above 0, for example 500 packets/s")
        })?;
        let packets = match self.burst {
            QueueSize::Packets(packets) if packets > 0 => packets,
            burst => {
                return Err(ConfigError::new("burst", format!("a burst of {burst}"))
                    .help("at least one packet, for example 50 packets"));
            }
        };
        let (rate, burst) = (Rate::from_bits_per_second(bits), ByteSize::from_bytes(packets));
        TokenBucketConfig { rate, burst, excess: self.excess }.build().map(PacketRateMeter)
    }
}

/// The two-color meter that counts packets, color-blind.
///
/// Cisco, control plane policing: `police rate 500 pps burst 50 packets`. A packet is to it what a byte is to
/// the [`TokenBucket`] inside.
#[derive(Clone, Debug)]
pub struct PacketRateMeter(TokenBucket);

impl Meter for PacketRateMeter {
    #[inline]
    fn measure(&mut self, now: Time, _: &Packet) -> Color {
        self.0.judge(now, 1)
    }
}
