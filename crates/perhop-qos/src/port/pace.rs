//! [`Pace`]: how long the wire takes for a packet.

use crate::framing::Framing;
use crate::policy::WireConfig;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// How long the wire takes for a packet: framing and rate, without a division for most packets.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // what is asked for every packet comes last: beside what the port asks
pub(super) struct Pace {
    /// IP bytes of the last packet, and its time: most packets are as long as the one before.
    last: (u32, Time),
    rate: Rate,
    framing: Framing,
    /// Picoseconds of a wire byte where these are a whole number and the framing adds a constant, else 0.
    byte: u64,
    /// What the framing adds, and what a frame has at least, in bytes.
    added: u32,
    least: u32,
}

impl Pace {
    /// Where in it what is asked for every packet begins.
    pub(super) const ASKED: usize = std::mem::offset_of!(Pace, byte);

    pub(super) fn new(wire: &WireConfig) -> Pace {
        let (rate, framing) = (wire.rate, wire.framing);
        let per_second = 8 * PICOSECONDS_PER_SECOND;
        let is_whole = per_second.is_multiple_of(rate.as_bits_per_second());
        let (byte, added, least) = match framing.added_and_least() {
            Some((added, least)) if is_whole => {
                (per_second / rate.as_bits_per_second(), added as u32, least as u32)
            }
            _ => (0, 0, 0),
        };
        let last = (0, rate.transmission_time(framing.wire_bytes(0)));
        Pace { last, rate, framing, byte, added, least }
    }
    /// The time of a packet of `length` IP bytes.
    #[inline]
    pub(super) fn time(&mut self, length: u32) -> Time {
        self.known(length).unwrap_or_else(|| self.measure(length))
    }
    /// The time of a packet of `length` IP bytes, where it takes no division.
    #[inline]
    pub(super) fn known(&self, length: u32) -> Option<Time> {
        if self.byte > 0 {
            let bytes = (u64::from(length) + u64::from(self.added)).max(u64::from(self.least));
            return Some(Time::from_picoseconds(bytes * self.byte));
        }
        (self.last.0 == length).then_some(self.last.1)
    }
    #[inline(never)]
    fn measure(&mut self, length: u32) -> Time {
        self.last = (length, self.rate.transmission_time(self.framing.wire_bytes(u64::from(length))));
        self.last.1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ring::RingConfig;

    proptest! {
        #[test]
        fn the_short_way_is_the_division(
            framing in prop::sample::select(&Framing::ALL[..]),
            rate in prop_oneof![Just(100_000_000_000), Just(10_000_000), Just(2_000_000), Just(1_700_000), 1..400_000_000_000u64],
            lengths in prop::collection::vec(prop_oneof![0..200u32, 0..65_536u32], 1..20),
        ) {
            let rate = Rate::from_bits_per_second(rate);
            let mut pace = Pace::new(&WireConfig { rate, framing, ring: RingConfig::default() });
            for length in lengths {
                prop_assert_eq!(pace.time(length), rate.transmission_time(framing.wire_bytes(u64::from(length))));
            }
        }
    }
}
