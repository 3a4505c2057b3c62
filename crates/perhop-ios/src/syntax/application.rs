//! Protocols and applications of `match protocol`.

use perhop_qos::packet::Protocol;

/// IP protocols by name.
pub(crate) const IP_PROTOCOLS: &[(&str, u8)] = &[
    ("egp", 8),
    ("eigrp", 88),
    ("gre", 47),
    ("icmp", 1),
    ("igmp", 2),
    ("ipinip", 4),
    ("ipsec", 50),
    ("ipv6-icmp", 58),
    ("ospf", 89),
    ("pim", 103),
    ("rsvp", 46),
    ("sctp", 132),
    ("tcp", 6),
    ("udp", 17),
    ("vrrp", 112),
];

/// Protocols of `match protocol` other than IP. No packet in perhop has such a protocol.
pub(super) const NOT_IP: &[&str] = &[
    "aarp",
    "apollo",
    "appletalk",
    "arp",
    "bridge",
    "bstun",
    "cdp",
    "clns",
    "clns_es",
    "clns_is",
    "cmns",
    "compressedtcp",
    "decnet",
    "dlsw",
    "ipx",
    "llc2",
    "mpls",
    "netbeui",
    "pad",
    "pppoe",
    "pppoe-discovery",
    "qllc",
    "rsrb",
    "snapshot",
    "stun",
    "vines",
    "vofr",
    "xns",
];

/// Applications with well-known ports, as source or destination. Numbers are from IANA's registry of service
/// names and ports, or from the vendor if a name has several ports.
pub(crate) const APPLICATIONS: &[Application] = &[
    ("bgp", TCP, &[(179, 179)]),
    ("capwap-control", UDP, &[(5246, 5246)]),
    ("capwap-data", UDP, &[(5247, 5247)]),
    ("cifs", TCP, &[(139, 139), (445, 445)]),
    ("citrix", TCP, &[(1494, 1494), (2598, 2598)]),
    ("dhcp", UDP, &[(67, 68)]),
    ("dns", BOTH, &[(53, 53)]),
    ("exchange", TCP, &[(135, 135)]),
    ("finger", TCP, &[(79, 79)]),
    ("ftp", TCP, &[(20, 21)]),
    ("ftp-data", TCP, &[(20, 20)]),
    ("gopher", TCP, &[(70, 70)]),
    ("h323", TCP, &[(1720, 1720)]),
    ("http", TCP, &[(80, 80)]),
    ("https", TCP, &[(443, 443)]),
    ("imap", TCP, &[(143, 143)]),
    ("irc", TCP, &[(194, 194)]),
    ("isakmp", UDP, &[(500, 500)]),
    ("kerberos", BOTH, &[(88, 88)]),
    ("l2tp", UDP, &[(1701, 1701)]),
    ("ldap", BOTH, &[(389, 389)]),
    ("ldp", BOTH, &[(646, 646)]),
    ("mgcp", UDP, &[(2427, 2427), (2727, 2727)]),
    ("microsoft-ds", BOTH, &[(445, 445)]),
    ("ms-rdp", BOTH, &[(3389, 3389)]),
    ("ms-sql", BOTH, &[(1433, 1433)]),
    ("mysql", BOTH, &[(3306, 3306)]),
    ("netbios", BOTH, &[(137, 139)]),
    ("netbios-dgm", BOTH, &[(138, 138)]),
    ("netbios-ns", BOTH, &[(137, 137)]),
    ("netbios-ssn", BOTH, &[(139, 139)]),
    ("netshow", TCP, &[(1755, 1755)]),
    ("nfs", BOTH, &[(2049, 2049)]),
    ("nntp", TCP, &[(119, 119)]),
    ("notes", TCP, &[(1352, 1352)]),
    ("ntp", UDP, &[(123, 123)]),
    ("pcanywhere", BOTH, &[(5631, 5632)]),
    ("pop3", TCP, &[(110, 110)]),
    ("postgresql", BOTH, &[(5432, 5432)]),
    ("pptp", TCP, &[(1723, 1723)]),
    ("printer", TCP, &[(515, 515)]),
    ("radius", UDP, &[(1645, 1646), (1812, 1813)]),
    ("rdp", BOTH, &[(3389, 3389)]),
    ("rip", UDP, &[(520, 520)]),
    ("rsync", BOTH, &[(873, 873)]),
    ("rtmp", TCP, &[(1935, 1935)]),
    ("rtp", UDP, &[(16384, 32767)]),
    ("rtsp", TCP, &[(554, 554)]),
    ("secure-ftp", TCP, &[(989, 990)]),
    ("secure-http", TCP, &[(443, 443)]),
    ("secure-imap", TCP, &[(993, 993)]),
    ("secure-irc", TCP, &[(994, 994)]),
    ("secure-ldap", TCP, &[(636, 636)]),
    ("secure-nntp", TCP, &[(563, 563)]),
    ("secure-pop3", TCP, &[(995, 995)]),
    ("secure-smtp", TCP, &[(465, 465)]),
    ("secure-telnet", TCP, &[(992, 992)]),
    ("sip", BOTH, &[(5060, 5061)]),
    ("sip-tls", TCP, &[(5061, 5061)]),
    ("skinny", TCP, &[(2000, 2002)]),
    ("smtp", TCP, &[(25, 25)]),
    ("snmp", UDP, &[(161, 162)]),
    ("socks", TCP, &[(1080, 1080)]),
    ("sqlnet", TCP, &[(1521, 1521)]),
    ("sqlserver", TCP, &[(1433, 1433)]),
    ("ssh", TCP, &[(22, 22)]),
    ("ssl", TCP, &[(443, 443)]),
    ("streamwork", UDP, &[(1558, 1558)]),
    ("sunrpc", BOTH, &[(111, 111)]),
    ("syslog", UDP, &[(514, 514)]),
    ("tacacs", TCP, &[(49, 49)]),
    ("telnet", TCP, &[(23, 23)]),
    ("teredo-ipv6-tunneled", UDP, &[(3544, 3544)]),
    ("tftp", UDP, &[(69, 69)]),
    ("vdolive", TCP, &[(7000, 7000)]),
    ("xmpp-client", TCP, &[(5222, 5222)]),
    ("xwindows", TCP, &[(6000, 6003)]),
];

/// An application: name, IP protocols, port ranges.
pub(crate) type Application = (&'static str, &'static [Protocol], &'static [(u16, u16)]);

const TCP: &[Protocol] = &[Protocol::TCP];
const UDP: &[Protocol] = &[Protocol::UDP];
const BOTH: &[Protocol] = &[Protocol::TCP, Protocol::UDP];

/// Returns the protocols and ports of the application `name`. A type of RTP payload (`rtp audio`) is
/// recognizable only by packet contents, so it has the ports of all RTP.
pub(crate) fn application(name: &str) -> Option<&'static Application> {
    let name = if name.starts_with("rtp ") { "rtp" } else { name };
    APPLICATIONS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))
}

/// Returns the number of the IP protocol `name`.
pub(crate) fn ip_protocol(name: &str) -> Option<Protocol> {
    let found = IP_PROTOCOLS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, number)| Protocol(*number))
}
