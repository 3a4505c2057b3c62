//! [`Scoreboard`]: the SACKed data above the cumulative acknowledgment, and the losses that follow from them
//! (RFC 6675 §4).

use super::segment::Range;

/// The SACKed offsets, as disjoint ranges in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    ranges: Vec<Range>,
}

impl Scoreboard {
    /// Whether no data are SACKed.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    /// Adds the offsets from `start` up to `end` (RFC 6675 §4, Update). Returns whether any of them is new.
    pub(super) fn add(&mut self, start: u64, end: u64) -> bool {
        let first = self.ranges.partition_point(|range| range.end < start);
        let after = first + self.ranges[first..].partition_point(|range| range.start <= end);
        match self.ranges.get(first..after) {
            Some([only]) if only.start <= start && end <= only.end => false,
            Some([]) | None => {
                self.ranges.insert(first, Range { start, end });
                true
            }
            Some(touched) => {
                let start = start.min(touched[0].start);
                let end = end.max(touched[touched.len() - 1].end);
                self.ranges[first] = Range { start, end };
                self.ranges.drain(first + 1..after);
                true
            }
        }
    }
    /// Removes all offsets below `acknowledged`, the cumulative acknowledgment.
    pub(super) fn advance(&mut self, acknowledged: u64) {
        let gone = self.ranges.partition_point(|range| range.end <= acknowledged);
        self.ranges.drain(..gone);
        if let Some(first) = self.ranges.first_mut() {
            first.start = first.start.max(acknowledged);
        }
    }
    /// Returns the offset after the highest SACKed offset; 0 if none is SACKed.
    pub(super) fn highest(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.end)
    }
    /// Returns the first offset from `offset` on that is not SACKed.
    pub(super) fn first_missing(&self, offset: u64) -> u64 {
        let index = self.ranges.partition_point(|range| range.end <= offset);
        self.ranges.get(index).filter(|range| range.start <= offset).map_or(offset, |range| range.end)
    }
    /// Returns the first SACKed offset from `offset` on.
    pub(super) fn first_present(&self, offset: u64) -> Option<u64> {
        let index = self.ranges.partition_point(|range| range.end <= offset);
        self.ranges.get(index).map(|range| range.start.max(offset))
    }
    /// Returns the number of SACKed offsets from `start` up to `end`.
    pub(super) fn present_between(&self, start: u64, end: u64) -> u64 {
        let within = |range: &Range| range.end.min(end).saturating_sub(range.start.max(start));
        self.ranges.iter().map(within).sum()
    }
    /// Returns the offset below which all offsets that are not SACKed are lost (RFC 6675 §4, IsLost). An
    /// offset is lost if `threshold` discontiguous sequences, or more than `threshold - 1` segments of
    /// `payload` bytes, arrived above it.
    pub(super) fn lost_below(&self, threshold: u32, payload: u64) -> u64 {
        let (mut sequences, mut bytes) = (0, 0);
        for range in self.ranges.iter().rev() {
            sequences += 1;
            bytes += range.end - range.start;
            if sequences >= threshold || bytes > u64::from(threshold - 1) * payload {
                return range.start;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_segment_is_lost_when_enough_arrived_above_it() {
        let mut board = Scoreboard::default();
        board.add(1000, 2000);
        board.add(3000, 4000);
        assert_eq!(board.lost_below(3, 1000), 0);
        board.add(5000, 6000);
        assert_eq!(board.lost_below(3, 1000), 1000);
        // A single block with more bytes than two segments also indicates a loss.
        let mut board = Scoreboard::default();
        board.add(1000, 3000);
        assert_eq!(board.lost_below(3, 1000), 0);
        board.add(3000, 3001);
        assert_eq!(board.lost_below(3, 1000), 1000);
    }

    proptest! {
        /// Compares the scoreboard with one flag per offset.
        #[test]
        fn behaves_like_a_set(blocks in prop::collection::vec((0u64..60, 1u64..12), 1..20), acknowledged in 0u64..60) {
            let (mut board, mut set) = (Scoreboard::default(), [false; 80]);
            for (start, length) in blocks {
                let flags = &mut set[start as usize..(start + length) as usize];
                prop_assert_eq!(board.add(start, start + length), flags.contains(&false));
                flags.fill(true);
            }
            board.advance(acknowledged);
            set[..acknowledged as usize].fill(false);
            prop_assert_eq!(board.present_between(0, 80), set.iter().filter(|flag| **flag).count() as u64);
            prop_assert_eq!(board.highest(), set.iter().rposition(|flag| *flag).map_or(0, |last| last as u64 + 1));
            for offset in acknowledged..80 {
                let missing = set[offset as usize..].iter().position(|flag| !flag).map_or(80, |at| offset + at as u64);
                prop_assert_eq!(board.first_missing(offset), missing);
                let present = set[offset as usize..].iter().position(|flag| *flag).map(|at| offset + at as u64);
                prop_assert_eq!(board.first_present(offset), present);
            }
        }
    }
}
