//! [`Pace`]: the clocks of CAKE, one for the shaper and one for each tin.

use crate::units::{PICOSECONDS_PER_SECOND, Time};

/// The transmission time of a byte at a rate. The error is at most a picosecond per packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteTime {
    per_byte: u64,
    shift: u32,
}

impl ByteTime {
    /// The time of a byte at `bytes_per_second`, or 0 for a rate of 0 (unlimited).
    ///
    /// Linux, `cake_set_rate`: the rate is at least 64 bytes per second.
    pub(super) fn at(bytes_per_second: u64) -> ByteTime {
        if bytes_per_second == 0 {
            return ByteTime::default();
        }
        let rate = bytes_per_second.max(64);
        // The time of a byte is below 2³⁵ ps. A value of 46 bits leaves 18 bits for the number of bytes of a
        // packet.
        let whole = PICOSECONDS_PER_SECOND / rate;
        let shift = (46 - (u64::BITS - whole.leading_zeros())).min(40);
        let per_byte = ((u128::from(PICOSECONDS_PER_SECOND) << shift) / u128::from(rate)) as u64;
        ByteTime { per_byte, shift }
    }
    #[inline]
    pub(super) fn for_bytes(&self, bytes: u32) -> Time {
        Time::from_picoseconds((u64::from(bytes) * self.per_byte) >> self.shift)
    }
}

/// The clock of the shaper.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    pub(super) byte_time: ByteTime,
    /// The time of the next packet.
    next: Time,
    /// A second clock at two thirds of the rate, which only sent packets advance. If dropped packets count as
    /// sent (`ingress`), they delay the next packet at most until this time.
    failsafe: Time,
}

impl Pace {
    pub(super) fn new(byte_time: ByteTime) -> Pace {
        Pace { byte_time, ..Pace::default() }
    }
    /// Starts a busy period because a packet joins at `now`. The idle time before `now` gives no credit.
    #[inline]
    pub(super) fn restart(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }
    /// Returns the time until which the shaper delays all packets, or `None` if a packet may leave at `now`.
    #[inline]
    pub(super) fn holds_until(&self, now: Time) -> Option<Time> {
        let until = self.next.min(self.failsafe);
        (until > now).then_some(until)
    }
    /// Records that a packet of `bytes` counted bytes is sent. Linux, `cake_advance_shaper`: the clock
    /// advances from the time at which the packet could have been sent, not from the current time.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u32) {
        let takes = self.byte_time.for_bytes(bytes);
        self.next += takes;
        self.failsafe = self.failsafe + takes + Time::from_picoseconds(takes.as_picoseconds() / 2);
    }
    /// Records that a packet of `bytes` counted bytes is dropped, although the bottleneck has already
    /// transmitted it.
    pub(super) fn dropped(&mut self, bytes: u32) {
        self.next += self.byte_time.for_bytes(bytes);
    }
}

/// The clock of a tin: the time at which its share of the bandwidth covers its next packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TinClock {
    pub(super) byte_time: ByteTime,
    pub(super) next: Time,
}

impl TinClock {
    /// Starts a busy period of the tin because a packet joins it at `now`.
    #[inline]
    pub(super) fn restart(&mut self, now: Time) {
        self.next = self.next.max(now);
    }
    /// Records that a packet of `bytes` counted bytes leaves the tin at `now`. If the clock is in the past,
    /// it advances by the time of the packet. Otherwise the next packet of the tin is due at least one packet
    /// time after `now`.
    #[inline]
    pub(super) fn sent(&mut self, now: Time, bytes: u32) {
        let takes = self.byte_time.for_bytes(bytes);
        if self.next < now {
            self.next += takes;
        } else {
            self.next = self.next.max(now + takes);
        }
    }
}
