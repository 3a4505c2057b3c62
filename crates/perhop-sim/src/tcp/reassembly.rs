//! [`OutOfOrder`]: data that arrived before earlier data of the stream.

use super::segment::Range;

/// Data that arrived out of order: disjoint ranges of offsets, beginning with the most recent.
#[derive(Clone, Debug, Default)]
pub(super) struct OutOfOrder {
    ranges: Vec<Range>,
}

impl OutOfOrder {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Range> {
        self.ranges.iter()
    }
    /// Whether all offsets from `start` up to `end` are present.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        self.ranges.iter().any(|range| range.start <= start && end <= range.end)
    }
    /// Returns the range with the smallest offsets, if it begins below `end`.
    pub(super) fn first_below(&self, end: u64) -> Option<Range> {
        self.ranges.iter().filter(|range| range.start < end).min_by_key(|range| range.start).copied()
    }

    /// Adds the offsets from `start` up to `end`.
    pub(super) fn add(&mut self, mut start: u64, mut end: u64) {
        self.ranges.retain(|range| {
            let apart = range.end < start || end < range.start;
            if !apart {
                (start, end) = (start.min(range.start), end.max(range.end));
            }
            apart
        });
        // RFC 2018 §4: the first block contains the most recent segment.
        self.ranges.insert(0, Range { start, end });
    }
    /// Removes the data that continue the stream at `next` without a gap. Returns the offset after these
    /// data.
    #[inline(never)]
    pub(super) fn take_reached(&mut self, mut next: u64) -> u64 {
        // Each iteration removes a range.
        while let Some(index) = self.ranges.iter().position(|range| range.start <= next) {
            next = next.max(self.ranges.remove(index).end);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the stored data, the order of the ranges, and the data that follow without a gap with a
        /// set of offsets.
        #[test]
        fn ranges_match_a_set(arrivals in prop::collection::vec((1u64..40, 1u64..6), 1..30)) {
            let (mut data, mut all) = (OutOfOrder::default(), [false; 50]);
            for (start, length) in arrivals {
                data.add(start, start + length);
                all[start as usize..(start + length) as usize].fill(true);
                let first = data.iter().next().copied().unwrap_or_default();
                prop_assert!(first.start <= start && start + length <= first.end);
                let mut found = [false; 50];
                for range in data.iter() {
                    prop_assert!(data.contains(range.start, range.end));
                    // Adjacent ranges are joined.
                    prop_assert!(!all[range.start as usize - 1] && !all[range.end as usize]);
                    found[range.start as usize..range.end as usize].fill(true);
                }
                prop_assert_eq!(found, all);
            }
            let least = all.iter().position(|has| *has).unwrap_or(0) as u64;
            prop_assert_eq!(data.first_below(50).map(|range| range.start), Some(least));
            prop_assert_eq!(data.first_below(least), None);
            let end = (least..50).find(|offset| !all[*offset as usize]).unwrap_or(50);
            prop_assert_eq!(data.take_reached(least - 1), least - 1);
            prop_assert_eq!(data.take_reached(least), end);
            prop_assert!(!data.contains(least, least + 1));
        }
    }
}
