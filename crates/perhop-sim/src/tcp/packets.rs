//! [`ArrivedPackets`]: the numbers of the QUIC packets that have arrived. It decides which packets must be
//! acknowledged at once (RFC 9000 §13.2).

use perhop_qos::units::Time;

use super::segment::SackBlocks;

/// The maximum number of stored ranges. RFC 9000 §13.2.3 does not specify it.
const MOST_RANGES: usize = 32;

/// Packet numbers from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Numbers {
    start: u32,
    end: u32,
}

/// The packets that have arrived, as ranges of numbers, beginning with the largest numbers.
#[derive(Clone, Debug)]
pub(super) struct ArrivedPackets {
    ranges: [Numbers; MOST_RANGES],
    count: usize,
    /// The arrival time of the packet with the largest number.
    largest_at: Time,
}

impl Default for ArrivedPackets {
    fn default() -> ArrivedPackets {
        ArrivedPackets { ranges: [Numbers::default(); MOST_RANGES], count: 0, largest_at: Time::ZERO }
    }
}

impl ArrivedPackets {
    /// Adds the packet with `number`. Returns whether it arrived out of order and must be acknowledged at
    /// once (RFC 9000 §13.2.1). A packet is out of order if a larger number arrived earlier, or if a smaller
    /// number is missing.
    pub(super) fn add(&mut self, number: u32, now: Time) -> bool {
        let expected = if self.count == 0 { 0 } else { self.ranges[0].end };
        if number >= expected {
            self.largest_at = now;
            if number == expected && self.count > 0 {
                self.ranges[0].end += 1;
            } else {
                self.insert(0, number);
            }
            return number > expected;
        }
        // Finds the first range that begins at or below `number`.
        let Some(index) = self.ranges[..self.count].iter().position(|range| range.start <= number) else {
            self.extend(self.count, number);
            return true;
        };
        if self.ranges[index].end < number {
            self.extend(index, number);
        } else if self.ranges[index].end == number {
            self.ranges[index].end += 1;
            self.join(index);
        }
        true
    }
    /// Adds `number`, which is between the ranges at `index - 1` and `index` and is not adjacent to the range
    /// at `index`.
    fn extend(&mut self, index: usize, number: u32) {
        if index > 0 && self.ranges[index - 1].start == number + 1 {
            self.ranges[index - 1].start = number;
        } else {
            self.insert(index, number);
        }
    }
    /// Joins the ranges at `index - 1` and `index`, if they are adjacent.
    fn join(&mut self, index: usize) {
        if index > 0 && self.ranges[index - 1].start == self.ranges[index].end {
            self.ranges[index - 1].start = self.ranges[index].start;
            self.ranges.copy_within(index + 1..self.count, index);
            self.count -= 1;
        }
    }
    /// Inserts a range. If the list is full, removes the range with the smallest numbers.
    fn insert(&mut self, index: usize, number: u32) {
        if index >= MOST_RANGES {
            return;
        }
        let kept = self.count.min(MOST_RANGES - 1);
        self.ranges.copy_within(index..kept, index + 1);
        self.ranges[index] = Numbers { start: number, end: number + 1 };
        self.count = kept + 1;
    }

    /// Returns the delay of an acknowledgment that is sent at `now`, microseconds.
    pub(super) fn delay(&self, now: Time) -> u32 {
        u32::try_from(now.saturating_sub(self.largest_at).as_picoseconds() / 1_000_000).unwrap_or(u32::MAX)
    }
    /// Writes as many ranges as fit into a segment.
    pub(super) fn write(&self, blocks: &mut SackBlocks) {
        for range in self.ranges[..self.count].iter().take(SackBlocks::MOST) {
            blocks.push(u64::from(range.start), u64::from(range.end));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the packets that are reported out of order, and the stored ranges, with a set of numbers.
        #[test]
        fn ranges_match_a_set(numbers in prop::collection::vec(0u32..60, 1..80)) {
            let (mut packets, mut all) = (ArrivedPackets::default(), BTreeSet::new());
            for number in numbers {
                let largest = all.last().copied();
                let late = largest.is_some_and(|largest| number < largest);
                let is_new = !all.contains(&number);
                let gap = largest.map_or(number > 0, |largest| number > largest + 1);
                let is_out_of_order = packets.add(number, Time::ZERO);
                if is_new {
                    prop_assert_eq!(is_out_of_order, late || gap);
                }
                all.insert(number);
                let mut ranges: Vec<(u32, u32)> = Vec::new();
                for number in all.iter().rev().copied() {
                    match ranges.last_mut() {
                        Some(last) if last.0 == number + 1 => last.0 = number,
                        _ => ranges.push((number, number + 1)),
                    }
                }
                let kept: Vec<_> =
                    packets.ranges[..packets.count].iter().map(|range| (range.start, range.end)).collect();
                prop_assert_eq!(kept, ranges);
            }
        }
    }

    /// Every second packet is missing, so only the ranges with the largest numbers remain.
    #[test]
    fn the_least_numbers_are_forgotten() {
        let mut packets = ArrivedPackets::default();
        for number in 0..100 {
            packets.add(2 * number, Time::from_microseconds(u64::from(number)));
        }
        assert_eq!(packets.count, MOST_RANGES);
        let mut blocks = SackBlocks::default();
        packets.write(&mut blocks);
        assert_eq!(blocks.iter().collect::<Vec<_>>(), [(198, 199), (196, 197), (194, 195), (192, 193)]);
        assert_eq!(packets.delay(Time::from_microseconds(150)), 51);
        // Numbers below all ranges are not stored.
        packets.add(1, Time::ZERO);
        assert_eq!((packets.count, packets.ranges[31].start), (MOST_RANGES, 136));
    }
}
