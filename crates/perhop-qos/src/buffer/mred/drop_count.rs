//! [`Counts`] and [`SinceDrop`]: the state of a [`DropSpacing`].

use super::half_power::multiply_high;
use super::options::DropSpacing;
use crate::random::Stream;

/// The state of `N` drop precedences. The state of three precedences has 40 bytes, so the state of RED fits
/// in one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Counts<const N: usize> {
    pub(super) next: [u32; N],
    pub(super) due: [u64; N],
}

const _: () = assert!(size_of::<Counts<3>>() == 40);

impl<const N: usize> Default for Counts<N> {
    fn default() -> Counts<N> {
        Counts { next: [0; N], due: [0; N] }
    }
}

impl<const N: usize> Counts<N> {
    /// Returns the state of precedence `index`, which must be below `N`.
    #[inline]
    pub(super) fn at(&mut self, index: usize) -> SinceDrop<'_> {
        SinceDrop { next: &mut self.next[index], due: &mut self.due[index] }
    }
}

/// The state since the last drop, or since the average rose above its minimum threshold.
#[derive(Debug)]
pub(super) struct SinceDrop<'c> {
    /// The number of the next packet: n + 1 after n kept packets. It is undefined while nothing is counted.
    /// It wraps to 0 after 2³² packets, which can happen only if the drop probability is below 2⁻³².
    pub(super) next: &'c mut u32,
    /// The next drop or draw is due when `next` times the numerator of the drop probability reaches this
    /// value. The value is at least 1, or 0 while nothing is counted.
    pub(super) due: &'c mut u64,
}

impl SinceDrop<'_> {
    /// Whether no packet has been tested since [`SinceDrop::end_below_min`] (the negation of `old` in ns-2).
    #[inline]
    pub(super) fn was_below_min(&self) -> bool {
        (*self.next, *self.due) == (0, 0)
    }
    /// Stops counting, because the average is below its minimum threshold.
    #[inline]
    pub(super) fn end_below_min(&mut self) {
        (*self.next, *self.due) = (0, 0);
    }
    /// Restarts the count at the next tested packet, because this packet was dropped above the maximum
    /// threshold.
    #[inline]
    pub(super) fn end_above_max(&mut self) {
        (*self.next, *self.due) = (1, 0);
    }
    /// Stops counting, under a rule that does not read [`SinceDrop::was_below_min`].
    #[inline]
    pub(super) fn end(&mut self) {
        *self.due = 0;
    }
    /// Whether no drop and no draw is due for a packet whose drop probability has the numerator `part`. Such
    /// a packet counts as kept.
    #[inline]
    pub(super) fn keeps(&mut self, part: u32) -> bool {
        let keeps = u64::from(*self.next) * u64::from(part) < *self.due;
        if keeps {
            self.count();
        }
        keeps
    }
    /// Starts counting, unless counting is active. `whole` is the denominator of the following probabilities.
    #[inline]
    pub(super) fn begin(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        if *self.due > 0 {
        } else if spacing.counts_the_drop() {
            // No drop precedes the tested packet, so its number is 1.
            (*self.next, *self.due) = (1, 1);
        } else {
            self.restart(spacing, whole, random);
        }
    }
    /// Starts counting at a packet that is spared.
    pub(super) fn spare(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        self.begin(spacing, whole, random);
        self.count();
        // ns-2 `queue/red.cc`: `count` is 1 for the spared packet and 2 for the next packet.
        if spacing.counts_the_drop() {
            self.count();
        }
    }
    /// Restarts the count at the next packet. This packet was dropped without a draw.
    pub(super) fn end_by_drop(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        if spacing.counts_the_drop() {
            self.restart(spacing, whole, random);
        } else {
            self.end_above_max();
        }
    }
    /// Restarts the byte count with `bytes` that have arrived since a drop (ns-2, `count_bytes`).
    pub(super) fn begin_bytes(&mut self, bytes: u32) {
        (*self.next, *self.due) = (bytes, 1);
    }
    /// Adds `bytes` since the last drop and returns the sum.
    pub(super) fn count_bytes(&mut self, bytes: u32) -> u32 {
        self.begin_bytes(self.next.saturating_add(bytes));
        *self.next
    }
    /// Whether counting is active and the next due drop needs no further random number
    /// ([`DropSpacing::UniformPerDrop`]).
    #[inline]
    pub(super) fn drops_when_due(&self, spacing: DropSpacing) -> bool {
        spacing == DropSpacing::UniformPerDrop && *self.due > 0
    }
    /// Restarts the count and draws the number of the next drop of [`DropSpacing::UniformPerDrop`].
    ///
    /// Linux include/net/red.h, `red_action`: the kernel draws R (`qR`) when counting begins, and again at
    /// each drop.
    #[inline]
    pub(super) fn draw(&mut self, whole: u64, random: &mut Stream) {
        (*self.next, *self.due) = (1, multiply_high(random.bits(), whole) + 1);
    }
    /// Restarts the count from 0.
    #[inline]
    pub(super) fn restart(&mut self, spacing: DropSpacing, whole: u64, random: &mut Stream) {
        let due = match spacing {
            // The next packet can already be dropped.
            DropSpacing::Uniform | DropSpacing::Geometric => 1,
            DropSpacing::UniformPerDrop => return self.draw(whole, random),
            DropSpacing::Wait => whole,
            // The dropped packet counts as if it had been kept.
            DropSpacing::CountedFirst | DropSpacing::Unguarded => {
                (*self.next, *self.due) = (2, 1);
                return;
            }
        };
        (*self.next, *self.due) = (1, due);
    }
    /// Counts a packet that is kept, or a drop that does not end the count.
    #[inline]
    pub(super) fn count(&mut self) {
        *self.next = self.next.wrapping_add(1);
    }
}
