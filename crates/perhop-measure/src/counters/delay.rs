//! One-way delay and its variation.

use perhop_qos::units::Time;

use super::Distribution;

/// Exact statistics of one-way delay and inter-packet delay variation.
///
/// One-way delay is defined by RFC 7679: the time from the first bit sent to the last bit received. Lost
/// packets are not included. IPDV is D(i+1) - D(i) of RFC 3393 for two consecutive packets that both arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayStatistics {
    /// The number of measured packets.
    pub packets: u64,
    pub(super) sum: u128,
    /// The least delay. It is not valid if `packets` is 0.
    pub least: Time,
    /// The greatest delay.
    pub greatest: Time,
    /// The number of measured pairs of consecutive packets.
    pub pairs: u64,
    pub(super) signed_sum: i128,
    pub(super) absolute_sum: u128,
    /// Least signed IPDV, picoseconds.
    pub least_variation: i64,
    /// Greatest signed IPDV, picoseconds.
    pub greatest_variation: i64,
}

impl Default for DelayStatistics {
    fn default() -> DelayStatistics {
        DelayStatistics {
            packets: 0,
            sum: 0,
            least: Time::MAX,
            greatest: Time::ZERO,
            pairs: 0,
            signed_sum: 0,
            absolute_sum: 0,
            least_variation: i64::MAX,
            greatest_variation: i64::MIN,
        }
    }
}

impl DelayStatistics {
    /// Adds a packet with `delay`. `variation` is the IPDV of the packet in picoseconds, if it has one.
    pub(super) fn add(&mut self, delay: Time, variation: Option<i64>) {
        self.take(delay);
        if let Some(variation) = variation {
            self.vary(variation);
        }
    }
    fn take(&mut self, delay: Time) {
        self.packets += 1;
        self.sum += u128::from(delay.as_picoseconds());
        self.least = self.least.min(delay);
        self.greatest = self.greatest.max(delay);
    }
    fn vary(&mut self, variation: i64) {
        self.pairs += 1;
        self.signed_sum += i128::from(variation);
        self.absolute_sum += u128::from(variation.unsigned_abs());
        self.least_variation = self.least_variation.min(variation);
        self.greatest_variation = self.greatest_variation.max(variation);
    }
    /// Adds the measurements of another flow.
    pub fn merge(&mut self, other: &DelayStatistics) {
        self.packets += other.packets;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.pairs += other.pairs;
        self.signed_sum += other.signed_sum;
        self.absolute_sum += other.absolute_sum;
        self.least_variation = self.least_variation.min(other.least_variation);
        self.greatest_variation = self.greatest_variation.max(other.greatest_variation);
    }
    /// Returns the sum of the delays, picoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }
    /// Returns the mean delay, seconds; NaN if no packet was measured.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.packets as f64 / 1e12
    }
    /// Returns the mean signed IPDV, seconds. It is near 0 in a steady state.
    pub fn mean_variation(&self) -> f64 {
        self.signed_sum as f64 / self.pairs as f64 / 1e12
    }
    /// Returns the mean of |IPDV|, seconds.
    pub fn mean_absolute_variation(&self) -> f64 {
        self.absolute_sum as f64 / self.pairs as f64 / 1e12
    }
}

/// The distributions of delay and |IPDV| of one flow or one class, with three significant digits.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// One-way delay.
    pub delay: Distribution,
    /// |IPDV|.
    pub variation: Distribution,
}

impl Delays {
    /// Adds a packet with `delay`. `variation` is the IPDV of the packet in picoseconds, if it has one.
    pub fn record(&mut self, delay: Time, variation: Option<i64>) {
        self.delay.record(delay.as_picoseconds());
        if let Some(variation) = variation {
            self.variation.record(variation.unsigned_abs());
        }
    }
    /// Adds the measurements of another flow.
    pub fn merge(&mut self, other: &Delays) {
        self.delay.merge(&other.delay);
        self.variation.merge(&other.variation);
    }
}

/// Returns the PDV of several flows: the delay of each packet minus the least delay of its flow (RFC 5481
/// §4.2).
pub fn above_least<'a>(flows: impl IntoIterator<Item = &'a Distribution>) -> Distribution {
    let mut above = Distribution::default();
    for delay in flows {
        let least = delay.bins().next().map_or(0, |bin| bin.longest);
        // The least delay is rounded in the same way as quantiles, so that the difference of equal delays is
        // 0.
        delay.bins().for_each(|bin| above.record_all(bin.longest - least, bin.count));
    }
    above
}

/// Returns the `quantile` (0 to 1) of `distribution`, seconds; NaN if the distribution is empty.
pub fn quantile_seconds(distribution: &Distribution, quantile: f64) -> f64 {
    seconds(distribution.quantile(quantile))
}

/// Returns the least value of `distribution`, rounded in the same way as quantiles, seconds; NaN if the
/// distribution is empty.
pub fn least_seconds(distribution: &Distribution) -> f64 {
    seconds(distribution.bins().next().map(|bin| bin.longest))
}

fn seconds(nanoseconds: Option<u64>) -> f64 {
    nanoseconds.map_or(f64::NAN, |nanoseconds| nanoseconds as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One flow has delays of 10 to 19 ms, and the other has delays of 100 to 109 ms. Each flow, and both
    /// flows together, have a PDV of 0 to 9 ms.
    #[test]
    fn variation_is_above_the_least_of_each_flow() {
        let flow = |least: u64| {
            let mut delays = Delays::default();
            (0..10).for_each(|ms| delays.record(Time::from_milliseconds(least + ms), None));
            delays.delay
        };
        let above = above_least([&flow(10), &flow(100)]);
        assert_eq!((above.recorded(), above.bins().next().map(|bin| bin.longest)), (20, Some(0)));
        for (quantile, seconds) in [(0.1, 0.0), (0.5, 0.004), (0.9, 0.008), (1.0, 0.009)] {
            let found = quantile_seconds(&above, quantile);
            // The tolerance is one unit of the third digit of a delay of 109 ms.
            assert!((found - seconds).abs() < 1.1e-4, "{quantile}: {found}");
        }
    }

    /// The merged measurements of two flows equal the measurements of one flow with the packets of both.
    #[test]
    fn measurements_of_two_flows_add_up() {
        let packets = [(10, None), (14, Some(4)), (11, Some(-3)), (13, Some(2))];
        let statistics = |packets: &[(u64, Option<i64>)]| {
            let mut found = DelayStatistics::default();
            for (delay, variation) in packets {
                found.add(Time::from_milliseconds(*delay), *variation);
            }
            found
        };
        let mut both = statistics(&packets[..2]);
        both.merge(&statistics(&packets[2..]));
        assert_eq!(both, statistics(&packets));
    }

    #[test]
    fn quantiles_have_three_digits() {
        let mut delays = Delays::default();
        for ms in 1..=1000 {
            delays.record(Time::from_milliseconds(ms), None);
        }
        let median = quantile_seconds(&delays.delay, 0.5);
        assert!((median - 0.5).abs() < 0.001, "{median}");
        assert!(quantile_seconds(&delays.variation, 0.5).is_nan());
    }
}
