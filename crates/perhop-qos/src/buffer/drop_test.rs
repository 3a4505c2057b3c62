//! [`Test`]: one set of thresholds as the packet path asks it, in integers.

use super::moving_average::Smoothing;
use super::probability::Probability;
use super::thresholds::{AboveMaxConfig, ThresholdConfig};

/// The drop curve without floating point, over the levels of an average.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Test {
    /// Below this average nothing is dropped.
    pub(super) min: u64,
    /// From this average on everything is dropped.
    pub(super) forced_from: u64,
    max: u64,
    to_max: Slope,
    from_max: Slope,
    max_probability: Probability,
}

/// A probability that rises from 0, over the whole steps of a range.
#[derive(Clone, Copy, Debug)]
struct Slope {
    /// Shifts the levels of the range to the top of 64 bits.
    shift: u32,
    /// Rise over 2⁶⁴ of the levels that are shifted so, in 2⁻⁶³.
    rise: u64,
}

impl Slope {
    /// From 0 to `to` over the levels of `range`.
    fn new(to: Probability, range: u64) -> Slope {
        let range = range.max(1);
        let shift = range.leading_zeros();
        let rise = (u128::from(to.0) << 64).div_ceil(u128::from(range << shift));
        // Probability 1 over a power of two.
        Slope { shift, rise: rise.min(u128::from(u64::MAX)) as u64 }
    }
    /// The probability after `levels`, less than the range; rounded up, so that n times one nth is 1.
    #[inline]
    fn after(self, levels: u64) -> Probability {
        let rise = u128::from(levels << self.shift) * u128::from(self.rise);
        Probability((rise >> 64) as u64 + u64::from(rise as u64 > 0))
    }
}

impl Test {
    pub(super) fn new(
        thresholds: &ThresholdConfig,
        above_max: AboveMaxConfig,
        smoothing: &Smoothing,
    ) -> Test {
        let [min, max] = [thresholds.min, thresholds.max].map(|size| smoothing.reaching(size.count()));
        let forced_from = match above_max {
            AboveMaxConfig::Drop => max,
            AboveMaxConfig::Gentle => smoothing.reaching(thresholds.max.count().saturating_mul(2)),
        };
        let max_probability = Probability::of(thresholds.max_probability);
        Test {
            min,
            max,
            forced_from,
            to_max: Slope::new(max_probability, max - min),
            from_max: Slope::new(Probability(Probability::ONE.0 - max_probability.0), forced_from - max),
            max_probability,
        }
    }
    /// As [`DropCurve::probability`](super::thresholds::DropCurve::probability) for an average in whole steps, from `min` on; `None` where
    /// everything is dropped.
    #[inline]
    pub(super) fn probability(&self, average: u64) -> Option<Probability> {
        if average < self.max {
            return Some(self.to_max.after(average - self.min));
        }
        if average >= self.forced_from {
            return None;
        }
        let more = self.from_max.after(average - self.max);
        Some(Probability(self.max_probability.0 + more.0).min(Probability::ONE))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::thresholds::DropCurve;
    use super::*;
    use crate::units::QueueSize;

    proptest! {
        /// As far as the digits of floating point go: 2⁻⁴⁸ of the whole, where neighboring averages differ in the last ones.
        #[test]
        fn the_curve_is_the_one_of_floating_point(
            weight in prop_oneof![Just(1.0 / 512.0), 0.0001..1.0f64],
            min in 0..1_000_000u64, width in 1..1_000_000u64, max_probability in 0.000_1..=1.0f64,
            gentle in any::<bool>(), place in 0.0..1.0f64,
        ) {
            let smoothing = Smoothing::new(weight);
            let (min, max) = (QueueSize::Packets(min), QueueSize::Packets(min + width));
            let thresholds = ThresholdConfig { min, max, max_probability };
            let above_max = if gentle { AboveMaxConfig::Gentle } else { AboveMaxConfig::Drop };
            let (test, curve) = (Test::new(&thresholds, above_max, &smoothing), DropCurve::new(&thresholds, above_max));
            let average = test.min + ((test.forced_from - test.min) as f64 * place) as u64;
            // Where averages move by shifts, levels have digits of which none counts.
            let shifting = smoothing.shifting(2 * (min.count() + width));
            let shifted = Test::new(&thresholds, above_max, &shifting);
            let scale = shifted.max / test.max;
            for average in [average, test.min, test.max - 1, test.max, test.forced_from - 1] {
                let level = average * scale + (scale - 1) / 3;
                prop_assert_eq!(shifted.probability(shifting.in_steps(level)), test.probability(average));
                let expected = curve.probability(smoothing.value(average));
                let found = test.probability(average).map_or(1.0, Probability::as_f64);
                prop_assert!((found - expected).abs() < 1e-8 / width as f64 + 1e-14, "{found} for {expected}");
            }
        }
    }
}
