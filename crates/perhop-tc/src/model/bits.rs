//! [`Bits`]: header bits that a filter requires, and their conversion to a condition.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_qos::Dscp;
use perhop_qos::classifier::{LengthRange, MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::Protocol;

use super::condition::{Condition, Family};
use crate::log::Log;
use crate::rules;

/// Limit on the header bytes that a filter can match: an IPv6 header and the ports after it.
const BYTES: usize = 44;
/// Limit on the ranges of one field, because a longer condition would be unreadable.
const MOST_RANGES: u32 = 256;

/// The values and masks of each byte of the network header.
#[derive(Clone, Debug)]
pub(crate) struct Bits {
    value: [u8; BYTES],
    mask: [u8; BYTES],
    /// Whether the filter matches bytes outside the model.
    pub(crate) is_beyond: bool,
    /// Whether two requirements contradict each other.
    is_contradictory: bool,
}

impl Default for Bits {
    fn default() -> Bits {
        Bits { value: [0; BYTES], mask: [0; BYTES], is_beyond: false, is_contradictory: false }
    }
}

impl Bits {
    /// Requires `value` under `mask` at `offset`. Value and mask have `bytes` bytes.
    pub(crate) fn demand(&mut self, offset: i64, bytes: usize, value: u128, mask: u128) {
        for index in 0..bytes {
            let shift = 8 * (bytes - 1 - index);
            let (value, mask) = ((value >> shift) as u8, (mask >> shift) as u8);
            if mask == 0 {
                continue;
            }
            let at = offset.checked_add_unsigned(index as u64).and_then(|at| usize::try_from(at).ok());
            let Some(at) = at.filter(|at| *at < BYTES) else {
                self.is_beyond = true;
                continue;
            };
            let both = self.mask[at] & mask;
            self.is_contradictory |= (self.value[at] ^ value) & both != 0;
            self.mask[at] |= mask;
            self.value[at] |= value & mask;
        }
    }

    fn number(&self, from: usize, bytes: usize) -> (u128, u128) {
        let join =
            |all: &[u8]| all[from..from + bytes].iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        (join(&self.value), join(&self.mask))
    }

    /// Returns the condition. If a required bit is outside the model, reports it in `log` and returns `None`.
    pub(crate) fn condition(&self, family: Family, line: usize, log: &mut Log) -> Option<Condition> {
        let mut decoded = Decoded { matches: MatchConfig::default(), is_never: self.is_contradictory };
        let is_six = family == Family::Six;
        let unseen =
            if is_six { self.six(&mut decoded, line, log) } else { self.four(&mut decoded, line, log) };
        let unseen = unseen.err().or(self.is_beyond.then_some("bytes after the ports"));
        if let Some(what) = unseen {
            log.not_modelled(line, format!("the filter matches {what}, which perhop's packets do not have"));
            return None;
        }
        Some(Condition { family, matches: decoded.matches, is_never: decoded.is_never, is_unseen: false })
    }

    /// Decodes an IPv4 header (RFC 791 §3.1).
    fn four(&self, decoded: &mut Decoded, line: usize, log: &mut Log) -> Result<(), &'static str> {
        decoded.is_never |= 0x45 & self.mask[0] != self.value[0];
        decoded.service(self.value[1], self.mask[1], line, log);
        decoded.matches.length = lengths(self.number(2, 2), 0)?;
        self.none(4..6, "the identification")?;
        let (flags, of_flags) = self.number(6, 2);
        if of_flags & 0x4000 != 0 {
            return Err("the DF flag");
        }
        // Packets in perhop are not fragments: the flag for more fragments and the offset are 0.
        decoded.is_never |= flags & of_flags != 0;
        self.none(8..9, "the time to live")?;
        decoded.protocol(self.value[9], self.mask[9]);
        self.none(10..12, "the checksum")?;
        decoded.matches.source = self.prefix(12, 4)?;
        decoded.matches.destination = self.prefix(16, 4)?;
        self.ports(20, decoded)?;
        self.none(24..BYTES, "bytes after the ports")
    }

    /// Decodes an IPv6 header (RFC 8200 §3).
    fn six(&self, decoded: &mut Decoded, line: usize, log: &mut Log) -> Result<(), &'static str> {
        let (first, of_first) = self.number(0, 2);
        decoded.is_never |= 0x6000 & of_first & 0xf000 != first & 0xf000;
        decoded.service((first >> 4) as u8, (of_first >> 4) as u8, line, log);
        if of_first & 0xf != 0 || self.mask[2..4] != [0, 0] {
            return Err("the flow label");
        }
        decoded.matches.length = lengths(self.number(4, 2), 40)?;
        decoded.protocol(self.value[6], self.mask[6]);
        self.none(7..8, "the hop limit")?;
        decoded.matches.source = self.prefix(8, 16)?;
        decoded.matches.destination = self.prefix(24, 16)?;
        self.ports(40, decoded)
    }

    fn none(&self, bytes: std::ops::Range<usize>, what: &'static str) -> Result<(), &'static str> {
        if self.mask[bytes].iter().all(|mask| *mask == 0) { Ok(()) } else { Err(what) }
    }

    fn prefix(&self, at: usize, bytes: usize) -> Result<Option<OneOrMany<Prefix>>, &'static str> {
        let (value, mask) = self.number(at, bytes);
        let width = 8 * bytes as u32;
        let length = mask.count_ones();
        if length == 0 {
            return Ok(None);
        }
        let whole = u128::MAX >> (128 - width);
        let is_prefix = mask == whole & !whole.checked_shr(length).unwrap_or(0);
        let address = if bytes == 4 {
            IpAddr::V4(Ipv4Addr::from_bits(value as u32))
        } else {
            IpAddr::V6(Ipv6Addr::from_bits(value))
        };
        let prefix = Prefix::new(address, length as u8).ok().filter(|_| is_prefix);
        prefix.map(|prefix| Some(prefix.into())).ok_or("an address with a mask that is not a prefix")
    }

    fn ports(&self, at: usize, decoded: &mut Decoded) -> Result<(), &'static str> {
        let port = |at| -> Result<Option<OneOrMany<PortRange>>, &'static str> {
            let (value, mask) = self.number(at, 2);
            if mask == 0 {
                return Ok(None);
            }
            let ranges = ranges(value as u16, mask as u16).ok_or("a port with an unusual mask")?;
            let range = |(first, last)| PortRange::new(first, last).ok();
            Ok(Some(OneOrMany(ranges.into_iter().filter_map(range).collect())))
        };
        decoded.matches.source_port = port(at)?;
        decoded.matches.destination_port = port(at + 2)?;
        Ok(())
    }
}

/// The condition so far.
struct Decoded {
    matches: MatchConfig,
    is_never: bool,
}

impl Decoded {
    /// Decodes the type of service: the codepoint, and the two ECN bits.
    fn service(&mut self, value: u8, mask: u8, line: usize, log: &mut Log) {
        if mask & 3 != 0 {
            let message =
                "the filter also compares the ECN bits, so it misses packets of ECN-capable connections";
            let linux = "perhop compares only the codepoint; write the mask 0xfc";
            log.found(&rules::TC_ECN_BITS_MATCHED, line, message, linux);
        }
        let (value, mask) = (value >> 2, mask >> 2);
        if mask == 0 {
            return;
        }
        let codepoints = (0..64).filter(|codepoint| codepoint & mask == value & mask).filter_map(Dscp::new);
        self.matches.dscp = Some(OneOrMany(codepoints.collect()));
    }
    fn protocol(&mut self, value: u8, mask: u8) {
        if mask != 0 {
            let all = (0..=u8::MAX).filter(|number| number & mask == value).map(Protocol);
            self.matches.protocol = Some(OneOrMany(all.collect()));
        }
    }
}

/// Returns the IP lengths for the values of a length field, which does not count `less` bytes of the packet.
fn lengths((value, mask): (u128, u128), less: u16) -> Result<Option<OneOrMany<LengthRange>>, &'static str> {
    if mask == 0 {
        return Ok(None);
    }
    let ranges = ranges(value as u16, mask as u16).ok_or("a length with an unusual mask")?;
    let range = |(first, last): (u16, u16)| {
        LengthRange::new(first.saturating_add(less), last.saturating_add(less)).ok()
    };
    Ok(Some(OneOrMany(ranges.into_iter().filter_map(range).collect())))
}

/// Returns the numbers with `value` under `mask` as ranges; `None` if there are too many ranges.
pub(crate) fn ranges(value: u16, mask: u16) -> Option<Vec<(u16, u16)>> {
    let below = (mask.trailing_zeros()).min(16);
    let low = if below == 16 { u16::MAX } else { (1 << below) - 1 };
    let free = !mask & !low;
    if free.count_ones() >= 32 || 1_u32 << free.count_ones() > MOST_RANGES {
        return None;
    }
    let mut found = Vec::new();
    let mut part = 0_u16;
    loop {
        let first = value & mask | part;
        found.push((first, first | low));
        // The next subset of the free bits.
        part = part.wrapping_sub(free) & free;
        if part == 0 {
            break;
        }
    }
    found.sort_unstable();
    let mut joined: Vec<(u16, u16)> = Vec::new();
    for (first, last) in found {
        match joined.last_mut() {
            Some(before) if before.1.checked_add(1) == Some(first) => before.1 = last,
            _ => joined.push((first, last)),
        }
    }
    Some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_match_a_mask() {
        assert_eq!(ranges(80, 0xffff), Some(vec![(80, 80)]));
        assert_eq!(ranges(0x4000, 0xc000), Some(vec![(0x4000, 0x7fff)]));
        assert_eq!(ranges(1, 1), None);
        for (value, mask) in [(5, 0xff0f), (0x30, 0xfff0), (3, 0x7fff), (0, 0)] {
            let all = ranges(value, mask).expect("few ranges");
            let is_in = |number: u16| all.iter().any(|(first, last)| (*first..=*last).contains(&number));
            assert!((0..=u16::MAX).all(|number| is_in(number) == (number & mask == value)), "{value} {mask}");
        }
    }
}
