//! [`Arrivals`]: counters of one flow at its receiver. [`ColorTally`]: counters of one class and color.

use std::mem::offset_of;

use perhop_qos::conditioner::Count;
use perhop_qos::packet::Color;
use perhop_qos::units::Time;

use super::{DelayStatistics, Delays};

/// Counters of the arrived packets of one flow.
///
/// Every delivery changes these counters, so they contain no value that can be computed from other values.
/// The packets of the flow are the sum over the colors. Every packet that does not begin a run has a delay
/// difference to the previous packet. The sum of the delay differences in a run is the last delay of the run
/// minus the first delay.
#[derive(Clone, Debug)]
#[repr(C)] // most frequently used first
pub struct Arrivals {
    /// The packet number that would continue the current run. The initial value is not a packet number.
    continues: u64,
    /// The delay of the last packet; 0 before the first arrival.
    last: Time,
    least: Time,
    greatest: Time,
    least_variation: i64,
    greatest_variation: i64,
    absolute_sum: u128,
    colors: [Delivered; COLORS],
    /// The last delay of each run minus the first delay of the run, summed over all runs. The last delay of
    /// the current run is not included yet.
    run_differences: i128,
    /// The number of runs. A run is a sequence of packets with consecutive numbers.
    runs: u64,
    /// The packets that were sent during the warm-up and arrived after it, by color; `None` if there are
    /// none.
    early: Option<Box<[Count; COLORS]>>,
}

/// The delivered packets of one color.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    count: Count,
    /// The sum of the delays of the packets, picoseconds.
    delay: u128,
}

/// The number of colors.
const COLORS: usize = 3;

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals {
            continues: u64::MAX,
            last: Time::ZERO,
            least: Time::MAX,
            greatest: Time::ZERO,
            least_variation: i64::MAX,
            greatest_variation: i64::MIN,
            absolute_sum: 0,
            colors: Default::default(),
            run_differences: 0,
            runs: 0,
            early: None,
        }
    }
}

impl Arrivals {
    /// The size of the fields that an arriving green packet changes if it continues the run, bytes.
    pub(super) const HOT: usize = offset_of!(Arrivals, colors) + size_of::<Delivered>();

    /// Counts packet `number` of the flow, which was sent after the warm-up. The packet has `length` IP
    /// bytes, the `color` of its codepoint, and this `delay`. Records the delay and the IPDV in `delays`.
    /// Returns the IPDV, picoseconds; `None` if the packet begins a run.
    #[allow(clippy::inline_always)] // on the path of every packet that arrives
    #[inline(always)]
    pub fn deliver(
        &mut self,
        number: u32,
        length: u32,
        color: Color,
        delay: Time,
        delays: &mut Delays,
    ) -> Option<i64> {
        let counted = &mut self.colors[color.index()];
        counted.count.add(length);
        counted.delay += u128::from(delay.as_picoseconds());
        delays.delay.record(delay.as_picoseconds());
        // New extremes are rare, so predicted branches are cheaper than unconditional stores.
        if delay < self.least {
            self.least = delay;
        }
        if delay > self.greatest {
            self.greatest = delay;
        }
        let before = std::mem::replace(&mut self.last, delay);
        let continues = std::mem::replace(&mut self.continues, u64::from(number.wrapping_add(1)));
        if u64::from(number) != continues {
            self.runs += 1;
            self.run_differences += i128::from(before.as_picoseconds()) - i128::from(delay.as_picoseconds());
            return None;
        }
        let variation = delay.as_picoseconds().cast_signed() - before.as_picoseconds().cast_signed();
        self.absolute_sum += u128::from(variation.unsigned_abs());
        delays.variation.record(variation.unsigned_abs());
        if variation < self.least_variation {
            self.least_variation = variation;
        }
        if variation > self.greatest_variation {
            self.greatest_variation = variation;
        }
        Some(variation)
    }
    /// Counts a packet of `length` IP bytes and `color` that was sent during the warm-up and arrived after
    /// it.
    pub fn take_early(&mut self, length: u32, color: Color) {
        self.early.get_or_insert_default()[color.index()].add(length);
    }

    /// Returns the packets that were sent during the warm-up and arrived after it, by color.
    fn early(&self) -> [Count; COLORS] {
        self.early.as_deref().copied().unwrap_or_default()
    }
    /// Returns the packets that were sent after the warm-up and arrived.
    pub fn delivered(&self) -> Count {
        let mut sum = Count::default();
        self.colors.iter().for_each(|color| sum.merge(color.count));
        sum
    }
    /// Returns the packets that arrived after the warm-up, including packets that were sent during the
    /// warm-up.
    pub fn received(&self) -> Count {
        let mut sum = self.delivered();
        self.early().iter().for_each(|count| sum.merge(*count));
        sum
    }
    /// The delays of the delivered packets.
    pub fn delay(&self) -> DelayStatistics {
        let packets = self.delivered().packets;
        DelayStatistics {
            packets,
            sum: self.colors.iter().map(|color| color.delay).sum(),
            least: self.least,
            greatest: self.greatest,
            pairs: packets - self.runs,
            signed_sum: self.run_differences + i128::from(self.last.as_picoseconds()),
            absolute_sum: self.absolute_sum,
            least_variation: self.least_variation,
            greatest_variation: self.greatest_variation,
        }
    }
    /// Adds these counters to the counters of a class.
    pub fn add_to(&self, class: &mut ColorTallies) {
        for (tally, (Delivered { count, delay }, early)) in
            class.iter_mut().zip(self.colors.iter().zip(self.early()))
        {
            tally.delivered.merge(*count);
            tally.received.merge(*count);
            tally.received.merge(early);
            tally.delay += delay;
        }
    }
}

/// The packets of one class and color that arrived. The color is that of the codepoint.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColorTally {
    /// Packets that were sent after the warm-up and arrived.
    pub delivered: Count,
    /// The packets that arrived after the warm-up, including packets that were sent during the warm-up. They
    /// determine the throughput.
    pub received: Count,
    /// The sum of the delays of the packets in `delivered`, picoseconds.
    delay: u128,
}

/// The packets of one class, by color.
pub type ColorTallies = [ColorTally; Color::COUNT];

impl ColorTally {
    /// Returns the mean delay, seconds; NaN if no packet was delivered.
    pub fn mean_delay(&self) -> f64 {
        self.delay as f64 / self.delivered.packets as f64 / 1e12
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variation_is_of_consecutive_packets_only() {
        let mut arrivals = Arrivals::default();
        let delays = [(0, 10), (1, 14), (2, 11), (4, 20), (5, 19)];
        let mut distributions = Delays::default();
        let mut deliver = |&(number, ms): &(u32, u64)| {
            arrivals.deliver(number, 100, Color::GREEN, Time::from_milliseconds(ms), &mut distributions)
        };
        let variations: Vec<Option<i64>> = delays.iter().map(&mut deliver).collect();
        let ms = |n: i64| Some(n * 1_000_000_000);
        assert_eq!(variations, [None, ms(4), ms(-3), None, ms(-1)]);
        let statistics = arrivals.delay();
        assert_eq!(statistics.pairs, 3);
        assert_eq!(statistics.mean(), 0.0148);
        assert_eq!(statistics.mean_variation(), 0.0);
        assert!((statistics.mean_absolute_variation() - 8.0 / 3.0 * 1e-3).abs() < 1e-15);
        assert_eq!(
            (statistics.least, statistics.greatest),
            (Time::from_milliseconds(10), Time::from_milliseconds(20))
        );
    }

    #[test]
    fn a_flow_of_which_nothing_arrived_has_no_delay() {
        let statistics = Arrivals::default().delay();
        assert_eq!((statistics.packets, statistics.pairs, statistics.signed_sum), (0, 0, 0));
        assert!(statistics.mean().is_nan() && statistics.mean_variation().is_nan());
    }

    /// The numbers, lengths, colors and delays (picoseconds) of packets. Many packets are consecutive.
    fn packets() -> impl Strategy<Value = Vec<(u32, u32, usize, u64)>> {
        let packet =
            (prop_oneof![4 => Just(0_u32), 1 => any::<u32>()], any::<u32>(), 0..COLORS, any::<u32>());
        prop::collection::vec(packet, 0..100).prop_map(|packets| {
            let mut next = u32::MAX - 20;
            let row = |(skipped, length, color, delay): (u32, u32, usize, u32)| {
                next = next.wrapping_add(1).wrapping_add(skipped);
                (next, length, color, u64::from(delay) << 20)
            };
            packets.into_iter().map(row).collect()
        })
    }

    proptest! {
        /// The statistics that are computed from the counters equal the sums over the individual packets.
        #[test]
        fn uncounted_packets_are_not_losses(packets in packets()) {
            let (mut arrivals, mut plain) = (Arrivals::default(), DelayStatistics::default());
            let [mut distributions, mut plain_distributions] = [Delays::default(), Delays::default()];
            let (mut count, mut colors, mut last) = (Count::default(), [0; COLORS], None);
            for (number, length, color, picoseconds) in packets {
                let delay = Time::from_picoseconds(picoseconds);
                let variation = arrivals.deliver(number, length, Color::new(color), delay, &mut distributions);
                let previous = last.replace((number, picoseconds)).filter(|(before, _)| before.wrapping_add(1) == number);
                prop_assert_eq!(variation, previous.map(|(_, before)| picoseconds.cast_signed() - before.cast_signed()));
                plain.add(delay, variation);
                plain_distributions.record(delay, variation);
                count.add(length);
                colors[color] += 1;
            }
            prop_assert_eq!(arrivals.delay(), plain);
            prop_assert_eq!(arrivals.delivered(), count);
            prop_assert!(distributions.delay.bins().eq(plain_distributions.delay.bins()));
            prop_assert!(distributions.variation.bins().eq(plain_distributions.variation.bins()));
            let mut class = ColorTallies::default();
            arrivals.take_early(40, Color::RED);
            arrivals.add_to(&mut class);
            for (color, packets) in colors.into_iter().enumerate() {
                prop_assert_eq!(class[color].delivered.packets, packets);
                prop_assert_eq!(class[color].received.packets, packets + u64::from(color == 2));
            }
        }
    }
}
