//! [`AccessList`]: access lists and the object groups that they name.

use std::net::{Ipv4Addr, Ipv6Addr};

use perhop_device::intent::At;
use perhop_qos::Dscp;
use perhop_qos::packet::{IpPrecedence, Protocol};
use serde::Serialize;

/// The kind of an access list, which determines the fields of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AclKind {
    /// Entries match source addresses.
    Standard,
    /// Entries match the protocol, both addresses, the ports and the DS field.
    Extended,
    /// An extended list for IPv6 packets.
    Ipv6,
    /// A list for a protocol other than IP; no packet in perhop matches it.
    Other,
}

/// The action of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AclAction {
    /// The list permits the packet.
    Permit,
    /// The list denies the packet.
    Deny,
}

/// `access-list`, `ip access-list` or `ipv6 access-list`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessList {
    /// The number or name of the list.
    pub name: String,
    /// The line of the first entry.
    pub line: usize,
    /// The kind of the entries.
    pub kind: AclKind,
    /// The entries in order. The first matching entry decides. A packet without a matching entry is denied.
    pub entries: Vec<AclEntry>,
}

/// An address with a wildcard mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AddressMatch {
    /// The address.
    pub address: Ipv4Addr,
    /// The mask: a bit with value 1 is ignored.
    pub wildcard: Ipv4Addr,
}

impl AddressMatch {
    /// `any`
    pub const ANY: AddressMatch =
        AddressMatch { address: Ipv4Addr::UNSPECIFIED, wildcard: Ipv4Addr::BROADCAST };
    /// `host …`
    pub fn host(address: Ipv4Addr) -> AddressMatch {
        AddressMatch { address, wildcard: Ipv4Addr::UNSPECIFIED }
    }
}

/// An IPv6 prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PrefixMatch {
    /// The address.
    pub address: Ipv6Addr,
    /// Length of the prefix.
    pub length: u8,
}

impl PrefixMatch {
    /// `any`
    pub const ANY: PrefixMatch = PrefixMatch { address: Ipv6Addr::UNSPECIFIED, length: 0 };
}

/// A range of ports, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PortMatch {
    /// The lowest port.
    pub first: u16,
    /// The highest port.
    pub last: u16,
}

/// One entry of an access list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AclEntry {
    /// The number of the line in the file.
    pub line: usize,
    /// Sequence number.
    pub sequence: u64,
    /// The action.
    pub action: AclAction,
    /// The protocol; `None` for any IP packet.
    pub protocol: Option<Protocol>,
    /// Source address.
    pub source: AddressMatch,
    /// Source port ranges; empty for any port.
    pub source_ports: Vec<PortMatch>,
    /// Destination address.
    pub destination: AddressMatch,
    /// Destination port ranges; empty for any port.
    pub destination_ports: Vec<PortMatch>,
    /// IP precedence.
    pub precedence: Option<IpPrecedence>,
    /// DSCP.
    pub dscp: Option<Dscp>,
    /// The four bits of the type of service (RFC 1349).
    pub type_of_service: Option<u8>,
    /// A condition that no packet in perhop meets, for example `fragments`. An entry with such a condition
    /// matches no packet.
    pub unseen: Option<String>,
    /// The source and destination prefixes of an IPv6 entry, in place of `source` and `destination`; `None`
    /// for IPv4.
    pub prefixes: Option<(PrefixMatch, PrefixMatch)>,
    /// `object-group` as the source address.
    pub source_group: Option<String>,
    /// `object-group` as the destination address.
    pub destination_group: Option<String>,
    /// `object-group` as the protocol: protocols with their ports.
    pub service_group: Option<String>,
}

/// `object-group`: named addresses, or named protocols with their ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectGroup {
    /// The name of the group.
    pub name: String,
    /// The first line that opens the group.
    pub line: usize,
    /// The members of the group, in order.
    pub members: Vec<At<GroupMember>>,
}

/// One line of an `object-group`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMember {
    /// An address or a network.
    Address(AddressMatch),
    /// A range of addresses, both ends included.
    Range(Ipv4Addr, Ipv4Addr),
    /// An IPv6 prefix.
    Prefix(PrefixMatch),
    /// A protocol, optionally with ports.
    Service(ServiceMatch),
    /// `group-object`: the members of another group.
    Group(String),
}

/// A protocol with ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServiceMatch {
    /// The protocols; empty for any protocol.
    pub protocols: Vec<Protocol>,
    /// Source port ranges; empty for any port.
    pub source_ports: Vec<PortMatch>,
    /// Destination port ranges; empty for any port.
    pub destination_ports: Vec<PortMatch>,
}

/// `access-list rate-limit`: a set of IP precedences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateLimitAcl {
    /// The number of the list.
    pub name: String,
    /// The number of the line in the file.
    pub line: usize,
    /// The matched precedences; empty if the list matches a field that packets in perhop do not have.
    pub precedences: Vec<IpPrecedence>,
}
