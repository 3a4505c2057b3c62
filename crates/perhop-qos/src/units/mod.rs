//! Quantities with their units: [`Time`] (integer picoseconds), [`Rate`] (bits per second), [`PacketRate`]
//! (packets per second), [`ByteSize`] (bytes), [`QueueSize`] (packets or bytes) and [`QueueDepth`]
//! (packets, bytes or time).
//!
//! Configuration files contain each quantity with its unit (`30ms`, `1.7Mb/s`, `25KiB`, `40 packets`). A
//! number without a unit is an error.

mod notation;
mod order;
mod text;

use std::ops::{Add, AddAssign, Mul, Sub};

/// A time since the start of the run, or the difference of two times, in integer picoseconds.
///
/// 64 bits suffice for 213 days. A byte at 10 Gb/s is sent in exactly 800 ps. A time in a configuration file
/// is at most [`Time::LONGEST`], so that the sum of four such times does not overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Time(u64);

/// Picoseconds in one second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

impl Time {
    /// The start of the run, or a difference of 0.
    pub const ZERO: Time = Time(0);
    /// A time later than all events. It means "never".
    pub const MAX: Time = Time(u64::MAX);
    /// The longest time in a configuration, and the longest run: 50 days. Events are later by at most a few
    /// such times, which is below [`Time::MAX`].
    pub const LONGEST: Time = Time::from_seconds(50 * 86_400);

    /// Returns `ps` picoseconds.
    pub const fn from_picoseconds(ps: u64) -> Time {
        Time(ps)
    }
    /// Returns `ns` nanoseconds.
    pub const fn from_nanoseconds(ns: u64) -> Time {
        Time(ns * 1_000)
    }
    /// Returns `us` microseconds.
    pub const fn from_microseconds(us: u64) -> Time {
        Time(us * 1_000_000)
    }
    /// Returns `ms` milliseconds.
    pub const fn from_milliseconds(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }
    /// Returns `s` whole seconds.
    pub const fn from_seconds(s: u64) -> Time {
        Time(s * PICOSECONDS_PER_SECOND)
    }
    /// Returns `seconds`, rounded to the nearest picosecond. Negative numbers and NaN result in zero, and
    /// numbers that are too large in [`Time::MAX`].
    pub fn from_seconds_f64(seconds: f64) -> Time {
        Time(libm::round(seconds * PICOSECONDS_PER_SECOND as f64) as u64)
    }
    /// The number of picoseconds.
    pub const fn as_picoseconds(self) -> u64 {
        self.0
    }
    /// The number of seconds in floating point. Use it for reports, not for the arithmetic of the simulation.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
    /// Returns `self - earlier`, or zero if `earlier` is later than `self`.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// Returns `self + span`, limited to [`Time::MAX`].
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, span: Time) -> Time {
        Time(self.0 + span.0)
    }
}
impl AddAssign for Time {
    fn add_assign(&mut self, span: Time) {
        self.0 += span.0;
    }
}
impl Sub for Time {
    type Output = Time;
    fn sub(self, earlier: Time) -> Time {
        Time(self.0 - earlier.0)
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    /// The result is limited to [`Time::MAX`], because a factor can be an arbitrary number of packets.
    fn mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Returns a rate of `bits` bits per second.
    pub const fn from_bits_per_second(bits: u64) -> Rate {
        Rate(bits)
    }
    /// The number of bits per second.
    pub const fn as_bits_per_second(self) -> u64 {
        self.0
    }
    /// The transmission time of `bytes` at this rate, rounded down to a picosecond.
    ///
    /// The result is exact for up to 2.3 MB, which is longer than any packet. The rate must not be zero.
    pub const fn transmission_time(self, bytes: u64) -> Time {
        Time(bytes * (8 * PICOSECONDS_PER_SECOND) / self.0)
    }
}

/// A rate in packets per second, regardless of the length of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketRate(u64);

impl PacketRate {
    /// Returns a rate of `packets` packets per second.
    pub const fn from_packets_per_second(packets: u64) -> PacketRate {
        PacketRate(packets)
    }
    /// The number of packets per second.
    pub const fn as_packets_per_second(self) -> u64 {
        self.0
    }
}

/// A number of bytes. The documentation of each key states which bytes are meant (payload, IP or wire).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// Returns a size of `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> ByteSize {
        ByteSize(bytes)
    }
    /// The number of bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

/// A length of a queue, counted in packets or in IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueSize {
    /// A number of packets, regardless of their length.
    Packets(u64),
    /// A number of IP bytes.
    Bytes(u64),
}

/// The depth of a queue: the packets or bytes in it, or the wait of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueDepth {
    /// The depth in packets or bytes.
    Size(QueueSize),
    /// The depth as the wait of a packet.
    Wait(Time),
}

impl QueueSize {
    /// The number without its unit.
    pub const fn count(self) -> u64 {
        match self {
            QueueSize::Packets(count) | QueueSize::Bytes(count) => count,
        }
    }
    /// Whether both sizes count packets, or both count bytes.
    pub fn same_unit(self, other: QueueSize) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}
