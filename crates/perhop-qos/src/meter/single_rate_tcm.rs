//! [`SingleRateTcm`]: the single rate three color marker, srTCM (RFC 2697).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::token_bucket::{Bucket, Refill, cost};
use super::{ColorMode, Meter, require_rate};
use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, Rate, Time};

/// The srTCM as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SingleRateTcmConfig {
    /// Committed information rate, bits per second of IP packets.
    pub cir: Rate,
    /// Committed burst size in IP bytes: how much can be green at once.
    pub cbs: ByteSize,
    /// Excess burst size in IP bytes: how much more can be yellow.
    pub ebs: ByteSize,
    /// Whether the color that a packet already has counts; by default it does not.
    #[serde(default)]
    pub mode: ColorMode,
}

impl SingleRateTcmConfig {
    /// The meter, with both buckets full.
    ///
    /// # Errors
    /// Where the rate or both bursts are 0.
    pub fn build(&self) -> Result<SingleRateTcm, ConfigError> {
        require_rate("cir", self.cir)?;
        // RFC 2697 §2: "The CBS and EBS must be configured so that at least one of them is larger than 0."
        if self.cbs.as_bytes() == 0 && self.ebs.as_bytes() == 0 {
            return Err(ConfigError::new("cbs", "with both cbs and ebs 0 every packet is red")
                .help("at least one of them must be larger than 0, better than the largest packet"));
        }
        Ok(SingleRateTcm {
            refill: Refill::new(self.cir),
            committed: Bucket::full(self.cbs),
            excess: Bucket::full(self.ebs),
            mode: self.mode,
        })
    }
}

/// The srTCM: a committed bucket, and an excess bucket that gets what the first has no room for.
#[derive(Clone, Debug)]
pub struct SingleRateTcm {
    refill: Refill,
    committed: Bucket,
    excess: Bucket,
    mode: ColorMode,
}

impl Meter for SingleRateTcm {
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        // RFC 2697 §3: "If Tc is less than CBS, Tc is incremented by one, else if Te is less then EBS,
        // Te is incremented by one, else neither".
        let surplus = self.committed.fill(self.refill.earned(now));
        self.excess.fill(surplus);
        let (color, cost) = (self.mode.color_before(packet), cost(packet.length));
        // "If the packet has been precolored as green and Tc(t)-B >= 0, the packet is green and Tc is
        // decremented by B [...], else if the packet has been precolored as green or yellow and if
        // Te(t)-B >= 0, the packets is yellow and Te is decremented by B [...], else the packet is red and
        // neither Tc nor Te is decremented." Color-blind is the same with every packet green.
        let green = self.committed.take_if(color == Color::GREEN, cost);
        let yellow = self.excess.take_if(!green && color <= Color::YELLOW, cost);
        color.judged(green, yellow)
    }
}
