//! Exponentially weighted moving averages as fixed-point numbers, as in routers and Linux, but with more
//! bits.
//!
//! Each arrival needs the average after the previous arrival. A floating-point update consists of three
//! operations that depend on each other, and a memory access. The update in this file consists of a
//! multiplication and an addition, or of a shift and a subtraction.

use super::half_power::HalfPower;

/// The longest queue that averages count, packets or bytes (8 GiB). A longer queue counts as this length.
pub(super) const LONGEST: u64 = (1 << 33) - 1;
/// Averages are counted in steps of 2⁻³⁰ to 2⁻²⁹ of a packet or byte.
const FRACTION_BITS: u32 = 30;
/// The smallest weight of a sample. With a smaller weight, the average of the longest queue would overflow.
pub(super) const LEAST_WEIGHT: f64 = 1.0 / (1_u64 << FRACTION_BITS) as f64;
/// The number 2⁶⁴.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

/// The constants of averages with one weight.
///
/// An average is stored divided by its weight, so that a sample is added without rounding. With s = average /
/// weight, a sample is s ← (1 − weight) · s + queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoothing {
    /// The number of bits of a level below one step. It is n if averages move by shifts of n bits
    /// ([`Smoothing::shifting`]), and otherwise 0.
    shift: u32,
    /// The number of steps that one queued packet or byte adds to a level.
    per_one: u64,
    /// 1 − weight, in units of 2⁻⁶⁴.
    keep: u64,
    /// The longest queue that averages count, packets or bytes.
    longest: u64,
    /// The value of one step: weight / `per_one`, packets or bytes.
    step: f64,
    /// Whether the precision is the precision of Linux ([`Smoothing::of_linux`]).
    is_linux: bool,
    /// The number of halvings of an average by a sample of an empty queue: −log₂ (1 − weight).
    halvings: f64,
}

impl Smoothing {
    /// Creates the smoothing of a weight from [`LEAST_WEIGHT`] to 1. The weight is rounded down to a multiple
    /// of 2⁻⁶⁴. Powers of two and weights of at least 2⁻¹² are such multiples.
    pub(super) fn new(weight: f64) -> Smoothing {
        let weight = (weight * WHOLE) as u128;
        let fraction = weight as f64 / WHOLE;
        // With 2⁻ⁿ ≤ weight < 2¹⁻ⁿ, the average of the longest queue has at most 63 bits.
        let exponent = libm::ilogb(fraction).unsigned_abs();
        let per_one = 1 << (FRACTION_BITS - exponent);
        Smoothing {
            shift: 0,
            keep: ((1_u128 << 64) - weight) as u64,
            per_one,
            longest: LONGEST,
            step: fraction / per_one as f64,
            is_linux: false,
            halvings: (-libm::log1p(-fraction) / std::f64::consts::LN_2).min(f64::MAX),
        }
    }
    /// Creates the smoothing with the weight 2 to the power of −`exponent`, for exponents from 1 to 30, with
    /// the precision of Linux: average / weight is an integer, and thresholds are compared with a whole
    /// number of packets or bytes.
    ///
    /// Linux 6.1 `include/net/red.h`, `red_calc_qavg_no_idle_time`: an average is a fixed-point number with
    /// `Wlog` fractional digits.
    pub(super) fn of_linux(exponent: u32) -> Smoothing {
        let weight = Smoothing::new(1.0 / (1_u64 << exponent) as f64);
        Smoothing { shift: exponent, per_one: 1, step: 1.0, is_linux: true, ..weight }
    }
    /// Whether the precision is the precision of Linux.
    pub(super) fn is_linux(&self) -> bool {
        self.is_linux
    }
    /// Returns this smoothing with shifts instead of multiplications. It is for a single average of all
    /// packets of a queue whose highest threshold is `highest`. The smoothing is unchanged if the weight is
    /// not 2⁻ⁿ or if n bits are not free. Shifts are faster: a multiplication takes as long as all other
    /// steps of RED.
    ///
    /// Each packet that joins the queue moves the average, so the queue exceeds the average by at most 2ⁿ
    /// packets. No packet joins while the average is above the thresholds. The length of the queue is
    /// therefore limited, and so is the number of bits that a level needs.
    pub(super) fn shifting(self, highest: u64) -> Smoothing {
        let weight = self.keep.wrapping_neg();
        if !weight.is_power_of_two() {
            return self;
        }
        let (ahead, shift) = ((u64::MAX / weight).saturating_add(1), weight.leading_zeros() + 1);
        let longest = (1_u64 << (63 - FRACTION_BITS)) / ahead;
        if longest <= highest.saturating_add(ahead) {
            return self;
        }
        Smoothing { shift, longest: longest - 1, ..self }
    }
    /// Whether averages move by shifts.
    pub(super) fn shifts(&self) -> bool {
        self.shift > 0
    }
    /// The longest queue that averages count, packets or bytes. A longer queue counts as this length.
    #[inline]
    pub(super) fn longest(&self) -> u64 {
        self.longest
    }
    /// The lowest level whose value is at least `count` packets or bytes.
    pub(super) fn reaching(&self, count: u64) -> u64 {
        let count = count as f64;
        let estimate = count / self.step;
        // No average reaches this level.
        if estimate >= WHOLE / 2.0 / (1_u64 << self.shift) as f64 {
            return u64::MAX;
        }
        let value = |steps: u64| self.value(steps << self.shift);
        let mut steps = libm::ceil(estimate) as u64;
        while value(steps) < count {
            steps += 1;
        }
        while steps > 0 && value(steps - 1) >= count {
            steps -= 1;
        }
        steps << self.shift
    }
    /// Returns the level after a sample of `held` packets or bytes, which must be at most
    /// [`Smoothing::longest`]. The average must be one that moves by shifts.
    #[inline]
    pub(super) fn shifted(&self, level: u64, held: u64) -> u64 {
        level - (level >> self.shift) + (held << FRACTION_BITS)
    }
    /// The number of bits of a level that are below a step.
    pub(super) fn bits_below_a_step(&self) -> u32 {
        self.shift
    }
    /// The value of `level` in packets or bytes, without the bits below a step.
    #[inline]
    pub(super) fn value(&self, level: u64) -> f64 {
        // The value is below 2⁶³, so it can be signed. The conversion of a signed integer takes one
        // instruction, and the conversion of an unsigned integer takes several.
        (level >> self.shift).cast_signed() as f64 * self.step
    }
}

/// An average in fixed point.
///
/// After any number of samples the average differs from exact arithmetic by less than a step, 2⁻²⁹ of a
/// packet or byte.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Average {
    /// The level in steps of its [`Smoothing`], including the bits below one step.
    pub(super) level: u64,
    /// The fraction of a step that the level omits, in units of 2⁻⁶⁴. It adds up the remainders of
    /// multiplications until they make a whole step. Samples reduce the level, but not this fraction. This is
    /// the only error, and it is always below one step.
    rest: u64,
}

impl Average {
    /// Floyd & Jacobson 1993, equation (1): avg ← (1 − w) avg + w q.
    #[inline]
    pub(super) fn sample(&mut self, held: u64, smoothing: &Smoothing) {
        let held = held.min(smoothing.longest);
        if smoothing.is_linux {
            self.level = self.level - (self.level >> (smoothing.shift % u64::BITS)) + held;
        } else if smoothing.shifts() {
            self.level = smoothing.shifted(self.level, held);
        } else {
            self.sample_by_multiplying(held, smoothing);
        }
    }

    /// Updates the average like [`Average::sample`], for a queue of at most [`Smoothing::longest`] and
    /// averages that do not move by shifts.
    #[inline]
    pub(super) fn sample_by_multiplying(&mut self, held: u64, smoothing: &Smoothing) {
        let kept = u128::from(self.level) * u128::from(smoothing.keep);
        self.set(kept + u128::from(self.rest) + (u128::from(held * smoothing.per_one) << 64));
    }

    /// Applies `samples` samples of an empty queue: avg ← (1 − w)^samples avg. The number of samples can be a
    /// fraction.
    #[inline]
    pub(super) fn decay(&mut self, samples: f64, smoothing: &Smoothing) {
        // The shift is always below 64. Without this mask, the compiler would generate a 128-bit shift.
        let shift = smoothing.shift % u64::BITS;
        // A level below a step does not decay.
        if self.level >> shift > 0 {
            self.set(HalfPower::new(samples * smoothing.halvings).scale(self.get() >> shift) << shift);
        }
    }

    /// The level and its omitted fraction, in units of 2⁻⁶⁴.
    #[inline]
    fn get(self) -> u128 {
        u128::from(self.level) << 64 | u128::from(self.rest)
    }
    #[inline]
    fn set(&mut self, value: u128) {
        (self.level, self.rest) = ((value >> 64) as u64, value as u64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Samples an average that has 64 more bits. The error is 2⁻⁶⁴ of a step for each sample.
    fn sample_exactly(average: u128, held: u64, smoothing: &Smoothing) -> u128 {
        let keep = u128::from(smoothing.keep);
        let kept = (average >> 64) * keep + ((u128::from(average as u64) * keep) >> 64);
        kept + (u128::from(held * smoothing.per_one) << 64)
    }
    fn weights() -> impl Strategy<Value = f64> {
        prop_oneof![
            (0..=30u32).prop_map(|n| 1.0 / f64::from(1u32 << n)),
            (0..=29u32, 0.5..1.0).prop_map(|(n, m)| m / f64::from(1u32 << n)),
            Just(0.002),
        ]
    }
    /// Phases of a constant or variable queue: its length, the spread of the length, and the number of
    /// samples.
    fn queues() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
        let length = prop_oneof![0..100u64, 0..1_000_000u64, 0..=LONGEST / 2];
        prop::collection::vec((length.clone(), length, 1..2_000usize), 1..8)
    }

    proptest! {
        #[test]
        fn every_sequence_of_samples_stays_close_to_the_exact_average(
            weight in weights(),
            queues in queues(),
        ) {
            let smoothing = Smoothing::new(weight);
            prop_assert!((LEAST_WEIGHT..=2.0 * LEAST_WEIGHT).contains(&smoothing.step));
            let (mut average, mut exact) = (Average::default(), 0);
            for (length, spread, count) in queues {
                for n in 0..count as u64 {
                    let held = length + (n * 7919) % (spread + 1);
                    average.sample(held, &smoothing);
                    exact = sample_exactly(exact, held, &smoothing);
                    let error = average.get() - exact;
                    prop_assert!(error < (1 << 64) + (1 << 32), "{error} after {n} samples of about {length}");
                }
            }
        }

        /// Compares the average with floating-point arithmetic, within the error of floating point.
        #[test]
        fn the_average_matches_floating_point(weight in 0.0001..1.0f64, queues in queues()) {
            let smoothing = Smoothing::new(weight);
            let (mut average, mut plain) = (Average::default(), 0.0f64);
            for (length, spread, count) in queues {
                for n in 0..count as u64 {
                    let held = (length + (n * 7919) % (spread + 1)) % 1_000_000;
                    average.sample(held, &smoothing);
                    plain += weight * (held as f64 - plain);
                    let value = smoothing.value(average.level);
                    prop_assert!((value - plain).abs() < 1e-5, "{value} for {plain}");
                }
            }
        }

        /// Averages with shifts and averages with multiplications have equal bits after samples and idle
        /// periods. Their thresholds are equal, too.
        #[test]
        fn a_shift_equals_the_multiplication(
            exponent in 1..=16u32, count in 0..100_000u64,
            events in prop::collection::vec((any::<bool>(), 0..200_000u64, 0.0..100_000.0f64), 1..2_000),
        ) {
            let plain = Smoothing::new(1.0 / f64::from(1u32 << exponent));
            let shifting = plain.shifting(1_000);
            prop_assert_eq!((plain.shift, shifting.shift), (0, exponent));
            let (mut shifted, mut multiplied) = (Average::default(), Average::default());
            for (arrives, held, samples) in events {
                for (average, smoothing) in [(&mut shifted, &shifting), (&mut multiplied, &plain)] {
                    if arrives {
                        average.sample(held.min(shifting.longest), smoothing);
                    } else {
                        average.decay(samples, smoothing);
                    }
                }
                prop_assert_eq!(shifted.get(), multiplied.get() << exponent);
                prop_assert_eq!(shifting.value(shifted.level), plain.value(multiplied.level));
            }
            prop_assert_eq!(shifting.reaching(count), plain.reaching(count) << exponent);
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
    fn only_powers_of_two_with_free_bits_shift() {
        let shift = |weight, highest| Smoothing::new(weight).shifting(highest).shift;
        for (weight, highest) in
            [(1.0, 0), (0.002, 0), (0.75, 0), (1.0 / 131_072.0, 0), (0.5, u64::MAX), (LEAST_WEIGHT, 0)]
        {
            assert_eq!(shift(weight, highest), 0, "{weight} {highest}");
        }
        // The queue may exceed the average by 2⁹ packets. The highest threshold plus 2⁹ must be below 2³³ /
        // 2⁹ packets.
        assert_eq!([shift(1.0 / 512.0, (1 << 24) - 513), shift(1.0 / 512.0, (1 << 24) - 512)], [9, 0]);
    }

    #[test]
    fn a_weight_of_one_is_the_queue_itself() {
        let smoothing = Smoothing::new(1.0);
        let mut average = Average::default();
        for held in [20, 0, LONGEST, 7] {
            average.sample(held, &smoothing);
            assert_eq!(smoothing.value(average.level), held as f64);
        }
        average.decay(0.0, &smoothing);
        assert_eq!(smoothing.value(average.level), 7.0);
        average.decay(1e-9, &smoothing);
        assert_eq!(smoothing.value(average.level), 0.0);
    }

    /// The average of the longest queue fits in 64 bits and leaves one bit unused.
    #[test]
    fn the_least_weights_and_the_longest_queues_do_not_overflow() {
        for weight in [LEAST_WEIGHT, LEAST_WEIGHT * 1.999, 0.002, 0.999] {
            let smoothing = Smoothing::new(weight);
            assert_eq!(smoothing.reaching(u64::MAX), u64::MAX);
            let mut average = Average { level: smoothing.reaching(LONGEST), rest: u64::MAX };
            for _ in 0..1_000 {
                average.sample(u64::MAX, &smoothing);
                assert!(average.level <= i64::MAX.unsigned_abs());
                assert!((smoothing.value(average.level) - LONGEST as f64).abs() < 1e-5);
            }
        }
    }
}
