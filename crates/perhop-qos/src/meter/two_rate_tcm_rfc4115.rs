//! [`TwoRateTcmRfc4115`]: the two-rate, three-color marker with efficient handling of in-profile
//! traffic (RFC 4115).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared_profile::{ByWidth, Clock, Level, SharedProfile, Word, cost_if};
use super::{ColorMode, Meter, require_burst, require_rate};
use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, Rate, Time};

/// The marker of RFC 4115 as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TwoRateTcmRfc4115Config {
    /// Committed information rate, bits per second of IP packets.
    pub cir: Rate,
    /// Committed burst size in IP bytes.
    pub cbs: ByteSize,
    /// Excess information rate, bits per second of IP packets, on top of the committed rate.
    pub eir: Rate,
    /// Excess burst size in IP bytes.
    pub ebs: ByteSize,
    /// Whether the color that a packet already has counts; by default it does not.
    #[serde(default)]
    pub mode: ColorMode,
}

impl TwoRateTcmRfc4115Config {
    /// The meter, with both buckets full.
    ///
    /// # Errors
    /// Where a rate or a burst is 0.
    pub fn build(&self) -> Result<TwoRateTcmRfc4115, ConfigError> {
        require_rate("cir", self.cir)?;
        require_burst("cbs", self.cbs)?;
        require_rate("eir", self.eir)?;
        require_burst("ebs", self.ebs)?;
        let narrow = Buckets::<u64>::full(self);
        let is_exact = narrow.profile.is_exact();
        Ok(TwoRateTcmRfc4115(ByWidth::choose(narrow, is_exact, || Buckets::full(self))))
    }
}

/// The marker of RFC 4115: two independent buckets, and a green packet is tested against the first alone.
#[derive(Clone, Debug)]
pub struct TwoRateTcmRfc4115(ByWidth<Buckets<u64>, Buckets<u128>>);

/// What a meter has for itself, and what all of its configuration share.
#[derive(Clone, Debug)]
struct Buckets<W> {
    profile: Arc<Profile<W>>,
    clock: Clock,
    committed: Level<W>,
    excess: Level<W>,
}

#[derive(Debug)]
struct Profile<W> {
    committed: SharedProfile<W>,
    excess: SharedProfile<W>,
    /// When both are full for certain.
    longest: Time,
    mode: ColorMode,
}

impl<W: Word> Profile<W> {
    fn is_exact(&self) -> bool {
        self.committed.is_exact(W::ZERO, self.longest) && self.excess.is_exact(W::ZERO, self.longest)
    }
}

impl<W: Word> Buckets<W> {
    fn full(config: &TwoRateTcmRfc4115Config) -> Buckets<W> {
        let committed = SharedProfile::new(config.cir, config.cbs);
        let excess = SharedProfile::new(config.eir, config.ebs);
        let longest = committed.fills_in().max(excess.fills_in());
        let (clock, levels) = (Clock::default(), (committed.full(), excess.full()));
        let profile = Arc::new(Profile { committed, excess, longest, mode: config.mode });
        Buckets { profile, clock, committed: levels.0, excess: levels.1 }
    }
}

impl Meter for TwoRateTcmRfc4115 {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.0.measure(now, packet)
    }
}

impl<W: Word> Meter for Buckets<W> {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let Profile { committed, excess, longest, mode } = &*self.profile;
        let elapsed = self.clock.elapsed(now, *longest);
        self.committed.top_up(committed.earned(elapsed), committed);
        self.excess.top_up(excess.earned(elapsed), excess);
        // RFC 4115 §3, figure 1: green packet and B <= Tc: green, Tc -= B; else not a red packet and
        // B <= Te: yellow, Te -= B; else red. "In the color-blind operation, the meter assumes that all
        // incoming packets are green." The text of §3 has "Tc(t)- B > 0"; see docs/deviations.toml.
        let (to_committed, to_excess) = (committed.cost(packet.length), excess.cost(packet.length));
        mode.judge(packet, |color| {
            let green = self.committed.take(cost_if(color == Color::GREEN, to_committed));
            let yellow = self.excess.take_if(!green, cost_if(color <= Color::YELLOW, to_excess));
            color.judged(green, yellow)
        })
    }
}
