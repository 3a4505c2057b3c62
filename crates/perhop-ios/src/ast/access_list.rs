//! [`AccessList`]: which packets a list permits.

use std::net::{Ipv4Addr, Ipv6Addr};

use perhop_device::intent::At;
use perhop_qos::Dscp;
use perhop_qos::packet::{IpPrecedence, Protocol};
use serde::Serialize;

/// What an entry can look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AclKind {
    /// Source addresses.
    Standard,
    /// Protocol, both addresses, ports, DS field.
    Extended,
    /// As an extended list, for IPv6 packets.
    Ipv6,
    /// Of another protocol than IP: no packet of perhop's meets it.
    Other,
}

/// What becomes of a packet that meets an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AclAction {
    /// The list takes it.
    Permit,
    /// The list does not take it.
    Deny,
}

/// `access-list`, `ip access-list` or `ipv6 access-list`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessList {
    /// Number or name.
    pub name: String,
    /// Its first line.
    pub line: usize,
    /// What its entries can look at.
    pub kind: AclKind,
    /// Its entries in order: the first that a packet meets decides, and what meets none is denied.
    pub entries: Vec<AclEntry>,
}

/// An address and the bits of it that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AddressMatch {
    /// The address.
    pub address: Ipv4Addr,
    /// The bits that do not count are 1.
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
    /// How many bits of it count.
    pub length: u8,
}

impl PrefixMatch {
    /// `any`
    pub const ANY: PrefixMatch = PrefixMatch { address: Ipv6Addr::UNSPECIFIED, length: 0 };
}

/// Ports from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PortMatch {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

/// One entry of an access list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AclEntry {
    /// The line.
    pub line: usize,
    /// Its place in the list.
    pub sequence: u64,
    /// What becomes of a packet that meets it.
    pub action: AclAction,
    /// The protocol; none where any IP packet will do.
    pub protocol: Option<Protocol>,
    /// Source address.
    pub source: AddressMatch,
    /// Source ports: any of these ranges; empty where any port will do.
    pub source_ports: Vec<PortMatch>,
    /// Destination address.
    pub destination: AddressMatch,
    /// Destination ports: any of these ranges; empty where any port will do.
    pub destination_ports: Vec<PortMatch>,
    /// IP precedence.
    pub precedence: Option<IpPrecedence>,
    /// DSCP.
    pub dscp: Option<Dscp>,
    /// The four bits of the type of service (RFC 1349).
    pub type_of_service: Option<u8>,
    /// Something that no packet of perhop's has (a fragment, say): the entry meets none.
    pub unseen: Option<String>,
    /// Source and destination in an IPv6 list; those above say nothing there.
    pub prefixes: Option<(PrefixMatch, PrefixMatch)>,
    /// `object-group` in the place of the source address.
    pub source_group: Option<String>,
    /// `object-group` in the place of the destination address.
    pub destination_group: Option<String>,
    /// `object-group` in the place of the protocol: protocols with their ports.
    pub service_group: Option<String>,
}

/// `object-group`: addresses, or protocols with their ports, under one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectGroup {
    /// Its name.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// Its members, in order.
    pub members: Vec<At<GroupMember>>,
}

/// One line of an `object-group`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMember {
    /// An address or a network.
    Address(AddressMatch),
    /// Addresses from the first to the last.
    Range(Ipv4Addr, Ipv4Addr),
    /// An IPv6 prefix.
    Prefix(PrefixMatch),
    /// A protocol, with ports where it has any.
    Service(ServiceMatch),
    /// `group-object`: the members of another group.
    Group(String),
}

/// A protocol with ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServiceMatch {
    /// Any of these protocols; empty where any will do.
    pub protocols: Vec<Protocol>,
    /// Source ports: any of these ranges; empty where any port will do.
    pub source_ports: Vec<PortMatch>,
    /// Destination ports: any of these ranges; empty where any port will do.
    pub destination_ports: Vec<PortMatch>,
}

/// `access-list rate-limit`: a set of IP precedences.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateLimitAcl {
    /// Number.
    pub name: String,
    /// The line.
    pub line: usize,
    /// The precedences it takes; none where it looks at something that perhop does not carry.
    pub precedences: Vec<IpPrecedence>,
}
