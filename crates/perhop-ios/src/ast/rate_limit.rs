//! [`RateLimit`]: committed access rate. `rate-limit` and `police` have the same actions.

use perhop_device::intent::{Direction, Then};
use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;
use serde::Serialize;

/// A field that a configuration line matches or sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// The IP precedence.
    Precedence,
    /// The DSCP.
    Dscp,
    /// The precedence in the outer header of a tunnel.
    TunnelPrecedence,
    /// The DSCP in the outer header of a tunnel.
    TunnelDscp,
    /// The class of service of the 802.1Q tag.
    Cos,
    /// The class of service of the inner tag.
    CosInner,
    /// The experimental bits of pushed labels.
    MplsImposition,
    /// The experimental bits of the topmost label.
    MplsTopmost,
    /// The router-internal group number.
    QosGroup,
    /// The router-internal drop precedence.
    DiscardClass,
    /// The router-internal traffic class.
    TrafficClass,
}

/// A value that a line writes to a field of packets, or the field from which the line copies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marking {
    /// The IP precedence.
    Precedence(IpPrecedence),
    /// The DSCP.
    Dscp(Dscp),
    /// The router-internal group number.
    QosGroup(u32),
    /// A number for another field.
    Number(Field, u8),
    /// The value of another field, optionally translated by a `table-map`.
    Copy {
        /// The destination field.
        to: Field,
        /// The source field.
        from: Field,
        /// The `table-map`.
        table: Option<String>,
    },
    /// A field that packets in perhop do not have: cell loss priority, discard eligibility …
    NotModelled(String),
}

impl Marking {
    /// Returns the field that the mark sets; `None` for a field outside the model.
    pub fn field(&self) -> Option<Field> {
        match self {
            Marking::Precedence(_) => Some(Field::Precedence),
            Marking::Dscp(_) => Some(Field::Dscp),
            Marking::QosGroup(_) => Some(Field::QosGroup),
            Marking::Number(field, _) | Marking::Copy { to: field, .. } => Some(*field),
            Marking::NotModelled(_) => None,
        }
    }
    /// Whether the mark is zero, which is the value of a field before any mark.
    pub fn is_zero(&self) -> bool {
        match self {
            Marking::Precedence(value) => value.value() == 0,
            Marking::Dscp(value) => value.value() == 0,
            Marking::QosGroup(value) => *value == 0,
            Marking::Number(_, value) => *value == 0,
            Marking::Copy { .. } | Marking::NotModelled(_) => false,
        }
    }
}

/// An action on a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// The mark to set; `None` if the action sets no mark.
    pub marking: Option<Marking>,
    /// The next step of the packet.
    pub then: Then,
}

/// The match criterion of a `rate-limit` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimitMatch {
    /// All packets.
    All,
    /// Packets that an access list permits.
    AccessGroup(String),
    /// Packets that an `access-list rate-limit` matches.
    RateLimitList(String),
    /// Packets with a DSCP.
    Dscp(Dscp),
    /// Packets in a `qos-group`.
    QosGroup(u32),
}

/// One `rate-limit` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateLimit {
    /// The number of the line in the file.
    pub line: usize,
    /// Input or output.
    pub direction: Direction,
    /// The match criterion.
    pub matches: RateLimitMatch,
    /// The rate, bits per second.
    pub rate: u64,
    /// Normal burst, bytes.
    pub burst: u64,
    /// Extended burst, bytes. It includes the normal burst.
    pub extended_burst: u64,
    /// Action for conforming packets.
    pub conform: Action,
    /// Action for exceeding packets.
    pub exceed: Action,
}
