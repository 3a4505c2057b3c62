//! [`Distribution`]: counts of durations in bins with three significant digits.

use perhop_qos::units::Time;

/// The binary logarithm of `BINS`.
const BINS_BITS: u32 = 10;
/// The number of bins in every octave. Three significant decimal digits must distinguish 1000 from 1001,
/// which requires 1024 bins. Below 2 · 1024, each value has its own bin. The bins are those of an HDR
/// histogram.
const BINS: usize = 1 << BINS_BITS;
/// The number of bins in a page. Memory is allocated page by page.
const PAGE: usize = 32;
/// The place of a page without memory. This value is above the places of all pages.
const ABSENT: u16 = u16::MAX;
// Durations have fewer than 55 octaves, so the places of all pages are below `ABSENT`.
const _: () = assert!(55 * BINS / PAGE < ABSENT as usize);

/// Counts of durations in nanoseconds, in bins with three significant digits.
///
/// Each class or flow has two distributions. To save memory, only pages that contain a recorded duration are
/// allocated.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    /// The place of each page in `pages`, up to the last octave that is used; [`ABSENT`] for a page without
    /// memory.
    places: Vec<u16>,
    /// The counts of the bins of each page. Pages are in the order of their allocation.
    pages: Vec<[u32; PAGE]>,
}

/// The durations in one bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The longest duration in the bin, nanoseconds. Quantiles are rounded to this duration.
    pub longest: u64,
    /// The number of durations in the bin.
    pub count: u32,
}

impl Distribution {
    /// Records a duration of `picoseconds`.
    #[inline]
    pub fn record(&mut self, picoseconds: u64) {
        let bin = place(in_nanoseconds(picoseconds));
        let page = self.places.get(bin / PAGE).copied().unwrap_or(ABSENT);
        let Some(page) = self.pages.get_mut(usize::from(page)) else { return self.record_first(bin) };
        let count = &mut page[bin % PAGE];
        *count = count.wrapping_add(1);
        if *count == 0 {
            fill(count);
        }
    }
    /// Records the first duration in the page that contains `bin`.
    #[cold]
    #[inline(never)]
    fn record_first(&mut self, bin: usize) {
        self.page(bin / PAGE)[bin % PAGE] = 1;
    }
    /// Returns the counts of the page with this `index`. Allocates the page if necessary.
    fn page(&mut self, index: usize) -> &mut [u32; PAGE] {
        if self.places.len() <= index {
            let pages = BINS / PAGE;
            let needed = (index / pages + 1) * pages;
            self.places.reserve_exact(needed - self.places.len());
            self.places.resize(needed, ABSENT);
        }
        if self.places[index] == ABSENT {
            self.places[index] = self.pages.len() as u16;
            if self.pages.len() == self.pages.capacity() {
                // If the capacity were doubled, a third of the memory could be unused.
                self.pages.reserve_exact(self.pages.len() / 4 + 2);
            }
            self.pages.push([0; PAGE]);
        }
        &mut self.pages[usize::from(self.places[index])]
    }
    /// Records `count` durations of `nanoseconds`.
    pub(super) fn record_all(&mut self, nanoseconds: u64, count: u32) {
        let bin = place(nanoseconds);
        let own = &mut self.page(bin / PAGE)[bin % PAGE];
        *own = own.saturating_add(count);
    }
    /// Adds the measurements of another flow.
    pub fn merge(&mut self, other: &Distribution) {
        for (index, counts) in other.in_order() {
            for (own, other) in self.page(index).iter_mut().zip(counts) {
                *own = own.saturating_add(*other);
            }
        }
    }
    /// The index and the counts of each allocated page, in order of increasing durations.
    fn in_order(&self) -> impl Iterator<Item = (usize, &[u32; PAGE])> {
        let counts = |place: &u16| self.pages.get(usize::from(*place));
        self.places.iter().enumerate().filter_map(move |(index, place)| Some((index, counts(place)?)))
    }
    /// The bins that contain recorded durations, in order of increasing durations.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        self.in_order().flat_map(|(index, counts)| {
            let bins = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            bins.map(move |(place, count)| Bin { longest: longest(index * PAGE + place), count: *count })
        })
    }
    /// The number of recorded durations.
    pub fn recorded(&self) -> u64 {
        self.pages.iter().flatten().map(|count| u64::from(*count)).sum()
    }
    /// Returns the `quantile` (0 to 1), rounded to the longest duration of its bin, nanoseconds; `None` if no
    /// durations were recorded.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let needed = (libm::ceil(quantile * self.recorded() as f64) as u64).max(1);
        let mut sum = 0;
        self.bins()
            .find(|bin| {
                sum += u64::from(bin.count);
                sum >= needed
            })
            .map(|bin| bin.longest)
    }
}

/// Sets a count that has overflowed to its maximum, as an HDR histogram does.
#[cold]
#[inline(never)]
fn fill(count: &mut u32) {
    *count = u32::MAX;
}

fn in_nanoseconds(picoseconds: u64) -> u64 {
    (picoseconds + 500) / 1000
}

/// Returns the index of the bin that contains `value`.
#[inline]
fn place(value: u64) -> usize {
    let doublings = (value | (2 * BINS as u64 - 1)).ilog2() - BINS_BITS;
    ((doublings as usize) << BINS_BITS) + (value >> doublings) as usize
}

/// Returns the least value in the bin with index `place`.
fn least(place: usize) -> u64 {
    let doublings = (place / BINS).saturating_sub(1);
    ((place - doublings * BINS) as u64) << doublings
}

/// Returns the longest duration in the bin with index `place`.
fn longest(place: usize) -> u64 {
    least(place + 1) - 1
}

/// Returns the upper edge of the bin that contains `delay`, seconds. The table `histogram` has the same
/// edges.
pub fn upper_edge_s(delay: Time) -> f64 {
    longest(place(in_nanoseconds(delay.as_picoseconds()))) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    /// Returns an HDR histogram that contains `durations`.
    fn recorded(durations: &[u64]) -> Histogram<u32> {
        let mut histogram = Histogram::new(3).unwrap();
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
    fn assert_same(own: &Distribution, plain: &Histogram<u32>) {
        let bins: Vec<_> = own.bins().map(|bin| (bin.longest, u64::from(bin.count))).collect();
        assert_eq!(bins, rows(plain));
        assert_eq!(own.recorded(), plain.len());
        for quantile in [0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let expected = (!plain.is_empty()).then(|| plain.value_at_quantile(quantile));
            assert_eq!(own.quantile(quantile), expected, "{quantile}");
        }
    }

    /// Durations of every order of magnitude, up to the longest simulated time.
    fn durations() -> impl Strategy<Value = Vec<u64>> {
        let duration = (0_u32..64, any::<u64>()).prop_map(|(bits, random)| random >> bits);
        prop::collection::vec(duration.prop_map(|picoseconds| picoseconds.min(u64::MAX - 500)), 0..200)
    }

    proptest! {
        #[test]
        fn counts_match_a_histogram(first in durations(), second in durations()) {
            assert_same(&counted(&first), &recorded(&first));
            let mut both = counted(&first);
            both.merge(&counted(&second));
            assert_same(&both, &recorded(&[first, second].concat()));
        }

        /// Adding a count of durations at once has the same result as recording each of them.
        #[test]
        fn durations_add_up(nanoseconds in 0..1_u64 << 40, count in 1..20_u32) {
            let mut distribution = Distribution::default();
            distribution.record_all(nanoseconds, count);
            assert_same(&distribution, &recorded(&vec![1000 * nanoseconds; count as usize]));
        }
    }

    #[test]
    fn only_pages_with_durations_have_memory() {
        let mut distribution = Distribution::default();
        for milliseconds in [10, 10, 20, 10] {
            distribution.record(milliseconds * 1_000_000_000);
        }
        assert_eq!(distribution.pages.len(), 2);
    }

    #[test]
    fn a_full_count_stays_full() {
        let mut distribution = Distribution::default();
        distribution.record_all(7, u32::MAX);
        distribution.record(7_000);
        assert_eq!(distribution.bins().collect::<Vec<_>>(), [Bin { longest: 7, count: u32::MAX }]);
    }

    #[test]
    fn upper_bin_edges_match_the_histogram() {
        for picoseconds in [0, 499, 2_047_000_000, 10_000_000_000, 59_999_999_999, 3_600_000_000_000_000] {
            let edge = rows(&recorded(&[picoseconds]))[0].0 as f64 / 1e9;
            assert_eq!(upper_edge_s(Time::from_picoseconds(picoseconds)), edge, "{picoseconds}");
        }
    }

    #[test]
    fn bin_edges_match_the_histogram() {
        let histogram: Histogram<u32> = Histogram::new(3).unwrap();
        for octave in 0..53 {
            for value in [1023, 1024, 1025, 2046, 2047].map(|value: u64| value << octave) {
                for value in value.saturating_sub(2)..=value + 2 {
                    assert_eq!(least(place(value)), histogram.lowest_equivalent(value), "{value}");
                }
            }
        }
    }
}
