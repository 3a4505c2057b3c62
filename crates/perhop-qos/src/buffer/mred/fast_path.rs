//! The fast path of multi-level RED: the algorithm of `mred.rs` for one average and its thresholds.
//!
//! Packets take the fast path if the queue is neither empty nor full, no rule spares packets, all precedences
//! have hot counts, and the averages are single or coupled. [`Profile`](super::profile::Profile) sets the
//! longest queue for the fast path. Under these conditions no average is idle, every packet fits, and one
//! test decides. The tests in this file compare the fast path with the full algorithm.

use super::options::Averages;
use super::profile::HotIndex;
use super::{Mred, TestOn};
use crate::queue::Occupancy;
use crate::{Color, Packet, Time, Verdict};

impl Mred {
    /// Decides about a packet if the profile has a single average that moves by a shift and the queue is not
    /// empty. Passes all other packets to [`Mred::admit_unless_shifting`].
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn admit_fast(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        queue: &Occupancy,
    ) -> Verdict {
        // A packet that finds an empty queue does not take this path, because 0 − 1 wraps to the largest
        // number.
        if queue.packets.wrapping_sub(1) >= self.profile.shifting_up_to {
            return self.admit_unless_shifting(now, packet, precedence, queue);
        }
        self.level = self.profile.averaging.smoothing.shifted(self.level, queue.packets);
        self.decide_fast(self.profile.hot[precedence.index()], packet)
    }

    /// Decides about a packet if the averages move by multiplications and the fast path applies. Passes all
    /// other packets to the full algorithm.
    #[inline(never)]
    fn admit_unless_shifting(
        &mut self,
        now: Time,
        packet: &Packet,
        precedence: Color,
        queue: &Occupancy,
    ) -> Verdict {
        let profile = &*self.profile;
        // All coupled averages count the packets of precedence 0. While such a packet is queued, none of the
        // averages is idle.
        let is_idle = profile.averages == Averages::Coupled && queue.packets_of[0] == 0;
        if queue.packets.wrapping_sub(1) >= profile.multiplying_up_to || is_idle {
            return self.admit_in_full(now, packet, precedence, queue);
        }
        self.admit_by_multiplying(packet, precedence, queue)
    }

    /// The fast path for a single average or coupled averages that move by a multiplication.
    #[inline(never)]
    fn admit_by_multiplying(&mut self, packet: &Packet, precedence: Color, queue: &Occupancy) -> Verdict {
        let Mred { profile, cold, .. } = self;
        let index = profile.hot[precedence.index()];
        let (smoothing, averages) = (&profile.averaging.smoothing, &mut cold.averages);
        if profile.averages == Averages::Coupled {
            let by_precedence = &queue.packets_of;
            averages[profile.last].average.sample_by_multiplying(queue.packets, smoothing);
            let mut held = 0;
            for j in 0..profile.last {
                held += by_precedence[j];
                if j >= index as usize {
                    averages[j].average.sample_by_multiplying(held, smoothing);
                }
            }
            self.level = averages[index as usize].average.level;
        } else {
            averages[0].average.sample_by_multiplying(queue.packets, smoothing);
            self.level = averages[0].average.level;
        }
        self.decide_fast(index, packet)
    }

    /// Runs steps 2 to 5 for the average [`Mred::level`].
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    fn decide_fast(&mut self, index: HotIndex, packet: &Packet) -> Verdict {
        let Mred { profile, level, hot, cold } = self;
        let index = index as usize;
        let mut since = hot.at(index);
        if *level < profile.curves.min(index) {
            since.end();
            return Verdict::Pass;
        }
        let part = profile.curves.part_below_max(index, *level);
        if part.is_some_and(|part| since.keeps(part)) {
            return Verdict::Pass;
        }
        if since.drops_when_due(profile.spacing) && part.is_some() {
            since.draw(profile.curves.whole(index), &mut cold.random);
            return profile.drawn(packet);
        }
        self.decide_above_min(index, packet)
    }

    /// Runs steps 3 to 5 for an average above `min`.
    #[inline(never)]
    fn decide_above_min(&mut self, index: usize, packet: &Packet) -> Verdict {
        self.draw(TestOn::Deciding, index, self.level, None).verdict(&self.profile, packet)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::buffer::{AveragingConfig, BufferManager, MredConfig};
    use crate::random::Streams;
    use crate::units::Rate;

    /// RED, WRED or RIO-C with all rules that the fast path handles and all rules for which it must call the
    /// full algorithm.
    fn configs() -> impl Strategy<Value = MredConfig> {
        let rules = (
            prop::sample::select(vec![
                "uniform",
                "uniform-per-drop",
                "geometric",
                "wait",
                "counted-first",
                "unguarded",
            ]),
            prop::sample::select(vec!["drop", "gentle"]),
            prop::sample::select(vec!["restart", "go-on"]),
            prop::sample::select(vec!["nothing", "nothing", "first-above-min", "short-queue-and-first"]),
            prop::sample::select(vec!["per-packet", "per-packet", "per-byte"]),
            prop::sample::select(vec!["single", "coupled"]),
        );
        let weight =
            prop_oneof![(0..12u32).prop_map(|n| json!({"exponent": n})), Just(json!({"weight": 0.002}))];
        let limit = prop_oneof![Just(None), (1..40u32).prop_map(|count| Some(format!("{count} packets")))];
        (rules, weight, limit, 1..6usize).prop_map(|(rules, weight, limit, count)| {
            let (spacing, above_max, after_forced, spared, probability, averages) = rules;
            let precedence = json!({"min": "5 packets", "max": "20 packets", "max-probability": 0.3});
            serde_json::from_value(json!({
                "precedences": vec![precedence; count], "averages": averages, "averaging": weight,
                "drop-spacing": spacing, "above-max": above_max, "after-forced": after_forced,
                "spared": spared, "probability": probability, "limit": limit, "ecn": "mark",
            }))
            .unwrap()
        })
    }

    proptest! {
        #[test]
        fn the_fast_path_decides_as_the_full_algorithm(
            config in configs(),
            queues in prop::collection::vec((prop::array::uniform4(0..12u64), 0..1_000u64, 0..4usize), 1..400),
        ) {
            let mut fast = config.build(Rate::from_bits_per_second(8_000_000), &Streams::new(1, 0)).unwrap();
            let mut full = fast.clone();
            let profile = Arc::make_mut(&mut full.profile);
            (profile.shifting_up_to, profile.multiplying_up_to) = (0, 0);
            let (mut now, mut queue) = (Time::ZERO, Occupancy::default());
            for (packets, pause, color) in queues {
                now += Time::from_microseconds(pause);
                queue.packets_of[..4].copy_from_slice(&packets);
                queue.packets = packets.iter().sum();
                let (packet, precedence) = (Packet { length: 1000, ..Packet::default() }, Color::new(color));
                let verdicts = [&mut fast, &mut full].map(|red| red.admit(now, &packet, precedence, &queue));
                prop_assert_eq!(verdicts[0], verdicts[1]);
                prop_assert_eq!(fast.averages(), full.averages());
            }
        }

        /// A single average moves by shifts, and coupled averages move by multiplications. With one
        /// precedence, both give the same results.
        #[test]
        fn a_shift_decides_as_a_multiplication(
            config in configs(), queues in prop::collection::vec((0..40u64, 0..1_000u64), 1..400),
        ) {
            let mut buffers = [Averages::Single, Averages::Coupled].map(|averages| {
                let precedences = config.precedences[..1].to_vec();
                let config = MredConfig { averages: Some(averages), precedences, ..config.clone() };
                config.build(Rate::from_bits_per_second(8_000_000), &Streams::new(1, 0)).unwrap()
            });
            let shifts = matches!(config.averaging, Some(AveragingConfig::Exponent(1..)));
            prop_assert_eq!(buffers[0].profile.averaging.smoothing.shifts(), shifts);
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
