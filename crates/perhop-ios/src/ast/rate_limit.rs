//! [`RateLimit`]: committed access rate, and the actions it shares with `police`.

use perhop_device::intent::{Direction, Then};
use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;
use serde::Serialize;

/// A field that can be looked at or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Field {
    /// The IP precedence.
    Precedence,
    /// The DSCP.
    Dscp,
    /// The precedence in the header of the tunnel that the packet enters.
    TunnelPrecedence,
    /// The DSCP in the header of the tunnel that the packet enters.
    TunnelDscp,
    /// The class of service of the 802.1Q tag.
    Cos,
    /// That of the inner tag.
    CosInner,
    /// The experimental bits of labels that the router pushes.
    MplsImposition,
    /// The experimental bits of the topmost label.
    MplsTopmost,
    /// The router's own group number.
    QosGroup,
    /// The router's own drop precedence.
    DiscardClass,
    /// The router's own class.
    TrafficClass,
}

/// What is written into a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marking {
    /// The IP precedence.
    Precedence(IpPrecedence),
    /// The DSCP.
    Dscp(Dscp),
    /// The router's own group number.
    QosGroup(u32),
    /// A number into another field.
    Number(Field, u8),
    /// What another field holds, by a `table-map` where one is named.
    Copy {
        /// The field that is written.
        to: Field,
        /// The field whose value decides.
        from: Field,
        /// The `table-map`.
        table: Option<String>,
    },
    /// A field that perhop does not carry: cell loss priority, discard eligibility …
    NotModelled(String),
}

impl Marking {
    /// The field that is written; `None` where perhop knows only its name.
    pub fn field(&self) -> Option<Field> {
        match self {
            Marking::Precedence(_) => Some(Field::Precedence),
            Marking::Dscp(_) => Some(Field::Dscp),
            Marking::QosGroup(_) => Some(Field::QosGroup),
            Marking::Number(field, _) | Marking::Copy { to: field, .. } => Some(*field),
            Marking::NotModelled(_) => None,
        }
    }
}

/// What is done with a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// What is written into it.
    pub marking: Option<Marking>,
    /// Where it goes.
    pub then: Then,
}

/// Which packets a `rate-limit` line takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateLimitMatch {
    /// All.
    All,
    /// Those that an access list permits.
    AccessGroup(String),
    /// Those in an `access-list rate-limit`.
    RateLimitList(String),
    /// Those with a DSCP.
    Dscp(Dscp),
    /// Those in a group.
    QosGroup(u32),
}

/// One `rate-limit` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RateLimit {
    /// The line.
    pub line: usize,
    /// Into the router or out of it.
    pub direction: Direction,
    /// Which packets it takes.
    pub matches: RateLimitMatch,
    /// Bits per second.
    pub rate: u64,
    /// Normal burst, bytes.
    pub burst: u64,
    /// Extended burst, bytes: the limit itself, not an addition to the normal burst.
    pub extended_burst: u64,
    /// For packets that conform.
    pub conform: Action,
    /// For packets that exceed.
    pub exceed: Action,
}
