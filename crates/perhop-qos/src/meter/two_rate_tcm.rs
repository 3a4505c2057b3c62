//! [`TwoRateTcm`]: the two rate three color marker, trTCM (RFC 2698).

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared_profile::{ByWidth, Clock, Level, SharedProfile, Word, cost_if};
use super::{ColorMode, Meter, require_burst, require_rate};
use crate::error::ConfigError;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, Rate, Time};

/// The trTCM as written in a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TwoRateTcmConfig {
    /// Committed information rate, bits per second of IP packets.
    pub cir: Rate,
    /// Committed burst size in IP bytes.
    pub cbs: ByteSize,
    /// Peak information rate, bits per second of IP packets, at least the committed rate.
    pub pir: Rate,
    /// Peak burst size in IP bytes.
    pub pbs: ByteSize,
    /// Whether the color that a packet already has counts; by default it does not.
    #[serde(default)]
    pub mode: ColorMode,
}

impl TwoRateTcmConfig {
    /// The meter, with both buckets full.
    ///
    /// # Errors
    /// Where a rate or a burst is 0, or the peak rate is below the committed rate.
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
        let narrow = Buckets::<u64>::full(self);
        let is_exact = narrow.profile.is_exact();
        Ok(TwoRateTcm(ByWidth::choose(narrow, is_exact, || Buckets::full(self))))
    }
}

/// The trTCM: what exceeds the peak rate is red; of the rest, what exceeds the committed rate is yellow.
#[derive(Clone, Debug)]
pub struct TwoRateTcm(ByWidth<Buckets<u64>, Buckets<u128>>);

/// What a meter has for itself, and what all of its configuration share.
#[derive(Clone, Debug)]
struct Buckets<W> {
    profile: Arc<Profile<W>>,
    clock: Clock,
    committed: Level<W>,
    peak: Level<W>,
}

#[derive(Debug)]
struct Profile<W> {
    committed: SharedProfile<W>,
    peak: SharedProfile<W>,
    /// When both are full for certain.
    longest: Time,
    mode: ColorMode,
}

impl<W: Word> Profile<W> {
    fn is_exact(&self) -> bool {
        self.committed.is_exact(W::ZERO, self.longest) && self.peak.is_exact(W::ZERO, self.longest)
    }
}

impl<W: Word> Buckets<W> {
    fn full(config: &TwoRateTcmConfig) -> Buckets<W> {
        let committed = SharedProfile::new(config.cir, config.cbs);
        let peak = SharedProfile::new(config.pir, config.pbs);
        let longest = committed.fills_in().max(peak.fills_in());
        let (clock, levels) = (Clock::default(), (committed.full(), peak.full()));
        let profile = Arc::new(Profile { committed, peak, longest, mode: config.mode });
        Buckets { profile, clock, committed: levels.0, peak: levels.1 }
    }
}

impl Meter for TwoRateTcm {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        self.0.measure(now, packet)
    }
}

impl<W: Word> Meter for Buckets<W> {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        let Profile { committed, peak, longest, mode } = &*self.profile;
        let elapsed = self.clock.elapsed(now, *longest);
        self.committed.top_up(committed.earned(elapsed), committed);
        self.peak.top_up(peak.earned(elapsed), peak);
        // RFC 2698 §3: "If the packet has been precolored as red or if Tp(t)-B < 0, the packet is red, else
        // if the packet has been precolored as yellow or if Tc(t)-B < 0, the packet is yellow and Tp is
        // decremented by B, else the packet is green and both Tp and Tc are decremented by B."
        // Color-blind is the same with every packet green.
        let (to_peak, to_committed) = (peak.cost(packet.length), committed.cost(packet.length));
        mode.judge(packet, |color| {
            let within_peak = self.peak.take(cost_if(color < Color::RED, to_peak));
            let green = self.committed.take_if(within_peak, cost_if(color == Color::GREEN, to_committed));
            color.judged(green, within_peak)
        })
    }
}
