//! [`DropSpacing`]: how a drop probability becomes drops.
//!
//! With the same probability p, they drop 2 p (both uniform rules), p and 0.67 p of the packets in the long run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::half_power::multiply_high;
use super::probability::Probability;
use crate::random::Stream;

/// How early drops are spread over the arrivals. For a constant probability p the number of
/// arrivals from one drop to the next is:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropSpacing {
    /// Uniform on 1 to 1/p, mean (1 + 1/p)/2: p rises to p/(1 − n·p) after n packets kept
    /// (Floyd & Jacobson 1993, method 2).
    #[default]
    Uniform,
    /// The same where p stays, with one random number for each drop in place of one for each packet: after n packets
    /// kept a packet is dropped where (n + 1)·p reaches R, uniform on 0 to 1 (Linux, after Floyd & Jacobson 1993, Figure 17).
    UniformPerDrop,
    /// Geometric with mean 1/p: each packet is judged on its own (method 1; what routers that publish only p are taken to do).
    Geometric,
    /// Uniform on 1/p to 2/p − 1: no drop while fewer than 1/p packets have passed (ns-2 and ns-3, `wait`).
    Wait,
}

/// What a rule remembers since the last drop, or since the average rose above its minimum threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SinceDrop {
    /// Packets kept, fewer than 2⁶².
    pub(super) kept: u64,
    /// R of [`DropSpacing::UniformPerDrop`] in 2⁻⁶³, from 1 to 2⁶³; 0 before it is drawn.
    reached_at: u64,
}

impl SinceDrop {
    /// Linux include/net/red.h, `red_action`: R (`qR`) is drawn when counting begins,
    #[cold]
    #[inline(never)]
    fn begins(&mut self, probability: Probability, random: &mut Stream) -> bool {
        self.draw(random);
        self.reaches(probability, random)
    }
    /// and anew with each drop. A packet is dropped where (n + 1) · p is at least R.
    #[inline]
    fn reaches(&mut self, probability: Probability, random: &mut Stream) -> bool {
        let expected = u128::from(self.kept + 1) * u128::from(probability.0);
        let drops = expected >= u128::from(self.reached_at);
        if drops {
            self.draw(random);
        }
        drops
    }
    /// R is never 0.
    #[cold]
    #[inline(never)]
    fn draw(&mut self, random: &mut Stream) {
        self.reached_at = (random.bits() >> 1) + 1;
    }
}

/// A probability as a fraction, so that a draw needs no division: 0 or less is never, 1 or more
/// (a denominator up to the numerator) is always.
#[derive(Clone, Copy, Debug)]
struct Odds {
    numerator: f64,
    denominator: f64,
}

impl DropSpacing {
    /// The probability that a packet is dropped where the average asks for `probability` and `kept`
    /// packets were kept since the last drop, or since the average rose above its minimum threshold, at the same probability.
    pub fn probability(self, probability: f64, kept: u32) -> f64 {
        let Odds { numerator, denominator } = self.odds(probability, f64::from(kept));
        if numerator <= 0.0 {
            0.0
        } else if numerator >= denominator {
            1.0
        } else {
            numerator / denominator
        }
    }

    /// Whether the packet is dropped. Draws a number only where the answer is not certain, or once for each drop.
    ///
    /// [`DropSpacing::probability`] in integers: the number drawn, uniform below 1, times the denominator is less than the numerator.
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn drops(self, probability: Probability, since: &mut SinceDrop, random: &mut Stream) -> bool {
        // Only [`DropSpacing::UniformPerDrop`] has one. Asked first, because there is the least to do.
        if since.reached_at > 0 {
            return since.reaches(probability, random);
        }
        let (numerator, one, kept) = (probability.0, Probability::ONE.0, since.kept);
        // The default is asked for next.
        let denominator = if self == DropSpacing::Uniform {
            // The drop is certain from (kept + 1) · p = 1 on: twice that is what outgrows 64 bits.
            let Some(twice) = (2 * (kept + 1)).checked_mul(numerator) else { return true };
            one + numerator - twice / 2
        } else if self == DropSpacing::Geometric {
            if numerator >= one {
                return true;
            }
            one
        } else if self == DropSpacing::UniformPerDrop {
            return since.begins(probability, random);
        } else {
            match (kept + 1).checked_mul(numerator) {
                Some(expected) if expected < one => return false,
                Some(expected) if numerator >= one - (expected - one) => return true,
                Some(expected) => one - (expected - one),
                None => return true,
            }
        };
        numerator > 0 && multiply_high(random.bits(), denominator) < numerator
    }

    #[inline]
    fn odds(self, probability: f64, kept: f64) -> Odds {
        match self {
            // Floyd & Jacobson 1993, section 7: p_b / (1 − count · p_b), where count is the number
            // of unmarked packets that have arrived since the last marked packet.
            DropSpacing::Uniform | DropSpacing::UniformPerDrop => {
                Odds { numerator: probability, denominator: 1.0 - kept * probability }
            }
            DropSpacing::Geometric => Odds { numerator: probability, denominator: 1.0 },
            // ns-2's modify_p counts this packet as well: 0 while count · p < 1, then p / (2 − count · p).
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

    use super::*;
    use crate::random::Streams;

    fn after(kept: u64) -> SinceDrop {
        SinceDrop { kept, reached_at: 0 }
    }

    #[test]
    fn certain_answers_draw_nothing() {
        let mut random = Streams::new(1, 0).stream();
        let untouched = random.clone().uniform();
        let (quarter, one) = (Probability::of(0.25), Probability::ONE);
        let mut drops =
            |rule: DropSpacing, probability, kept| rule.drops(probability, &mut after(kept), &mut random);
        assert!(!drops(DropSpacing::Uniform, Probability::of(0.0), 5));
        assert!(drops(DropSpacing::Geometric, one, 0));
        assert!(drops(DropSpacing::Uniform, one, 0));
        assert!(drops(DropSpacing::Uniform, quarter, 3));
        assert!(drops(DropSpacing::Uniform, quarter, (1 << 62) - 1));
        assert!(!drops(DropSpacing::Wait, quarter, 2));
        assert!(drops(DropSpacing::Wait, quarter, 6));
        assert_eq!(random.uniform(), untouched);
        assert_ne!(random.uniform(), untouched);
    }

    /// [`DropSpacing::drops`] word for word: the denominator first, with digits for everything.
    fn drops_plainly(rule: DropSpacing, probability: Probability, kept: u64, random: &mut Stream) -> bool {
        let [numerator, kept, one] = [probability.0, kept, Probability::ONE.0].map(i128::from);
        let expected = (kept + 1) * numerator;
        let denominator = match rule {
            DropSpacing::Uniform => one - kept * numerator,
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

    proptest! {
        /// Near certainty too, where the shorter questions turn.
        #[test]
        fn a_draw_is_as_its_formula_says(
            rule in 0..3usize, kept in prop_oneof![0..200u64, 0..1u64 << 32, 0..1u64 << 62],
            probability in prop_oneof![Just(0), Just(Probability::ONE.0), 0..=Probability::ONE.0],
            place in prop_oneof![Just(None), (-2..=2i128, 1..=2i128).prop_map(Some)], seed in any::<u64>(),
        ) {
            let rule = [DropSpacing::Uniform, DropSpacing::Geometric, DropSpacing::Wait][rule];
            // The probability itself, or one so that about 1 or 2 drops are expected.
            let probability = place.map_or(probability, |(beside, drops)| {
                let certain = drops * i128::from(Probability::ONE.0) / i128::from(kept + 1) + beside;
                certain.clamp(0, i128::from(Probability::ONE.0)) as u64
            });
            let mut streams = [(); 2].map(|()| Streams::new(seed, 0).stream());
            let [random, plain] = &mut streams;
            let dropped = rule.drops(Probability(probability), &mut after(kept), random);
            prop_assert_eq!(dropped, drops_plainly(rule, Probability(probability), kept, plain));
            prop_assert_eq!(random.bits(), plain.bits());
        }

        /// In integers a draw decides as in floating point, but where it falls on the last digits of the probability.
        #[test]
        fn a_draw_falls_below_the_probability_that_is_told(
            rule in 0..3usize, exponent in 0.0..20.0f64, kept in 0..2_000u32, seed in any::<u64>(),
        ) {
            let rule = [DropSpacing::Uniform, DropSpacing::Geometric, DropSpacing::Wait][rule];
            let probability = libm::exp2(-exponent);
            let mut random = Streams::new(seed, 0).stream();
            let draw = random.clone().uniform();
            let dropped = rule.drops(Probability::of(probability), &mut after(kept.into()), &mut random);
            let told = rule.probability(probability, kept);
            prop_assert!(dropped == (draw < told) || (draw - told).abs() < 1e-11, "{draw} {told} {dropped}");
        }

        /// Whatever the probability becomes, and wherever counting begins anew.
        #[test]
        fn one_number_for_each_drop_decides_as_its_formula_says(
            packets in prop::collection::vec(
                (prop_oneof![Just(0), Just(Probability::ONE.0), 0..=Probability::ONE.0, 0..1u64 << 60], 0..20u8), 1..400,
            ),
            kept in prop_oneof![Just(0), 0..1u64 << 62], seed in any::<u64>(),
        ) {
            let [mut random, mut plain] = [(); 2].map(|()| Streams::new(seed, 0).stream());
            let mut draw = || i128::from(plain.bits() / 2) + 1;
            let (mut since, mut count, mut drawn) = (after(kept), i128::from(kept), None);
            for (probability, event) in packets {
                if event == 0 {
                    (since, count, drawn) = (SinceDrop::default(), 0, None);
                }
                let reached = (count + 1) * i128::from(probability) >= *drawn.get_or_insert_with(&mut draw);
                count = if reached { 0 } else { count + 1 };
                if reached {
                    drawn = Some(draw());
                }
                let dropped = DropSpacing::UniformPerDrop.drops(Probability(probability), &mut since, &mut random);
                since.kept = if dropped { 0 } else { since.kept + 1 };
                prop_assert_eq!(dropped, reached);
            }
            prop_assert_eq!(random.bits(), plain.bits());
        }

        /// With a constant p the drop comes at packet R / p, rounded up: all numbers up to 1 / p are as likely.
        #[test]
        fn a_number_names_the_packet_that_is_dropped(one_in in 1..2_000u64, seed in any::<u64>()) {
            let mut random = Streams::new(seed, 0).stream();
            let drawn = (random.clone().bits() >> 1) + 1;
            let probability = Probability(Probability::ONE.0.div_ceil(one_in));
            let (mut since, mut packets) = (SinceDrop::default(), 1);
            while !DropSpacing::UniformPerDrop.drops(probability, &mut since, &mut random) {
                (packets, since.kept) = (packets + 1, since.kept + 1);
            }
            prop_assert_eq!(packets, drawn.div_ceil(probability.0));
            prop_assert!(packets <= one_in);
        }
    }
}
