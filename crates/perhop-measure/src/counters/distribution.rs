//! [`Distribution`]: a histogram of durations with three significant digits.

use hdrhistogram::Histogram;
use perhop_qos::units::Time;

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// Three digits distinguish 1000 from 1001; each octave needs one more bit. So the histogram has bins of
/// width 1 below 2 · 1024, and 1024 bins in every octave above.
const BINS_BITS: u32 = 10;
const BINS: usize = 1 << BINS_BITS;

/// Counts of durations in nanoseconds, in the bins of a [`Histogram`] with three digits.
///
/// Every delivery is counted in two of them, so recording only computes the index of a bin. A [`Histogram`]
/// for other uses is made at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    /// Counts by bin, up to the last bin needed.
    counts: Vec<u32>,
}

impl Distribution {
    /// Records a duration of `picoseconds`.
    pub fn record(&mut self, picoseconds: u64) {
        self.make_room(picoseconds);
        self.record_within(picoseconds);
    }
    /// Records a duration of `picoseconds` for which there is [room](Distribution::make_room).
    #[inline]
    pub(super) fn record_within(&mut self, picoseconds: u64) {
        let count = &mut self.counts[place(in_nanoseconds(picoseconds))];
        *count = count.wrapping_add(1);
        if *count == 0 {
            fill(count);
        }
    }
    /// Adds bins for all durations up to `picoseconds`, and for some longer ones.
    pub(super) fn make_room(&mut self, picoseconds: u64) {
        let bins = (place(in_nanoseconds(picoseconds)) / BINS + 1) * BINS;
        if self.counts.len() < bins {
            self.counts.resize(bins, 0);
        }
    }
    /// The least duration without a bin, picoseconds.
    pub(super) fn room(&self) -> u64 {
        least(self.counts.len()).saturating_mul(1000).saturating_sub(500)
    }
    /// Adds the measurements of another flow.
    pub fn merge(&mut self, other: &Distribution) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            *own = own.saturating_add(*other);
        }
    }
    /// The histogram of all recorded durations.
    ///
    /// # Panics
    /// Never: the histogram offers this precision, and resizes itself.
    pub fn histogram(&self) -> Histogram<u32> {
        let mut histogram = Histogram::new(DIGITS).expect("three digits are within the histogram's range");
        // The largest first, so that the histogram is resized only once.
        for (place, count) in self.counts.iter().enumerate().rev().filter(|(_, count)| **count > 0) {
            histogram
                .record_n(least(place), *count)
                .expect("a histogram that resizes itself takes every value");
        }
        histogram
    }
}

/// Saturates a count that has overflowed, as the histogram does.
#[cold]
#[inline(never)]
fn fill(count: &mut u32) {
    *count = u32::MAX;
}

fn in_nanoseconds(picoseconds: u64) -> u64 {
    (picoseconds + 500) / 1000
}

/// The index of the bin of `value`.
#[inline]
fn place(value: u64) -> usize {
    let doublings = (value | (2 * BINS as u64 - 1)).ilog2() - BINS_BITS;
    ((doublings as usize) << BINS_BITS) + (value >> doublings) as usize
}

/// The least value in the bin at `place`.
fn least(place: usize) -> u64 {
    let doublings = (place / BINS).saturating_sub(1);
    ((place - doublings * BINS) as u64) << doublings
}

/// The upper edge of the bin of `delay`, seconds, as in the table of histograms.
pub fn upper_edge_s(delay: Time) -> f64 {
    (least(place(in_nanoseconds(delay.as_picoseconds())) + 1) - 1) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A histogram in which `durations` were recorded directly.
    fn recorded(durations: &[u64]) -> Histogram<u32> {
        let mut histogram = Histogram::new(DIGITS).unwrap();
        for picoseconds in durations {
            histogram.record(in_nanoseconds(*picoseconds)).unwrap();
        }
        histogram
    }
    fn counted(durations: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        for picoseconds in durations {
            distribution.record(*picoseconds);
        }
        distribution
    }
    fn rows(histogram: &Histogram<u32>) -> Vec<(u64, u64)> {
        let rows = histogram.iter_recorded();
        rows.map(|value| (value.value_iterated_to(), value.count_since_last_iteration())).collect()
    }
    fn assert_same(own: &Histogram<u32>, plain: &Histogram<u32>) {
        assert_eq!(own, plain);
        assert_eq!(rows(own), rows(plain));
        assert_eq!((own.len(), own.min(), own.max()), (plain.len(), plain.min(), plain.max()));
        for quantile in [0.0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            assert_eq!(own.value_at_quantile(quantile), plain.value_at_quantile(quantile), "{quantile}");
        }
    }

    /// Durations of every order of magnitude, up to the longest simulated time.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let duration = (0_u32..64, any::<u64>()).prop_map(|(bits, random)| random >> bits);
        prop::collection::vec(duration.prop_map(|picoseconds| picoseconds.min(u64::MAX - 500)), 0..200)
    }

    proptest! {
        #[test]
        fn counts_match_a_histogram(one in durations(), other in durations()) {
            assert_same(&counted(&one).histogram(), &recorded(&one));
            let mut both = counted(&one);
            both.merge(&counted(&other));
            assert_same(&both.histogram(), &recorded(&[one, other].concat()));
        }
    }

    #[test]
    fn shorter_durations_have_bins() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.room(), 0);
        for picoseconds in [0, 1, 2_047_499, 2_047_500, 4_095_500, 1_000_000_000_000, 3_600_000_000_000_000] {
            distribution.make_room(picoseconds);
            let room = distribution.room();
            assert!(room > picoseconds, "{picoseconds}: {room}");
            let bins = distribution.counts.len();
            distribution.record(room - 1);
            assert_eq!(distribution.counts.len(), bins);
            distribution.record(room);
            assert!(distribution.counts.len() > bins);
        }
    }

    #[test]
    fn a_full_count_stays_full() {
        let mut distribution = counted(&[7_000]);
        distribution.counts[7] = u32::MAX;
        distribution.record(7_000);
        assert_eq!(distribution.counts[7], u32::MAX);
    }

    #[test]
    fn upper_bin_edges_match_the_histogram() {
        for picoseconds in [0, 499, 2_047_000_000, 10_000_000_000, 59_999_999_999, 3_600_000_000_000_000] {
            let edge = rows(&counted(&[picoseconds]).histogram())[0].0 as f64 / 1e9;
            assert_eq!(upper_edge_s(Time::from_picoseconds(picoseconds)), edge, "{picoseconds}");
        }
    }

    #[test]
    fn bin_edges_match_the_histogram() {
        let histogram: Histogram<u32> = Histogram::new(DIGITS).unwrap();
        for octave in 0..53 {
            for value in [1023, 1024, 1025, 2046, 2047].map(|value: u64| value << octave) {
                for value in value.saturating_sub(2)..=value + 2 {
                    assert_eq!(least(place(value)), histogram.lowest_equivalent(value), "{value}");
                }
            }
        }
    }
}
