//! [`TwoRateTcm`]: the two rate three color marker, trTCM (RFC 2698).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::{ByWidth, Word, cost_if};
use super::contract::{ColorMode, Meter, require_burst, require_rate};
use super::two_buckets::{Buckets, Profile, Surplus, TwoBuckets};
use crate::{ByteSize, Color, ConfigError, Packet, Rate, Time};

/// The trTCM as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TwoRateTcmConfig {
    /// The committed information rate, bits per second of IP packets.
    pub cir: Rate,
    /// The committed burst size, IP bytes.
    pub cbs: ByteSize,
    /// The peak information rate, bits per second of IP packets, at least the committed rate.
    pub pir: Rate,
    /// The peak burst size, IP bytes.
    pub pbs: ByteSize,
    /// Whether the meter considers the color that a packet already has. Default: it does not.
    #[serde(default)]
    pub mode: ColorMode,
}

impl TwoRateTcmConfig {
    /// Builds the meter, with both buckets full.
    ///
    /// # Errors
    /// A rate or a burst is 0, or the peak rate is below the committed rate.
    pub fn build(&self) -> Result<TwoRateTcm, ConfigError> {
        require_rate("cir", self.cir)?;
        require_burst("cbs", self.cbs)?;
        require_burst("pbs", self.pbs)?;
        // RFC 2698 §2: "The PIR must be equal to or greater than the CIR."
        if self.pir < self.cir {
            return Err(ConfigError::new(
                "pir",
                format!("the peak rate {} is below the committed rate {}", self.pir, self.cir),
            )
            .help("pir must be at least cir; for two independent rates use rfc4115"));
        }
        Ok(TwoRateTcm(TwoBuckets::full((self.cir, self.cbs), (self.pir, self.pbs), Surplus::Lost, self.mode)))
    }
}

/// The trTCM: packets above the peak rate are red, and other packets above the committed rate are yellow.
#[derive(Clone, Debug)]
pub struct TwoRateTcm(TwoBuckets);

impl Meter for TwoRateTcm {
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
    let Profile { committed, excess: peak, longest, mode } = &*buckets.profile;
    let elapsed = buckets.clock.elapsed(now, *longest);
    buckets.committed.top_up(committed.earned(elapsed), committed);
    buckets.excess.top_up(peak.earned(elapsed), peak);
    // RFC 2698 §3: "If the packet has been precolored as red or if Tp(t)-B < 0, the packet is red, else if
    // the packet has been precolored as yellow or if Tc(t)-B < 0, the packet is yellow and Tp is decremented
    // by B, else the packet is green and both Tp and Tc are decremented by B." A color-blind meter assumes
    // that every packet is green.
    let (to_peak, to_committed) = (peak.cost(packet.length), committed.cost(packet.length));
    mode.judge(packet, |color| {
        let within_peak = buckets.excess.take(cost_if(color < Color::RED, to_peak));
        let green = buckets.committed.take_if(within_peak, cost_if(color == Color::GREEN, to_committed));
        color.judged(green, within_peak)
    })
}
