//! [`Lengths`]: the possible lengths of packets, and [`Measure`], the unit of amounts.

use std::collections::BTreeSet;

use perhop_qos::accounting::Accounting;
use perhop_qos::policy::WireConfig;

/// The possible lengths of packets, IP bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// A list of lengths, which is never empty.
    Few(BTreeSet<u32>),
    /// All lengths from the first number to the second.
    Between(u32, u32),
}

/// The largest number of lengths that are stored individually.
const MOST_KEPT: usize = 64;

impl Lengths {
    /// Creates a set that contains only `length`, IP bytes.
    pub fn exactly(length: u32) -> Lengths {
        Lengths::Few(BTreeSet::from([length]))
    }
    /// Creates a set of `lengths`. Returns `None` if there are none.
    pub fn among(lengths: impl IntoIterator<Item = u32>) -> Option<Lengths> {
        let few: BTreeSet<u32> = lengths.into_iter().collect();
        let (least, most) = (*few.first()?, *few.last()?);
        Some(if few.len() > MOST_KEPT { Lengths::Between(least, most) } else { Lengths::Few(few) })
    }
    /// Returns the shortest length, IP bytes.
    pub fn least(&self) -> u32 {
        match self {
            Lengths::Few(few) => few.first().copied().unwrap_or(0),
            Lengths::Between(least, _) => *least,
        }
    }
    /// Returns the longest length, IP bytes.
    pub fn most(&self) -> u32 {
        match self {
            Lengths::Few(few) => few.last().copied().unwrap_or(0),
            Lengths::Between(_, most) => *most,
        }
    }
    /// Returns the length of all packets, if all have the same length.
    pub fn only(&self) -> Option<u32> {
        (self.least() == self.most()).then(|| self.least())
    }
    /// Returns the union of both sets.
    pub fn union(&self, other: &Lengths) -> Lengths {
        match (self, other) {
            (Lengths::Few(_), Lengths::Few(_)) => Lengths::among(self.each().chain(other.each())),
            _ => None,
        }
        .unwrap_or(Lengths::Between(self.least().min(other.least()), self.most().max(other.most())))
    }
    /// Iterates over all lengths.
    pub fn each(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Lengths::Few(few) => Box::new(few.iter().copied()),
            Lengths::Between(least, most) => Box::new(*least..=*most),
        }
    }
    /// Returns the maximum of `value` over the lengths.
    pub fn greatest(&self, value: impl Fn(u32) -> f64) -> f64 {
        self.each().map(value).fold(0.0, f64::max)
    }
}

/// The unit in which packets are counted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // there are few, and they are copied
pub enum Measure {
    /// IP bytes, which are the unit of sources, buffers and results.
    Ip,
    /// Packets.
    Packets,
    /// The bytes that a policy's meters, shapers and schedulers count.
    Counted(Accounting),
    /// Wire bytes, including headers and framing.
    Wire(WireConfig),
}

impl Measure {
    /// Returns the amount of one packet of `length` IP bytes.
    pub fn amount(self, length: u32) -> f64 {
        match self {
            Measure::Ip => f64::from(length),
            Measure::Packets => 1.0,
            Measure::Counted(accounting) => f64::from(accounting.counted(length)),
            Measure::Wire(wire) => wire.bytes(u64::from(length)) as f64,
        }
    }
    /// Returns the largest ratio of the amount in this unit to the amount in `other`, over packets of
    /// `lengths`.
    pub fn per(self, other: Measure, lengths: &Lengths) -> f64 {
        if self == other {
            return 1.0;
        }
        lengths.greatest(|length| self.amount(length) / other.amount(length))
    }
    /// Returns the amount of the longest packet. It is the largest amount, because a longer packet never has
    /// fewer bytes of framing.
    pub fn most(self, lengths: &Lengths) -> f64 {
        self.amount(lengths.most())
    }
    /// Returns the amount of the shortest packet.
    pub fn least(self, lengths: &Lengths) -> f64 {
        self.amount(lengths.least())
    }
}

#[cfg(test)]
mod tests {
    use perhop_qos::framing::{Framing, HeaderStack};
    use perhop_qos::ring::RingConfig;
    use perhop_qos::units::Rate;

    use super::*;

    #[test]
    fn a_short_packet_takes_more_wire_bytes_per_ip_byte() {
        let wire = WireConfig {
            rate: Rate::from_bits_per_second(1_000_000),
            framing: Framing::Aal5Mux,
            headers: HeaderStack::default(),
            ring: RingConfig::default(),
        };
        let lengths = Lengths::among([40, 1500]).unwrap();
        // A packet of 40 bytes needs one cell of 53 bytes, a packet of 41 bytes needs two cells, and a packet
        // of 1500 bytes needs 32.
        assert_eq!(Measure::Wire(wire).per(Measure::Ip, &lengths), 53.0 / 40.0);
        assert_eq!(Measure::Wire(wire).per(Measure::Ip, &Lengths::Between(40, 1500)), 106.0 / 41.0);
        assert_eq!(Measure::Ip.per(Measure::Wire(wire), &lengths), 1500.0 / (32.0 * 53.0));
        assert_eq!(Measure::Packets.per(Measure::Ip, &lengths), 1.0 / 40.0);
    }

    #[test]
    fn many_lengths_are_kept_as_a_range() {
        let few = Lengths::exactly(100).union(&Lengths::exactly(60));
        assert_eq!((few.only(), few.each().collect::<Vec<_>>()), (None, vec![60, 100]));
        let many = Lengths::among(1..=100).unwrap();
        assert_eq!(many, Lengths::Between(1, 100));
        assert_eq!(many.union(&Lengths::exactly(200)), Lengths::Between(1, 200));
        assert_eq!(Lengths::exactly(9).only(), Some(9));
    }
}
