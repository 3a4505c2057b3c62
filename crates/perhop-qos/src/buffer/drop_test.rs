//! [`Tests`]: sets of thresholds as the packet path asks them, in integers.

use super::drop_spacing::SinceDrop;
use super::half_power::multiply_high;
use super::moving_average::Smoothing;
use super::probability::Probability;
use super::thresholds::{AboveMaxConfig, ThresholdConfig};
use crate::packet::Color;
use crate::units::QueueSize;

/// The drop curve of each precedence without floating point, over the levels of an average.
///
/// A probability is a part of the average that would make a drop certain if the curve went on as it begins:
/// max-p · (average − min) / (max − min) is (average − min) of (max − min) / max-p.
///
/// In rows, so that a precedence is found by itself in each of them.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Tests {
    /// Below these levels nothing is dropped.
    min: [u64; Color::COUNT],
    /// Levels from `min` to `max`: where the curve rises as it begins.
    width: [u64; Color::COUNT],
    /// Digits that a part drops from the end of a level: so many that a width takes no more than 32.
    shift: [u32; Color::COUNT],
    /// What all probabilities are parts of.
    whole: [u64; Color::COUNT],
    /// The part at `max`.
    at_max: [u64; Color::COUNT],
    /// From there on.
    gentle: [Slope; Color::COUNT],
    /// From these levels on everything is dropped.
    forced_from: [u64; Color::COUNT],
}

/// What rises over a range of parts.
#[derive(Clone, Copy, Debug)]
struct Slope {
    /// Shifts the parts of the range to the top of 64 bits.
    shift: u32,
    /// Rise over 2⁶⁴ of the parts that are shifted so.
    rise: u64,
}

impl Slope {
    /// From 0 to `to`, less than 2⁶³, over `range`.
    fn new(to: u64, range: u64) -> Slope {
        let range = range.max(1);
        let shift = range.leading_zeros();
        let rise = (u128::from(to) << 64) / u128::from(range << shift);
        Slope { shift, rise: rise as u64 }
    }
    /// After `parts`, less than the range.
    #[inline]
    fn after(self, parts: u64) -> u64 {
        multiply_high(parts << self.shift, self.rise)
    }
}

/// Of a probability: twice as much, as some rules count, is still a number of 64 bits.
const LARGEST_WHOLE: f64 = (1_u64 << 62) as f64;

impl Tests {
    /// For `thresholds` by precedence: where there are none nothing is dropped.
    pub(super) fn new(
        thresholds: &[Option<ThresholdConfig>; Color::COUNT],
        above_max: AboveMaxConfig,
        smoothing: &Smoothing,
    ) -> Tests {
        let reached = |size: QueueSize| smoothing.reaching(size.count());
        let min =
            thresholds.map(|thresholds| thresholds.map_or(u64::MAX, |thresholds| reached(thresholds.min)));
        let max =
            thresholds.map(|thresholds| thresholds.map_or(u64::MAX, |thresholds| reached(thresholds.max)));
        let width: [u64; Color::COUNT] = std::array::from_fn(|index| max[index] - min[index]);
        let max_probability =
            |index: usize| thresholds[index].map_or(1.0, |thresholds| thresholds.max_probability);
        let shift = std::array::from_fn(|index| {
            let digits = (u64::BITS - width[index].leading_zeros()).saturating_sub(u32::BITS);
            let shift = digits.max(smoothing.digits_below_a_step());
            // A small probability at `max` takes further digits off the parts, so that the whole stays below 2⁶².
            let whole = (width[index] >> shift) as f64 / max_probability(index);
            let too_many = libm::ilogb(whole / LARGEST_WHOLE) + 1;
            shift + too_many.clamp(0, 31).unsigned_abs()
        });
        let whole = std::array::from_fn(|index| {
            let parts = (width[index] as f64 / (1_u64 << shift[index]) as f64).max(1.0);
            // A probability below 2⁻⁶² is as good as one of 2⁻⁶².
            libm::round((parts / max_probability(index)).min(LARGEST_WHOLE)) as u64
        });
        let at_max = std::array::from_fn(|index| (width[index] >> shift[index]).min(whole[index]));
        let forced_from: [u64; Color::COUNT] = thresholds.map(|thresholds| {
            let end = |thresholds: ThresholdConfig| above_max.times_max() * thresholds.max.count();
            thresholds.map_or(u64::MAX, |thresholds| smoothing.reaching(end(thresholds)))
        });
        let gentle = std::array::from_fn(|index| {
            Slope::new(whole[index] - at_max[index], (forced_from[index] - max[index]) >> shift[index])
        });
        Tests { min, width, shift, whole, at_max, gentle, forced_from }
    }
    /// Whether a packet of precedence `index` stays where that is soon said, before a drop is due; `since` counts it.
    #[expect(clippy::inline_always, reason = "a call would take as long as the decision")]
    #[inline(always)]
    pub(super) fn keep(&self, index: usize, average: u64, since: &mut SinceDrop) -> bool {
        let min = self.min[index];
        if average < min {
            since.end();
            return true;
        }
        // As many digits as the width has.
        average - min < self.width[index] && since.keeps(((average - min) >> self.shift[index]) as u32)
    }
    /// Whether drops are drawn at a level from `min` on, as the curve begins.
    #[inline]
    pub(super) fn draws(&self, index: usize, average: u64) -> bool {
        average - self.min[index] < self.width[index]
    }
    /// Below this level nothing is dropped.
    #[inline]
    pub(super) fn min(&self, index: usize) -> u64 {
        self.min[index]
    }
    /// From this level on everything is dropped.
    pub(super) fn forced_from(&self, index: usize) -> u64 {
        self.forced_from[index]
    }
    /// What probabilities are parts of.
    pub(super) fn whole(&self, index: usize) -> u64 {
        self.whole[index]
    }
    /// As [`DropCurve::probability`](super::thresholds::DropCurve::probability) for a level from `min` on; `None` where everything is dropped.
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

    use super::super::thresholds::DropCurve;
    use super::*;

    proptest! {
        /// To one and a half parts of 2³¹, which rounding takes off the part and the whole: as far as the digits of parts go.
        #[test]
        fn the_curve_is_the_one_of_floating_point(
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
            let tests = Tests::new(&all, above_max, &smoothing);
            let curve = DropCurve::new(&thresholds, above_max);
            let (min, forced_from) = (tests.min(index), tests.forced_from(index));
            let max = min + tests.width[index];
            let average = min + ((forced_from - min) as f64 * place) as u64;
            // Where averages move by shifts, levels have digits of which none counts.
            let shifting = smoothing.shifting(2 * thresholds.max.count());
            let shifted = Tests::new(&all, above_max, &shifting);
            let scale = shifted.min(index).checked_div(min).unwrap_or(1).max(1);
            for average in [average, min, max - 1, max, forced_from - 1] {
                let found = tests.probability(index, average);
                if scale > 1 {
                    let level = average * scale + (scale - 1) / 3;
                    prop_assert_eq!(shifted.probability(index, level), found);
                }
                let expected = curve.probability(smoothing.value(average));
                let found = found.map_or(1.0, Probability::as_f64);
                let error = 7e-10 * if average < max { max_probability } else { 1.0 };
                prop_assert!((found - expected).abs() < 1e-8 / width as f64 * max_probability + error, "{found} for {expected}");
            }
            let nowhere = (index + 1) % Color::COUNT;
            prop_assert_eq!(tests.min(nowhere), u64::MAX);
        }
    }
}
