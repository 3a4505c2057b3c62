//! [`Bucket`]: the tokens of an HTB class at a rate. The tokens determine the mode of the class.

use crate::scheduler::config::LinkLayerConfig;
use crate::units::{ByteSize, Rate};

/// The longest time whose tokens are added at once, and the largest debt of a bucket, nanoseconds
/// (`mbuffer`).
pub(super) const LONGEST_MEMORY: i64 = 60_000_000_000;
/// The duration of a tick of the kernel's packet scheduler, nanoseconds (`PSCHED_SHIFT` is 6).
const TICK: u64 = 64;
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// The mode of a class (`enum htb_cmode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// The class has used up its ceiling and may not send.
    CannotSend,
    /// The class has used up its rate. It may send with the tokens of an ancestor.
    MayBorrow,
    CanSend,
}

/// A bucket of tokens. Tokens are counted in nanoseconds at the rate.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pace: Pace,
    depth: i64,
    tokens: i64,
}

impl Bucket {
    /// Returns a full bucket of `burst` bytes.
    pub(super) fn full(rate: Rate, burst: ByteSize, link: LinkLayerConfig) -> Bucket {
        let depth = depth(rate, burst);
        Bucket { pace: Pace::new(rate, link), depth, tokens: depth }
    }
    /// Adds the tokens of `since` ns and spends the tokens of a packet of `length` bytes.
    pub(super) fn spend(&mut self, since: i64, length: u32) {
        let tokens = (self.tokens + since).min(self.depth) - self.pace.nanoseconds_of_packet(length);
        self.tokens = if tokens <= -LONGEST_MEMORY { 1 - LONGEST_MEMORY } else { tokens };
    }
    /// Adds the tokens of `since` ns. Tokens that exceed the depth are removed at the next call of
    /// [`spend`](Bucket::spend).
    pub(super) fn fill(&mut self, since: i64) {
        self.tokens += since;
    }
}

/// Returns the mode of a class `since` ns after tokens were last added to its buckets, and the nanoseconds
/// until the mode changes (`htb_class_mode`, without hysteresis).
pub(super) fn mode(rate: &Bucket, ceil: &Bucket, since: i64) -> (Mode, i64) {
    if ceil.tokens + since < 0 {
        (Mode::CannotSend, -(ceil.tokens + since))
    } else if rate.tokens + since >= 0 {
        (Mode::CanSend, 0)
    } else {
        (Mode::MayBorrow, -(rate.tokens + since))
    }
}

/// The nanoseconds of `burst` bytes at `rate`, as `tc` passes them to the kernel: rounded down to whole
/// microseconds, and then to whole ticks.
fn depth(rate: Rate, burst: ByteSize) -> i64 {
    let bytes = u128::from(burst.as_bytes());
    let microseconds = bytes * 1_000_000 / u128::from(bytes_per_second(rate).max(1));
    let ticks = microseconds * 1000 / u128::from(TICK);
    i64::try_from(ticks * u128::from(TICK)).unwrap_or(i64::MAX).min(i64::from(u32::MAX) * TICK.cast_signed())
}

/// The rate in whole bytes per second, like in the kernel.
pub(super) fn bytes_per_second(rate: Rate) -> u64 {
    rate.as_bits_per_second() / 8
}

/// The transmission times of packets at a rate (`struct psched_ratecfg`).
#[derive(Clone, Debug)]
struct Pace {
    /// The nanoseconds of a byte, multiplied by 2 to the power of `shift`.
    byte: u64,
    shift: u32,
    /// The bytes that the link adds to a packet.
    link: LinkLayerConfig,
}

impl Pace {
    /// Stores the time of a byte at `rate` in 32 bits. If a second would not fit in 64 bits then, uses fewer
    /// bits.
    fn new(rate: Rate, link: LinkLayerConfig) -> Pace {
        let rate = bytes_per_second(rate).max(1);
        let most = NANOSECONDS_PER_SECOND.leading_zeros();
        let has_digits = |shift: &u32| (NANOSECONDS_PER_SECOND << shift) / rate >= 1 << 31;
        let shift = (0..most).find(has_digits).unwrap_or(most);
        Pace { byte: (NANOSECONDS_PER_SECOND << shift) / rate, shift, link }
    }
    /// The transmission time of a packet of `length` bytes, whole nanoseconds (`psched_l2t_ns`).
    fn nanoseconds_of_packet(&self, length: u32) -> i64 {
        ((u128::from(self.link.counted(length)) * u128::from(self.byte)) >> self.shift) as i64
    }
}
