//! [`Packet`]: the descriptor that travels through the data plane, and the header fields it carries.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::Time;

/// A differentiated services codepoint, 0 to 63 (RFC 2474).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// The codepoints with names: class selectors (RFC 2474), AF (RFC 2597), EF (RFC 3246),
/// voice-admit (RFC 5865), lower effort (RFC 8622).
const DSCP_NAMES: &[(&str, u8)] = &[
    ("default", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("ef", 46),
    ("va", 44),
    ("le", 1),
    ("cs0", 0),
];

impl Dscp {
    /// Best effort.
    pub const DEFAULT: Dscp = Dscp(0);
    /// Expedited forwarding (RFC 3246).
    pub const EF: Dscp = Dscp(46);

    /// The codepoint `value`, if it is one (0 to 63).
    pub const fn new(value: u8) -> Option<Dscp> {
        if value < 64 { Some(Dscp(value)) } else { None }
    }
    /// Its value, 0 to 63.
    pub const fn value(self) -> u8 {
        self.0
    }
    /// The IP precedence: the three high bits (RFC 791, RFC 2474 §4.2.2).
    pub const fn precedence(self) -> IpPrecedence {
        IpPrecedence(self.0 >> 3)
    }
    /// Whether it is one of the twelve AF codepoints (RFC 2597 §6).
    pub const fn is_assured_forwarding(self) -> bool {
        matches!((self.0 >> 3, self.0 & 7), (1..=4, 2 | 4 | 6))
    }
    /// The color that the codepoint itself carries: the drop precedence of an AF codepoint
    /// (RFC 2597 §6: AFx1 green, AFx2 yellow, AFx3 red), green for every other.
    pub const fn color(self) -> Color {
        let (class, drop_precedence) = (self.0 >> 3, self.0 & 7);
        match (class, drop_precedence) {
            (1..=4, 4) => Color::YELLOW,
            (1..=4, 6) => Color::RED,
            _ => Color::GREEN,
        }
    }
}

impl FromStr for Dscp {
    type Err = String;
    fn from_str(text: &str) -> Result<Dscp, String> {
        let lower = text.to_ascii_lowercase();
        let named = DSCP_NAMES.iter().find(|(name, _)| *name == lower).map(|(_, value)| Dscp(*value));
        let numbered = || lower.parse::<u8>().ok().and_then(Dscp::new);
        named.or_else(numbered).ok_or_else(|| {
            format!("\"{text}\" is not a DSCP: write a number from 0 to 63 or a name such as ef, af11, cs6, default")
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match DSCP_NAMES.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => formatter.pad(name),
            None => formatter.pad(&self.0.to_string()),
        }
    }
}

/// An IP precedence, 0 to 7 (RFC 791).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpPrecedence(u8);

/// The names of RFC 791, as routers write them, by value.
const PRECEDENCE_NAMES: [&str; 8] =
    ["routine", "priority", "immediate", "flash", "flash-override", "critical", "internet", "network"];

impl IpPrecedence {
    /// The precedence `value`, if it is one (0 to 7).
    pub const fn new(value: u8) -> Option<IpPrecedence> {
        if value < 8 { Some(IpPrecedence(value)) } else { None }
    }
    /// Its value, 0 to 7.
    pub const fn value(self) -> u8 {
        self.0
    }
    /// The class selector codepoint with this precedence (RFC 2474 §4.2.2.2).
    pub const fn class_selector(self) -> Dscp {
        Dscp(self.0 << 3)
    }
}

impl FromStr for IpPrecedence {
    type Err = String;
    fn from_str(text: &str) -> Result<IpPrecedence, String> {
        let lower = text.to_ascii_lowercase();
        let named =
            PRECEDENCE_NAMES.iter().position(|name| *name == lower).map(|index| IpPrecedence(index as u8));
        let numbered = || lower.parse::<u8>().ok().and_then(IpPrecedence::new);
        named.or_else(numbered).ok_or_else(|| {
            format!(
                "\"{text}\" is not an IP precedence: write a number from 0 to 7 or one of {}",
                PRECEDENCE_NAMES.join(", ")
            )
        })
    }
}

impl fmt::Display for IpPrecedence {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(PRECEDENCE_NAMES[usize::from(self.0)])
    }
}

/// Serde and schema for a header field that is written as a name or a number.
macro_rules! name_or_number {
    ($type:ident, $maximum:literal, $description:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                        formatter.write_str($description)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                    // TOML hands every integer over as a signed one.
                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": $description,
                    "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0, "maximum": $maximum }],
                })
            }
        }
    };
}

name_or_number!(Dscp, 63, "a DSCP: a number from 0 to 63 or a name such as ef, af11, cs6, default");
name_or_number!(
    IpPrecedence,
    7,
    "an IP precedence: a number from 0 to 7 or a name such as routine or critical"
);

/// Explicit congestion notification field (RFC 3168 §5).
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

/// A drop precedence level, the result of a meter: 0 is kept longest.
///
/// Three levels have names (RFC 2697); markers of the research literature use up to eight.
/// Color is the node's own knowledge: between nodes only the DSCP travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Color(u8);

impl Color {
    /// How many levels there can be.
    pub const COUNT: usize = 8;
    /// Conforming; drop precedence 0.
    pub const GREEN: Color = Color(0);
    /// Drop precedence 1.
    pub const YELLOW: Color = Color(1);
    /// Drop precedence 2; what a two-colour meter calls out of profile.
    pub const RED: Color = Color(2);

    /// Level `index`; anything above the last level is the last.
    pub const fn new(index: usize) -> Color {
        if index < Color::COUNT { Color(index as u8) } else { Color(Color::COUNT as u8 - 1) }
    }
    /// The level, 0 to 7.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FromStr for Color {
    type Err = String;
    fn from_str(text: &str) -> Result<Color, String> {
        match text {
            "green" => Ok(Color::GREEN),
            "yellow" => Ok(Color::YELLOW),
            "red" => Ok(Color::RED),
            _ => text
                .strip_prefix("dp")
                .unwrap_or(text)
                .parse::<usize>()
                .ok()
                .filter(|index| *index < Color::COUNT)
                .map(Color::new)
                .ok_or_else(|| format!("\"{text}\" is not a color: write green, yellow, red or dp0 to dp7")),
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            0 => formatter.pad("green"),
            1 => formatter.pad("yellow"),
            2 => formatter.pad("red"),
            level => formatter.pad(&format!("dp{level}")),
        }
    }
}

name_or_number!(Color, 7, "a color: green, yellow, red, or a drop precedence dp0 to dp7");

/// An IPv4 or IPv6 address in 16 bytes; IPv4 is kept as its IPv4-mapped form (RFC 4291 §2.5.5.2),
/// so that one prefix comparison serves both families.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address([u64; 2]);

impl Address {
    /// As a 128-bit number, most significant byte first.
    pub const fn to_bits(self) -> u128 {
        (self.0[0] as u128) << 64 | self.0[1] as u128
    }
    /// From the bytes of an IPv4 header.
    pub const fn from_ipv4(address: Ipv4Addr) -> Address {
        Address([0, 0xffff_0000_0000 | address.to_bits() as u64])
    }
    /// From the bytes of an IPv6 header.
    pub const fn from_ipv6(address: Ipv6Addr) -> Address {
        let bits = address.to_bits();
        Address([(bits >> 64) as u64, bits as u64])
    }
    /// The address as the standard library's type.
    pub const fn to_ip(self) -> IpAddr {
        Ipv6Addr::from_bits(self.to_bits()).to_canonical()
    }
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Address {
        match address {
            IpAddr::V4(v4) => Address::from_ipv4(v4),
            IpAddr::V6(v6) => Address::from_ipv6(v6),
        }
    }
}
impl Default for Address {
    fn default() -> Address {
        Address::from_ipv4(Ipv4Addr::UNSPECIFIED)
    }
}
impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.to_ip())
    }
}

/// The IP protocol number (RFC 790 and successors).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol(pub u8);

impl Protocol {
    /// Internet control messages.
    pub const ICMP: Protocol = Protocol(1);
    /// Transmission control protocol.
    pub const TCP: Protocol = Protocol(6);
    /// User datagram protocol.
    pub const UDP: Protocol = Protocol(17);
}

impl FromStr for Protocol {
    type Err = String;
    fn from_str(text: &str) -> Result<Protocol, String> {
        match text.to_ascii_lowercase().as_str() {
            "icmp" => Ok(Protocol::ICMP),
            "tcp" => Ok(Protocol::TCP),
            "udp" => Ok(Protocol::UDP),
            other => other.parse().map(Protocol).map_err(|_| {
                format!("\"{text}\" is not a protocol: write tcp, udp, icmp or a number from 0 to 255")
            }),
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Protocol::ICMP => formatter.pad("icmp"),
            Protocol::TCP => formatter.pad("tcp"),
            Protocol::UDP => formatter.pad("udp"),
            Protocol(number) => formatter.pad(&number.to_string()),
        }
    }
}

name_or_number!(Protocol, 255, "a protocol: tcp, udp, icmp or a number from 0 to 255");

/// What identifies a flow: addresses, ports and protocol (the five-tuple).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Where the packet comes from.
    pub source: Address,
    /// Where it goes.
    pub destination: Address,
    /// UDP or TCP source port; 0 where there is none.
    pub source_port: u16,
    /// UDP or TCP destination port; 0 where there is none.
    pub destination_port: u16,
    /// IP protocol.
    pub protocol: Protocol,
}

/// The interface by which a packet came into the node, numbered by the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceId(pub u16);

/// A packet's descriptor: the header fields that decide its treatment, never its bytes.
///
/// 64 bytes, one cache line. `payload` belongs to the driver (the simulator's flow and segment,
/// the live path's frame slot); nothing in this crate reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Source address.
    pub source: Address,
    /// Destination address.
    pub destination: Address,
    /// When the sender handed it to its first port.
    pub sent_at: Time,
    /// Opaque to the data plane.
    pub payload: u64,
    /// IP bytes: IP header to the end of the IP payload.
    pub length: u32,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// IP protocol.
    pub protocol: Protocol,
    /// Differentiated services codepoint.
    pub dscp: Dscp,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// This node's color of the packet.
    pub color: Color,
    /// Interface of arrival at this node.
    pub input: InterfaceId,
    /// Links it has crossed: what the IP header's time to live has counted down.
    pub hops: u8,
}

const _: () = assert!(size_of::<Packet>() <= 64, "a packet descriptor fills one cache line at most");

impl Packet {
    /// A packet of `length` IP bytes of flow `key`, everything else at its default.
    pub fn new(key: FlowKey, length: u32) -> Packet {
        Packet {
            source: key.source,
            destination: key.destination,
            source_port: key.source_port,
            destination_port: key.destination_port,
            protocol: key.protocol,
            length,
            ..Packet::default()
        }
    }
    /// Its five-tuple.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            source: self.source,
            destination: self.destination,
            source_port: self.source_port,
            destination_port: self.destination_port,
            protocol: self.protocol,
        }
    }
    /// What a node does first with a packet from the wire: it came in by `input`, and all that is
    /// known of its color is what its codepoint says.
    pub fn arrive(&mut self, input: InterfaceId) {
        self.input = input;
        self.color = self.dscp.color();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn af_codepoints_carry_their_drop_precedence() {
        let color = |name: &str| name.parse::<Dscp>().unwrap().color();
        for class in 1..=4 {
            assert_eq!(color(&format!("af{class}1")), Color::GREEN);
            assert_eq!(color(&format!("af{class}2")), Color::YELLOW);
            assert_eq!(color(&format!("af{class}3")), Color::RED);
        }
        assert_eq!(color("ef"), Color::GREEN);
        assert_eq!(color("cs4"), Color::GREEN);
    }

    #[test]
    fn names_read_back() {
        for value in 0..64 {
            let dscp = Dscp::new(value).unwrap();
            assert_eq!(dscp.to_string().parse(), Ok(dscp));
        }
        for value in 0..8 {
            let precedence = IpPrecedence::new(value).unwrap();
            assert_eq!(precedence.to_string().parse(), Ok(precedence));
            assert_eq!(precedence.class_selector().precedence(), precedence);
        }
        assert!("af14".parse::<Dscp>().is_err());
        assert!("64".parse::<Dscp>().is_err());
    }

    #[test]
    fn addresses_of_both_families_survive() {
        for text in ["10.0.0.1", "2001:db8::7"] {
            let ip: IpAddr = text.parse().unwrap();
            assert_eq!(Address::from(ip).to_ip(), ip);
        }
    }
}
