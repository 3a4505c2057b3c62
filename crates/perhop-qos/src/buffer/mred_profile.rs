//! [`Profile`]: what multi-level RED knows from its configuration alone, worked out once.

use super::TailDrop;
use super::average::Motion;
use super::drop_spacing::{DropSpacing, SinceDrop};
use super::drop_test::Tests;
use super::moving_average::Smoothing;
use super::mred_config::{
    AfterForcedConfig, Averages, EcnConfig, LimitCounts, MredConfig, ProbabilityConfig, SparedConfig,
};
use super::thresholds::{DropCurve, PrecedenceConfig};
use crate::packet::{Color, Ecn, Packet};
use crate::queue::Occupancy;
use crate::random::Stream;
use crate::units::QueueSize;
use crate::verdict::{DropCause, Verdict};

/// What the packets of a buffer manager read and never write: managers that are made as copies of one share it.
///
/// What every packet reads comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Profile {
    /// The short way takes packets that find from 1 to this many packets in the queue: as long as nothing but one average and
    /// one test of it decides. 0 where there is always more to ask.
    pub(super) short_way_up_to: u64,
    /// The same where the average moves by a shift and all precedences are counted at hand, which is shorter.
    pub(super) shortest_way_up_to: u64,
    pub(super) motion: Motion,
    /// Where the short way finds what is remembered of a color.
    pub(super) near: [Near; Color::COUNT],
    /// Whether more than the shared averages and the thresholds decides: [`Profile::judge_or_spare`], or an own average.
    pub(super) asks_more: bool,
    /// Whether averages are coupled, none of them outgrows its digits, and nothing more is asked.
    pub(super) is_coupled: bool,
    /// Index of the highest drop precedence.
    pub(super) last: usize,
    pub(super) averages: Averages,
    pub(super) unit: Unit,
    pub(super) spacing: DropSpacing,
    pub(super) spared: SparedConfig,
    after_forced: AfterForcedConfig,
    ecn: EcnConfig,
    limit_counts: LimitCounts,
    pub(super) limit: Option<QueueSize>,
    /// One over the mean packet size, where long packets are dropped more often.
    packets_per_byte: Option<f64>,
    pub(super) tests: Tests,
    /// The same for reports, by precedence.
    pub(super) curves: [DropCurve; Color::COUNT],
    /// The tests on the averages of each precedence's own packets (RI+O), where there are any.
    pub(super) own_tests: Option<Box<Tests>>,
}

/// What thresholds and averages count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Packets,
    Bytes,
}

/// The index of one of the first precedences: by its type, so that it is not compared with their number at every packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Near {
    First,
    Second,
    Third,
}

impl Near {
    /// So many precedences are counted at hand: those of an assured forwarding class (RFC 2597).
    pub(super) const COUNT: usize = 3;

    fn new(index: usize) -> Near {
        match index {
            0 => Near::First,
            1 => Near::Second,
            _ => Near::Third,
        }
    }
}

/// What a test remembers of the packets before.
#[derive(Debug)]
pub(super) struct Memory<'m> {
    pub(super) since: SinceDrop<'m>,
    /// Bits that say, by precedence, whether the packet before was judged above `min`: ns-2's `old`.
    pub(super) above_min: &'m mut u8,
}

/// What a test looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// Its level.
    pub(super) average: u64,
    /// Packets in the queue of those that the average counts, where it matters.
    pub(super) waiting: u64,
    /// Factor of the probability for the length of the packet, where there is one.
    pub(super) scale: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Keep,
    Drawn,
    Forced,
}

impl Unit {
    /// That of `size`.
    fn of(size: QueueSize) -> Unit {
        match size {
            QueueSize::Packets(_) => Unit::Packets,
            QueueSize::Bytes(_) => Unit::Bytes,
        }
    }
    #[inline]
    pub(super) fn held(self, queue: &Occupancy) -> u64 {
        match self {
            Unit::Packets => queue.packets,
            Unit::Bytes => queue.bytes,
        }
    }
    #[inline]
    pub(super) fn held_by_precedence(self, queue: &Occupancy) -> &[u64; Color::COUNT] {
        match self {
            Unit::Packets => &queue.packets_of,
            Unit::Bytes => &queue.bytes_of,
        }
    }
}

impl Sight {
    /// That of an average of `level`, where nothing else matters.
    #[inline]
    pub(super) fn plain(level: u64) -> Sight {
        Sight { average: level, waiting: u64::MAX, scale: None }
    }
}

/// `smoothing` of one average of all packets of a queue: by a shift, where the thresholds of `precedences` leave digits for it.
fn shifting(smoothing: Smoothing, precedences: &[PrecedenceConfig]) -> Smoothing {
    let tests = precedences.iter().flat_map(|precedence| [Some(precedence.shared()), precedence.own]);
    let highest = tests.flatten().map(|thresholds| thresholds.max.count()).max().unwrap_or(0);
    // A gentle probability reaches 1 at twice the `max`.
    smoothing.shifting(2 * highest)
}

impl Profile {
    /// From a configuration that has been checked and its precedences written out.
    pub(super) fn new(config: &MredConfig, precedences: &[PrecedenceConfig], mut motion: Motion) -> Profile {
        let last = precedences.len() - 1;
        let averages = config.averages.unwrap_or_default();
        let unit = Unit::of(precedences[0].min);
        if averages == Averages::Single && unit == Unit::Packets {
            motion.smoothing = shifting(motion.smoothing, precedences);
        }
        let tests = |thresholds| Tests::new(thresholds, config.above_max, &motion.smoothing);
        let shared = std::array::from_fn(|index| precedences[index.min(last)].shared());
        let own = std::array::from_fn(|index| precedences.get(index).and_then(|precedence| precedence.own));
        let has_own = own.iter().any(Option::is_some);
        let profile = Profile {
            short_way_up_to: 0,
            shortest_way_up_to: 0,
            motion,
            near: std::array::from_fn(|index| Near::new(index.min(last))),
            asks_more: config.spared != SparedConfig::Nothing
                || config.probability == ProbabilityConfig::PerByte
                || has_own,
            is_coupled: false,
            last,
            averages,
            unit,
            spacing: config.drop_spacing,
            spared: config.spared,
            after_forced: config.after_forced,
            ecn: config.ecn,
            limit_counts: config.limit_counts,
            limit: config.limit,
            packets_per_byte: match config.probability {
                ProbabilityConfig::PerPacket => None,
                ProbabilityConfig::PerByte => Some(1.0 / config.mean_packet_size.as_bytes() as f64),
            },
            tests: tests(&shared.map(Some)),
            curves: shared.map(|thresholds| DropCurve::new(&thresholds, config.above_max)),
            own_tests: has_own.then(|| Box::new(tests(&own))),
        };
        profile.with_short_ways()
    }
    /// The same, knowing where it may go the short ways: that depends on all the rest.
    fn with_short_ways(self) -> Profile {
        let short_way_up_to = self.short_way();
        let counts_at_hand = self.motion.smoothing.shifts() && self.last < Near::COUNT;
        Profile {
            short_way_up_to,
            shortest_way_up_to: if counts_at_hand { short_way_up_to } else { 0 },
            is_coupled: self.averages == Averages::Coupled && !self.asks_more,
            ..self
        }
    }
    /// As [`Profile::short_way_up_to`].
    fn short_way(&self) -> u64 {
        let (smoothing, single) = (&self.motion.smoothing, self.averages == Averages::Single);
        let is_plain = single && !self.asks_more;
        match (self.unit, self.limit) {
            (Unit::Packets, None) if is_plain => smoothing.longest(),
            // With one packet fewer there is room for one more.
            (Unit::Packets, Some(QueueSize::Packets(limit))) if is_plain => {
                smoothing.longest().min(limit - 1)
            }
            _ => 0,
        }
    }

    /// The index of `precedence`: a higher one than the last is treated as the last.
    #[inline]
    pub(super) fn index(&self, precedence: Color) -> usize {
        precedence.index().min(self.last)
    }
    #[inline]
    pub(super) fn scale(&self, length: u32) -> Option<f64> {
        self.packets_per_byte.map(|packets| packets * f64::from(length))
    }
    /// What the queue holds of precedence `index`, of the last with all from there on, where `held` has it by precedence.
    #[inline]
    pub(super) fn of_precedence(&self, held: &[u64; Color::COUNT], index: usize) -> u64 {
        if index < self.last { held[index] } else { held[index..].iter().sum() }
    }

    /// Whether `tests` let a packet of precedence `index` pass, which may be spared.
    pub(super) fn judge_or_spare(
        &self,
        tests: &Tests,
        index: usize,
        memory: Memory,
        sight: Sight,
        random: &mut Stream,
    ) -> Outcome {
        let Memory { mut since, above_min } = memory;
        let bit = 1 << index;
        // ns-2: `if (qavg >= th_min && qlen > 1)`, else nothing is dropped and `old` ends.
        let short = self.spared == SparedConfig::ShortQueueAndFirst && sight.waiting <= 1;
        if sight.average < tests.min(index) || short {
            since.end();
            *above_min &= !bit;
            return Outcome::Keep;
        }
        let first = *above_min & bit == 0;
        *above_min |= bit;
        if first && self.spared != SparedConfig::Nothing && sight.average < tests.forced_from(index) {
            since.begin(self.spacing, tests.whole(index), random);
            since.count();
            return Outcome::Keep;
        }
        self.judge(tests, index, since, sight, random)
    }

    /// Whether `tests` let a packet of precedence `index` pass that nothing spares, its average being at `min` or above.
    #[expect(
        clippy::inline_always,
        reason = "mostly in a function of its own, which knows what need not be looked at"
    )]
    #[inline(always)]
    pub(super) fn judge(
        &self,
        tests: &Tests,
        index: usize,
        mut since: SinceDrop,
        sight: Sight,
        random: &mut Stream,
    ) -> Outcome {
        let Some(probability) = tests.probability(index, sight.average) else {
            match self.after_forced {
                AfterForcedConfig::Restart => since.end(),
                AfterForcedConfig::GoOn => {
                    since.begin(self.spacing, tests.whole(index), random);
                    since.count();
                }
            }
            return Outcome::Forced;
        };
        let probability = sight.scale.map_or(probability, |scale| probability.times(scale));
        if self.spacing.drops(probability, since, random) { Outcome::Drawn } else { Outcome::Keep }
    }

    /// What `outcome` means for `packet`, if it fits.
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn verdict(&self, outcome: Outcome, packet: &Packet) -> Verdict {
        match outcome {
            Outcome::Keep => Verdict::Pass,
            // RFC 3168 §5: "instead of dropping the packet, the router MAY instead set the CE codepoint".
            Outcome::Drawn if self.ecn == EcnConfig::Mark && packet.ecn != Ecn::NotCapable => Verdict::MarkCe,
            Outcome::Drawn => Verdict::Drop(DropCause::EarlyRandom),
            // RFC 3168 §7: where "the average queue size exceeds an upper threshold […] our
            // recommendation is that routers drop packets rather then set the CE codepoint".
            Outcome::Forced => Verdict::Drop(DropCause::EarlyForced),
        }
    }

    /// Whether `packet` of precedence `index` fits under `limit`.
    #[inline]
    pub(super) fn fits(&self, limit: QueueSize, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        if self.limit_counts == LimitCounts::Queue || self.averages == Averages::Single {
            return TailDrop::fits(limit, packet, queue);
        }
        self.fits_as_averaged(limit, index, packet, queue)
    }
    /// Whether `packet` fits under `limit` together with the packets that its average counts.
    #[inline(never)]
    fn fits_as_averaged(&self, limit: QueueSize, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        // Higher precedences than the last are counted with it.
        let end = if index < self.last { index + 1 } else { Color::COUNT };
        let counted = match self.averages {
            Averages::Single | Averages::Coupled => 0..end,
            Averages::CoupledSampled | Averages::Decoupled => index..end,
        };
        match limit {
            QueueSize::Packets(packets) => queue.packets_of[counted].iter().sum::<u64>() < packets,
            QueueSize::Bytes(bytes) => {
                queue.bytes_of[counted].iter().sum::<u64>() + u64::from(packet.length) <= bytes
            }
        }
    }
}
