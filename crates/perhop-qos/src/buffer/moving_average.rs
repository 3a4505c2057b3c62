//! Exponentially weighted averages as fixed-point numbers, as in routers and Linux, but finer.
//!
//! One arrival must wait for the average that the one before has left. In floating point that takes three operations and a
//! detour by memory, in integers a multiplication and an addition.

use super::half_power::HalfPower;

/// A longer queue, in packets or bytes, counts as one of this length: 8 GiB.
pub(super) const LONGEST: u64 = (1 << 33) - 1;
/// Averages are counted in steps of 2⁻³⁰ to 2⁻²⁹ of a packet or byte.
const FRACTION_BITS: u32 = 30;
/// 2⁶⁴.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

/// How averages of one weight are counted.
///
/// The average is kept divided by its weight, so that a sample is added as it is and nothing of it is rounded:
/// with s = average / weight, s ← (1 − weight) · s + queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoothing {
    /// 1 − weight, in 2⁻⁶⁴.
    keep: u64,
    /// Steps that a packet or byte in the queue adds.
    per_one: u64,
    /// What one step stands for: weight / `per_one`, packets or bytes.
    step: f64,
    /// How often a sample of an empty queue halves an average: −log₂ (1 − weight).
    halvings: f64,
}

impl Smoothing {
    /// For a weight above 0 and at most 1. Its digits beyond 2⁻⁶⁴ do not count: none for powers of two, nor from 2⁻¹² on.
    pub(super) fn new(weight: f64) -> Smoothing {
        let weight = ((weight * WHOLE) as u128).max(1);
        let fraction = weight as f64 / WHOLE;
        // 2⁻ⁿ ≤ weight < 2¹⁻ⁿ: the longest queue's average takes at most 63 bits.
        let exponent = libm::ilogb(fraction).unsigned_abs();
        let per_one = 1 << FRACTION_BITS.saturating_sub(exponent);
        Smoothing {
            keep: ((1_u128 << 64) - weight) as u64,
            per_one,
            step: fraction / per_one as f64,
            halvings: (-libm::log1p(-fraction) / std::f64::consts::LN_2).min(f64::MAX),
        }
    }
    /// Whether no average of queues up to [`LONGEST`] ever outgrows its digits: for weights from 2⁻³⁰ on.
    pub(super) fn is_bounded(&self) -> bool {
        self.step >= 1.0 / (1_u64 << FRACTION_BITS) as f64
    }
    /// The first number of steps that stands for `count` packets or bytes or more.
    pub(super) fn reaching(&self, count: u64) -> u64 {
        let count = count as f64;
        let estimate = count / self.step;
        // Beyond every average.
        if estimate >= WHOLE / 2.0 {
            return u64::MAX;
        }
        let mut steps = libm::ceil(estimate) as u64;
        while self.value(steps) < count {
            steps += 1;
        }
        while steps > 0 && self.value(steps - 1) >= count {
            steps -= 1;
        }
        steps
    }
    /// What `steps` stand for, in packets or bytes.
    #[inline]
    pub(super) fn value(&self, steps: u64) -> f64 {
        // Below 2⁶³: one instruction converts a signed integer, several an unsigned one.
        steps.cast_signed() as f64 * self.step
    }
}

/// One average.
///
/// After whatever samples it differs by less than a step, 2⁻²⁹ of a packet or byte, from exact arithmetic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    /// In the steps of its [`Smoothing`].
    steps: u64,
    /// 2⁻⁶⁴ of a step: what multiplications left, until it is a step. It is not made smaller by `keep`: that a part of it below
    /// one step stays which should go, `weight` of it at each sample, is the whole error, and it adds up to one step at most.
    rest: u64,
}

impl Average {
    /// How many steps it is.
    #[inline]
    pub(super) fn steps(self) -> u64 {
        self.steps
    }

    /// Floyd & Jacobson 1993, equation (1): avg ← (1 − w) avg + w q, of a queue that is at most [`LONGEST`] under a smoothing
    /// that is bounded. Returns the steps.
    #[inline]
    pub(super) fn sample_bounded(&mut self, held: u64, smoothing: &Smoothing) -> u64 {
        let kept = u128::from(self.steps) * u128::from(smoothing.keep);
        let sum = kept + u128::from(self.rest) + (u128::from(held * smoothing.per_one) << 64);
        (self.steps, self.rest) = ((sum >> 64) as u64, sum as u64);
        self.steps
    }

    /// The same of any queue. An average that outgrows its digits stays at their end.
    #[inline]
    pub(super) fn sample(&mut self, held: u64, smoothing: &Smoothing) {
        let steps = self.sample_bounded(held.min(LONGEST), smoothing);
        self.steps = steps.min(i64::MAX.unsigned_abs());
    }

    /// As `samples` samples of an empty queue would: avg ← (1 − w)^samples avg. There may be fractions of a sample.
    #[inline]
    pub(super) fn decay(&mut self, samples: f64, smoothing: &Smoothing) {
        let value = u128::from(self.steps) << 64 | u128::from(self.rest);
        let value = HalfPower::new(samples * smoothing.halvings).of(value);
        (self.steps, self.rest) = ((value >> 64) as u64, value as u64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The average with 64 more binary digits, which are made smaller as well: the error is 2⁻⁶⁴ of a step for each sample.
    struct Exact(u64, u64);

    impl Exact {
        fn sample(&mut self, held: u64, smoothing: &Smoothing) {
            let keep = u128::from(smoothing.keep);
            let kept = u128::from(self.0) * keep + ((u128::from(self.1) * keep) >> 64);
            let sum = kept + (u128::from(held * smoothing.per_one) << 64);
            (self.0, self.1) = ((sum >> 64) as u64, sum as u64);
        }
    }

    fn weights() -> impl Strategy<Value = f64> {
        prop_oneof![
            (0..=30u32).prop_map(|n| 1.0 / f64::from(1u32 << n)),
            (0..=29u32, 0.5..1.0).prop_map(|(n, m)| m / f64::from(1u32 << n)),
            Just(0.002),
        ]
    }
    /// Phases of a queue that stands or moves: its length, its spread and how long.
    fn queues() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
        let length = prop_oneof![0..100u64, 0..1_000_000u64, 0..=LONGEST / 2];
        prop::collection::vec((length.clone(), length, 1..2_000usize), 1..8)
    }

    proptest! {
        #[test]
        fn no_sequence_of_samples_leads_a_step_astray(weight in weights(), queues in queues()) {
            let smoothing = Smoothing::new(weight);
            prop_assert!(smoothing.is_bounded() && smoothing.step <= 2.0 / f64::from(1u32 << FRACTION_BITS));
            let (mut average, mut exact) = (Average::default(), Exact(0, 0));
            for (length, spread, count) in queues {
                for n in 0..count as u64 {
                    let held = length + (n * 7919) % (spread + 1);
                    average.sample(held, &smoothing);
                    exact.sample(held, &smoothing);
                    let steps = |steps: u64, rest: u64| u128::from(steps) << 64 | u128::from(rest);
                    let error = steps(average.steps, average.rest) - steps(exact.0, exact.1);
                    prop_assert!(error < (1 << 64) + (1 << 32), "{error} after {n} samples of about {length}");
                }
            }
        }

        /// What floating point makes of the same samples, within its own error.
        #[test]
        fn the_average_is_the_one_of_floating_point(weight in 0.0001..1.0f64, queues in queues()) {
            let smoothing = Smoothing::new(weight);
            let (mut average, mut plain) = (Average::default(), 0.0f64);
            for (length, spread, count) in queues {
                for n in 0..count as u64 {
                    let held = (length + (n * 7919) % (spread + 1)) % 1_000_000;
                    average.sample(held, &smoothing);
                    plain += weight * (held as f64 - plain);
                    let value = smoothing.value(average.steps);
                    prop_assert!((value - plain).abs() < 1e-5, "{value} for {plain}");
                }
            }
        }

        #[test]
        fn thresholds_are_reached_in_steps_when_they_are_in_packets(weight in weights(), count in 0..=LONGEST) {
            let smoothing = Smoothing::new(weight);
            let steps = smoothing.reaching(count);
            prop_assert!(smoothing.value(steps) >= count as f64);
            prop_assert!(steps == 0 || smoothing.value(steps - 1) < count as f64);
        }
    }

    #[test]
    fn a_weight_of_one_is_the_queue_itself() {
        let smoothing = Smoothing::new(1.0);
        let mut average = Average::default();
        for held in [20, 0, LONGEST, 7] {
            average.sample(held, &smoothing);
            assert_eq!(smoothing.value(average.steps), held as f64);
        }
        average.decay(0.0, &smoothing);
        assert_eq!(smoothing.value(average.steps), 7.0);
        average.decay(1e-9, &smoothing);
        assert_eq!(smoothing.value(average.steps), 0.0);
    }

    #[test]
    fn the_least_weights_and_the_longest_queues_do_not_overflow() {
        for weight in [f64::MIN_POSITIVE, 1e-300, 1e-18, 1e-12, 0.5f64.powi(31)] {
            let smoothing = Smoothing::new(weight);
            assert!(!smoothing.is_bounded());
            assert_eq!(smoothing.reaching(u64::MAX), u64::MAX);
            let mut average = Average { steps: i64::MAX.unsigned_abs() - 1, rest: u64::MAX };
            for _ in 0..4 {
                average.sample(u64::MAX, &smoothing);
                assert_eq!(average.steps, i64::MAX.unsigned_abs());
            }
        }
    }
}
