//! [`Header`]: the header fields that classifiers use, and addresses that hosts can have.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use perhop_qos::classifier::Prefix;
use perhop_qos::packet::Address;

/// An IPv6 address from the prefix for documentation (RFC 3849), for conditions that every address meets.
const ANY_SIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1);

/// The header fields that classifiers use; `None` for any value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Header {
    /// The codepoint by name or number.
    pub(crate) dscp: Option<String>,
    pub(crate) source: Option<IpAddr>,
    pub(crate) destination: Option<IpAddr>,
    /// The protocol by name or number.
    pub(crate) protocol: Option<String>,
    pub(crate) source_port: Option<u16>,
    pub(crate) destination_port: Option<u16>,
    /// The length of a packet, IP bytes.
    pub(crate) packet_bytes: Option<u32>,
}

impl Header {
    /// Whether an address belongs to IPv6.
    pub(crate) fn is_six(&self) -> bool {
        [self.source, self.destination].into_iter().flatten().any(|address| address.is_ipv6())
    }

    /// Whether the protocol is `name`.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.protocol.as_deref() == Some(name)
    }

    /// Whether hosts can have the addresses: none is a multicast, unspecified or broadcast address.
    pub(crate) fn has_hosts(&self) -> bool {
        [self.source, self.destination].into_iter().flatten().all(is_host)
    }

    /// Returns the union of both headers; fields of `other` take precedence.
    pub(crate) fn joined(self, other: Header) -> Header {
        Header {
            dscp: other.dscp.or(self.dscp),
            source: other.source.or(self.source),
            destination: other.destination.or(self.destination),
            protocol: other.protocol.or(self.protocol),
            source_port: other.source_port.or(self.source_port),
            destination_port: other.destination_port.or(self.destination_port),
            packet_bytes: other.packet_bytes.or(self.packet_bytes),
        }
    }
}

/// Whether a host can have an address.
fn is_host(address: IpAddr) -> bool {
    if address.is_multicast() || address.is_unspecified() || address.is_loopback() {
        return false;
    }
    match address {
        // RFC 1112 §4: 240.0.0.0/4.
        IpAddr::V4(address) => address.octets()[0] < 240,
        IpAddr::V6(address) => {
            let first = address.segments()[0];
            // RFC 4291 §2.4 and RFC 4193 §3: global unicast, unique local, link-local.
            first >> 13 == 1 || first >> 9 == 0xfc00 >> 9 || first >> 7 == 0xfe80 >> 7
        }
    }
}

/// The addresses of a subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subnet {
    pub(crate) first: IpAddr,
    pub(crate) length: u8,
}

impl Subnet {
    /// Returns the subnet of `address` with the first `length` bits.
    pub(crate) fn new(address: IpAddr, length: u8) -> Subnet {
        let first = match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
            }
        };
        Subnet { first, length }
    }

    /// Whether the subnet contains the address.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4() && Subnet::new(address, self.length).first == self.first
    }

    /// Whether the two subnets overlap.
    pub(crate) fn overlaps(&self, other: &Subnet) -> bool {
        if self.length <= other.length { self.contains(other.first) } else { other.contains(self.first) }
    }

    /// Generates the host addresses of the subnet.
    pub(crate) fn hosts(self) -> Box<dyn Iterator<Item = IpAddr>> {
        match self.first {
            IpAddr::V4(first) => {
                let first = first.to_bits();
                let last = first | u32::MAX.checked_shr(self.length.into()).unwrap_or(0);
                // A subnet of two addresses has neither network nor broadcast address (RFC 3021).
                let hosts = if last - first <= 1 { first..=last } else { first + 1..=last - 1 };
                Box::new(hosts.map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))))
            }
            IpAddr::V6(first) => {
                let first = first.to_bits();
                let last = first | u128::MAX.checked_shr(self.length.into()).unwrap_or(0);
                // The first address belongs to all routers (RFC 4291 §2.6.1), except on links of RFC 6164.
                let hosts = if last - first <= 1 { first..=last } else { first + 1..=last };
                Box::new(hosts.map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits))))
            }
        }
    }
}

impl std::fmt::Display for Subnet {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.first, self.length)
    }
}

/// Returns a free address of a prefix; `None` for the prefix of all IPv4 addresses.
pub(crate) fn free_address(prefix: &Prefix, taken: &BTreeSet<IpAddr>) -> Option<IpAddr> {
    match (prefix.length(), prefix.host()) {
        // The prefix of all IPv4 addresses needs no address. The prefix of all IPv6 addresses needs one,
        // which selects the protocol.
        (0, _) => prefix.address().is_ipv6().then_some(IpAddr::V6(ANY_SIX)),
        (_, Some(host)) => Some(host.to_ip()),
        (length, None) => Subnet::new(prefix.address(), length).hosts().find(|host| !taken.contains(host)),
    }
}

/// Returns an address in the type that packets use.
pub(crate) fn packed(address: IpAddr) -> Address {
    Address::from(address)
}
