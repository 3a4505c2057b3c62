//! [`TwoRateTcmRfc4115`]: the two-rate, three-color marker with efficient handling of in-profile
//! traffic (RFC 4115).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::{ByWidth, Word, cost_if};
use super::contract::{ColorMode, Meter, require_burst, require_rate};
use super::two_buckets::{Buckets, Profile, Surplus, TwoBuckets};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The marker of RFC 4115 as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TwoRateTcmRfc4115Config {
    /// The committed information rate, bits per second of IP packets.
    pub cir: Rate,
    /// The committed burst size, IP bytes.
    pub cbs: ByteSize,
    /// The excess information rate, bits per second of IP packets, in addition to the committed rate.
    pub eir: Rate,
    /// The excess burst size, IP bytes.
    pub ebs: ByteSize,
    /// Whether the meter considers the color that a packet already has. Default: it does not.
    #[serde(default)]
    pub mode: ColorMode,
}

impl TwoRateTcmRfc4115Config {
    /// Builds the meter, with both buckets full.
    ///
    /// # Errors
    /// A rate or a burst is 0.
    pub fn build(&self) -> Result<TwoRateTcmRfc4115, ConfigError> {
        require_rate("cir", self.cir)?;
        require_burst("cbs", self.cbs)?;
        require_rate("eir", self.eir)?;
        require_burst("ebs", self.ebs)?;
        Ok(TwoRateTcmRfc4115(TwoBuckets::full(
            (self.cir, self.cbs),
            (self.eir, self.ebs),
            Surplus::Lost,
            self.mode,
        )))
    }
}

/// The marker of RFC 4115: two independent buckets. Only the committed bucket determines whether a green
/// packet remains green.
#[derive(Clone, Debug)]
pub struct TwoRateTcmRfc4115(TwoBuckets);

impl Meter for TwoRateTcmRfc4115 {
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
    let elapsed = buckets.clock.elapsed(now, *longest);
    buckets.committed.top_up(committed.earned(elapsed), committed);
    buckets.excess.top_up(excess.earned(elapsed), excess);
    // RFC 4115 §3, figure 1: a green packet with B <= Tc is green, and Tc -= B. Otherwise, a packet that is
    // not red and has B <= Te is yellow, and Te -= B. Otherwise, the packet is red. "In the color-blind
    // operation, the meter assumes that all incoming packets are green." The text of §3 has "Tc(t)- B > 0";
    // see docs/deviations.toml.
    let (to_committed, to_excess) = (committed.cost(packet.length), excess.cost(packet.length));
    mode.judge(packet, |color| {
        let green = buckets.committed.take(cost_if(color == Color::GREEN, to_committed));
        let yellow = buckets.excess.take_if(!green, cost_if(color <= Color::YELLOW, to_excess));
        color.judged(green, yellow)
    })
}
