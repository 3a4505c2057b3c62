//! Names of ports and protocols in filters.

/// Returns the number of a TCP or UDP port by name (Junos Routing Policies and Firewall Filters User Guide,
/// "Firewall Filter Match Conditions").
pub(crate) fn port(name: &str) -> Option<u16> {
    PORTS.iter().find(|(known, _)| *known == name).map(|(_, port)| *port)
}

/// Returns the number of an IP protocol by name.
pub(crate) fn protocol(name: &str) -> Option<u8> {
    name.parse()
        .ok()
        .or_else(|| PROTOCOLS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number))
}

const PORTS: [(&str, u16); 43] = [
    ("afs", 1483),
    ("bgp", 179),
    ("biff", 512),
    ("bootpc", 68),
    ("bootps", 67),
    ("cmd", 514),
    ("cvspserver", 2401),
    ("dhcp", 67),
    ("domain", 53),
    ("exec", 512),
    ("finger", 79),
    ("ftp", 21),
    ("ftp-data", 20),
    ("http", 80),
    ("https", 443),
    ("ident", 113),
    ("imap", 143),
    ("kerberos-sec", 88),
    ("klogin", 543),
    ("ldap", 389),
    ("ldp", 646),
    ("login", 513),
    ("msdp", 639),
    ("netbios-dgm", 138),
    ("netbios-ns", 137),
    ("netbios-ssn", 139),
    ("nfsd", 2049),
    ("nntp", 119),
    ("ntp", 123),
    ("pop3", 110),
    ("pptp", 1723),
    ("printer", 515),
    ("radacct", 1813),
    ("radius", 1812),
    ("rip", 520),
    ("smtp", 25),
    ("snmp", 161),
    ("snmptrap", 162),
    ("ssh", 22),
    ("sunrpc", 111),
    ("syslog", 514),
    ("tacacs", 49),
    ("telnet", 23),
];

const PROTOCOLS: [(&str, u8); 20] = [
    ("ah", 51),
    ("dstopts", 60),
    ("egp", 8),
    ("esp", 50),
    ("gre", 47),
    ("hop-by-hop", 0),
    ("icmp", 1),
    ("icmp6", 58),
    ("icmpv6", 58),
    ("igmp", 2),
    ("ipip", 4),
    ("ipv6", 41),
    ("ospf", 89),
    ("pim", 103),
    ("routing", 43),
    ("rsvp", 46),
    ("sctp", 132),
    ("tcp", 6),
    ("udp", 17),
    ("vrrp", 112),
];
