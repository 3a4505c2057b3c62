//! [`Field`]: conditions on other header fields than the DS field and on the input interface, the multi-field
//! classifier of RFC 2475 §2.3.1. [`Prefix`]: an address prefix.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::range::{LengthRange, PortRange};
use crate::packet::{Address, Color, InterfaceId, LinkMark, Packet, Protocol};

/// A condition on one field. A packet meets it if the field has any of the values.
#[derive(Clone, Debug)]
pub(super) enum Field {
    Source(Vec<Prefix>),
    Destination(Vec<Prefix>),
    Protocol(Vec<Protocol>),
    SourcePort(Vec<PortRange>),
    DestinationPort(Vec<PortRange>),
    Color(Vec<Color>),
    Label(Vec<u8>),
    Cos(LinkMarks),
    Exp(LinkMarks),
    Length(Vec<LengthRange>),
    Input(Vec<InterfaceId>),
}

/// A set of CoS or EXP values, with one bit for each of the 8 values.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkMarks(u8);

impl LinkMarks {
    pub(super) fn from_marks(marks: &[LinkMark]) -> LinkMarks {
        LinkMarks(marks.iter().fold(0, |bits, mark| bits | 1 << mark.value()))
    }
    fn contains(self, mark: LinkMark) -> bool {
        self.0 >> mark.value() & 1 == 1
    }
}

impl Field {
    pub(super) fn matches(&self, packet: &Packet) -> bool {
        match self {
            Field::Source(prefixes) => prefixes.iter().any(|prefix| prefix.contains(packet.source)),
            Field::Destination(prefixes) => prefixes.iter().any(|prefix| prefix.contains(packet.destination)),
            Field::Protocol(protocols) => protocols.contains(&packet.protocol),
            Field::SourcePort(ranges) => has_ports(packet.protocol) && within(ranges, packet.source_port),
            Field::DestinationPort(ranges) => {
                has_ports(packet.protocol) && within(ranges, packet.destination_port)
            }
            Field::Color(colors) => colors.contains(&packet.color),
            Field::Label(labels) => labels.contains(&packet.label),
            Field::Cos(marks) => packet.cos().is_some_and(|cos| marks.contains(cos)),
            Field::Exp(marks) => packet.exp().is_some_and(|exp| marks.contains(exp)),
            Field::Length(ranges) => ranges.iter().any(|range| range.contains(packet.length)),
            Field::Input(interfaces) => interfaces.contains(&packet.input.interface()),
        }
    }
    /// Whether the condition reads a mark of the link layer.
    pub(super) fn reads_link_marks(&self) -> bool {
        matches!(self, Field::Cos(_) | Field::Exp(_))
    }
}

/// Whether packets of `protocol` contain the ports of a [`FlowKey`](crate::FlowKey).
pub(super) fn has_ports(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::TCP | Protocol::UDP)
}

fn within(ranges: &[PortRange], port: u16) -> bool {
    ranges.iter().any(|range| range.contains(port.into()))
}

/// An address prefix: `10.0.0.0/8`, `2001:db8::/32`, or one address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
    /// The address in the 16-byte form that IPv4 and IPv6 share.
    bits: u128,
    mask: u128,
}

/// The prefix of IPv4 addresses in the 16-byte form (RFC 4291 §2.5.5.2): `::ffff:0:0/96`.
const IPV4_MAPPED: u128 = 0xffff << 32;
const IPV4_MAPPED_LENGTH: u8 = 96;

fn is_ipv4(address: u128) -> bool {
    address >> 32 == IPV4_MAPPED >> 32
}

impl Prefix {
    /// Returns the prefix of `length` bits with the network address `address`.
    ///
    /// # Errors
    /// The address has fewer than `length` bits, or a later bit is set.
    pub fn new(address: IpAddr, length: u8) -> Result<Prefix, String> {
        let (offset, width) = if address.is_ipv4() { (IPV4_MAPPED_LENGTH, 32) } else { (0, 128) };
        if length > width {
            return Err(format!("{address} has {width} bits: a prefix of /{length} is too long"));
        }
        let mask = u128::MAX.checked_shl(128 - u32::from(offset + length)).unwrap_or(0);
        let bits = Address::from(address).to_bits();
        if bits & !mask != 0 {
            let network = Prefix { address, length, bits: bits & mask, mask }.network();
            return Err(format!(
                "{address}/{length} has bits set after the first {length}: write {network}/{length} for the \
                 network or {address}/{width} for the one address"
            ));
        }
        Ok(Prefix { address, length, bits, mask })
    }
    /// Whether `address` begins with the prefix. An IPv6 prefix of any length contains no IPv4 address.
    pub fn contains(&self, address: Address) -> bool {
        let bits = address.to_bits();
        bits & self.mask == self.bits && is_ipv4(bits) == self.address.is_ipv4()
    }
    /// The first address of the prefix.
    pub const fn address(&self) -> IpAddr {
        self.address
    }
    /// The length of the prefix, bits.
    pub const fn length(&self) -> u8 {
        self.length
    }
    /// The address of a prefix that contains only one address. `None` for all other prefixes.
    pub fn host(&self) -> Option<Address> {
        (self.mask == u128::MAX).then(|| self.address.into())
    }
    /// The network address of the prefix: all later bits are 0.
    pub fn network(&self) -> IpAddr {
        let network = std::net::Ipv6Addr::from_bits(self.bits);
        if self.address.is_ipv4() { network.to_canonical() } else { IpAddr::V6(network) }
    }
}

/// Converts an address to the prefix that contains only this address.
impl From<IpAddr> for Prefix {
    fn from(address: IpAddr) -> Prefix {
        let length = if address.is_ipv4() { 32 } else { 128 };
        Prefix { address, length, bits: Address::from(address).to_bits(), mask: u128::MAX }
    }
}

impl FromStr for Prefix {
    type Err = String;
    fn from_str(text: &str) -> Result<Prefix, String> {
        let wrong = || {
            format!(
                "`{text}` is not an address prefix: write it as in 10.0.0.0/8, 2001:db8::/32 or 192.0.2.1"
            )
        };
        let (address, length) =
            text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let length = length.map_or(Ok(whole), |length| length.trim().parse()).map_err(|_| wrong())?;
        Prefix::new(address, length)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.length)
    }
}
impl fmt::Debug for Prefix {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Prefix, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
impl JsonSchema for Prefix {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Prefix".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "an address prefix: 10.0.0.0/8, 2001:db8::/32, or one address",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix_error(text: &str) -> String {
        text.parse::<Prefix>().unwrap_err()
    }

    #[test]
    fn a_prefix_is_written_as_it_is_read() {
        for text in ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_invalid_prefix_has_a_remedy() {
        assert!(prefix_error("10.1.2.3/8").contains("write 10.0.0.0/8 for the network or 10.1.2.3/32"));
        assert!(prefix_error("2001:db8::1/32").contains("write 2001:db8::/32"));
        assert!(prefix_error("10.0.0.0/33").contains("32 bits"));
        assert!(prefix_error("10.0.0/8").contains("not an address prefix"));
    }

    #[test]
    fn prefixes_keep_the_families_apart() {
        let contains = |prefix: &str, address: &str| {
            prefix.parse::<Prefix>().unwrap().contains(address.parse::<IpAddr>().unwrap().into())
        };
        assert!(contains("0.0.0.0/0", "203.0.113.9") && !contains("0.0.0.0/0", "2001:db8::1"));
        assert!(contains("::/0", "2001:db8::1") && !contains("::/0", "203.0.113.9"));
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.0"));
        assert!(contains("2001:db8::/32", "2001:db8:ffff::1") && !contains("2001:db8::/32", "2001:db9::"));
        assert!(contains("192.0.2.1", "192.0.2.1") && !contains("192.0.2.1", "192.0.2.2"));
    }
}
