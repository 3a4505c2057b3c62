//! Token buckets that share their profile, in words of 64 bits where those are exact, else of 128.
//!
//! A bucket's unit is the largest that both the tokens of one picosecond and those of one byte are whole numbers
//! of: 10⁻¹² bit (see [`super::token_bucket`]) times their greatest common divisor. Nothing is rounded in either
//! width; which one a profile gets depends on whether a full bucket fits.

use std::fmt::Debug;
use std::hint::select_unpredictable;
use std::ops::{Add, Sub};

use super::Meter;
use crate::packet::{Color, Packet};
use crate::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};

/// Tokens for one byte, in 10⁻¹² bit.
const PER_BYTE: u64 = 8 * PICOSECONDS_PER_SECOND;

/// A number of tokens.
pub(super) trait Word: Copy + Debug + Ord + Add<Output = Self> + Sub<Output = Self> {
    /// No tokens.
    const ZERO: Self;
    /// The largest number. No bucket holds as many ([`SharedProfile::is_exact`]).
    const MAX: Self;
    /// `left` · `right`, which the caller knows to fit.
    fn product(left: u64, right: u64) -> Self;
    /// `left` · `right`, or the largest number where that is more.
    fn saturating_product(left: u64, right: u64) -> Self;
    /// `self` + `more`, or the largest number where that is more.
    fn saturating_add(self, more: Self) -> Self;
    /// `self` / `divisor`, rounded up, or 2⁶⁴ − 1 where that is more.
    fn divided_by(self, divisor: u64) -> u64;
    /// `self` − `less`, if that is not below 0.
    fn checked_sub(self, less: Self) -> Option<Self>;
    /// `self` − `less`, and whether that is below 0: then the number is of no use.
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

/// Rate and burst of a bucket, in its unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedProfile<W> {
    /// Tokens that a picosecond earns.
    per_picosecond: u64,
    /// Tokens that a byte costs.
    per_byte: u64,
    /// Tokens of a full bucket.
    size: W,
}

impl<W: Word> SharedProfile<W> {
    /// Tokens at `rate`, which is not 0, for a bucket of size `burst`.
    pub(super) fn new(rate: Rate, burst: ByteSize) -> SharedProfile<W> {
        let rate = rate.as_bits_per_second();
        let unit = greatest_common_divisor(rate, PER_BYTE);
        let per_byte = PER_BYTE / unit;
        let size = W::saturating_product(burst.as_bytes(), per_byte);
        SharedProfile { per_picosecond: rate / unit, per_byte, size }
    }
    /// When a bucket is full for certain: more time than this earns nothing more.
    pub(super) fn fills_in(&self) -> Time {
        self.time_for(self.size)
    }
    /// Whether `W` holds all that there is to count: a full bucket, `more`, and what is earned in up to `longest`.
    pub(super) fn is_exact(&self, more: W, longest: Time) -> bool {
        let earned = W::saturating_product(longest.as_picoseconds(), self.per_picosecond);
        self.size.saturating_add(more).saturating_add(earned) < W::MAX
    }
    /// What a packet of `length` IP bytes costs; the largest number of tokens, which no bucket holds, where it costs more.
    #[inline]
    pub(super) fn cost(&self, length: u32) -> W {
        W::saturating_product(length.into(), self.per_byte)
    }
    /// What `elapsed` earns.
    #[inline]
    pub(super) fn earned(&self, elapsed: Time) -> W {
        W::product(elapsed.as_picoseconds(), self.per_picosecond)
    }
    /// Tokens of a full bucket.
    pub(super) fn size(&self) -> W {
        self.size
    }
    /// The tokens for `size` bytes.
    pub(super) fn tokens(&self, size: ByteSize) -> W {
        W::saturating_product(size.as_bytes(), self.per_byte)
    }
    /// How long it takes to earn `tokens`, rounded up.
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

/// `cost` if the packet is `wanted`, else what no bucket holds.
#[inline]
pub(super) fn cost_if<W: Word>(wanted: bool, cost: W) -> W {
    select_unpredictable(wanted, cost, W::MAX)
}

/// How full a bucket is: all that it has for itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<W>(W);

impl<W: Word> Level<W> {
    /// Adds `earned` as far as there is room; what is left over is lost.
    #[inline]
    pub(super) fn top_up(&mut self, earned: W, profile: &SharedProfile<W>) {
        self.0 = (self.0 + earned).min(profile.size);
    }
    /// Adds `earned` as far as there is room, and returns what is left over.
    #[inline]
    pub(super) fn fill(&mut self, earned: W, profile: &SharedProfile<W>) -> W {
        let all = self.0 + earned;
        self.0 = all.min(profile.size);
        all - self.0
    }
    /// What it lacks of `cost`.
    #[inline]
    pub(super) fn missing(&self, cost: W) -> W {
        cost.checked_sub(self.0).unwrap_or(W::ZERO)
    }
    /// Spends all of it.
    #[inline]
    pub(super) fn drain(&mut self) {
        self.0 = W::ZERO;
    }
    /// Spends `cost` if there is enough; returns whether it did.
    ///
    /// Nobody can foretell which packets conform, so there is no branch here for a processor to guess wrong.
    #[inline]
    pub(super) fn take(&mut self, cost: W) -> bool {
        self.take_if(true, cost)
    }
    /// The same, but only if `wanted`.
    #[inline]
    pub(super) fn take_if(&mut self, wanted: bool, cost: W) -> bool {
        // The next packet waits for what is left, so that follows from what there is in as few steps as it can.
        let (left, lacks) = self.0.overflowing_sub(cost);
        let left = select_unpredictable(lacks, self.0, left);
        self.0 = select_unpredictable(wanted, left, self.0);
        wanted && !lacks
    }
}

/// When a meter was brought up to date last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock(Time);

impl Clock {
    /// The time since the last call, at most `longest`.
    #[inline]
    pub(super) fn elapsed(&mut self, now: Time, longest: Time) -> Time {
        let elapsed = now.saturating_sub(self.0);
        self.0 += elapsed;
        elapsed.min(longest)
    }
}

/// A meter in words of 64 bits, or, where its profile needs more, of 128.
#[derive(Clone, Debug)]
pub(super) enum ByWidth<N, W> {
    /// 64 bits.
    Narrow(N),
    /// 128 bits: rare, and kept elsewhere so that it does not make the others large.
    Wide(Box<W>),
}

impl<N, W> ByWidth<N, W> {
    /// `narrow` where it is exact, else `wide`.
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
