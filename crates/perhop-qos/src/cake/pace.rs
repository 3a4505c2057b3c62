//! [`Pace`]: the clocks of CAKE's shaper, one for all packets and one for each tin.

use crate::units::{PICOSECONDS_PER_SECOND, Time};

/// What a byte takes at a rate, so finely that a packet's time is a picosecond too short at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteTime {
    per_byte: u64,
    shift: u32,
}

impl ByteTime {
    /// At so many bytes per second; nothing where they are 0, which is no limit.
    ///
    /// Linux, `cake_set_rate`: at least 64 bytes per second.
    pub(super) fn at(bytes_per_second: u64) -> ByteTime {
        if bytes_per_second == 0 {
            return ByteTime::default();
        }
        let rate = bytes_per_second.max(64);
        // Below 2³⁵ ps per byte; 2⁴⁶ leaves 18 bits for the bytes of a packet.
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

/// When the next packet may be sent at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    pub(super) byte_time: ByteTime,
    next: Time,
    /// As `next`, but for packets that were dropped: where these are counted (`ingress`), a row of drops
    /// holds back no longer than that, at two thirds of the rate.
    failsafe: Time,
}

impl Pace {
    pub(super) fn new(byte_time: ByteTime) -> Pace {
        Pace { byte_time, ..Pace::default() }
    }
    /// Nothing waits when a packet joins at `now`: time that has passed is no credit.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }
    /// Until when all packets wait, if they must at `now`.
    #[inline]
    pub(super) fn holds_until(&self, now: Time) -> Option<Time> {
        let until = self.next.min(self.failsafe);
        (until > now).then_some(until)
    }
    /// A packet that counts `bytes` is sent. Linux, `cake_advance_shaper`: from when it might have been sent,
    /// not from now.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u32) {
        let takes = self.byte_time.for_bytes(bytes);
        self.next += takes;
        self.failsafe = self.failsafe + takes + Time::from_picoseconds(takes.as_picoseconds() / 2);
    }
    /// A packet that counts `bytes` has come this far and is dropped.
    pub(super) fn dropped(&mut self, bytes: u32) {
        self.next += self.byte_time.for_bytes(bytes);
    }
}

/// When a tin may send its next packet without exceeding its share.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TinClock {
    pub(super) byte_time: ByteTime,
    pub(super) next: Time,
}

impl TinClock {
    /// Nothing of the tin waits when a packet joins it at `now`.
    #[inline]
    pub(super) fn begin(&mut self, now: Time) {
        self.next = self.next.max(now);
    }
    /// A packet that counts `bytes` leaves the tin at `now`: who is behind its schedule keeps what it missed,
    /// who is ahead is not put back further than one packet from now.
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
