//! [`ClassMap`]: the match criteria of a class.

use perhop_device::Combination;
use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;
use serde::Serialize;

/// Whether packets must match a criterion or must not match it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Polarity {
    /// `match …`
    Is,
    /// `match not …`
    Not,
}

/// The address family that a criterion applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// IPv4 and IPv6: `match dscp`.
    #[default]
    Any,
    /// IPv4 only: `match ip dscp`.
    Ipv4,
    /// IPv6 only: `match protocol ipv6`.
    Ipv6,
}

/// `class-map`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMap {
    /// The name of the class-map.
    pub name: String,
    /// The first line that opens the class-map.
    pub line: usize,
    /// Whether a packet must match all statements or any of them.
    pub combination: Combination,
    /// `match` lines in order.
    pub statements: Vec<Statement>,
}

/// One `match` line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// The number of the line in the file.
    pub line: usize,
    /// Whether the criterion is negated.
    pub polarity: Polarity,
    /// The address family: packets of other families do not match.
    pub family: Family,
    /// The criterion.
    pub criterion: Criterion,
}

/// The criterion of a `match` line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// `match any`
    Any,
    /// `match access-group …`: an access list by number or name.
    AccessGroup(String),
    /// `match precedence …`: one of these values.
    Precedence(Vec<IpPrecedence>),
    /// `match dscp …`: one of these values.
    Dscp(Vec<Dscp>),
    /// `match cos …`: the class of service of the outer 802.1Q tag is one of these values.
    Cos(Vec<u8>),
    /// `match cos inner …`: the class of service of the inner tag.
    CosInner(Vec<u8>),
    /// `match mpls experimental topmost …`: one of these values.
    MplsTopmost(Vec<u8>),
    /// `match discard-class …`: the router-internal drop precedence is one of these values.
    DiscardClass(Vec<u8>),
    /// `match traffic-class …`: the router-internal class is one of these values.
    TrafficClass(Vec<u8>),
    /// `match packet length …`: bytes of the IP packet, both ends included.
    PacketLength {
        /// The minimum length.
        min: Option<u32>,
        /// The maximum length.
        max: Option<u32>,
    },
    /// `match vlan …`: the outer VLAN is in one of these ranges.
    Vlan(Vec<(u16, u16)>),
    /// `match vlan inner …`: the inner VLAN.
    VlanInner(Vec<(u16, u16)>),
    /// `match application …`: a name from the router's catalog of applications.
    Application(String),
    /// `match input-interface …`
    InputInterface(String),
    /// `match protocol …`, with the words after the name of the protocol.
    Protocol(String),
    /// `match ip rtp …`: UDP destination ports, from the first to the last.
    Rtp(u16, u16),
    /// `match qos-group …`
    QosGroup(u32),
    /// `match class-map …`
    ClassMap(String),
    /// A criterion outside the model: no packet matches it.
    NotModelled(String),
}
