//! [`Marks`]: the ECN field and the link-layer marks of a packet, in one byte. [`Ingress`]: the input
//! interface of a packet, and which link-layer marks its headers carry.

use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{IpPrecedence, name_or_number::name_or_number};

/// The explicit congestion notification field (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotCapable = 0,
    /// ECT(1).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
    /// Congestion experienced.
    CongestionExperienced = 3,
}

impl Ecn {
    /// Returns the ECN field from the two low bits of `bits`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Ecn {
        match bits & 3 {
            0 => Ecn::NotCapable,
            1 => Ecn::Capable1,
            2 => Ecn::Capable0,
            _ => Ecn::CongestionExperienced,
        }
    }
}

/// A mark of the link layer, 0 to 7: the class of service (CoS) of a VLAN tag (IEEE 802.1Q clause 6.9.3), or
/// the traffic class (EXP) of an MPLS label (RFC 5462).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkMark(u8);

impl LinkMark {
    /// Returns the mark with this `value`, or `None` if the value is above 7.
    pub const fn new(value: u8) -> Option<LinkMark> {
        if value < 8 { Some(LinkMark(value)) } else { None }
    }
    /// The value, 0 to 7.
    pub const fn value(self) -> u8 {
        self.0
    }
}

/// Copies the three bits of the precedence, like label edge routers (RFC 3270 §2.6.3).
impl From<IpPrecedence> for LinkMark {
    fn from(precedence: IpPrecedence) -> LinkMark {
        LinkMark(precedence.value())
    }
}
impl FromStr for LinkMark {
    type Err = String;
    fn from_str(text: &str) -> Result<LinkMark, String> {
        let mark = text.parse().ok().and_then(LinkMark::new);
        mark.ok_or_else(|| format!("`{text}` is not a CoS or EXP: write a number from 0 to 7"))
    }
}
impl fmt::Display for LinkMark {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

name_or_number!(LinkMark, 7, "a CoS or EXP: a number from 0 to 7");

/// The ECN field, the class of service and the traffic class of a packet.
///
/// The [`Ingress`] of the packet records whether the packet has a tag that carries the class of service and
/// labels that carry the traffic class.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    const COS: u8 = 2;
    const EXP: u8 = 5;

    /// The ECN field.
    #[inline]
    pub const fn ecn(self) -> Ecn {
        Ecn::from_bits(self.0)
    }
    /// Returns these marks with the ECN field `ecn`.
    #[inline]
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> Marks {
        Marks(self.0 & !3 | ecn as u8)
    }
    /// The class of service. It is valid only if the packet has a tag.
    pub const fn cos(self) -> LinkMark {
        LinkMark(self.0 >> Marks::COS & 7)
    }
    pub(super) const fn with_cos(self, cos: LinkMark) -> Marks {
        Marks(self.0 & !(7 << Marks::COS) | cos.0 << Marks::COS)
    }
    /// The traffic class (EXP). It is valid only if the packet has labels.
    pub const fn exp(self) -> LinkMark {
        LinkMark(self.0 >> Marks::EXP)
    }
    pub(super) const fn with_exp(self, exp: LinkMark) -> Marks {
        Marks(self.0 & !(7 << Marks::EXP) | exp.0 << Marks::EXP)
    }
}

impl From<Ecn> for Marks {
    #[inline]
    fn from(ecn: Ecn) -> Marks {
        Marks(ecn as u8)
    }
}
impl fmt::Debug for Marks {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{:?}, CoS {}, EXP {}", self.ecn(), self.cos(), self.exp())
    }
}

/// The input interface of a packet, one of the first 16384 interfaces of the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub u16);

/// The link-layer marks that the headers of a link carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encapsulation {
    /// Whether the headers include a VLAN tag, which carries the class of service.
    pub tag: bool,
    /// Whether the headers include MPLS labels, which carry the traffic class.
    pub labels: bool,
}

/// The input interface of a packet, and which link-layer marks its headers carry. This node can add marks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Ingress(u16);

impl Ingress {
    /// The number of interfaces of a node that an [`Ingress`] can distinguish.
    pub const INTERFACES: usize = 1 << 14;
    const TAG: u16 = 1 << 15;
    const LABELS: u16 = 1 << 14;

    /// Creates the ingress of a packet that arrives on `interface`, from a link with this `encapsulation`.
    pub const fn new(interface: InterfaceId, encapsulation: Encapsulation) -> Ingress {
        Ingress(interface.0 & (Ingress::LABELS - 1)).carrying(encapsulation)
    }
    /// The input interface.
    pub const fn interface(self) -> InterfaceId {
        InterfaceId(self.0 & (Ingress::LABELS - 1))
    }
    pub(super) const fn has_tag(self) -> bool {
        self.0 & Ingress::TAG != 0
    }
    pub(super) const fn has_labels(self) -> bool {
        self.0 & Ingress::LABELS != 0
    }
    pub(super) const fn with_tag(self) -> Ingress {
        Ingress(self.0 | Ingress::TAG)
    }
    pub(super) const fn with_labels(self) -> Ingress {
        Ingress(self.0 | Ingress::LABELS)
    }
    pub(super) const fn carrying(self, Encapsulation { tag, labels }: Encapsulation) -> Ingress {
        let marks = if tag { Ingress::TAG } else { 0 } | if labels { Ingress::LABELS } else { 0 };
        Ingress(self.0 & (Ingress::LABELS - 1) | marks)
    }
}

/// Creates the ingress of a packet that arrives on an interface whose link carries no marks.
impl From<InterfaceId> for Ingress {
    fn from(interface: InterfaceId) -> Ingress {
        Ingress::new(interface, Encapsulation::default())
    }
}
impl fmt::Debug for Ingress {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (tag, labels) = (self.has_tag(), self.has_labels());
        write!(formatter, "{:?}, {:?}", self.interface(), Encapsulation { tag, labels })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{Dscp, Packet};

    fn mark(value: u8) -> LinkMark {
        LinkMark::new(value).unwrap()
    }

    proptest! {
        #[test]
        fn marks_are_independent(ecn in 0..4u8, cos in 0..8u8, exp in 0..8u8, interface in 0..1u16 << 14) {
            let mut packet = Packet { input: InterfaceId(interface).into(), ..Packet::default() };
            prop_assert_eq!((packet.cos(), packet.exp()), (None, None));
            packet.set_exp(mark(exp));
            packet.marks = packet.marks.with_ecn(Ecn::from_bits(ecn));
            packet.set_cos(mark(cos));
            prop_assert_eq!(packet.marks.ecn() as u8, ecn);
            prop_assert_eq!((packet.cos(), packet.exp()), (Some(mark(cos)), Some(mark(exp))));
            prop_assert_eq!(packet.input.interface(), InterfaceId(interface));
        }
    }

    /// Checks which marks reach the next node, over several links.
    #[test]
    fn marks_cross_the_links_that_carry_them() {
        let tagged = Encapsulation { tag: true, labels: false };
        let labeled = Encapsulation { tag: false, labels: true };
        let cross = |packet: &mut Packet, link: Encapsulation| {
            packet.depart(link);
            packet.arrive(Ingress::new(InterfaceId(3), link));
        };
        let dscp = "ef".parse::<Dscp>().unwrap();
        let mut packet = Packet { dscp, ..Packet::default() };
        cross(&mut packet, labeled);
        assert_eq!((packet.cos(), packet.exp()), (None, Some(mark(5))), "imposition copies the precedence");
        packet.dscp = Dscp::DEFAULT;
        cross(&mut packet, labeled);
        assert_eq!(packet.exp(), Some(mark(5)), "a swap keeps it");
        packet.set_exp(mark(3));
        packet.set_cos(mark(6));
        cross(&mut packet, labeled);
        assert_eq!((packet.cos(), packet.exp()), (None, Some(mark(3))), "no tag, no CoS");
        cross(&mut packet, tagged);
        assert_eq!(
            (packet.cos(), packet.exp()),
            (Some(mark(0)), None),
            "it is forgotten, not kept for later"
        );
        packet.set_cos(mark(4));
        cross(&mut packet, tagged);
        assert_eq!(packet.cos(), Some(mark(4)));
        packet.dscp = dscp;
        cross(&mut packet, labeled);
        assert_eq!(packet.exp(), Some(mark(5)), "an old EXP is not taken for one that was set");
    }
}
