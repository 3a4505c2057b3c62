//! Multi-level RED: random early detection with thresholds for each drop precedence.
//!
//! RED is the case of one precedence. With several, the members of the family differ only in which
//! packets an average counts ([`Averages`]): all of them (WRED), those of the precedence and the
//! better ones (RIO-C), those of the precedence alone (RIO-DC).
//!
//! The order at an arrival is that of Floyd & Jacobson 1993, Figure 2: the averages take the queue
//! as the packet finds it; the average of its precedence decides; then a packet that would stay
//! must fit under the hard limit, whose drops do not count as early ones.

use super::average::{Motion, QueueAverages};
use super::drop_spacing::DropSpacing;
use super::mred_config::{
    AfterForcedConfig, Averages, EcnConfig, LimitCounts, MredConfig, ProbabilityConfig, SparedConfig,
};
use super::thresholds::{DropCurve, PrecedenceConfig, ThresholdConfig};
use super::{BufferManager, TailDrop};
use crate::packet::{Color, Ecn, Packet};
use crate::queue::Occupancy;
use crate::random::Stream;
use crate::units::{QueueSize, Time};
use crate::verdict::{DropCause, Verdict};

/// What thresholds and averages count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Packets,
    Bytes,
}

impl Unit {
    #[inline]
    fn held(self, queue: &Occupancy) -> u64 {
        match self {
            Unit::Packets => queue.packets,
            Unit::Bytes => queue.bytes,
        }
    }
    #[inline]
    fn held_by_precedence(self, queue: &Occupancy) -> &[u64; Color::COUNT] {
        match self {
            Unit::Packets => &queue.packets_of,
            Unit::Bytes => &queue.bytes_of,
        }
    }
}

/// Random early detection with one or more drop precedences.
///
/// What every packet reads stands in the first cache line, and what it mostly reads besides in the second.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Mred {
    random: Stream,
    limit: Option<QueueSize>,
    /// By precedence.
    tests: Vec<Test>,
    averages: Averages,
    unit: Unit,
    dropping: Dropping,
    ecn: EcnConfig,
    limit_counts: LimitCounts,
    /// One average for all, one test of it, and nothing that asks how long the queue or the packet is.
    is_plain: bool,
    shared: QueueAverages,
    /// One over the mean packet size, where long packets are dropped more often.
    packets_per_byte: Option<f64>,
    /// Rare, and so not among what every packet reads.
    further: Option<Box<FurtherTests>>,
}

/// Tests on the averages of each precedence's own packets.
#[derive(Clone, Debug)]
struct FurtherTests {
    averages: QueueAverages,
    /// By precedence.
    tests: Vec<Option<Test>>,
}

/// How a drop probability becomes drops: what all tests share.
#[derive(Clone, Copy, Debug)]
struct Dropping {
    spacing: DropSpacing,
    spared: SparedConfig,
    after_forced: AfterForcedConfig,
}

/// One set of thresholds and the packets kept since its last drop.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Test {
    curve: DropCurve,
    kept: f64,
    /// Whether the packet before was judged above `min`: ns-2's `old`.
    above_min: bool,
}

/// What a test looks at.
#[derive(Clone, Copy, Debug)]
struct Sight {
    average: f64,
    /// Packets in the queue of those that the average counts, where it matters.
    waiting: u64,
    /// Factor of the probability for the length of the packet.
    scale: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Keep,
    Drawn,
    Forced,
}

impl Test {
    fn new(curve: DropCurve) -> Test {
        Test { curve, kept: 0.0, above_min: false }
    }
    #[inline]
    fn judge(&mut self, sight: Sight, dropping: Dropping, random: &mut Stream) -> Outcome {
        let Sight { average, waiting, scale } = sight;
        // ns-2: `if (qavg >= th_min && qlen > 1)`, else nothing is dropped and `old` ends.
        let short = dropping.spared == SparedConfig::ShortQueueAndFirst && waiting <= 1;
        if average < self.curve.min || short {
            self.kept = 0.0;
            self.above_min = false;
            return Outcome::Keep;
        }
        let first = !std::mem::replace(&mut self.above_min, true);
        let outcome = if average >= self.curve.forced_from {
            if dropping.after_forced == AfterForcedConfig::GoOn {
                self.kept += 1.0;
                return Outcome::Forced;
            }
            Outcome::Forced
        } else if !(first && dropping.spared != SparedConfig::Nothing)
            && dropping.spacing.drops(self.curve.probability(average) * scale, self.kept, random)
        {
            Outcome::Drawn
        } else {
            self.kept += 1.0;
            return Outcome::Keep;
        };
        self.kept = 0.0;
        outcome
    }
}

impl Mred {
    /// From a configuration that has been checked and its precedences written out.
    pub(super) fn new(
        config: &MredConfig,
        precedences: &[PrecedenceConfig],
        motion: Motion,
        random: Stream,
    ) -> Mred {
        let test = |thresholds: &ThresholdConfig| Test::new(DropCurve::new(thresholds, config.above_max));
        let further = precedences.iter().any(|precedence| precedence.own.is_some()).then(|| {
            let tests = precedences.iter().map(|precedence| precedence.own.as_ref().map(test));
            Box::new(FurtherTests { averages: QueueAverages::new(motion), tests: tests.collect() })
        });
        Mred {
            is_plain: config.averages.unwrap_or_default() == Averages::Single
                && further.is_none()
                && config.spared != SparedConfig::ShortQueueAndFirst
                && config.probability == ProbabilityConfig::PerPacket,
            averages: config.averages.unwrap_or_default(),
            unit: match precedences[0].min {
                QueueSize::Packets(_) => Unit::Packets,
                QueueSize::Bytes(_) => Unit::Bytes,
            },
            tests: precedences.iter().map(|precedence| test(&precedence.shared())).collect(),
            shared: QueueAverages::new(motion),
            further,
            dropping: Dropping {
                spacing: config.drop_spacing,
                spared: config.spared,
                after_forced: config.after_forced,
            },
            packets_per_byte: match config.probability {
                ProbabilityConfig::PerPacket => None,
                ProbabilityConfig::PerByte => Some(1.0 / config.mean_packet_size.as_bytes() as f64),
            },
            ecn: config.ecn,
            limit: config.limit,
            limit_counts: config.limit_counts,
            random,
        }
    }

    /// The averages, in packets or bytes as the thresholds: one if it is a single one, else one for
    /// each precedence. Of [`Averages::CoupledSampled`] these are the terms before addition.
    pub fn averages(&self) -> &[f64] {
        let count = if self.averages == Averages::Single { 1 } else { self.tests.len() };
        &self.shared.values()[..count]
    }
    /// The averages of each precedence's own packets, where a further test uses them (RI+O); else empty.
    pub fn own_averages(&self) -> &[f64] {
        self.further.as_ref().map_or(&[], |further| &further.averages.values()[..self.tests.len()])
    }
    /// The average that decides about a packet of `precedence` that finds `queue`.
    #[inline]
    pub fn deciding_average(&self, precedence: Color, queue: &Occupancy) -> f64 {
        let (index, values) = (self.index(precedence), self.shared.values());
        match self.averages {
            Averages::Single => values[0],
            Averages::Coupled | Averages::Decoupled => values[index],
            // Linux sch_gred: the averages of all lower precedences that are not idling are added.
            Averages::CoupledSampled => {
                let lower = (0..index).filter(|lower| self.held_of(queue, *lower) > 0);
                lower.fold(values[index], |sum, lower| sum + values[lower])
            }
        }
    }
    /// The drop probability of a packet of `precedence` and `length` IP bytes where the average that
    /// decides is `average`, before [`DropSpacing`] acts on it: the drop curve, for reports.
    pub fn drop_probability(&self, precedence: Color, average: f64, length: u32) -> f64 {
        let curve = &self.tests[self.index(precedence)].curve;
        let probability = curve.probability(average);
        if average >= curve.forced_from { 1.0 } else { (probability * self.scale(length)).min(1.0) }
    }

    #[inline]
    fn index(&self, precedence: Color) -> usize {
        precedence.index().min(self.tests.len() - 1)
    }
    #[inline]
    fn scale(&self, length: u32) -> f64 {
        self.packets_per_byte.map_or(1.0, |packets| packets * f64::from(length))
    }
    /// What the queue holds of precedence `index`; of the last, what it holds of all from there on.
    #[inline]
    fn held_of(&self, queue: &Occupancy, index: usize) -> u64 {
        let held = self.unit.held_by_precedence(queue);
        if index + 1 < self.tests.len() { held[index] } else { held[index..].iter().sum() }
    }

    /// Moves all averages that count packets of precedence `index`, and asks all tests.
    #[inline(never)]
    fn admit_by_all(
        &mut self,
        now: Time,
        index: usize,
        packet: &Packet,
        precedence: Color,
        queue: &Occupancy,
    ) -> Verdict {
        self.for_each_average(index, queue, |averages, which, held| averages.arrival(which, now, held));
        let average = self.deciding_average(precedence, queue);
        let outcome = self.judge(index, packet, average, queue);
        self.verdict(outcome, index, packet, queue)
    }

    /// What `outcome` means for `packet`, which must also fit.
    #[inline]
    fn verdict(&self, outcome: Outcome, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let stays = match outcome {
            Outcome::Keep => Verdict::Pass,
            // RFC 3168 §5: "instead of dropping the packet, the router MAY instead set the CE codepoint".
            Outcome::Drawn if self.ecn == EcnConfig::Mark && packet.ecn != Ecn::NotCapable => Verdict::MarkCe,
            Outcome::Drawn => return Verdict::Drop(DropCause::EarlyRandom),
            // RFC 3168 §7: where "the average queue size exceeds an upper threshold […] our
            // recommendation is that routers drop packets rather then set the CE codepoint".
            Outcome::Forced => return Verdict::Drop(DropCause::EarlyForced),
        };
        match self.limit {
            Some(limit) if !self.fits(limit, index, packet, queue) => Verdict::Drop(DropCause::QueueFull),
            _ => stays,
        }
    }

    /// Calls `update` for each average that counts packets of precedence `index`, with what it counts.
    #[inline]
    fn for_each_average(
        &mut self,
        index: usize,
        queue: &Occupancy,
        update: impl Fn(&mut QueueAverages, usize, u64),
    ) {
        match self.averages {
            Averages::Single => {
                update(&mut self.shared, 0, self.unit.held(queue));
            }
            // Clark & Fang 1998, generalized: an arrival of precedence i moves every average j ≥ i,
            // which counts the packets of precedences 0 to j; the lower averages stay.
            Averages::Coupled => {
                let (last, by_precedence) = (self.tests.len() - 1, self.unit.held_by_precedence(queue));
                let mut held: u64 = by_precedence[..index].iter().sum();
                for (further, more) in by_precedence[index..last].iter().enumerate() {
                    held += more;
                    update(&mut self.shared, index + further, held);
                }
                update(&mut self.shared, last, self.unit.held(queue));
            }
            Averages::CoupledSampled | Averages::Decoupled => {
                let held = self.held_of(queue, index);
                update(&mut self.shared, index, held);
            }
        }
        if self.further.is_some() {
            let held = self.held_of(queue, index);
            if let Some(further) = &mut self.further {
                update(&mut further.averages, index, held);
            }
        }
    }

    /// Packets in the queue of those that the average of precedence `index` counts.
    #[inline]
    fn waiting(&self, index: usize, queue: &Occupancy) -> u64 {
        let last = index + 1 == self.tests.len();
        match self.averages {
            Averages::Single => queue.packets,
            Averages::Decoupled => self.own_waiting(index, queue),
            _ if last => queue.packets,
            _ => queue.packets_of[..=index].iter().sum(),
        }
    }
    /// Packets in the queue of precedence `index`; of the last, all from there on.
    #[inline]
    fn own_waiting(&self, index: usize, queue: &Occupancy) -> u64 {
        let packets = &queue.packets_of;
        if index + 1 < self.tests.len() { packets[index] } else { packets[index..].iter().sum() }
    }

    #[inline]
    fn judge(&mut self, index: usize, packet: &Packet, average: f64, queue: &Occupancy) -> Outcome {
        let scale = self.scale(packet.length);
        let waiting = match self.dropping.spared {
            SparedConfig::ShortQueueAndFirst => self.waiting(index, queue),
            SparedConfig::Nothing | SparedConfig::FirstAboveMin => u64::MAX,
        };
        let sight = Sight { average, waiting, scale };
        let outcome = self.tests[index].judge(sight, self.dropping, &mut self.random);
        if outcome == Outcome::Keep && self.further.is_some() {
            return self.judge_further(index, scale, queue);
        }
        outcome
    }

    /// RI+O: a packet of the precedence that has passed is tested again on its own average.
    #[inline(never)]
    fn judge_further(&mut self, index: usize, scale: f64, queue: &Occupancy) -> Outcome {
        let waiting = self.own_waiting(index, queue);
        let Some(further) = &mut self.further else { return Outcome::Keep };
        let sight = Sight { average: further.averages.values()[index], waiting, scale };
        further.tests[index]
            .as_mut()
            .map_or(Outcome::Keep, |test| test.judge(sight, self.dropping, &mut self.random))
    }

    /// Whether `packet` fits under `limit`.
    #[inline]
    fn fits(&self, limit: QueueSize, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        if self.limit_counts == LimitCounts::Queue || self.averages == Averages::Single {
            return TailDrop::fits(limit, packet, queue);
        }
        self.fits_as_averaged(limit, index, packet, queue)
    }
    /// Whether `packet` fits under `limit` together with the packets that its average counts.
    #[inline(never)]
    fn fits_as_averaged(&self, limit: QueueSize, index: usize, packet: &Packet, queue: &Occupancy) -> bool {
        let last = self.tests.len() - 1;
        // Higher precedences than the last are counted with it.
        let end = if index < last { index + 1 } else { Color::COUNT };
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

impl BufferManager for Mred {
    #[inline]
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let index = self.index(precedence);
        if self.is_plain {
            let held = self.unit.held(queue);
            if held > 0 {
                let average = self.shared.sample(0, held);
                let sight = Sight { average, waiting: u64::MAX, scale: 1.0 };
                let outcome = self.tests[index].judge(sight, self.dropping, &mut self.random);
                return self.verdict(outcome, index, packet, queue);
            }
        }
        self.admit_by_all(now, index, packet, precedence, queue)
    }

    #[inline]
    fn release(&mut self, now: Time, _: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let index = self.index(precedence);
        // Every average that counts this packet counts the others of its precedence as well.
        if !self.shared.samples_departures() && self.unit.held_by_precedence(queue)[index] > 0 {
            return Verdict::Pass;
        }
        self.for_each_average(index, queue, |averages, which, held| averages.departure(which, now, held));
        Verdict::Pass
    }
}
