//! [`SingleRateTcm`]: the single rate three color marker, srTCM (RFC 2697).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::{ByWidth, Word, cost_if};
use super::contract::{ColorMode, Meter, require_rate};
use super::two_buckets::{Buckets, Profile, Surplus, TwoBuckets};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The srTCM as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SingleRateTcmConfig {
    /// The committed information rate, bits per second of IP packets.
    pub cir: Rate,
    /// The committed burst size, IP bytes. A burst of this size is green.
    pub cbs: ByteSize,
    /// The excess burst size, IP bytes. An additional burst of this size is yellow.
    pub ebs: ByteSize,
    /// Whether the meter considers the color that a packet already has. Default: it does not.
    #[serde(default)]
    pub mode: ColorMode,
}

impl SingleRateTcmConfig {
    /// Builds the meter, with both buckets full.
    ///
    /// # Errors
    /// The rate is 0, or both bursts are 0.
    pub fn build(&self) -> Result<SingleRateTcm, ConfigError> {
        require_rate("cir", self.cir)?;
        // RFC 2697 §2: "The CBS and EBS must be configured so that at least one of them is larger than 0."
        if self.cbs.as_bytes() == 0 && self.ebs.as_bytes() == 0 {
            return Err(ConfigError::new("cbs", "with both cbs and ebs 0 every packet is red").help(
                "at least one of the two bursts must be above 0; make it larger than the largest packet",
            ));
        }
        Ok(SingleRateTcm(TwoBuckets::full(
            (self.cir, self.cbs),
            (self.cir, self.ebs),
            Surplus::Spills,
            self.mode,
        )))
    }
}

/// The srTCM: a committed bucket, and an excess bucket that is filled while the committed bucket is full.
#[derive(Clone, Debug)]
pub struct SingleRateTcm(TwoBuckets);

impl Meter for SingleRateTcm {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        match &mut self.0 {
            ByWidth::Narrow(buckets) => measure(buckets, now, packet),
            ByWidth::Wide(buckets) => measure(buckets, now, packet),
        }
    }
}

#[inline]
fn measure<W: Word>(buckets: &mut Buckets<W>, now: Time, packet: &Packet) -> Color {
    let Profile { committed, excess, longest, mode } = &*buckets.profile;
    // RFC 2697 §3: "If Tc is less than CBS, Tc is incremented by one, else if Te is less then EBS,
    // Te is incremented by one, else neither".
    let surplus = buckets.committed.fill(committed.earned(buckets.clock.elapsed(now, *longest)), committed);
    buckets.excess.top_up(surplus, excess);
    // "If the packet has been precolored as green and Tc(t)-B >= 0, the packet is green and Tc is decremented
    // by B [...], else if the packet has been precolored as green or yellow and if Te(t)-B >= 0, the packets
    // is yellow and Te is decremented by B [...], else the packet is red and neither Tc nor Te is
    // decremented." A color-blind meter assumes that every packet is green.
    let cost = committed.cost(packet.length);
    mode.judge(packet, |color| {
        let green = buckets.committed.take(cost_if(color == Color::GREEN, cost));
        let yellow = buckets.excess.take_if(!green, cost_if(color <= Color::YELLOW, cost));
        color.judged(green, yellow)
    })
}
