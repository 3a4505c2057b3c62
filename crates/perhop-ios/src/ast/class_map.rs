//! [`ClassMap`]: which packets a class takes.

use perhop_qos::Dscp;
use perhop_qos::packet::{IpPrecedence, Protocol};
use serde::Serialize;

/// How the statements of a class-map are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combination {
    /// All must hold: the router's default.
    #[default]
    MatchAll,
    /// One must hold.
    MatchAny,
}

/// Whether a criterion must hold or must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Polarity {
    /// `match …`
    Is,
    /// `match not …`
    Not,
}

/// `class-map`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassMap {
    /// Its name.
    pub name: String,
    /// The line that opened it first.
    pub line: usize,
    /// How its statements are taken together.
    pub combination: Combination,
    /// `match` lines in order.
    pub statements: Vec<Statement>,
}

/// One `match` line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// The line.
    pub line: usize,
    /// Whether the criterion must hold or must not.
    pub polarity: Polarity,
    /// What is looked at.
    pub criterion: Criterion,
}

/// What a `match` line looks at.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// `match any`
    Any,
    /// `match access-group …`: an access list by number or name.
    AccessGroup(String),
    /// `match ip precedence …`: any of them.
    Precedence(Vec<IpPrecedence>),
    /// `match ip dscp …`: any of them.
    Dscp(Vec<Dscp>),
    /// `match input-interface …`
    InputInterface(String),
    /// `match protocol …`, with what follows the protocol's name.
    Protocol(String),
    /// `match ip rtp …`: UDP destination ports, from the first to the last.
    Rtp(u16, u16),
    /// `match qos-group …`
    QosGroup(u32),
    /// `match class-map …`
    ClassMap(String),
    /// A criterion that perhop cannot see: no packet meets it.
    NotModelled(String),
}

/// IP protocols by the names of `match protocol`.
pub(crate) const IP_PROTOCOLS: &[(&str, u8)] = &[
    ("icmp", 1),
    ("igmp", 2),
    ("ipinip", 4),
    ("tcp", 6),
    ("egp", 8),
    ("udp", 17),
    ("gre", 47),
    ("ipsec", 50),
    ("eigrp", 88),
    ("ospf", 89),
    ("pim", 103),
];

/// Applications by the names of `match protocol`: they are known by their well-known ports, on either side.
pub(crate) const APPLICATIONS: &[Application] = &[
    ("bgp", TCP, &[(179, 179)]),
    ("citrix", TCP, &[(1494, 1494), (2598, 2598)]),
    ("dhcp", UDP, &[(67, 68)]),
    ("dns", BOTH, &[(53, 53)]),
    ("exchange", TCP, &[(135, 135)]),
    ("finger", TCP, &[(79, 79)]),
    ("ftp", TCP, &[(20, 21)]),
    ("gopher", TCP, &[(70, 70)]),
    ("h323", TCP, &[(1720, 1720)]),
    ("http", TCP, &[(80, 80)]),
    ("imap", TCP, &[(143, 143)]),
    ("irc", TCP, &[(194, 194)]),
    ("kerberos", BOTH, &[(88, 88)]),
    ("l2tp", UDP, &[(1701, 1701)]),
    ("ldap", BOTH, &[(389, 389)]),
    ("mgcp", UDP, &[(2427, 2427), (2727, 2727)]),
    ("netbios", BOTH, &[(137, 139)]),
    ("nfs", BOTH, &[(2049, 2049)]),
    ("nntp", TCP, &[(119, 119)]),
    ("notes", TCP, &[(1352, 1352)]),
    ("ntp", UDP, &[(123, 123)]),
    ("pop3", TCP, &[(110, 110)]),
    ("pptp", TCP, &[(1723, 1723)]),
    ("printer", TCP, &[(515, 515)]),
    ("rip", UDP, &[(520, 520)]),
    ("rtp", UDP, &[(16384, 32767)]),
    ("rtsp", TCP, &[(554, 554)]),
    ("secure-http", TCP, &[(443, 443)]),
    ("sip", BOTH, &[(5060, 5061)]),
    ("skinny", TCP, &[(2000, 2002)]),
    ("smtp", TCP, &[(25, 25)]),
    ("snmp", UDP, &[(161, 162)]),
    ("sqlnet", TCP, &[(1521, 1521)]),
    ("sqlserver", TCP, &[(1433, 1433)]),
    ("ssh", TCP, &[(22, 22)]),
    ("ssl", TCP, &[(443, 443)]),
    ("syslog", UDP, &[(514, 514)]),
    ("telnet", TCP, &[(23, 23)]),
    ("tftp", UDP, &[(69, 69)]),
    ("xwindows", TCP, &[(6000, 6003)]),
];

/// An application: its name, its IP protocols, its ports from the first to the last.
pub(crate) type Application = (&'static str, &'static [Protocol], &'static [(u16, u16)]);

const TCP: &[Protocol] = &[Protocol::TCP];
const UDP: &[Protocol] = &[Protocol::UDP];
const BOTH: &[Protocol] = &[Protocol::TCP, Protocol::UDP];
