//! [`Pace`]: the transmission time of a packet on the wire.

use super::rate_changes::{RateChange, RateChanges};
use crate::ConfigError;
use crate::framing::{Framing, HeaderStack};
use crate::policy::WireConfig;
use crate::units::{PICOSECONDS_PER_SECOND, Rate, Time};

/// Computes the transmission time of a packet from the headers, the framing and the rate. Most packets need
/// no division.
#[derive(Clone, Debug)]
#[repr(C)] // fields that every packet reads come last, next to those of the port
pub(super) struct Pace {
    /// The options that few wires have, or `None` if this wire has none of them.
    rare: Option<Box<Rare>>,
    /// The transmission time of a packet of `last_length`. It is stored because most packets have the length
    /// of the previous packet.
    last_time: Time,
    rate: Rate,
    /// The length of the last packet, IP bytes.
    last_length: u32,
    /// The bytes that the headers add to each packet, if the number is constant.
    constant: u16,
    framing: Framing,
    /// The picoseconds per wire byte. It is 0 if the number is not an integer, if the rate changes, or if
    /// headers and framing do not add a constant number of bytes.
    byte: u64,
    /// The bytes that headers and framing add together.
    added: u32,
    /// The minimum length of a frame, wire bytes.
    least: u32,
}

/// Options that few wires have.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// The headers, if their length depends on the packet.
    headers: Option<HeaderStack>,
    /// The rates over time, if the rate changes.
    changes: Option<RateChanges>,
}

impl Pace {
    /// The offset of `byte`, `added` and `least`, the fields that the cut-through path reads for each packet.
    pub(super) const CUT_THROUGH_OFFSET: usize = std::mem::offset_of!(Pace, byte);

    pub(super) fn new(wire: &WireConfig) -> Pace {
        let WireConfig { rate, framing, headers, .. } = *wire;
        let per_second = 8 * PICOSECONDS_PER_SECOND;
        let is_whole = per_second.is_multiple_of(rate.as_bits_per_second());
        let (byte, added, least) = match (headers.added(), framing.added_and_least()) {
            (Some(constant), Some((added, least))) if is_whole => {
                (per_second / rate.as_bits_per_second(), (constant + added) as u32, least as u32)
            }
            _ => (0, 0, 0),
        };
        let mut pace = Pace {
            rare: headers.added().is_none().then(|| Box::new(Rare { headers: Some(headers), changes: None })),
            last_time: Time::ZERO,
            rate,
            last_length: 0,
            constant: headers.added().unwrap_or(0) as u16,
            framing,
            byte,
            added,
            least,
        };
        pace.measure(Time::ZERO, 0);
        pace
    }
    /// Sets the changes of the rate. The transmission time of a packet then depends on its start.
    pub(super) fn changing(self, changes: &[RateChange]) -> Result<Pace, ConfigError> {
        let changes = Some(RateChanges::new(self.rate, changes)?);
        let headers = self.rare.as_ref().and_then(|rare| rare.headers);
        Ok(Pace {
            rare: Some(Box::new(Rare { headers, changes })),
            byte: 0,
            last_length: Pace::NO_LENGTH,
            ..self
        })
    }
    /// A value that is not the length of any packet.
    const NO_LENGTH: u32 = u32::MAX;
    /// Returns the transmission time of a packet of `length` IP bytes whose first bit is sent at `starts`.
    #[inline]
    pub(super) fn time(&mut self, starts: Time, length: u32) -> Time {
        self.known(length).unwrap_or_else(|| self.measure(starts, length))
    }
    /// Returns the transmission time of a packet of `length` IP bytes, or `None` if the time needs a division
    /// or depends on the start.
    #[inline]
    pub(super) fn known(&self, length: u32) -> Option<Time> {
        if self.byte > 0 {
            let bytes = (u64::from(length) + u64::from(self.added)).max(u64::from(self.least));
            return Some(Time::from_picoseconds(bytes * self.byte));
        }
        (self.last_length == length).then_some(self.last_time)
    }
    #[inline(never)]
    fn measure(&mut self, starts: Time, length: u32) -> Time {
        let ip = u64::from(length);
        let headers = self.rare.as_ref().and_then(|rare| rare.headers.as_ref());
        let bytes = headers.map_or(ip + u64::from(self.constant), |headers| headers.bytes(ip));
        let bytes = self.framing.wire_bytes(bytes);
        if let Some(changes) = self.rare.as_ref().and_then(|rare| rare.changes.as_ref()) {
            return changes.time(starts, bytes);
        }
        self.last_length = length;
        self.last_time = self.rate.transmission_time(bytes);
        self.last_time
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::framing::{Esp, EspCipher, EspIntegrity, EspMode, GreTunnel, Header, IpVersion, VlanTag};
    use crate::ring::RingConfig;

    const HEADERS: [Header; 3] = [
        Header::Gre(GreTunnel { key: true, checksum: false, sequence: false, over: IpVersion::Ipv4 }),
        Header::Esp(Esp {
            cipher: EspCipher::AesCbc,
            integrity: EspIntegrity::Sha1,
            mode: EspMode::Transport,
            nat_t: false,
            over: IpVersion::Ipv4,
        }),
        Header::Vlan(VlanTag { id: 7 }),
    ];

    proptest! {
        #[test]
        fn the_shortcut_equals_the_division(
            framing in prop::sample::select(&Framing::ALL[..]),
            headers in prop::sample::subsequence(HEADERS.to_vec(), 0..=HEADERS.len()),
            rate in prop_oneof![Just(100_000_000_000), Just(10_000_000), Just(2_000_000), Just(1_700_000), 1..400_000_000_000u64],
            lengths in prop::collection::vec(prop_oneof![0..200u32, 0..65_536u32], 1..20),
        ) {
            let rate = Rate::from_bits_per_second(rate);
            let headers = HeaderStack::new(&headers).unwrap();
            let mut pace = Pace::new(&WireConfig { rate, framing, headers, ring: RingConfig::default() });
            for length in lengths {
                let bytes = framing.wire_bytes(headers.bytes(u64::from(length)));
                prop_assert_eq!(pace.time(Time::ZERO, length), rate.transmission_time(bytes));
            }
        }
    }
}
