//! [`AccessList`]: which packets a list permits.

use std::net::Ipv4Addr;

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
    /// Of another protocol than IPv4: no packet of perhop's meets it.
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

/// `access-list` or `ip access-list`.
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
