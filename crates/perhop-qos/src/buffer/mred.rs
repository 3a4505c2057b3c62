//! Multi-level RED: random early detection with thresholds for each drop precedence.
//!
//! RED has one precedence. With several precedences, the members of the family differ only in the packets
//! that an average counts ([`Averages`]): all packets (WRED), packets of the precedence and the lower ones
//! (RIO-C), or packets of the precedence alone (RIO-DC).
//!
//! The functions [`Mred::admit_in_full`], [`Mred::test`] and [`Mred::draw`] are the complete algorithm, in
//! the order of Floyd & Jacobson 1993, Figure 2. Most packets take the fast path in `fast_path.rs`, which has
//! the same verdicts and averages.

mod averages;
pub(super) mod config;
mod drop_count;
mod drop_curve;
mod drop_spacing;
mod fast_path;
mod fixed_point;
mod half_power;
mod idle_table;
pub(super) mod law;
mod law_path;
mod law_rules;
mod moving_average;
pub(super) mod options;
mod profile;
mod rules;
pub(super) mod thresholds;

use std::sync::Arc;

use super::contract::BufferManager;
use super::scalable::Scalable;
use crate::framing::Framing;
use crate::packet::Ecn;
use crate::queue::{Occupancy, Stay};
use crate::random::{Stream, Streams};
use crate::{Color, ConfigError, DropCause, Packet, Rate, Time, Verdict};
use config::MredConfig;
use drop_count::{Counts, SinceDrop};
use drop_curve::LevelCurves;
use moving_average::{Averaging, QueueAverage};
use options::{AfterForcedConfig, EcnConfig};
use profile::{HotIndex, Profile};
use rules::Sparing;

/// Random early detection with one or more drop precedences.
///
/// With a single average, all state that packets of an AF class read and write is in one cache line. The
/// other state is in a box. Copies share the data that is derived from the configuration.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Mred {
    profile: Arc<Profile>,
    /// The level of the average that decided about the last packet on the fast path. A single average is
    /// stored only here.
    level: u64,
    /// The counts since the last drop, for the first precedences.
    hot: Counts<{ HotIndex::COUNT }>,
    cold: Box<Cold>,
}

const _: () = assert!(size_of::<Mred>() == 64);

/// The state that the fast path does not need.
#[derive(Clone, Debug)]
struct Cold {
    random: Stream,
    /// The counts since the last drop, for the precedences from [`HotIndex::COUNT`] on.
    counts: Counts<{ Color::COUNT - HotIndex::COUNT }>,
    /// The average of each precedence. With a single average, only the first is used, and its level is
    /// [`Mred::level`].
    averages: [QueueAverage; Color::COUNT],
    /// The IP bytes of the packet that joined last. The idle clock starts when this packet has been sent.
    last_length: u32,
    /// The time at which the link has sent all packets, so that the idle time of all averages begins (ns-2
    /// `queue/rio.cc`).
    all_sent: Time,
    /// The sum of the mark probabilities for scalable senders since the last mark.
    scalable: u64,
    /// The state of the additional test on each precedence's own packets, if it is configured.
    own: Option<Box<Own>>,
}

/// The state of the additional test on each precedence's own packets (RI+O).
#[derive(Clone, Debug)]
struct Own {
    curves: Arc<LevelCurves>,
    averages: [QueueAverage; Color::COUNT],
    counts: Counts<{ Color::COUNT }>,
}

/// The average that a test uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestOn {
    /// The test uses the deciding average.
    Deciding,
    /// The test uses the average of the precedence's own packets (RI+O).
    Own,
}

/// The data of a test: its configuration and the state since the last drop.
#[derive(Debug)]
struct TestState<'s> {
    profile: &'s Profile,
    curves: &'s LevelCurves,
    since: SinceDrop<'s>,
    random: &'s mut Stream,
}

/// The outcome of the threshold test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Keep,
    Drawn,
    /// The packet is marked because of the length of the instantaneous queue.
    Marked,
    /// The packet is selected at random and dropped without a mark, because the probability is above the
    /// limit for marks.
    DrawnUnmarked,
    Forced,
}

impl Outcome {
    #[inline]
    fn verdict(self, profile: &Profile, packet: &Packet) -> Verdict {
        match self {
            Outcome::Keep => Verdict::Pass,
            Outcome::Drawn => profile.drawn(packet),
            Outcome::Marked => Verdict::MarkCe,
            Outcome::DrawnUnmarked => Verdict::Drop(DropCause::EarlyRandom),
            Outcome::Forced if profile.ecn == EcnConfig::MarkAll && packet.marks.ecn() != Ecn::NotCapable => {
                Verdict::MarkCe
            }
            // RFC 3168 §7: where "the average queue size exceeds an upper threshold […] our
            // recommendation is that routers drop packets rather then set the CE codepoint".
            Outcome::Forced => Verdict::Drop(DropCause::EarlyForced),
        }
    }
}

impl MredConfig {
    /// Builds the buffer manager of a queue that drains at `drain`.
    ///
    /// # Errors
    /// The error names the first field that is out of range or contradicts another field.
    pub fn build(&self, drain: Rate, streams: &Streams) -> Result<Mred, ConfigError> {
        self.build_on(drain, Framing::Raw, streams)
    }
    /// Builds the buffer manager like [`build`](MredConfig::build), for a link of this `framing`.
    pub(super) fn build_on(
        &self,
        drain: Rate,
        framing: Framing,
        streams: &Streams,
    ) -> Result<Mred, ConfigError> {
        let precedences = self.checked()?;
        let rules = self.rules()?;
        let averaging = Averaging::build(&rules, self.mean_packet_size, drain, framing)?;
        let average = averaging.average();
        let profile = Profile::new(self, &rules, &precedences, averaging, framing, self.built_scalable()?);
        let own = profile.own_curves(&rules, &precedences).map(|curves| {
            let (averages, counts) = (Default::default(), Counts::default());
            Box::new(Own { curves: Arc::new(curves), averages, counts })
        });
        let cold = Cold {
            random: streams.stream(),
            counts: Counts::default(),
            averages: [average; Color::COUNT],
            last_length: 0,
            all_sent: QueueAverage::NOT_IDLE,
            scalable: 0,
            own,
        };
        Ok(Mred { profile: Arc::new(profile), level: 0, hot: Counts::default(), cold: Box::new(cold) })
    }
}

/// The full algorithm, for every configuration.
impl Mred {
    #[inline(never)]
    fn admit_in_full(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        if self.profile.is_by_law {
            return self.admit_by_law(now, packet, precedence, queue);
        }
        let index = self.profile.index(precedence);
        // Step 1, averages. Floyd & Jacobson 1993, Figure 2: "for each packet arrival calculate the new
        // average queue size avg". The sample is the queue without the arriving packet.
        let average = self.update_averages(index, queue, |average, held, averaging| {
            average.arrival(now, held, averaging);
        });
        let verdict = self.decide(now, index, average, packet, queue);
        if matches!(verdict, Verdict::Drop(_)) || self.profile.fits(index, packet, queue) {
            return verdict;
        }
        Verdict::Drop(DropCause::QueueFull)
    }

    /// Runs steps 2 to 5. The caller tests the limit of the queue for a packet that these steps keep. A drop
    /// by the limit does not count as an early drop.
    #[expect(clippy::inline_always, reason = "both paths of the full algorithm call it")]
    #[inline(always)]
    fn decide(
        &mut self,
        now: Time,
        index: usize,
        average: u64,
        packet: &Packet,
        queue: &Occupancy,
    ) -> Verdict {
        let scalable = self.profile.scalable.filter(|scalable| scalable.applies_to(packet));
        if let Some(scalable) = scalable {
            return self.test_scalable(scalable, index, average, queue).verdict(&self.profile, packet);
        }
        let mut outcome = self.test(TestOn::Deciding, index, average, packet, queue);
        if self.cold.own.is_some() {
            outcome = self.test_own(now, index, outcome, packet, queue);
        }
        outcome.verdict(&self.profile, packet)
    }

    /// Returns the outcome for a packet of a scalable sender. Such a packet is not dropped at random and does
    /// not change the counts of other packets. If the average is so high that every packet is dropped, it is
    /// dropped, too.
    #[inline(never)]
    fn test_scalable(
        &mut self,
        scalable: Scalable,
        index: usize,
        average: u64,
        queue: &Occupancy,
    ) -> Outcome {
        if average >= self.profile.curves.forced_from(index) {
            return Outcome::Forced;
        }
        let is_marked = scalable.marks_on_arrival(queue, &mut self.cold.scalable);
        if is_marked { Outcome::Marked } else { Outcome::Keep }
    }

    /// Runs steps 2 to 4 on one `average`.
    #[inline]
    fn test(
        &mut self,
        on: TestOn,
        index: usize,
        average: u64,
        packet: &Packet,
        queue: &Occupancy,
    ) -> Outcome {
        let TestState { profile, curves, mut since, .. } = self.state(on, index);
        // Step 2, thresholds: below `min`, every packet is kept and counting ends.
        if average < curves.min(index) {
            since.end_below_min();
            return Outcome::Keep;
        }
        if profile.sparing != Sparing::Nothing {
            if self.spares(on, index, average, packet, queue) {
                return Outcome::Keep;
            }
            if self.profile.counts_bytes.is_some() {
                return self.draw_by_bytes(on, index, average, packet.length);
            }
        }
        self.draw(on, index, average, self.profile.scale(packet.length))
    }

    /// Whether a packet whose `average` is at `min` or above is spared.
    #[inline(never)]
    fn spares(&mut self, on: TestOn, index: usize, average: u64, packet: &Packet, queue: &Occupancy) -> bool {
        let TestState { profile, curves, mut since, random } = self.state(on, index);
        if profile.sparing.spares_short_queues() {
            // ns-2: `if (qavg >= th_min && qlen > 1)`. Otherwise ns-2 keeps the packet and resets `old`.
            let waiting = match on {
                TestOn::Deciding => profile.packets_averaged(index, queue),
                TestOn::Own => profile.of_precedence(&queue.packets_of, index),
            };
            if waiting <= profile.short_queue {
                since.end_below_min();
                return true;
            }
        }
        // Linux and ns-2 spare the first packet above `min`, unless the average is so high that every packet
        // is dropped.
        let is_first = since.was_below_min()
            && (average < curves.forced_from(index) || profile.sparing == Sparing::ShortQueueAndAnyFirst);
        if is_first {
            let (spacing, whole) = (profile.spacing, curves.whole(index));
            match profile.sparing {
                _ if profile.counts_bytes.is_some() => since.begin_bytes(packet.length),
                Sparing::FirstInRange => since.begin(spacing, whole, random),
                _ => since.spare(spacing, whole, random),
            }
        }
        is_first
    }

    /// Runs steps 3 and 4 for a packet whose `average` is at `min` or above.
    #[inline(never)]
    fn draw(&mut self, on: TestOn, index: usize, average: u64, scale: Option<f64>) -> Outcome {
        let TestState { profile, curves, mut since, random } = self.state(on, index);
        // Step 3, probability: `p_b ← max_p (avg − min_th) / (max_th − min_th)`. From `max_th` on, every
        // packet is dropped ("mark the arriving packet"), unless RED is gentle.
        let Some(probability) = curves.probability(index, average) else {
            match profile.after_forced(index) {
                // Linux `red_action`: `qcount` is -1 above `qth_max` and below `qth_min`, so counting ends in
                // both ranges.
                _ if profile.sparing == Sparing::FirstInRange => since.end_below_min(),
                // ns-2: `old` stays 0, and the next packet below `max` is spared.
                _ if profile.sparing.spares_short_queues() && since.was_below_min() => {}
                AfterForcedConfig::Restart => {
                    since.end_by_drop(profile.spacing, curves.whole(index), random);
                }
                AfterForcedConfig::GoOn => {
                    since.begin(profile.spacing, curves.whole(index), random);
                    since.count();
                }
            }
            return Outcome::Forced;
        };
        // If the probability depends on bytes: `p_b ← p_b PacketSize / MaximumPacketSize` (section 4). ns-2
        // divides by the mean size.
        let probability = scale.map_or(probability, |scale| probability.times(scale));
        // Step 4, drop spacing: `p_a ← p_b / (1 − count · p_b)`, or another rule.
        if !profile.spacing.drops(probability, since, random) {
            Outcome::Keep
        } else if profile.marks_up_to >= 1.0 || probability.value() <= profile.marks_up_to {
            Outcome::Drawn
        } else {
            Outcome::DrawnUnmarked
        }
    }

    /// Runs steps 3 and 4 with a count in bytes (ns-2, `bytes_`).
    #[inline(never)]
    fn draw_by_bytes(&mut self, on: TestOn, index: usize, average: u64, length: u32) -> Outcome {
        let TestState { profile, curves, mut since, random } = self.state(on, index);
        let mean = profile.counts_bytes.unwrap_or(1);
        let Some(probability) = curves.probability(index, average) else {
            // ns-2.35 with `use_mark_p_`: above `max` the probability is 1 before `modify_p`. With `wait_`,
            // `modify_p` keeps packets until the bytes of a mean packet have arrived since the last drop.
            if profile.sparing == Sparing::ShortQueueAndAnyFirst {
                let drops = profile.spacing.drops_by_bytes(1.0, length, mean, since, random);
                return if drops { Outcome::Forced } else { Outcome::Keep };
            }
            match profile.after_forced(index) {
                _ if since.was_below_min() => {}
                AfterForcedConfig::Restart => since.begin_bytes(0),
                AfterForcedConfig::GoOn => {
                    since.count_bytes(length);
                }
            }
            return Outcome::Forced;
        };
        let probability = probability.value();
        if !profile.spacing.drops_by_bytes(probability, length, mean, since, random) {
            Outcome::Keep
        } else if probability <= profile.marks_up_to {
            Outcome::Drawn
        } else {
            Outcome::DrawnUnmarked
        }
    }

    /// RI+O: updates the average of the precedence's own packets. If the first test keeps a packet, tests the
    /// packet again on this average.
    #[inline(never)]
    fn test_own(
        &mut self,
        now: Time,
        index: usize,
        outcome: Outcome,
        packet: &Packet,
        queue: &Occupancy,
    ) -> Outcome {
        let (profile, cold) = (&*self.profile, &mut *self.cold);
        let Some(own) = &mut cold.own else { return outcome };
        let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
        own.averages[index].arrival(now, held, &profile.averaging);
        if outcome != Outcome::Keep {
            return outcome;
        }
        let average = own.averages[index].average.level;
        self.test(TestOn::Own, index, average, packet, queue)
    }

    /// The configuration and the state of a test for precedence `index`.
    #[expect(clippy::inline_always, reason = "the caller then knows the number of averages")]
    #[inline(always)]
    fn state(&mut self, on: TestOn, index: usize) -> TestState<'_> {
        let Mred { profile, hot, cold, .. } = self;
        let Cold { random, counts, own, .. } = &mut **cold;
        let (curves, since) = match (on, own) {
            (TestOn::Own, Some(own)) => (&*own.curves, own.counts.at(index)),
            _ if index < HotIndex::COUNT => (&profile.curves, hot.at(index)),
            _ => (&profile.curves, counts.at(index - HotIndex::COUNT)),
        };
        TestState { profile, curves, since, random }
    }
}

impl BufferManager for Mred {
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        self.admit_fast(now, packet, precedence, queue)
    }

    #[inline]
    fn departed(&mut self, now: Time, precedence: Color, _: u32, queue: &Occupancy) {
        let profile = &*self.profile;
        let index = profile.index(precedence);
        // An average that counts this packet also counts the other packets of its precedence. While one of
        // them is queued, no idle time begins.
        if profile.averaging.samples_departures || profile.unit.held_by_precedence(queue)[index] == 0 {
            self.depart(now, index, queue);
        }
    }
    #[inline(never)] // rarely called: a buffer manager that decides on arrival gets `departed` instead
    fn release(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        stay: Stay,
        queue: &Occupancy,
    ) -> Verdict {
        self.departed(now, precedence, packet.length, queue);
        let Some(scalable) = self.profile.scalable.filter(|scalable| scalable.applies_to(packet)) else {
            return Verdict::Pass;
        };
        let waited = now.saturating_sub(stay.since);
        let is_marked = scalable.marks_on_departure(waited, &mut self.cold.scalable);
        if is_marked { Verdict::MarkCe } else { Verdict::Pass }
    }
    fn needs_sojourn_times(&self) -> bool {
        self.profile.scalable.is_some_and(|scalable| scalable.marks_by_wait())
    }
    fn decides_on_arrival(&self) -> bool {
        !self.needs_sojourn_times()
    }
}
