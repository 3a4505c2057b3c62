//! [`Passed`]: the frames that bypass a port, by their contents.

use perhop_qos::conditioner::Count;
use perhop_qos::units::Rate;

/// The number of kinds that are counted individually. A usual link has fewer kinds, and the number is small
/// enough for a linear search.
const KINDS: usize = 16;
/// The length of the destination and source address, bytes.
const ADDRESSES: usize = 12;
/// Tags of IEEE 802.1Q and IEEE 802.1ad, and a proprietary tag that preceded 802.1ad.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// The lowest Ethernet type. A lower value of the type field is a length, and an LLC header follows (IEEE
/// 802.3 §3.2.6).
const LOWEST_TYPE: u16 = 0x0600;

/// The contents of a frame without an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The Ethernet type of the frame, after any VLAN tags.
    Type(u16),
    /// An LLC header, for example of the spanning tree protocol.
    Llc,
    /// A kind that is not counted individually.
    Other,
}

/// The frames that bypassed the port of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    /// Rate of the port.
    pub(crate) rate: Rate,
    kinds: [Option<(Kind, Count)>; KINDS],
    others: Count,
}

impl Passed {
    /// Creates empty counters for a port of `rate`.
    pub(super) fn with_rate(rate: Rate) -> Passed {
        Passed { rate, kinds: [None; KINDS], others: Count::default() }
    }
    /// Counts `frame`.
    pub(super) fn add(&mut self, frame: &[u8]) {
        let length = frame.len() as u32;
        let kind = Kind::from_frame(frame);
        let place = self.kinds.iter_mut().find(|place| place.is_none_or(|(known, _)| known == kind));
        match place {
            Some(place) => place.get_or_insert((kind, Count::default())).1.add(length),
            None => self.others.add(length),
        }
    }
    /// The counters by kind.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (Kind, Count)> {
        let others = (self.others.packets > 0).then_some((Kind::Other, self.others));
        self.kinds.iter().copied().flatten().chain(others)
    }
}

impl Kind {
    /// The contents of `frame`, an Ethernet frame.
    fn from_frame(frame: &[u8]) -> Kind {
        let mut fields = frame.get(ADDRESSES..).unwrap_or_default().chunks_exact(2);
        while let Some(&[high, low]) = fields.next() {
            match u16::from_be_bytes([high, low]) {
                tag if TAGS.contains(&tag) => fields.next(),
                length if length < LOWEST_TYPE => return Kind::Llc,
                carried => return Kind::Type(carried),
            };
        }
        Kind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(fields: &[u16]) -> Vec<u8> {
        let mut frame = vec![0; ADDRESSES];
        frame.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
        frame.resize(60, 0);
        frame
    }

    #[test]
    fn the_type_follows_the_tags() {
        assert_eq!(Kind::from_frame(&frame(&[0x8864])), Kind::Type(0x8864));
        assert_eq!(Kind::from_frame(&frame(&[0x88a8, 5, 0x8100, 7, 0x8847])), Kind::Type(0x8847));
        assert_eq!(Kind::from_frame(&frame(&[38])), Kind::Llc);
        assert_eq!(Kind::from_frame(&[0; 11]), Kind::Other);
    }
    #[test]
    fn kinds_above_the_limit_are_counted_together() {
        let mut passed = Passed::with_rate(Rate::from_bits_per_second(1));
        for number in 0..20 {
            passed.add(&frame(&[0x9000 + number]));
            passed.add(&frame(&[0x9000 + number]));
        }
        let counted: Vec<_> = passed.counted().collect();
        assert_eq!(counted.len(), KINDS + 1);
        assert_eq!(counted[3], (Kind::Type(0x9003), Count { packets: 2, bytes: 120 }));
        assert_eq!(counted[KINDS], (Kind::Other, Count { packets: 8, bytes: 480 }));
    }
}
