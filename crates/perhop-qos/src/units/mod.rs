//! Quantities with their units: [`Time`] (integer picoseconds), [`Rate`] (bits per second), [`PacketRate`]
//! (packets per second), [`ByteSize`] (bytes), [`QueueSize`] (packets or bytes) and [`QueueDepth`]
//! (packets, bytes or time).
//!
//! All are written with their unit in configuration files (`30ms`, `1.7Mb/s`, `25KiB`, `40 packets`). A
//! number without a unit is an error.

mod notation;
mod order;
mod text;

use std::ops::{Add, AddAssign, Mul, Sub};

/// A time since the start of the run, or a span between two times: integer picoseconds.
///
/// 64 bits last 213 days. One byte at 10 Gb/s takes exactly 800 ps. Times of configuration files are at most
/// [`Time::LONGEST`], so that a sum of four of them does not overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Time(u64);

/// Picoseconds in one second.
pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

impl Time {
    /// The start of the run; the empty span.
    pub const ZERO: Time = Time(0);
    /// Later than all events: "never".
    pub const MAX: Time = Time(u64::MAX);
    /// The longest time that a configuration may have, and the longest run: 50 days. Events are at most a few
    /// such spans later, which is below [`Time::MAX`].
    pub const LONGEST: Time = Time::from_seconds(50 * 86_400);

    /// `ps` picoseconds.
    pub const fn from_picoseconds(ps: u64) -> Time {
        Time(ps)
    }
    /// `ns` nanoseconds.
    pub const fn from_nanoseconds(ns: u64) -> Time {
        Time(ns * 1_000)
    }
    /// `us` microseconds.
    pub const fn from_microseconds(us: u64) -> Time {
        Time(us * 1_000_000)
    }
    /// `ms` milliseconds.
    pub const fn from_milliseconds(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }
    /// `s` whole seconds.
    pub const fn from_seconds(s: u64) -> Time {
        Time(s * PICOSECONDS_PER_SECOND)
    }
    /// `seconds`, rounded to the nearest picosecond. Negative values and NaN become zero, values out of range
    /// become [`Time::MAX`].
    pub fn from_seconds_f64(seconds: f64) -> Time {
        Time(libm::round(seconds * PICOSECONDS_PER_SECOND as f64) as u64)
    }
    /// The picoseconds.
    pub const fn as_picoseconds(self) -> u64 {
        self.0
    }
    /// The seconds, as a floating-point number. Use it for reports, not for the arithmetic of the simulation.
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
    /// `self - earlier`, or zero if `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, at most [`Time::MAX`].
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
    /// The result is limited to [`Time::MAX`], because a factor can be any number of packets.
    fn mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bits` per second.
    pub const fn from_bits_per_second(bits: u64) -> Rate {
        Rate(bits)
    }
    /// The bits per second.
    pub const fn as_bits_per_second(self) -> u64 {
        self.0
    }
    /// The transmission time of `bytes` at this rate, rounded down to a picosecond.
    ///
    /// The result is exact for sizes up to 2.3 MB, which is longer than any packet. The rate must not be
    /// zero.
    pub const fn transmission_time(self, bytes: u64) -> Time {
        Time(bytes * (8 * PICOSECONDS_PER_SECOND) / self.0)
    }
}

/// Packets per second, regardless of their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketRate(u64);

impl PacketRate {
    /// `packets` per second.
    pub const fn from_packets_per_second(packets: u64) -> PacketRate {
        PacketRate(packets)
    }
    /// The packets per second.
    pub const fn as_packets_per_second(self) -> u64 {
        self.0
    }
}

/// A number of bytes. The documentation of each key states the kind (payload, IP or wire).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSize(u64);

impl ByteSize {
    /// `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> ByteSize {
        ByteSize(bytes)
    }
    /// The bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

/// A length of a queue, counted in packets or in IP bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueSize {
    /// Counted in packets, regardless of their size.
    Packets(u64),
    /// Counted in IP bytes.
    Bytes(u64),
}

/// The depth of a queue: by its content, or by the waiting time of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueDepth {
    /// A depth in packets or bytes.
    Size(QueueSize),
    /// A depth in waiting time.
    Wait(Time),
}

impl QueueSize {
    /// The count without its unit.
    pub const fn count(self) -> u64 {
        match self {
            QueueSize::Packets(count) | QueueSize::Bytes(count) => count,
        }
    }
    /// Whether both count packets, or both bytes.
    pub fn same_unit(self, other: QueueSize) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}
