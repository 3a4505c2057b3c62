//! [`Conditions`]: sets of packets as the conditions of terms.
//!
//! A term matches the packets whose fields are each in a range of values. Such packets are a box in the space
//! of all packets.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::RangeInclusive;

use perhop_analysis::{Field, PacketBox, PacketSpace, Set};
use perhop_device::Missing;

use super::outcomes::too_complex;
use crate::cos::LossPriority;

/// The maximum number of terms for one set.
const MOST_BOXES: usize = 256;
/// Fields that a filter of Junos does not match.
const UNSEEN: [(Field, &str, &str); 5] = [
    (Field::Input, "input", "a filter cannot match the interface of arrival"),
    (Field::HasCos, "cos", "a filter of IP packets does not see the tag"),
    (Field::Cos, "cos", "a filter of IP packets does not see the tag"),
    (Field::HasExp, "mpls-exp", "a filter of IP packets does not see the label stack"),
    (Field::Exp, "mpls-exp", "a filter of IP packets does not see the label stack"),
];

/// A version of IP, which is a family of filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    V4,
    V6,
}

impl Version {
    pub(super) const BOTH: [Version; 2] = [Version::V4, Version::V6];

    /// Returns the family of filters and units.
    pub(super) fn family(self) -> &'static str {
        match self {
            Version::V4 => "inet",
            Version::V6 => "inet6",
        }
    }
}

/// The conditions of a term; none for all packets.
pub(super) type From = Vec<String>;

/// The names of labels as forwarding classes.
pub(super) struct Conditions<'c> {
    pub(super) space: &'c mut PacketSpace,
    pub(super) labels: &'c BTreeMap<u8, String>,
}

impl Conditions<'_> {
    /// Returns the conditions for the packets of a set, one for each term.
    ///
    /// # Errors
    /// A filter cannot match a field, or the set needs too many terms.
    pub(super) fn of_set(&mut self, set: Set, version: Version) -> Result<Vec<From>, Missing> {
        for (field, key, reason) in UNSEEN {
            if self.space.asks(set, field) {
                return Err(Missing::new(format!("match {key}"), reason));
            }
        }
        let own = self.space.given(set, &[(Field::Family, u128::from(version == Version::V6))]);
        let boxes = self.space.boxes(own.map_err(too_complex)?, MOST_BOXES).map_err(too_complex)?;
        let mut found = Vec::new();
        for region in &boxes {
            found.extend(self.of_box(region, version)?);
        }
        Ok(found)
    }

    /// Returns the conditions of a box; `None` if no packet of the version is in it.
    fn of_box(&self, region: &PacketBox, version: Version) -> Result<Option<From>, Missing> {
        let mut lines = Vec::new();
        for (field, ranges) in region.fields().filter(|(field, _)| *field != Field::Family) {
            let before = lines.len();
            for range in ranges {
                self.add(field, range, version, &mut lines)?;
            }
            if lines.len() == before {
                return Ok(None);
            }
        }
        Ok(Some(lines))
    }

    fn add(
        &self,
        field: Field,
        range: &RangeInclusive<u128>,
        version: Version,
        lines: &mut From,
    ) -> Result<(), Missing> {
        let (low, high) = (*range.start(), *range.end());
        let each = |key: &str| (low..=high).map(|value| format!("{key} {value}")).collect::<Vec<String>>();
        match (field, version) {
            (Field::Dscp, Version::V4) => lines.extend(each("dscp")),
            (Field::Dscp, Version::V6) => lines.extend(each("traffic-class")),
            (Field::Protocol, Version::V4) => lines.extend(each("protocol")),
            (Field::Protocol, Version::V6) => lines.extend(each("payload-protocol")),
            (Field::SourcePort, _) => lines.push(format!("source-port {}", span(low, high))),
            (Field::DestinationPort, _) => lines.push(format!("destination-port {}", span(low, high))),
            (Field::Length, _) => lines.push(format!("packet-length {}", span(low, high))),
            (Field::Source, _) => lines.extend(prefixes("source-address", (low, high), version)),
            (Field::Destination, _) => lines.extend(prefixes("destination-address", (low, high), version)),
            (Field::Label, _) => {
                let own = self.labels.iter().filter(|(label, _)| range.contains(&u128::from(**label)));
                lines.extend(own.map(|(_, name)| format!("forwarding-class {name}")));
            }
            (Field::Color, _) => {
                let own = LossPriority::ALL.into_iter().filter(|loss| range.contains(&(*loss as u128)));
                lines.extend(own.map(|loss| format!("loss-priority {}", loss.name())));
            }
            (other, _) => {
                return Err(Missing::new(format!("{other:?}"), "a filter of Junos does not match it"));
            }
        }
        Ok(())
    }
}

fn span(low: u128, high: u128) -> String {
    if low == high { low.to_string() } else { format!("{low}-{high}") }
}

/// Returns the prefixes of an interval of addresses.
fn prefixes(key: &str, (low, high): (u128, u128), version: Version) -> Vec<String> {
    let (low, high, bits) = match version {
        // An IPv4 address is the first 32 bits, followed by zeros.
        Version::V4 => (low.div_ceil(1 << 96), high >> 96, 32),
        Version::V6 => (low, high, 128),
    };
    let text = |(first, length): (u128, u32)| match version {
        Version::V4 => format!("{key} {}/{length}", Ipv4Addr::from(first as u32)),
        Version::V6 => format!("{key} {}/{length}", Ipv6Addr::from(first)),
    };
    blocks(low, high, bits).map(text).collect()
}

/// Iterates over the aligned blocks of an interval: first value and length of the prefix.
fn blocks(low: u128, high: u128, bits: u32) -> impl Iterator<Item = (u128, u32)> {
    let mut next = Some(low).filter(|low| *low <= high);
    std::iter::from_fn(move || {
        let low = next?;
        let mut free = if low == 0 { bits } else { low.trailing_zeros().min(bits) };
        while last_of(low, free) > high {
            free -= 1;
        }
        next = last_of(low, free).checked_add(1).filter(|next| *next <= high);
        Some((low, bits - free))
    })
}

/// Returns the last value of the aligned block of 2^`free` values that begins at `low`.
fn last_of(low: u128, free: u32) -> u128 {
    low | u128::MAX.checked_shr(128 - free).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_become_prefixes() {
        let of = |low: [u8; 4], high: [u8; 4]| {
            let value = |bytes: [u8; 4]| u128::from(u32::from_be_bytes(bytes)) << 96;
            prefixes("a", (value(low), value(high) | u128::MAX >> 32), Version::V4)
        };
        assert_eq!(of([10, 0, 0, 0], [10, 255, 255, 255]), ["a 10.0.0.0/8"]);
        assert_eq!(of([10, 0, 0, 1], [10, 0, 0, 4]), ["a 10.0.0.1/32", "a 10.0.0.2/31", "a 10.0.0.4/32"]);
        assert_eq!(of([0; 4], [255; 4]), ["a 0.0.0.0/0"]);
        assert_eq!(prefixes("a", (0, u128::MAX), Version::V6), ["a ::/0"]);
    }
}
