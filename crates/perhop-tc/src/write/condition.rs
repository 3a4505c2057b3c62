//! [`Conditions`]: writing of conditions as u32 matches, which compare masked header words.

use perhop_device::Missing;
use std::ops::RangeInclusive;

use perhop_analysis::{Field, PacketBox, PacketSpace, Set, TooComplex};
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};

/// Limit on the filters of a class, because each filter costs time for every packet.
const MOST_FILTERS: usize = 512;
/// Limit on the boxes of a condition.
const MOST_BOXES: usize = 4_000;
/// Fields that are not in the headers that u32 can read.
const UNSEEN: [(Field, &str, &str); 6] = [
    (Field::Color, "color", "tc has no packet colors"),
    (Field::HasCos, "cos", "the tag is not among the bytes that u32 reads"),
    (Field::Cos, "cos", "the tag is not among the bytes that u32 reads"),
    (Field::HasExp, "mpls-exp", "the label is not among the bytes that u32 reads"),
    (Field::Exp, "mpls-exp", "the label is not among the bytes that u32 reads"),
    (Field::Input, "input", "a filter of departing packets does not know their input"),
];
/// The u32 match that matches all packets.
pub(super) const ALL: &str = "match u32 0 0";
const IPV6_HEADER: u128 = 40;

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V4,
    V6,
}

impl Version {
    /// Both versions, in the order in which filters are written.
    pub(super) const BOTH: [Version; 2] = [Version::V4, Version::V6];

    /// Returns the protocol of a filter.
    pub(super) fn protocol(self) -> &'static str {
        match self {
            Version::V4 => "ip",
            Version::V6 => "ipv6",
        }
    }
    /// Returns the number of the version in [`Field::Family`].
    fn family(self) -> u128 {
        match self {
            Version::V4 => 0,
            Version::V6 => 1,
        }
    }
}

/// The matches of one filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    /// The version of IP that it matches.
    pub(super) version: Version,
    /// The matches.
    pub(super) words: String,
}

/// Whether a packet can match several filters of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// A packet can match several filters, of which the first decides.
    Allowed,
    /// A packet matches at most one filter. This is required for a policer whose packets continue, because it
    /// must count each packet once.
    Apart,
}

/// The sets of packets of a script's conditions.
pub(super) struct Conditions(PacketSpace);

impl Conditions {
    /// Creates the sets for the conditions of `policies`, with the input interfaces that they name.
    pub(super) fn new<'a>(policies: impl Iterator<Item = &'a PolicyConfig>) -> Conditions {
        Conditions(PacketSpace::naming(policies.flat_map(conditions_of)))
    }

    /// Returns the filters for packets that match all of `matches`, IPv4 first. `overlap` determines whether
    /// the filters may overlap.
    ///
    /// # Errors
    /// Linux cannot match a field, or the condition is too complex.
    pub(super) fn filters(
        &mut self,
        matches: &[MatchConfig],
        overlap: Overlap,
    ) -> Result<Vec<Filter>, Missing> {
        let set = self.set(matches).map_err(too_complex)?;
        for (field, key, reason) in UNSEEN {
            if self.0.asks(set, field) {
                return Err(Missing::new(format!("match {key}"), reason));
            }
        }
        let apart = self.filters_of(&[set]);
        if overlap == Overlap::Apart {
            return apart;
        }
        // Overlapping alternatives, such as address lists, need many more filters if they must be disjoint.
        let alternatives = self.alternatives_of_all(matches).map_err(too_complex)?;
        let alternatives = self.needed(alternatives).map_err(too_complex)?;
        let written = self.filters_of(&alternatives);
        match (apart, written) {
            (Ok(apart), Ok(written)) if apart.len() <= written.len() => Ok(apart),
            (apart, written) => written.or(apart),
        }
    }

    /// Returns the filters of some sets, IPv4 first.
    fn filters_of(&self, sets: &[Set]) -> Result<Vec<Filter>, Missing> {
        let mut boxes = Vec::new();
        for set in sets {
            boxes.extend(self.0.boxes(*set, MOST_BOXES).map_err(too_complex)?);
        }
        let mut found = Vec::new();
        for version in Version::BOTH {
            for region in &boxes {
                let is_there = |ranges: &[RangeInclusive<u128>]| {
                    ranges.iter().any(|range| range.contains(&version.family()))
                };
                if region.ranges(Field::Family).is_none_or(is_there) {
                    found.extend(filters_of_box(region, version)?);
                }
            }
        }
        if found.len() > MOST_FILTERS { Err(too_many(found.len())) } else { Ok(found) }
    }

    /// Returns alternative sets for `matches`. A packet that matches all of `matches` is in at least one set.
    fn alternatives_of_all(&mut self, matches: &[MatchConfig]) -> Result<Vec<Set>, TooComplex> {
        let mut found = vec![Set::ALL];
        for condition in matches {
            let own = self.alternatives(condition)?;
            found = self.both(&found, &own)?;
        }
        Ok(found)
    }

    fn alternatives(&mut self, condition: &MatchConfig) -> Result<Vec<Set>, TooComplex> {
        let own = MatchConfig { all: None, any: None, ..condition.clone() };
        let mut found = vec![self.0.taken_by(&own)?];
        if let Some(all) = &condition.all {
            let inner = self.alternatives_of_all(all)?;
            found = self.both(&found, &inner)?;
        }
        if let Some(any) = &condition.any {
            let inner =
                any.iter().map(|condition| self.alternatives(condition)).collect::<Result<Vec<_>, _>>()?;
            found = self.both(&found, &inner.concat())?;
        }
        Ok(found)
    }

    /// Returns the pairwise intersections of the two lists of sets.
    fn both(&mut self, first: &[Set], second: &[Set]) -> Result<Vec<Set>, TooComplex> {
        if first.len() * second.len() > MOST_BOXES {
            return Err(TooComplex);
        }
        let pairs = first.iter().flat_map(|term| second.iter().map(move |other| (*term, *other)));
        pairs.map(|(own, other)| self.0.and(own, other)).collect()
    }

    /// Returns the sets, without the sets all of whose packets are already in earlier sets.
    fn needed(&mut self, sets: Vec<Set>) -> Result<Vec<Set>, TooComplex> {
        let mut together = Set::NONE;
        let mut found = Vec::new();
        for set in sets {
            if self.0.minus(set, together)? != Set::NONE {
                together = self.0.or(together, set)?;
                found.push(set);
            }
        }
        Ok(found)
    }

    /// Returns the values below 256 of `field` in packets of a condition.
    pub(super) fn values(&mut self, matches: Option<&MatchConfig>, field: Field) -> Vec<u8> {
        let all = || vec![0..=u128::MAX >> (128 - field.bits())];
        let matches: Vec<MatchConfig> = matches.into_iter().cloned().collect();
        let ranges = self.set(&matches).and_then(|set| self.0.values(set, field, MOST_BOXES));
        ranges.unwrap_or_else(|_| all()).into_iter().flatten().map(|value| value as u8).collect()
    }

    fn set(&mut self, matches: &[MatchConfig]) -> Result<Set, TooComplex> {
        let sets = matches.iter().map(|condition| self.0.taken_by(condition)).collect::<Result<_, _>>()?;
        self.0.all(sets)
    }
}

fn too_complex(_: TooComplex) -> Missing {
    Missing::new("a condition", "the condition is too complex for a list of filters")
        .instead("split the class")
}

fn too_many(count: usize) -> Missing {
    Missing::new(
        format!("a condition of {count} filters"),
        format!("more than {MOST_FILTERS} filters are slow"),
    )
    .instead("split the class, or match fewer ranges")
}

fn conditions_of(policy: &PolicyConfig) -> Vec<&MatchConfig> {
    fn of_class(class: &ClassConfig) -> Vec<&MatchConfig> {
        class.matches.iter().chain(class.queueing.iter().flat_map(of_classes)).collect()
    }
    fn of_classes(queueing: &QueueingConfig) -> Vec<&MatchConfig> {
        queueing.classes.iter().flat_map(of_class).collect()
    }
    let stages = policy.conditioners.iter().filter_map(|stage| stage.matches.as_ref());
    stages.chain(policy.queueing.iter().flat_map(of_classes)).collect()
}

/// Returns the filters of a box for one version: a product of aligned blocks.
fn filters_of_box(region: &PacketBox, version: Version) -> Result<Vec<Filter>, Missing> {
    let mut products = vec![guard(region, version)];
    for (field, ranges) in region.fields().filter(|(field, _)| *field != Field::Family) {
        let words: Vec<String> = ranges.iter().flat_map(|range| words(field, range, version)).collect();
        if products.len() * words.len() > MOST_FILTERS {
            return Err(too_many(products.len() * words.len()));
        }
        products = products
            .iter()
            .flat_map(|before| {
                words.iter().map(move |own| [before.as_slice(), std::slice::from_ref(own)].concat())
            })
            .collect();
    }
    let joined = |words: Vec<String>| {
        let words = words.join(" ");
        Filter { version, words: if words.is_empty() { ALL.to_owned() } else { words } }
    };
    Ok(products.into_iter().map(joined).collect())
}

/// Returns the matches that ensure the position of the ports: the header has no options, and the packet is
/// the first fragment.
fn guard(region: &PacketBox, version: Version) -> Vec<String> {
    let has_ports =
        [Field::SourcePort, Field::DestinationPort].iter().any(|field| region.ranges(*field).is_some());
    if version == Version::V6 || !has_ports {
        return Vec::new();
    }
    ["match u8 0x05 0x0f at 0", "match u16 0 0x1fff at 6"].map(str::to_owned).to_vec()
}

/// Returns the matches of a range of values, one for each aligned block.
fn words(field: Field, range: &RangeInclusive<u128>, version: Version) -> Vec<String> {
    let (low, high) = (*range.start(), *range.end());
    match (field, version) {
        (Field::Source | Field::Destination, Version::V4) => {
            // An IPv4 address occupies the first 32 bits, and the other bits are zero.
            let (low, high) = (low.div_ceil(1 << 96), high >> 96);
            blocks(low, high, 32).map(|block| word(field, block, version)).collect()
        }
        (Field::Length, Version::V6) => {
            // The length field of IPv6 does not count the header.
            let Some(high) = high.checked_sub(IPV6_HEADER) else { return Vec::new() };
            let low = low.saturating_sub(IPV6_HEADER);
            blocks(low, high, field.bits()).map(|block| word(field, block, version)).collect()
        }
        _ => blocks(low, high, field.bits()).map(|block| word(field, block, version)).collect(),
    }
}

/// Returns the match of one block: a value and a mask.
fn word(field: Field, (value, mask): (u128, u128), version: Version) -> String {
    let is_six = version == Version::V6;
    match field {
        Field::Dscp if is_six => format!("match u16 {:#06x} {:#06x} at 0", value << 6, mask << 6),
        Field::Dscp => format!("match u8 {:#04x} {:#04x} at 1", value << 2, mask << 2),
        Field::Protocol => format!("match u8 {value:#04x} {mask:#04x} at {}", if is_six { 6 } else { 9 }),
        Field::Length => format!("match u16 {value:#06x} {mask:#06x} at {}", if is_six { 4 } else { 2 }),
        Field::SourcePort | Field::DestinationPort => {
            let at = if is_six { 40 } else { 20 } + if field == Field::DestinationPort { 2 } else { 0 };
            format!("match u16 {value:#06x} {mask:#06x} at {at}")
        }
        Field::Source => address(value, mask, if is_six { (8, 4) } else { (12, 1) }),
        Field::Destination => address(value, mask, if is_six { (24, 4) } else { (16, 1) }),
        // A label corresponds to the packet mark in the kernel.
        _ => format!("match mark {value:#x} {mask:#x}"),
    }
}

fn address(value: u128, mask: u128, (at, words): (u32, u32)) -> String {
    let part = |number: u128, word: u32| number >> (32 * (words - 1 - word)) & 0xffff_ffff;
    let compared = (0..words).filter(|word| part(mask, *word) != 0);
    let matches: Vec<String> = compared
        .map(|word| {
            format!("match u32 {:#010x} {:#010x} at {}", part(value, word), part(mask, word), at + 4 * word)
        })
        .collect();
    if matches.is_empty() { ALL.to_owned() } else { matches.join(" ") }
}

/// Divides an interval of values of `bits` bits into aligned blocks. A block is a value and a mask.
fn blocks(low: u128, high: u128, bits: u32) -> impl Iterator<Item = (u128, u128)> {
    let whole = u128::MAX >> (128 - bits);
    let mut next = Some(low).filter(|low| *low <= high);
    std::iter::from_fn(move || {
        let low = next?;
        // The bits below the lowest set bit give the largest aligned block. It is halved until it fits into
        // the interval.
        let mut inside = if low == 0 { whole } else { (low & low.wrapping_neg()) - 1 };
        while inside > high - low {
            inside >>= 1;
        }
        next = (low + inside).checked_add(1).filter(|next| *next <= high);
        Some((low, whole & !inside))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_cover_an_interval_exactly(first in 0u128..256, other in 0u128..256) {
            let (low, high) = (first.min(other), first.max(other));
            let found: Vec<_> = blocks(low, high, 8).collect();
            let covered = (0..256).filter(|value| found.iter().any(|(first, mask)| value & mask == *first));
            prop_assert!(covered.eq(low..=high));
        }
    }

    #[test]
    fn a_whole_field_and_a_half_are_one_block() {
        assert_eq!(blocks(0, 65535, 16).collect::<Vec<_>>(), [(0, 0)]);
        assert_eq!(blocks(16384, 32767, 16).collect::<Vec<_>>(), [(0x4000, 0xC000)]);
        assert_eq!(blocks(0, u128::MAX, 128).collect::<Vec<_>>(), [(0, 0)]);
    }
}
