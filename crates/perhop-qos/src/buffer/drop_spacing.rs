//! [`DropSpacing`]: how a drop probability becomes drops.
//!
//! With the same probability p, the three rules drop 2 p, p and 0.67 p of the packets in the long run.

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
    /// (Floyd & Jacobson 1993, method 2; Linux).
    #[default]
    Uniform,
    /// Geometric with mean 1/p: each packet is judged on its own (method 1; what routers that publish only p are taken to do).
    Geometric,
    /// Uniform on 1/p to 2/p − 1: no drop while fewer than 1/p packets have passed (ns-2 and ns-3, `wait`).
    Wait,
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
    /// packets were kept since the last drop, or since the average rose above its minimum threshold.
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

    /// Whether the packet is dropped, where fewer than 2⁶² were `kept`. Draws a number only where the answer is not certain.
    ///
    /// [`DropSpacing::probability`] in integers: the number drawn, uniform below 1, times the denominator is less than the numerator.
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn drops(self, probability: Probability, kept: u64, random: &mut Stream) -> bool {
        let (numerator, one) = (probability.0, Probability::ONE.0);
        // The default is asked for first.
        let denominator = if self == DropSpacing::Uniform {
            // The drop is certain from (kept + 1) · p = 1 on: twice that is what outgrows 64 bits.
            let Some(twice) = (2 * (kept + 1)).checked_mul(numerator) else { return true };
            one + numerator - twice / 2
        } else if self == DropSpacing::Geometric {
            if numerator >= one {
                return true;
            }
            one
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
            DropSpacing::Uniform => Odds { numerator: probability, denominator: 1.0 - kept * probability },
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

    #[test]
    fn certain_answers_draw_nothing() {
        let mut random = Streams::new(1, 0).stream();
        let untouched = random.clone().uniform();
        let (quarter, one) = (Probability::of(0.25), Probability::ONE);
        assert!(!DropSpacing::Uniform.drops(Probability::of(0.0), 5, &mut random));
        assert!(DropSpacing::Geometric.drops(one, 0, &mut random));
        assert!(DropSpacing::Uniform.drops(one, 0, &mut random));
        assert!(DropSpacing::Uniform.drops(quarter, 3, &mut random));
        assert!(DropSpacing::Uniform.drops(quarter, (1 << 62) - 1, &mut random));
        assert!(!DropSpacing::Wait.drops(quarter, 2, &mut random));
        assert!(DropSpacing::Wait.drops(quarter, 6, &mut random));
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
            let dropped = rule.drops(Probability(probability), kept, random);
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
            let dropped = rule.drops(Probability::of(probability), kept.into(), &mut random);
            let told = rule.probability(probability, kept);
            prop_assert!(dropped == (draw < told) || (draw - told).abs() < 1e-11, "{draw} {told} {dropped}");
        }
    }
}
