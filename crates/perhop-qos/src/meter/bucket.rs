//! Token buckets in exact integers, used by all meters, policers and caps.
//!
//! A rate in bit/s times a time in picoseconds is an integer number of bit·ps/s, and 1 bit·ps/s is 10⁻¹² bit.
//! The unit of a bucket is the largest multiple of 10⁻¹² bit in which both the tokens of a picosecond and the
//! tokens of a byte are integers. Nothing is rounded, so "green ≤ rate·Δt + burst" is exact on every
//! interval.
//!
//! Tokens are counted in words of 64 or 128 bits. A meter uses words of 64 bits, which are faster, if a full
//! bucket fits in them. Words of 128 bits suffice for any rate, time and burst.

use std::fmt::Debug;
use std::hint::select_unpredictable;
use std::ops::{Add, Sub};

use super::contract::Meter;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// The tokens of a byte, in 10⁻¹² bit.
const PER_BYTE: u64 = 8 * PICOSECONDS_PER_SECOND;

/// The integer type for a number of tokens: `u64` or `u128`.
pub(super) trait Word: Copy + Debug + Ord + Add<Output = Self> + Sub<Output = Self> {
    /// No tokens.
    const ZERO: Self;
    /// The largest number. A bucket never contains this number of tokens ([`BucketProfile::is_exact`]).
    const MAX: Self;
    /// `left` · `right`. The caller ensures that the product fits.
    fn product(left: u64, right: u64) -> Self;
    /// `left` · `right`, limited to the largest number.
    fn saturating_product(left: u64, right: u64) -> Self;
    /// `self` + `more`, limited to the largest number.
    fn saturating_add(self, more: Self) -> Self;
    /// `self` / `divisor`, rounded up and limited to 2⁶⁴ − 1.
    fn divided_by(self, divisor: u64) -> u64;
    /// Returns `self` − `less`, or `None` if the result is below 0.
    fn checked_sub(self, less: Self) -> Option<Self>;
    /// `self` − `less`, and whether the result is below 0. In that case the number is invalid.
    fn overflowing_sub(self, less: Self) -> (Self, bool);
}

impl Word for u64 {
    const ZERO: u64 = 0;
    const MAX: u64 = u64::MAX;
    #[inline]
    fn product(left: u64, right: u64) -> u64 {
        left * right
    }
    #[inline]
    fn saturating_product(left: u64, right: u64) -> u64 {
        left.saturating_mul(right)
    }
    #[inline]
    fn saturating_add(self, more: u64) -> u64 {
        self.saturating_add(more)
    }
    fn divided_by(self, divisor: u64) -> u64 {
        self.div_ceil(divisor)
    }
    #[inline]
    fn checked_sub(self, less: u64) -> Option<u64> {
        self.checked_sub(less)
    }
    #[inline]
    fn overflowing_sub(self, less: u64) -> (u64, bool) {
        self.overflowing_sub(less)
    }
}

impl Word for u128 {
    const ZERO: u128 = 0;
    const MAX: u128 = u128::MAX;
    #[inline]
    fn product(left: u64, right: u64) -> u128 {
        u128::from(left) * u128::from(right)
    }
    #[inline]
    fn saturating_product(left: u64, right: u64) -> u128 {
        u128::from(left) * u128::from(right)
    }
    #[inline]
    fn saturating_add(self, more: u128) -> u128 {
        self.saturating_add(more)
    }
    fn divided_by(self, divisor: u64) -> u64 {
        u64::try_from(self.div_ceil(u128::from(divisor))).unwrap_or(u64::MAX)
    }
    #[inline]
    fn checked_sub(self, less: u128) -> Option<u128> {
        self.checked_sub(less)
    }
    #[inline]
    fn overflowing_sub(self, less: u128) -> (u128, bool) {
        self.overflowing_sub(less)
    }
}

/// The rate and the size of a bucket, in the unit of the bucket. All buckets of one configuration share them.
#[derive(Clone, Copy, Debug)]
pub(super) struct BucketProfile<W> {
    /// The tokens that arrive in a picosecond.
    per_picosecond: u64,
    /// The tokens of a byte.
    per_byte: u64,
    /// The tokens of a full bucket.
    size: W,
}

impl<W: Word> BucketProfile<W> {
    /// Returns the profile of a bucket of size `burst` with `rate`, which must not be 0.
    pub(super) fn new(rate: Rate, burst: ByteSize) -> BucketProfile<W> {
        let rate = rate.as_bits_per_second();
        let unit = greatest_common_divisor(rate, PER_BYTE);
        let per_byte = PER_BYTE / unit;
        let size = W::saturating_product(burst.as_bytes(), per_byte);
        BucketProfile { per_picosecond: rate / unit, per_byte, size }
    }
    /// The time after which an empty bucket is full.
    pub(super) fn fills_in(&self) -> Time {
        self.time_for(self.size)
    }
    /// Whether `W` can represent the sum of a full bucket, `more`, and the tokens that arrive in the time
    /// `longest`.
    pub(super) fn is_exact(&self, more: W, longest: Time) -> bool {
        let earned = W::saturating_product(longest.as_picoseconds(), self.per_picosecond);
        self.size.saturating_add(more).saturating_add(earned) < W::MAX
    }
    /// The cost of a packet of `length` IP bytes. It is limited to the largest number of tokens, which a
    /// bucket never contains.
    #[inline]
    pub(super) fn cost(&self, length: u32) -> W {
        W::saturating_product(length.into(), self.per_byte)
    }
    /// The tokens that arrive in the time `elapsed`.
    #[inline]
    pub(super) fn earned(&self, elapsed: Time) -> W {
        W::product(elapsed.as_picoseconds(), self.per_picosecond)
    }
    /// The tokens of a full bucket.
    pub(super) fn size(&self) -> W {
        self.size
    }
    /// The tokens of `size` bytes.
    pub(super) fn tokens(&self, size: ByteSize) -> W {
        W::saturating_product(size.as_bytes(), self.per_byte)
    }
    /// The time in which `tokens` tokens arrive, rounded up.
    pub(super) fn time_for(&self, tokens: W) -> Time {
        Time::from_picoseconds(tokens.divided_by(self.per_picosecond))
    }
    /// A full bucket.
    pub(super) fn full(&self) -> Level<W> {
        Level(self.size)
    }
}

fn greatest_common_divisor(mut larger: u64, mut smaller: u64) -> u64 {
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

/// Returns `cost` if the packet is `wanted`. Otherwise returns more tokens than a bucket can contain.
#[inline]
pub(super) fn cost_if<W: Word>(wanted: bool, cost: W) -> W {
    select_unpredictable(wanted, cost, W::MAX)
}

/// The tokens in a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<W>(W);

impl<W: Word> Level<W> {
    /// Adds the tokens `earned` up to the size of the bucket. Tokens that exceed it are lost.
    #[inline]
    pub(super) fn top_up(&mut self, earned: W, profile: &BucketProfile<W>) {
        self.0 = (self.0 + earned).min(profile.size);
    }
    /// Adds the tokens `earned` up to the size of the bucket. Returns the tokens that exceed it.
    #[inline]
    pub(super) fn fill(&mut self, earned: W, profile: &BucketProfile<W>) -> W {
        let all = self.0 + earned;
        self.0 = all.min(profile.size);
        all - self.0
    }
    /// The tokens that the bucket lacks for `cost`.
    #[inline]
    pub(super) fn missing(&self, cost: W) -> W {
        cost.checked_sub(self.0).unwrap_or(W::ZERO)
    }
    /// Spends all tokens.
    #[inline]
    pub(super) fn drain(&mut self) {
        self.0 = W::ZERO;
    }
    /// Spends `cost` if the bucket has enough tokens. Returns whether the tokens were spent.
    ///
    /// The conformance of a packet is unpredictable. The code therefore has no branch that the processor
    /// could mispredict.
    #[inline]
    pub(super) fn take(&mut self, cost: W) -> bool {
        self.take_if(true, cost)
    }
    /// Spends `cost` if the packet is `wanted` and the bucket has enough tokens. Returns whether the tokens
    /// were spent.
    #[inline]
    pub(super) fn take_if(&mut self, wanted: bool, cost: W) -> bool {
        // The decision about the next packet depends on this result, so the chain of instructions must be
        // short.
        let (left, lacks) = self.0.overflowing_sub(cost);
        let left = select_unpredictable(lacks, self.0, left);
        self.0 = select_unpredictable(wanted, left, self.0);
        wanted && !lacks
    }
}

/// The time at which tokens were last added to a bucket.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock(Time);

impl Clock {
    /// The time since the last call, limited to `longest`.
    #[inline]
    pub(super) fn elapsed(&mut self, now: Time, longest: Time) -> Time {
        let elapsed = now.saturating_sub(self.0);
        self.0 += elapsed;
        elapsed.min(longest)
    }
}

/// A bucket of 128 bits with its own rate and clock.
///
/// Tokens are added only when the bucket is read. One addition has the same effect as many small ones,
/// because tokens that exceed the size are lost in both cases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RatedBucket {
    profile: BucketProfile<u128>,
    fills_in: Time,
    clock: Clock,
    level: Level<u128>,
}

impl RatedBucket {
    /// Returns a full bucket of size `burst` with `rate`, which must not be 0.
    pub(crate) fn full(rate: Rate, burst: ByteSize) -> RatedBucket {
        let profile = BucketProfile::new(rate, burst);
        let (fills_in, clock) = (profile.fills_in(), Clock::default());
        RatedBucket { profile, fills_in, clock, level: profile.full() }
    }
    #[inline]
    fn fill(&mut self, now: Time) {
        let elapsed = self.clock.elapsed(now, self.fills_in);
        self.level.top_up(self.profile.earned(elapsed), &self.profile);
    }
    /// Whether the bucket has enough tokens at `now` for a packet of `length` IP bytes.
    pub(crate) fn has_tokens_for(&mut self, now: Time, length: u32) -> bool {
        self.fill(now);
        self.level.missing(self.profile.cost(length)) == 0
    }
    /// Spends the tokens of a packet of `length` IP bytes at `now` if the bucket has enough tokens. Returns
    /// whether they were spent.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, length: u32) -> bool {
        self.fill(now);
        self.level.take(self.profile.cost(length))
    }
}

/// A meter with words of 64 bits, or of 128 bits if its profile requires them.
#[derive(Clone, Debug)]
pub(super) enum ByWidth<N, W> {
    /// The meter with words of 64 bits.
    Narrow(N),
    /// The meter with words of 128 bits. It is rare, and in a box so that the enum stays small.
    Wide(Box<W>),
}

impl<N, W> ByWidth<N, W> {
    /// Returns `narrow` if it is exact, otherwise `wide`.
    pub(super) fn choose(narrow: N, is_exact: bool, wide: impl FnOnce() -> W) -> ByWidth<N, W> {
        if is_exact { ByWidth::Narrow(narrow) } else { ByWidth::Wide(Box::new(wide())) }
    }
}

impl<N: Meter, W: Meter> Meter for ByWidth<N, W> {
    #[inline]
    fn measure(&mut self, now: Time, packet: &Packet) -> Color {
        match self {
            ByWidth::Narrow(meter) => meter.measure(now, packet),
            ByWidth::Wide(meter) => meter.measure(now, packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_do_not_overflow() {
        let (fastest, largest) = (Rate::from_bits_per_second(u64::MAX), ByteSize::from_bytes(u64::MAX));
        let mut bucket = RatedBucket::full(fastest, largest);
        assert!(bucket.take(Time::ZERO, u32::MAX));
        assert!(bucket.level.0 < bucket.profile.size);
        assert!(bucket.has_tokens_for(Time::MAX, 0));
        assert_eq!(bucket.level.0, bucket.profile.size);
    }

    #[test]
    fn a_clock_that_steps_back_earns_nothing_twice() {
        let mut clock = Clock::default();
        let seconds = [2, 1, 2].map(|second| clock.elapsed(Time::from_seconds(second), Time::MAX));
        assert_eq!(seconds, [Time::from_seconds(2), Time::ZERO, Time::ZERO]);
    }
}
