//! [`Spacing`]: equal gaps between packets at an exact rate.

use perhop_qos::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Gaps between packets of equal size at an exact rate. A gap is rarely a whole number of picoseconds, so the
/// remainder of each gap is added to the next one (Bresenham).
#[derive(Clone, Copy, Debug)]
pub(super) struct Spacing {
    whole: u64,
    remainder: u64,
    divisor: u64,
    carried: u64,
}

impl Spacing {
    /// Creates the gaps for packets of `bytes` at `rate`.
    pub(super) fn new(bytes: u64, rate: Rate) -> Spacing {
        let (numerator, divisor) = (bytes * 8 * PICOSECONDS_PER_SECOND, rate.as_bits_per_second());
        Spacing { whole: numerator / divisor, remainder: numerator % divisor, divisor, carried: 0 }
    }
    /// Returns the gap to the next packet.
    pub(super) fn gap(&mut self) -> Time {
        self.carried += self.remainder;
        let extra = u64::from(self.carried >= self.divisor);
        self.carried -= extra * self.divisor;
        Time::from_picoseconds(self.whole + extra)
    }
    /// Discards the carried remainder at the start of a new sequence.
    pub(super) fn restart(&mut self) {
        self.carried = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_gaps_do_not_drift() {
        // A packet of 1024 bytes takes 910.222… µs at 9 Mb/s, so 1,125,000 packets take exactly 1024 s.
        let mut spacing = Spacing::new(1024, Rate::from_bits_per_second(9_000_000));
        let total = (0..1_125_000).fold(Time::ZERO, |sum, _| sum + spacing.gap());
        assert_eq!(total, Time::from_seconds(1024));
    }
}
