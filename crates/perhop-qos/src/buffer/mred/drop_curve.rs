//! Drop curves: the drop probability as a function of the average. Reports use a formula ([`DropCurve`]),
//! decisions use integers ([`LevelCurves`]).

use super::fixed_point::Smoothing;
use super::half_power::multiply_high;
use super::thresholds::{AboveMaxConfig, ThresholdConfig};
use crate::{Color, QueueSize};

/// A probability as a fraction of two integers. It needs no division and no rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probability {
    /// The numerator of the probability, from 0 to `whole`.
    pub(super) part: u64,
    /// The denominator of the probability, from 1 to 2⁶².
    pub(super) whole: u64,
}

impl Probability {
    /// The probability in floating point.
    pub(super) fn value(self) -> f64 {
        self.part as f64 / self.whole as f64
    }
    /// This probability times `factor`, but at most 1. `factor` must not be negative.
    pub(super) fn times(self, factor: f64) -> Probability {
        // The conversion to an integer saturates, so a large product is limited to `whole`.
        let part = ((self.part as f64 * factor) as u64).min(self.whole);
        Probability { part, ..self }
    }
}

/// The drop probability as a function of the average, in floating point, for reports.
#[derive(Clone, Copy, Debug)]
pub(super) struct DropCurve {
    min: f64,
    max: f64,
    /// The average at which every packet is dropped.
    pub(super) forced_from: f64,
    max_probability: f64,
    slope: f64,
    gentle_slope: f64,
}

impl DropCurve {
    pub(super) fn new(thresholds: &ThresholdConfig, above_max: AboveMaxConfig) -> DropCurve {
        let ThresholdConfig { min, max, max_probability } = *thresholds;
        let (min, max) = (min.count() as f64, max.count() as f64);
        DropCurve {
            min,
            max,
            forced_from: above_max.times_max() as f64 * max,
            max_probability,
            slope: max_probability / (max - min),
            gentle_slope: (1.0 - max_probability) / max,
        }
    }
    /// The average and the probability at each corner of the curve. A jump is a pair of corners at the same
    /// average.
    pub(super) fn corners(&self) -> Vec<(f64, f64)> {
        let mut corners = vec![(0.0, 0.0), (self.min, 0.0), (self.max, self.max_probability)];
        if self.forced_from > self.max || self.max_probability < 1.0 {
            corners.push((self.forced_from, 1.0));
        }
        corners
    }
    /// Floyd & Jacobson 1993, Figure 2: `p_b ← max_p (avg − min_th) / (max_th − min_th)`. Above `max_th`, the
    /// code follows Floyd's "gentle" recommendation of 2000.
    #[inline]
    pub(super) fn probability(&self, average: f64) -> f64 {
        if average < self.min {
            0.0
        } else if average < self.max {
            self.slope * (average - self.min)
        } else if average < self.forced_from {
            self.max_probability + self.gentle_slope * (average - self.max)
        } else {
            1.0
        }
    }
}

/// The drop curve of each precedence in integers, as a function of the level of an average.
///
/// The numerator of a probability is the average minus `min`. The denominator is (max − min) / max-p, because
/// max-p · (average − min) / (max − min) equals (average − min) / ((max − min) / max-p).
///
/// There is one array for each parameter, indexed by precedence.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct LevelCurves {
    /// The level below which no packet is dropped.
    min: [u64; Color::COUNT],
    /// The width of the first slope: the number of levels from `min` to `max`.
    width: [u64; Color::COUNT],
    /// The number of low bits of a level that the numerator omits, so that a width fits in 32 bits.
    shift: [u32; Color::COUNT],
    /// The denominator of all probabilities of the curve.
    whole: [u64; Color::COUNT],
    /// The numerator of the probability at `max`.
    at_max: [u64; Color::COUNT],
    /// The slope between `max` and twice `max`, for gentle RED.
    gentle: [Slope; Color::COUNT],
    /// The level from which on every packet is dropped.
    forced_from: [u64; Color::COUNT],
}

/// A straight line that begins at 0, as a function of a numerator.
#[derive(Clone, Copy, Debug)]
struct Slope {
    /// The left shift that moves the highest bit of the largest numerator to bit 63.
    shift: u32,
    /// The rise of the line over 2⁶⁴ shifted numerators.
    rise: u64,
}

impl Slope {
    /// Returns the line that rises from 0 to `to`, which is below 2⁶³, over `range` numerators.
    fn new(to: u64, range: u64) -> Slope {
        let range = range.max(1);
        let shift = range.leading_zeros();
        let rise = (u128::from(to) << 64) / u128::from(range << shift);
        Slope { shift, rise: rise as u64 }
    }
    /// The height of the line at the numerator `parts`, which must be below the range.
    #[inline]
    fn after(self, parts: u64) -> u64 {
        multiply_high(parts << self.shift, self.rise)
    }
}

/// The largest denominator of a probability. Some rules double the denominator, and the result still fits in
/// 64 bits.
const LARGEST_WHOLE: f64 = (1_u64 << 62) as f64;

/// The upper bound of the number R that Linux draws, if the probability reaches `at_max` after `width` bytes.
///
/// With iproute2 6.1, `tc/q_red.c` sends the probability as a multiple of 2⁻³². In Linux 6.1
/// `include/net/red.h`, `red_set_parms` divides that number by the width, and `red_random` divides 32 random
/// bits by the quotient. Both divide integers.
fn linux_whole(width: u64, at_max: f64) -> u64 {
    let per_byte = (at_max * (1_u64 << u32::BITS) as f64) as u64 / width.max(1);
    (1 << u32::BITS) / per_byte.max(1)
}

impl LevelCurves {
    /// Returns the curve of the `thresholds` of each precedence. A precedence without thresholds drops no
    /// packets. An average reaches a threshold at the lowest level of this threshold plus `beyond`.
    pub(super) fn new(
        thresholds: &[Option<ThresholdConfig>; Color::COUNT],
        above_max: AboveMaxConfig,
        smoothing: &Smoothing,
        beyond: u64,
    ) -> LevelCurves {
        let reached = |size: QueueSize| smoothing.reaching(size.count()).saturating_add(beyond);
        let min =
            thresholds.map(|thresholds| thresholds.map_or(u64::MAX, |thresholds| reached(thresholds.min)));
        let max =
            thresholds.map(|thresholds| thresholds.map_or(u64::MAX, |thresholds| reached(thresholds.max)));
        let width: [u64; Color::COUNT] = std::array::from_fn(|index| max[index] - min[index]);
        let max_probability =
            |index: usize| thresholds[index].map_or(1.0, |thresholds| thresholds.max_probability);
        let shift = std::array::from_fn(|index| {
            let digits = (u64::BITS - width[index].leading_zeros()).saturating_sub(u32::BITS);
            let shift = digits.max(smoothing.bits_below_a_step());
            // If the probability at `max` is small, the numerators omit more low bits, so that the
            // denominator stays below 2⁶².
            let whole = (width[index] >> shift) as f64 / max_probability(index);
            let too_many = libm::ilogb(whole / LARGEST_WHOLE) + 1;
            shift + too_many.clamp(0, 31).unsigned_abs()
        });
        let whole = std::array::from_fn(|index| {
            let parts = (width[index] as f64 / (1_u64 << shift[index]) as f64).max(1.0);
            if smoothing.is_linux() {
                return linux_whole(width[index] >> shift[index], max_probability(index));
            }
            // A probability below 2⁻⁶² is treated as 2⁻⁶².
            libm::round((parts / max_probability(index)).min(LARGEST_WHOLE)) as u64
        });
        let at_max = std::array::from_fn(|index| (width[index] >> shift[index]).min(whole[index]));
        let forced_from: [u64; Color::COUNT] = thresholds.map(|thresholds| {
            let end = |thresholds: ThresholdConfig| above_max.times_max() * thresholds.max.count();
            thresholds
                .map_or(u64::MAX, |thresholds| smoothing.reaching(end(thresholds)).saturating_add(beyond))
        });
        let gentle = std::array::from_fn(|index| {
            Slope::new(whole[index] - at_max[index], (forced_from[index] - max[index]) >> shift[index])
        });
        LevelCurves { min, width, shift, whole, at_max, gentle, forced_from }
    }
    /// The numerator on the first slope, at a level of at least `min`. `None` for a level of at least `max`.
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn part_below_max(&self, index: usize, average: u64) -> Option<u32> {
        let above_min = average - self.min[index];
        // The numerator is below the width and therefore fits in as many bits.
        (above_min < self.width[index]).then_some((above_min >> self.shift[index]) as u32)
    }
    /// The level below which no packet is dropped.
    #[inline]
    pub(super) fn min(&self, index: usize) -> u64 {
        self.min[index]
    }
    /// The level from which on every packet is dropped.
    pub(super) fn forced_from(&self, index: usize) -> u64 {
        self.forced_from[index]
    }
    /// The denominator of the probabilities of precedence `index`.
    pub(super) fn whole(&self, index: usize) -> u64 {
        self.whole[index]
    }
    /// Returns the probability at a level of at least `min`, like [`DropCurve::probability`], or `None` if
    /// every packet is dropped.
    #[inline]
    pub(super) fn probability(&self, index: usize, average: u64) -> Option<Probability> {
        let (above_min, whole) = (average - self.min[index], self.whole[index]);
        if above_min < self.width[index] {
            return Some(Probability { part: above_min >> self.shift[index], whole });
        }
        if average >= self.forced_from[index] {
            return None;
        }
        let more = self.gentle[index].after((above_min - self.width[index]) >> self.shift[index]);
        Some(Probability { part: self.at_max[index] + more, whole })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Below `max` the error is at most 1.5 · 2⁻³¹: less than 1 from truncation and at most 0.5 from
        /// rounding. Above `max` it is at most 3.5 · 2⁻³¹, because three values are truncated by less than 1:
        /// the numerator at `max`, the numerator above it, and its product with the gentle slope.
        #[test]
        fn the_curve_matches_floating_point(
            weight in prop_oneof![Just(1.0 / 512.0), 0.0001..1.0f64],
            (min, width) in prop_oneof![(0..1_000_000u64, 1..1_000_000u64), (0..1u64 << 31, 1..1u64 << 31)],
            max_probability in prop_oneof![0.000_1..=1.0f64, (1.0..30.0f64).prop_map(|halvings| libm::exp2(-halvings))],
            gentle in any::<bool>(), place in 0.0..1.0f64, index in 0..Color::COUNT,
        ) {
            let smoothing = Smoothing::new(weight);
            let (min, max) = (QueueSize::Packets(min), QueueSize::Packets(min + width));
            let thresholds = ThresholdConfig { min, max, max_probability };
            let above_max = if gentle { AboveMaxConfig::Gentle } else { AboveMaxConfig::Drop };
            let mut all = [None; Color::COUNT];
            all[index] = Some(thresholds);
            let levels = LevelCurves::new(&all, above_max, &smoothing, 0);
            let curve = DropCurve::new(&thresholds, above_max);
            let (min, forced_from) = (levels.min(index), levels.forced_from(index));
            let max = min + levels.width[index];
            let average = min + ((forced_from - min) as f64 * place) as u64;
            // Levels of averages that move by shifts have additional low bits. They must not change the
            // probability.
            let shifting = smoothing.shifting(2 * thresholds.max.count());
            let shifted = LevelCurves::new(&all, above_max, &shifting, 0);
            let scale = shifted.min(index).checked_div(min).unwrap_or(1).max(1);
            for average in [average, min, max - 1, max, forced_from - 1] {
                let found = levels.probability(index, average);
                if scale > 1 {
                    let level = average * scale + (scale - 1) / 3;
                    prop_assert_eq!(shifted.probability(index, level), found);
                }
                let expected = curve.probability(smoothing.value(average));
                let found = found.map_or(1.0, |Probability { part, whole }| part as f64 / whole as f64);
                let part = libm::exp2(-31.0);
                let error = if average < max { 1.5 * part * max_probability } else { 3.5 * part };
                prop_assert!((found - expected).abs() < 1e-8 / width as f64 * max_probability + error, "{found} for {expected}");
            }
            let nowhere = (index + 1) % Color::COUNT;
            prop_assert_eq!(levels.min(nowhere), u64::MAX);
        }
    }

    #[test]
    fn the_gentle_curve_is_continuous() {
        const KIB: u64 = 1024;
        let (min, max) = (QueueSize::Bytes(10 * KIB), QueueSize::Bytes(30 * KIB));
        let thresholds = ThresholdConfig { min, max, max_probability: 0.1 };
        let gentle = DropCurve::new(&thresholds, AboveMaxConfig::Gentle);
        let at = |kib: f64| gentle.probability(kib * KIB as f64);
        for (average, probability) in
            [(9.9, 0.0), (10.0, 0.0), (20.0, 0.05), (30.0, 0.1), (45.0, 0.55), (60.0, 1.0)]
        {
            assert!((at(average) - probability).abs() < 1e-12, "at {average}");
        }
        let plain = DropCurve::new(&thresholds, AboveMaxConfig::Drop);
        assert_eq!(plain.probability(30.0 * KIB as f64), 1.0);
        // Between its corners the curve is straight.
        for curve in [gentle, plain] {
            for pair in curve.corners().windows(2).filter(|pair| pair[0].0 < pair[1].0) {
                let [(from, low), (to, high)] = [pair[0], pair[1]];
                let middle = curve.probability(f64::midpoint(from, to));
                assert!((middle - f64::midpoint(low, high)).abs() < 1e-12, "from {from} to {to}");
            }
        }
    }
}
