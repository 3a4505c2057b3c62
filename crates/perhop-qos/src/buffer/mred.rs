//! Multi-level RED: random early detection with thresholds for each drop precedence.
//!
//! RED is the case of one precedence. With several, the members of the family differ only in which
//! packets an average counts ([`Averages`]): all of them (WRED), those of the precedence and the
//! better ones (RIO-C), those of the precedence alone (RIO-DC).
//!
//! The order at an arrival is that of Floyd & Jacobson 1993, Figure 2: the averages take the queue
//! as the packet finds it; the average of its precedence decides; then a packet that would stay
//! must fit under the hard limit, whose drops do not count as early ones.

use std::sync::Arc;

use super::BufferManager;
use super::average::QueueAverage;
use super::drop_spacing::{Counts, SinceDrop};
use super::mred_config::Averages;
use super::mred_profile::{Near, Outcome, Profile};
use crate::packet::{Color, Packet};
use crate::queue::Occupancy;
use crate::random::Stream;
use crate::units::Time;
use crate::verdict::Verdict;

/// Random early detection with one or more drop precedences.
///
/// It takes one cache line, what all packets read and write where three precedences share an average; the rest stands elsewhere,
/// and what its configuration says is shared.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Mred {
    pub(super) profile: Arc<Profile>,
    /// The level of the average of all precedences, where there is a single one.
    pub(super) level: u64,
    pub(super) near: Counts<{ Near::COUNT }>,
    pub(super) far: Box<Far>,
}

const _: () = assert!(size_of::<Mred>() == 64);

/// What fewer packets need.
#[derive(Clone, Debug)]
pub(super) struct Far {
    pub(super) random: Stream,
    /// The rest of the single average.
    pub(super) rest: u64,
    pub(super) idle_since: Time,
    /// From precedence [`Near::COUNT`] on.
    pub(super) counts: Counts<{ Color::COUNT - Near::COUNT }>,
    /// As [`Memory::above_min`](super::mred_profile::Memory).
    pub(super) above_min: u8,
    /// Where each precedence has an average.
    pub(super) averages: PrecedenceAverages,
    pub(super) own: Option<Box<Own>>,
}

/// What a further test of each precedence's own packets remembers (RI+O).
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    pub(super) averages: PrecedenceAverages,
    pub(super) counts: Counts<{ Color::COUNT }>,
    /// As [`Memory::above_min`](super::mred_profile::Memory).
    pub(super) above_min: u8,
}

/// Averages by precedence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PrecedenceAverages(pub(super) [QueueAverage; Color::COUNT]);

impl PrecedenceAverages {
    #[inline]
    pub(super) fn level(&self, index: usize) -> u64 {
        self.0[index].average.level()
    }
    /// Those that there are, in packets or bytes.
    fn values(&self, profile: &Profile) -> Vec<f64> {
        (0..=profile.last).map(|index| profile.motion.smoothing.value(self.level(index))).collect()
    }
}

impl Mred {
    pub(super) fn new(profile: Profile, random: Stream) -> Mred {
        let far = Far {
            random,
            rest: 0,
            idle_since: Time::ZERO,
            counts: Counts::default(),
            above_min: 0,
            averages: PrecedenceAverages::default(),
            own: profile.own_tests.is_some().then(Box::default),
        };
        Mred { profile: Arc::new(profile), level: 0, near: Counts::default(), far: Box::new(far) }
    }

    /// The averages, in packets or bytes as the thresholds: one if it is a single one, else one for
    /// each precedence. Of [`Averages::CoupledSampled`] these are the terms before addition.
    pub fn averages(&self) -> Vec<f64> {
        let smoothing = &self.profile.motion.smoothing;
        match self.profile.averages {
            Averages::Single => vec![smoothing.value(self.level)],
            _ => self.far.averages.values(&self.profile),
        }
    }
    /// The averages of each precedence's own packets, where a further test uses them (RI+O); else empty.
    pub fn own_averages(&self) -> Vec<f64> {
        self.far.own.as_ref().map_or_else(Vec::new, |own| own.averages.values(&self.profile))
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
}

/// What is remembered of precedence `index`.
#[inline]
pub(super) fn since<'c>(
    near: &'c mut Counts<{ Near::COUNT }>,
    far: &'c mut Counts<{ Color::COUNT - Near::COUNT }>,
    index: usize,
) -> SinceDrop<'c> {
    if index < Near::COUNT { near.at(index) } else { far.at(index - Near::COUNT) }
}

impl BufferManager for Mred {
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let Mred { profile, level, near, far } = self;
        // The shortest way. An empty queue does not go it: 0 − 1 wraps to the largest number.
        if queue.packets.wrapping_sub(1) >= profile.shortest_way_up_to {
            return self.admit_at_length(now, packet, precedence, queue);
        }
        *level = profile.motion.smoothing.shifted(*level, queue.packets);
        let index = profile.near[precedence.index()] as usize;
        let mut since = near.at(index);
        if profile.tests.keep(index, *level, &mut since) {
            return Verdict::Pass;
        }
        if since.drops_when_due(profile.spacing) && profile.tests.draws(index, *level) {
            since.draw(profile.tests.whole(index), &mut far.random);
            return profile.verdict(Outcome::Drawn, packet);
        }
        self.judge_by_single(index, packet)
    }

    #[inline]
    fn departed(&mut self, now: Time, precedence: Color, queue: &Occupancy) {
        let profile = &*self.profile;
        let index = profile.index(precedence);
        // Every average that counts this packet counts the others of its precedence as well.
        if profile.motion.samples_departures || profile.unit.held_by_precedence(queue)[index] == 0 {
            self.depart(now, index, queue);
        }
    }
    fn decides_on_arrival(&self) -> bool {
        true
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
        (spacing, above_max, after_forced, limit, 1..6usize, 0..12u32, averages).prop_map(
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
            (profile.shortest_way_up_to, profile.short_way_up_to, profile.is_coupled) = (0, 0, false);
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
