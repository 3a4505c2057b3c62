//! Multi-level RED: random early detection with thresholds for each drop precedence.
//!
//! RED is the case of one precedence. With several, the members of the family differ only in which
//! packets an average counts ([`Averages`]): all of them (WRED), those of the precedence and the
//! better ones (RIO-C), those of the precedence alone (RIO-DC).
//!
//! The order at an arrival is that of Floyd & Jacobson 1993, Figure 2: the averages take the queue
//! as the packet finds it; the average of its precedence decides; then a packet that would stay
//! must fit under the hard limit, whose drops do not count as early ones.

use std::mem::offset_of;
use std::sync::Arc;

use super::BufferManager;
use super::average::{Motion, QueueAverage};
use super::drop_spacing::SinceDrop;
use super::moving_average::{LONGEST, Smoothing};
use super::mred_config::{Averages, SparedConfig};
use super::mred_profile::{Memory, Outcome, Profile, Sight};
use crate::packet::{Color, Packet};
use crate::queue::Occupancy;
use crate::random::Stream;
use crate::units::Time;
use crate::verdict::{DropCause, Verdict};

/// Random early detection with one or more drop precedences.
///
/// What plain RED reads and writes stands in the first cache line; all that its configuration says is shared.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Mred {
    random: Stream,
    profile: Arc<Profile>,
    /// The average of all precedences, where there is a single one.
    single: QueueAverage,
    precedences: Precedences,
    /// Rare, and so not among what every packet reads.
    own: Option<Box<Precedences>>,
}

const _: () = assert!(offset_of!(Mred, precedences.since) + size_of::<SinceDrop>() <= 64);

/// What is remembered for each drop precedence.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Precedences {
    since: [SinceDrop; Color::COUNT],
    /// Where they are averaged one by one.
    averages: [QueueAverage; Color::COUNT],
    /// As [`Memory::above_min`], one bit each.
    above_min: u8,
}

impl Precedences {
    #[inline]
    fn level(&self, index: usize) -> u64 {
        self.averages[index].average.level()
    }
    #[inline]
    fn memory(&mut self, index: usize) -> Memory<'_> {
        Memory { since: &mut self.since[index], above_min: &mut self.above_min, bit: 1 << index }
    }
    /// The averages of the first `count`.
    fn values(&self, count: usize, smoothing: &Smoothing) -> Vec<f64> {
        (0..count).map(|index| smoothing.value(self.level(index))).collect()
    }
}

impl Mred {
    pub(super) fn new(profile: Profile, random: Stream) -> Mred {
        Mred {
            random,
            own: profile.own_tests.is_some().then(Box::default),
            profile: Arc::new(profile),
            single: QueueAverage::default(),
            precedences: Precedences::default(),
        }
    }

    /// The averages, in packets or bytes as the thresholds: one if it is a single one, else one for
    /// each precedence. Of [`Averages::CoupledSampled`] these are the terms before addition.
    pub fn averages(&self) -> Vec<f64> {
        let smoothing = &self.profile.motion.smoothing;
        match self.profile.averages {
            Averages::Single => vec![smoothing.value(self.single.average.level())],
            _ => self.precedences.values(self.profile.last + 1, smoothing),
        }
    }
    /// The averages of each precedence's own packets, where a further test uses them (RI+O); else empty.
    pub fn own_averages(&self) -> Vec<f64> {
        let (count, smoothing) = (self.profile.last + 1, &self.profile.motion.smoothing);
        self.own.as_ref().map_or_else(Vec::new, |own| own.values(count, smoothing))
    }
    /// The average that decides about a packet of `precedence` that finds `queue`.
    pub fn deciding_average(&self, precedence: Color, queue: &Occupancy) -> f64 {
        let profile = &*self.profile;
        let level = self.deciding_level(profile.index(precedence), queue);
        profile.motion.smoothing.value(level)
    }
    /// The drop probability of a packet of `precedence` and `length` IP bytes where the average that
    /// decides is `average`, before [`DropSpacing`](super::DropSpacing) acts on it: the drop curve, for reports.
    pub fn drop_probability(&self, precedence: Color, average: f64, length: u32) -> f64 {
        let curve = &self.profile.curves[self.profile.index(precedence)];
        let scale = self.profile.scale(length).unwrap_or(1.0);
        if average >= curve.forced_from { 1.0 } else { (curve.probability(average) * scale).min(1.0) }
    }

    /// Moves all averages that count the packet, and asks all tests.
    #[inline(never)]
    fn admit_by_all(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        let index = profile.index(precedence);
        if profile.is_coupled {
            let held = lower_and_own(profile, index, queue);
            // Where something of what an average counts is in the queue, so it is of what the higher ones count.
            if held > 0 && profile.unit.held(queue) <= LONGEST {
                return self.admit_coupled(held, index, packet, queue);
            }
        }
        self.admit_by_each(now, index, packet, queue)
    }

    /// The same, average by average.
    #[inline(never)]
    fn admit_by_each(&mut self, now: Time, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        self.for_each_average(index, queue, |average, held, motion| average.arrival(now, held, motion));
        let average = self.deciding_level(index, queue);
        let profile = &*self.profile;
        let outcome = if profile.asks_more {
            self.judge_by_all(now, index, average, packet, queue)
        } else {
            let (test, since) = (&profile.tests[index], &mut self.precedences.since[index]);
            profile.judge(test, since, average, None, &mut self.random)
        };
        self.verdict(outcome, index, packet, queue)
    }

    /// The same where coupled averages count something each, that of the packet `held`, and nothing but one of them decides.
    #[inline(never)]
    fn admit_coupled(&mut self, held: u64, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        let (last, smoothing) = (profile.last % Color::COUNT, &profile.motion.smoothing);
        let by_precedence = profile.unit.held_by_precedence(queue);
        let averages = &mut self.precedences.averages;
        averages[last].average.sample_by_multiplying(profile.unit.held(queue), smoothing);
        let mut held = held;
        for j in index..last {
            averages[j].average.sample_by_multiplying(held, smoothing);
            held += by_precedence[j + 1];
        }
        let average = averages[index].average.level();
        let (test, since) = (&profile.tests[index], &mut self.precedences.since[index]);
        let outcome = profile.judge(test, since, average, None, &mut self.random);
        self.verdict(outcome, index, packet, queue)
    }

    /// Asks all tests about a packet that finds `average`.
    #[inline(never)]
    fn judge_by_all(
        &mut self,
        now: Time,
        index: usize,
        average: u64,
        packet: &Packet,
        queue: &Occupancy,
    ) -> Outcome {
        let profile = &*self.profile;
        let waiting = match profile.spared {
            SparedConfig::ShortQueueAndFirst => waiting(profile, index, queue),
            SparedConfig::Nothing | SparedConfig::FirstAboveMin => u64::MAX,
        };
        let sight = Sight { average, waiting, scale: profile.scale(packet.length) };
        let memory = self.precedences.memory(index);
        let outcome = profile.judge_or_spare(&profile.tests[index], memory, sight, &mut self.random);
        if self.own.is_some() { self.judge_own(now, index, outcome, sight, queue) } else { outcome }
    }

    /// RI+O: the average of the precedence's own packets moves, and where `outcome` is to keep the packet, it is tested again on that.
    #[inline(never)]
    fn judge_own(
        &mut self,
        now: Time,
        index: usize,
        outcome: Outcome,
        sight: Sight,
        queue: &Occupancy,
    ) -> Outcome {
        let profile = &*self.profile;
        let (Some(own), Some(tests)) = (&mut self.own, &profile.own_tests) else { return outcome };
        let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
        own.averages[index].arrival(now, held, &profile.motion);
        match &tests[index] {
            Some(test) if outcome == Outcome::Keep => {
                let waiting = profile.of_precedence(&queue.packets_of, index);
                let sight = Sight { average: own.level(index), waiting, ..sight };
                profile.judge_or_spare(test, own.memory(index), sight, &mut self.random)
            }
            _ => outcome,
        }
    }

    /// A packet of precedence `index` has left: the averages that count it move, or begin to idle.
    #[inline(never)]
    fn depart(&mut self, now: Time, index: usize, queue: &Occupancy) {
        self.for_each_average(index, queue, |average, held, motion| average.departure(now, held, motion));
        let profile = &*self.profile;
        if let Some(own) = &mut self.own {
            let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
            own.averages[index].departure(now, held, &profile.motion);
        }
    }

    /// Calls `update` for each average that counts packets of precedence `index`, with what it counts.
    #[inline]
    fn for_each_average(
        &mut self,
        index: usize,
        queue: &Occupancy,
        update: impl Fn(&mut QueueAverage, u64, &Motion),
    ) {
        let (profile, averages) = (&*self.profile, &mut self.precedences.averages);
        let motion = &profile.motion;
        match profile.averages {
            Averages::Single => update(&mut self.single, profile.unit.held(queue), motion),
            // Clark & Fang 1998, generalized: an arrival of precedence i moves every average j ≥ i,
            // which counts the packets of precedences 0 to j; the lower averages stay.
            Averages::Coupled => {
                let last = profile.last % Color::COUNT;
                let mut held = 0;
                let lower = averages[..last].iter_mut().zip(profile.unit.held_by_precedence(queue));
                for (j, (average, own)) in lower.enumerate() {
                    held += own;
                    if j >= index {
                        update(average, held, motion);
                    }
                }
                update(&mut averages[last], profile.unit.held(queue), motion);
            }
            Averages::CoupledSampled | Averages::Decoupled => {
                let held = profile.of_precedence(profile.unit.held_by_precedence(queue), index);
                update(&mut averages[index], held, motion);
            }
        }
    }

    /// The level of the average that decides about a packet of precedence `index`.
    #[inline]
    fn deciding_level(&self, index: usize, queue: &Occupancy) -> u64 {
        let level = |index: usize| self.precedences.level(index);
        match self.profile.averages {
            Averages::Single => self.single.average.level(),
            Averages::Coupled | Averages::Decoupled => level(index),
            // Linux sch_gred: the averages of all lower precedences that are not idling are added.
            Averages::CoupledSampled => {
                let held = self.profile.unit.held_by_precedence(queue);
                (0..index)
                    .filter(|lower| held[*lower] > 0)
                    .fold(level(index), |sum, lower| sum + level(lower))
            }
        }
    }

    /// What `outcome` means for `packet`, which must also fit.
    #[inline]
    fn verdict(&self, outcome: Outcome, index: usize, packet: &Packet, queue: &Occupancy) -> Verdict {
        let verdict = self.profile.verdict(outcome, packet);
        match self.profile.limit {
            Some(limit)
                if !matches!(verdict, Verdict::Drop(_))
                    && !self.profile.fits(limit, index, packet, queue) =>
            {
                Verdict::Drop(DropCause::QueueFull)
            }
            _ => verdict,
        }
    }
}

/// What the queue holds of precedence `index` and the lower ones.
#[inline]
fn lower_and_own(profile: &Profile, index: usize, queue: &Occupancy) -> u64 {
    // The last counts what is beyond it as well.
    if index == profile.last {
        return profile.unit.held(queue);
    }
    profile.unit.held_by_precedence(queue)[..=index].iter().sum()
}

/// Packets in the queue of those that the average of precedence `index` counts.
fn waiting(profile: &Profile, index: usize, queue: &Occupancy) -> u64 {
    match profile.averages {
        Averages::Single => queue.packets,
        Averages::Decoupled => profile.of_precedence(&queue.packets_of, index),
        _ if index == profile.last => queue.packets,
        _ => queue.packets_of[..=index].iter().sum(),
    }
}

impl BufferManager for Mred {
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        // 0 is one less than the most there are.
        if queue.packets.wrapping_sub(1) >= profile.short_way_up_to {
            return self.admit_by_all(now, packet, precedence, queue);
        }
        let index = profile.index(precedence);
        let average = self.single.average.sample_bounded(queue.packets, &profile.motion.smoothing);
        let (test, since) = (&profile.tests[index], &mut self.precedences.since[index]);
        profile.verdict(profile.judge(test, since, average, None, &mut self.random), packet)
    }

    #[inline]
    fn release(&mut self, now: Time, _: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let profile = &*self.profile;
        let index = profile.index(precedence);
        // Every average that counts this packet counts the others of its precedence as well.
        if profile.motion.samples_departures || profile.unit.held_by_precedence(queue)[index] == 0 {
            self.depart(now, index, queue);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{AveragingConfig, MredConfig};
    use super::*;
    use crate::random::Streams;
    use crate::units::Rate;

    /// RED, WRED or RIO-C such as goes a short way, with every rule that it may ask.
    fn configs() -> impl Strategy<Value = MredConfig> {
        let spacing = prop_oneof![Just("uniform"), Just("uniform-per-drop"), Just("geometric"), Just("wait")];
        let above_max = prop_oneof![Just("drop"), Just("gentle")];
        let after_forced = prop_oneof![Just("restart"), Just("go-on")];
        let limit =
            prop_oneof![Just(None), (1..40u32).prop_map(|packets| Some(format!("{packets} packets")))];
        let averages = prop_oneof![Just("single"), Just("coupled")];
        (spacing, above_max, after_forced, limit, 1..4usize, 0..12u32, averages).prop_map(
            |(spacing, above_max, after_forced, limit, count, exponent, averages)| {
                let precedence = json!({"min": "5 packets", "max": "20 packets", "max-probability": 0.3});
                serde_json::from_value(json!({
                    "averages": averages,
                    "precedences": vec![precedence; count], "averaging": {"exponent": exponent}, "limit": limit,
                    "drop-spacing": spacing, "above-max": above_max, "after-forced": after_forced, "ecn": "mark",
                }))
                .unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn the_short_way_is_the_way_through_all_tests(
            config in configs(),
            queues in prop::collection::vec((prop::array::uniform4(0..12u64), 0..1_000u64, 0..4usize), 1..400),
        ) {
            let mut short = config.build(Rate::from_bits_per_second(8_000_000), &Streams::new(1, 0)).unwrap();
            let goes = short.profile.is_coupled || short.profile.short_way_up_to > 0;
            prop_assert!(goes || config.limit.is_some());
            let mut plain = short.clone();
            let profile = Arc::make_mut(&mut plain.profile);
            (profile.short_way_up_to, profile.is_coupled) = (0, false);
            let (mut now, mut queue) = (Time::ZERO, Occupancy::default());
            for (packets, pause, color) in queues {
                now += Time::from_microseconds(pause);
                queue.packets_of[..4].copy_from_slice(&packets);
                queue.packets = packets.iter().sum();
                let (packet, precedence) = (Packet { length: 1000, ..Packet::default() }, Color::new(color));
                let verdicts = [&mut short, &mut plain].map(|red| red.admit(now, &packet, precedence, &queue));
                prop_assert_eq!(verdicts[0], verdicts[1]);
                prop_assert_eq!(short.averages(), plain.averages());
            }
        }

        /// One average of all packets moves by shifts, coupled ones multiply: with one precedence they are the same.
        #[test]
        fn a_shift_decides_as_a_multiplication(
            config in configs(), queues in prop::collection::vec((0..40u64, 0..1_000u64), 1..400),
        ) {
            let mut buffers = [Averages::Single, Averages::Coupled].map(|averages| {
                let precedences = config.precedences[..1].to_vec();
                let config = MredConfig { averages: Some(averages), precedences, ..config.clone() };
                config.build(Rate::from_bits_per_second(8_000_000), &Streams::new(1, 0)).unwrap()
            });
            let shifts = config.averaging != AveragingConfig::Exponent(0);
            prop_assert_eq!(buffers[0].profile.motion.smoothing.shifts(), shifts);
            let (mut now, mut queue) = (Time::ZERO, Occupancy::default());
            for (packets, pause) in queues {
                now += Time::from_microseconds(pause);
                (queue.packets, queue.packets_of[0]) = (packets, packets);
                let packet = Packet { length: 1000, ..Packet::default() };
                let [shifted, multiplied] = &mut buffers;
                let verdict = shifted.admit(now, &packet, Color::GREEN, &queue);
                prop_assert_eq!(verdict, multiplied.admit(now, &packet, Color::GREEN, &queue));
                prop_assert_eq!(shifted.averages(), multiplied.averages());
            }
        }
    }
}
