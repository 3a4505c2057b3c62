//! [`DropSpacing`]: the rule that converts a drop probability into drops.
//!
//! At a drop probability of p, the rules drop these fractions of the packets in the long run: 2 p (both
//! uniform rules), p (geometric) and 0.67 p (wait).

use super::drop_count::SinceDrop;
use super::drop_curve::Probability;
use super::half_power::multiply_high;
use super::options::DropSpacing;
use crate::random::Stream;

/// A probability in reports, as a fraction. It is 0 if the numerator is at most 0, and 1 if the numerator is
/// at least the denominator.
#[derive(Clone, Copy, Debug)]
struct Odds {
    numerator: f64,
    denominator: f64,
}

impl DropSpacing {
    /// Whether a dropped packet counts like a kept packet.
    #[inline]
    pub(super) fn counts_the_drop(self) -> bool {
        matches!(self, DropSpacing::CountedFirst | DropSpacing::Unguarded)
    }

    /// The probability that a packet is dropped at an average with the drop probability `probability`. `kept`
    /// packets at that probability were kept since the last drop, or since the average rose above its minimum
    /// threshold.
    pub fn probability(self, probability: f64, kept: u32) -> f64 {
        let Odds { numerator, denominator } = self.odds(probability, f64::from(kept));
        if numerator <= 0.0 || (self == DropSpacing::Unguarded && denominator < 0.0) {
            0.0
        } else if numerator >= denominator {
            1.0
        } else {
            numerator / denominator
        }
    }

    /// Decides whether the packet is dropped, and updates `since`. Draws a random number only if the decision
    /// depends on it, or once per drop.
    ///
    /// The result has the probability [`DropSpacing::probability`] in integer arithmetic: the packet is
    /// dropped if the denominator times a random number, uniform below 1, is less than the numerator.
    #[expect(clippy::inline_always, reason = "it is most of its caller, which is a function")]
    #[inline(always)]
    pub(super) fn drops(self, probability: Probability, mut since: SinceDrop, random: &mut Stream) -> bool {
        let Probability { part, whole } = probability;
        since.begin(self, whole, random);
        let expected = u64::from(*since.next).saturating_mul(part);
        let mut falls_below =
            |denominator: u64| part >= denominator || multiply_high(random.bits(), denominator) < part;
        let drops = expected >= *since.due
            && match self {
                DropSpacing::Uniform | DropSpacing::CountedFirst => {
                    falls_below((whole + part).saturating_sub(expected))
                }
                // ns-2 `diffserv/dsredq.cc`, enque: `pa = pb/(1.0 - count*pb)`. No guard protects this
                // division: the result is infinite for count · pb = 1, and negative above.
                DropSpacing::Unguarded => (whole + part).checked_sub(expected).is_some_and(&mut falls_below),
                DropSpacing::UniformPerDrop => true,
                DropSpacing::Geometric => falls_below(whole),
                DropSpacing::Wait => falls_below((2 * whole).saturating_sub(expected)),
            };
        if drops {
            since.restart(self, whole, random);
        } else {
            since.count();
        }
        drops
    }

    /// Decides whether a packet of `length` bytes is dropped, and updates `since`. The count is in bytes, and
    /// the length scales the probability after the spacing.
    ///
    /// ns-2.35 `queue/red.cc`, `modify_p` with `bytes_`. The count is the bytes divided by the mean size,
    /// rounded down. A probability below 1 is multiplied by the length divided by the mean size.
    #[inline(never)]
    pub(super) fn drops_by_bytes(
        self,
        probability: f64,
        length: u32,
        mean: u32,
        mut since: SinceDrop,
        random: &mut Stream,
    ) -> bool {
        let count = f64::from(since.count_bytes(length) / mean);
        let expected = count * probability;
        let spaced = match self {
            DropSpacing::Wait if expected < 1.0 => 0.0,
            DropSpacing::Wait if expected < 2.0 => probability / (2.0 - expected),
            DropSpacing::CountedFirst if expected < 1.0 => probability / (1.0 - expected),
            _ => 1.0,
        };
        let by_length = spaced * f64::from(length) / f64::from(mean);
        let chance = if spaced < 1.0 { by_length.min(1.0) } else { 1.0 };
        let drops = chance >= 1.0 || (chance > 0.0 && random.uniform() < chance);
        if drops {
            since.begin_bytes(0);
        }
        drops
    }

    #[inline]
    fn odds(self, probability: f64, kept: f64) -> Odds {
        match self {
            // Floyd & Jacobson 1993, section 7: p_b / (1 − count · p_b). There, count is the number of
            // unmarked packets that have arrived since the last marked packet.
            DropSpacing::Uniform | DropSpacing::UniformPerDrop => {
                Odds { numerator: probability, denominator: 1.0 - kept * probability }
            }
            // Figure 2: count is incremented first, so it is 1 for the first packet after a drop.
            DropSpacing::CountedFirst | DropSpacing::Unguarded => {
                Odds { numerator: probability, denominator: 1.0 - (kept + 1.0) * probability }
            }
            DropSpacing::Geometric => Odds { numerator: probability, denominator: 1.0 },
            // `modify_p` of ns-2 also counts this packet. The probability is 0 while count · p < 1, and p /
            // (2 − count · p) from then on.
            DropSpacing::Wait => {
                let expected = (kept + 1.0) * probability;
                let numerator = if expected < 1.0 { 0.0 } else { probability };
                Odds { numerator, denominator: 2.0 - expected }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::drop_count::Counts;
    use super::*;
    use crate::random::Streams;

    /// The denominator of all probabilities in these tests.
    const WHOLE: u64 = 1 << 62;

    fn part_of_whole(probability: f64) -> Probability {
        Probability { part: (WHOLE as f64 * probability) as u64, whole: WHOLE }
    }

    /// A rule and its state.
    struct Spacing {
        rule: DropSpacing,
        counts: Counts<1>,
        random: Stream,
    }

    impl Spacing {
        fn new(rule: DropSpacing, seed: u64) -> Spacing {
            Spacing { rule, counts: Counts::default(), random: Streams::new(seed, 0).stream() }
        }
        fn drops(&mut self, probability: Probability) -> bool {
            self.rule.drops(probability, self.counts.at(0), &mut self.random)
        }
        /// Whether [`Spacing::drops`] drops a packet after `kept` kept packets.
        fn drops_after(&mut self, kept: u32, probability: Probability) -> bool {
            self.counts.at(0).begin(self.rule, probability.whole, &mut self.random);
            self.counts.next = [kept + 1];
            self.drops(probability)
        }
    }

    #[test]
    fn certain_decisions_draw_no_number() {
        use DropSpacing::{Geometric, Uniform, Wait};
        let untouched = Streams::new(1, 0).stream().uniform();
        for (rule, probability, kept, drops) in [
            (Uniform, 0.0, 5, false),
            (Geometric, 1.0, 0, true),
            (Uniform, 1.0, 0, true),
            (Uniform, 0.25, 3, true),
            (Uniform, 0.25, u32::MAX - 1, true),
            (Wait, 0.25, 2, false),
            (Wait, 0.25, 6, true),
        ] {
            let mut spacing = Spacing::new(rule, 1);
            assert_eq!(
                spacing.drops_after(kept, part_of_whole(probability)),
                drops,
                "{rule:?} {probability} {kept}"
            );
            assert_eq!(spacing.random.uniform(), untouched);
        }
    }

    /// The decision of [`DropSpacing::drops`] by the formula of the source, in exact arithmetic.
    fn drops_by_formula(rule: DropSpacing, probability: Probability, kept: u32, random: &mut Stream) -> bool {
        let [numerator, one] = [probability.part, probability.whole].map(i128::from);
        let expected = (i128::from(kept) + 1) * numerator;
        let denominator = match rule {
            DropSpacing::Unguarded if expected - numerator > one => return false,
            DropSpacing::Uniform | DropSpacing::CountedFirst | DropSpacing::Unguarded => {
                one - (expected - numerator)
            }
            DropSpacing::Geometric => one,
            DropSpacing::Wait if expected < one => return false,
            DropSpacing::Wait => 2 * one - expected,
            DropSpacing::UniformPerDrop => unreachable!("it draws for drops and not for packets"),
        };
        if numerator >= denominator {
            return true;
        }
        numerator > 0 && (i128::from(random.bits()) * denominator) >> 64 < numerator
    }

    /// Arbitrary probabilities, including those with a small numerator or denominator.
    fn probabilities() -> impl Strategy<Value = Probability> {
        let whole = prop_oneof![1..=WHOLE, Just(WHOLE), 1..1_000_u64];
        let share = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0_f64];
        (whole, share).prop_map(|(whole, share)| Probability {
            part: ((whole as f64 * share) as u64).min(whole),
            whole,
        })
    }

    proptest! {
        /// The probabilities include values close to 1, at which the shortcut changes its result.
        #[test]
        fn a_draw_matches_its_formula(
            rule in 0..5usize, kept in prop_oneof![0..200u32, 0..u32::MAX],
            probability in probabilities(),
            place in prop_oneof![Just(None), (-2..=2i128, 1..=2i128).prop_map(Some)], seed in any::<u64>(),
        ) {
            use DropSpacing::{CountedFirst, Geometric, Unguarded, Uniform, Wait};
            let rule = [Uniform, Geometric, Wait, CountedFirst, Unguarded][rule];
            // The probability is either arbitrary or has about 1 or 2 expected drops in `kept` packets.
            let whole = i128::from(probability.whole);
            let part = place.map_or(probability.part, |(constant, drops)| {
                (drops * whole / i128::from(kept + 1) + constant).clamp(0, whole) as u64
            });
            let probability = Probability { part, ..probability };
            let (mut spacing, mut plain) = (Spacing::new(rule, seed), Streams::new(seed, 0).stream());
            let dropped = spacing.drops_after(kept, probability);
            prop_assert_eq!(dropped, drops_by_formula(rule, probability, kept, &mut plain));
            prop_assert_eq!(spacing.random.bits(), plain.bits());
        }

        /// Integer and floating-point decisions agree, except if the draw differs from the probability by no
        /// more than the precision of floating point.
        #[test]
        fn integer_decisions_match_floating_point(
            rule in 0..3usize, exponent in 0.0..20.0f64, kept in 0..2_000u32, seed in any::<u64>(),
        ) {
            let rule = [DropSpacing::Uniform, DropSpacing::Geometric, DropSpacing::Wait][rule];
            let probability = libm::exp2(-exponent);
            let mut spacing = Spacing::new(rule, seed);
            let draw = spacing.random.clone().uniform();
            let dropped = spacing.drops_after(kept, part_of_whole(probability));
            let stated = rule.probability(probability, kept);
            prop_assert!(dropped == (draw < stated) || (draw - stated).abs() < 1e-11, "{draw} {stated} {dropped}");
        }

        /// Checks the rule with arbitrary changes of the probability and arbitrary restarts of the count.
        #[test]
        fn one_number_for_each_drop_matches_its_formula(
            packets in prop::collection::vec((prop_oneof![Just(0), 0..=WHOLE, 0..1u64 << 58], 0..20u8), 1..400),
            kept in prop_oneof![Just(0), 0..u32::MAX - 400], seed in any::<u64>(),
        ) {
            let rule = DropSpacing::UniformPerDrop;
            let (mut spacing, mut plain) = (Spacing::new(rule, seed), Streams::new(seed, 0).stream());
            let mut draw = || ((i128::from(plain.bits()) * i128::from(WHOLE)) >> 64) + 1;
            spacing.counts.at(0).begin(rule, WHOLE, &mut spacing.random);
            spacing.counts.next = [kept + 1];
            let (mut count, mut drawn) = (i128::from(kept), Some(draw()));
            for (part, event) in packets {
                if event == 0 {
                    spacing.counts.at(0).end();
                    (count, drawn) = (0, None);
                }
                let reached = (count + 1) * i128::from(part) >= *drawn.get_or_insert_with(&mut draw);
                count = if reached { 0 } else { count + 1 };
                if reached {
                    drawn = Some(draw());
                }
                prop_assert_eq!(spacing.drops(Probability { part, whole: WHOLE }), reached);
            }
            prop_assert_eq!(spacing.random.bits(), plain.bits());
        }

        /// With a constant p, the packet with the number R / p, rounded up, is dropped. All numbers up to 1 /
        /// p are equally likely.
        #[test]
        fn the_drawn_number_determines_the_dropped_packet(one_in in 1..2_000u64, seed in any::<u64>()) {
            let mut spacing = Spacing::new(DropSpacing::UniformPerDrop, seed);
            let drawn = multiply_high(spacing.random.clone().bits(), one_in) + 1;
            let mut packets = 1;
            while !spacing.drops(Probability { part: 1, whole: one_in }) {
                packets += 1;
            }
            prop_assert_eq!(packets, drawn);
            prop_assert!(packets <= one_in);
        }

        /// [`SinceDrop::keeps`] keeps exactly the packets that the rule keeps without a random number.
        #[test]
        fn the_shortcut_keeps_the_packets_of_the_full_rule(
            rule in 0..6usize, packets in prop::collection::vec((0..=u32::MAX, 0..20u8), 1..200),
            digits in 32..50u32, seed in any::<u64>(),
        ) {
            use DropSpacing::{CountedFirst, Geometric, Unguarded, Uniform, UniformPerDrop, Wait};
            let rule = [Uniform, UniformPerDrop, Geometric, Wait, CountedFirst, Unguarded][rule];
            let (mut short, mut plain) = (Spacing::new(rule, seed), Spacing::new(rule, seed));
            for (part, event) in packets {
                if event == 0 {
                    short.counts.at(0).end();
                    plain.counts.at(0).end();
                }
                let probability = Probability { part: part.into(), whole: 1 << digits };
                let dropped = plain.drops(probability);
                let kept_at_once = short.counts.at(0).keeps(part);
                prop_assert_eq!(!kept_at_once && short.drops(probability), dropped);
                prop_assert_eq!(short.random.clone().bits(), plain.random.clone().bits());
            }
        }
    }
}
