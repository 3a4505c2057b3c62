//! One `permit` or `deny` of an access list.

use std::net::Ipv4Addr;

use perhop_qos::packet::Protocol;

use super::numbers::{address, dscp, precedence};
use crate::ast::{AclAction, AclEntry, AclKind, AddressMatch, PortMatch};
use crate::words::{Finding, Reader, choose};

/// The entry that the rest of the line describes, and what is to be said of the line.
pub(super) fn entry(
    kind: AclKind,
    action: AclAction,
    sequence: u64,
    reader: &mut Reader,
) -> Result<(AclEntry, Finding), Finding> {
    let mut entry = AclEntry {
        line: reader.line,
        sequence,
        action,
        protocol: None,
        source: AddressMatch::ANY,
        source_ports: Vec::new(),
        destination: AddressMatch::ANY,
        destination_ports: Vec::new(),
        precedence: None,
        dscp: None,
        type_of_service: None,
        unseen: None,
    };
    let finding = if kind == AclKind::Standard {
        entry.source = address_match(reader)?;
        reader.eat("log");
        reader.end()?;
        Finding::MODELLED
    } else {
        extended(&mut entry, reader)?
    };
    if let Some(scattered) = scattered(&entry) {
        entry.unseen = Some("wildcard".to_owned());
        return Ok((entry, scattered));
    }
    Ok((entry, finding))
}

fn extended(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    if reader.keyword(&["object-group"]).is_some() {
        entry.unseen = Some("object-group".to_owned());
        return Ok(Finding::not_modelled("object groups are not read: no packet matches this entry"));
    }
    entry.protocol = protocol(reader)?;
    for source in [true, false] {
        if reader.keyword(&["object-group"]).is_some() {
            entry.unseen = Some("object-group".to_owned());
            return Ok(Finding::not_modelled("object groups are not read: no packet matches this entry"));
        }
        let address = address_match(reader)?;
        let ports = ports(entry.protocol, reader)?;
        if source {
            (entry.source, entry.source_ports) = (address, ports);
        } else {
            (entry.destination, entry.destination_ports) = (address, ports);
        }
    }
    let mut finding = Finding::MODELLED;
    while reader.peek().is_some() {
        finding = option(entry, reader)?.unwrap_or(finding);
    }
    Ok(finding)
}

const PROTOCOLS: &[(&str, u8)] = &[
    ("ahp", 51),
    ("eigrp", 88),
    ("esp", 50),
    ("gre", 47),
    ("icmp", 1),
    ("igmp", 2),
    ("ipinip", 4),
    ("nos", 94),
    ("ospf", 89),
    ("pcp", 108),
    ("pim", 103),
    ("sctp", 132),
    ("tcp", 6),
    ("udp", 17),
];

fn protocol(reader: &mut Reader) -> Result<Option<Protocol>, Finding> {
    let word = reader.word("a protocol")?;
    if word.eq_ignore_ascii_case("ip") {
        return Ok(None);
    }
    if let Ok(number) = word.parse::<u8>() {
        return Ok(Some(Protocol(number)));
    }
    let names: Vec<&'static str> = PROTOCOLS.iter().map(|(name, _)| *name).collect();
    let name = choose(word, &names);
    let found = PROTOCOLS.iter().find(|(known, _)| Some(*known) == name);
    found
        .map(|(_, number)| Some(Protocol(*number)))
        .ok_or_else(|| Finding::not_recognized(format!("`{word}` is not a protocol")))
}

/// `any`, `host a.b.c.d`, `a.b.c.d wildcard`, or in a standard list an address alone.
fn address_match(reader: &mut Reader) -> Result<AddressMatch, Finding> {
    if reader.eat("any") {
        return Ok(AddressMatch::ANY);
    }
    if reader.eat("host") {
        return address(reader, "an address").map(AddressMatch::host);
    }
    let address = address(reader, "an address, `host` or `any`")?;
    let wildcard = reader.peek().and_then(|word| word.parse::<Ipv4Addr>().ok());
    if wildcard.is_some() {
        reader.next();
    }
    Ok(AddressMatch { address, wildcard: wildcard.unwrap_or(Ipv4Addr::UNSPECIFIED) })
}

/// How many prefixes a wildcard may stand for.
const MOST_SCATTERED_BITS: u32 = 8;

/// What to say of a wildcard whose ones do not stand together at its end.
fn scattered(entry: &AclEntry) -> Option<Finding> {
    let scattered = |address: AddressMatch| {
        let wildcard = address.wildcard.to_bits();
        wildcard.count_ones() - wildcard.trailing_ones() > MOST_SCATTERED_BITS
    };
    (scattered(entry.source) || scattered(entry.destination)).then(|| {
        Finding::not_modelled("a wildcard mask with bits scattered this widely: no packet matches this entry")
    })
}

fn ports(protocol: Option<Protocol>, reader: &mut Reader) -> Result<Vec<PortMatch>, Finding> {
    if !matches!(protocol, Some(Protocol::TCP | Protocol::UDP)) {
        return Ok(Vec::new());
    }
    let Some(operator) = reader.keyword(&["eq", "neq", "lt", "gt", "range"]) else { return Ok(Vec::new()) };
    let first = port(reader)?;
    let span = |first: u16, last: u16| (first <= last).then_some(PortMatch { first, last });
    Ok(match operator {
        "eq" => {
            let mut all = vec![PortMatch { first, last: first }];
            // Later releases take several ports after one `eq`.
            while reader.peek().is_some_and(|word| port_number(word).is_some()) {
                let port = port(reader)?;
                all.push(PortMatch { first: port, last: port });
            }
            all
        }
        "neq" => {
            let below = first.checked_sub(1).and_then(|last| span(0, last));
            let above = first.checked_add(1).and_then(|first| span(first, u16::MAX));
            below.into_iter().chain(above).collect()
        }
        "lt" => {
            let last = first.checked_sub(1);
            vec![last.and_then(|last| span(0, last)).ok_or_else(|| nothing("lt 0"))?]
        }
        "gt" => {
            let next = first.checked_add(1);
            vec![next.and_then(|next| span(next, u16::MAX)).ok_or_else(|| nothing("gt 65535"))?]
        }
        _ => {
            let last = port(reader)?;
            // The router puts the two in order.
            vec![PortMatch { first: first.min(last), last: first.max(last) }]
        }
    })
}

fn nothing(what: &str) -> Finding {
    Finding::not_recognized(format!("no port matches `{what}`"))
}

fn port(reader: &mut Reader) -> Result<u16, Finding> {
    let port = reader.peek().and_then(port_number).ok_or_else(|| reader.unexpected("a port"))?;
    reader.next();
    Ok(port)
}

/// Ports that the router writes by name.
const PORTS: &[(&str, u16)] = &[
    ("bgp", 179),
    ("biff", 512),
    ("bootpc", 68),
    ("bootps", 67),
    ("chargen", 19),
    ("cmd", 514),
    ("daytime", 13),
    ("discard", 9),
    ("dnsix", 195),
    ("domain", 53),
    ("echo", 7),
    ("exec", 512),
    ("finger", 79),
    ("ftp", 21),
    ("ftp-data", 20),
    ("gopher", 70),
    ("hostname", 101),
    ("ident", 113),
    ("irc", 194),
    ("isakmp", 500),
    ("klogin", 543),
    ("kshell", 544),
    ("login", 513),
    ("lpd", 515),
    ("mobile-ip", 434),
    ("nameserver", 42),
    ("netbios-dgm", 138),
    ("netbios-ns", 137),
    ("netbios-ss", 139),
    ("nntp", 119),
    ("non500-isakmp", 4500),
    ("ntp", 123),
    ("pim-auto-rp", 496),
    ("pop2", 109),
    ("pop3", 110),
    ("rip", 520),
    ("smtp", 25),
    ("snmp", 161),
    ("snmptrap", 162),
    ("sunrpc", 111),
    ("syslog", 514),
    ("tacacs", 49),
    ("talk", 517),
    ("telnet", 23),
    ("tftp", 69),
    ("time", 37),
    ("uucp", 540),
    ("who", 513),
    ("whois", 43),
    ("www", 80),
    ("xdmcp", 177),
];

fn port_number(word: &str) -> Option<u16> {
    let named = PORTS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, port)| *port);
    named.or_else(|| word.parse().ok())
}

/// What a packet of perhop's never is or has, and entries look at.
const UNSEEN: &[&str] =
    &["ack", "fin", "psh", "rst", "syn", "urg", "match-all", "match-any", "ttl", "option"];

fn option(entry: &mut AclEntry, reader: &mut Reader) -> Result<Option<Finding>, Finding> {
    let keywords = [
        "precedence",
        "dscp",
        "tos",
        "log",
        "log-input",
        "established",
        "fragments",
        "time-range",
        "reflect",
    ];
    Ok(match reader.keyword(&keywords) {
        Some("precedence") => {
            entry.precedence = Some(precedence(reader)?);
            None
        }
        Some("dscp") => {
            entry.dscp = Some(dscp(reader)?);
            None
        }
        Some("tos") => {
            entry.type_of_service = Some(type_of_service(reader)?);
            None
        }
        Some("log" | "log-input") => None,
        Some("established") => {
            Some(Finding::not_modelled("`established` is ignored: connection requests match, too"))
        }
        Some("fragments") => {
            entry.unseen = Some("fragments".to_owned());
            Some(Finding::modelled("perhop's packets are never fragments: none matches this entry"))
        }
        Some("time-range") => {
            reader.word("a time range")?;
            Some(Finding::not_modelled("treated as always active"))
        }
        Some(_) => {
            while reader.next().is_some() {}
            Some(Finding::not_modelled("the list it fills is not modelled"))
        }
        None => Some(unseen(entry, reader)?),
    })
}

fn unseen(entry: &mut AclEntry, reader: &mut Reader) -> Result<Finding, Finding> {
    let word = reader.peek().unwrap_or_default();
    let message = matches!(entry.protocol, Some(Protocol::ICMP | Protocol(2)));
    if !message && !UNSEEN.contains(&word) {
        return Err(reader.unexpected("an option of an access list"));
    }
    entry.unseen = Some(reader.rest().join(" "));
    while reader.next().is_some() {}
    Ok(Finding::not_modelled("perhop's packets do not carry it: none matches this entry"))
}

/// The four bits of RFC 1349, by number or name.
fn type_of_service(reader: &mut Reader) -> Result<u8, Finding> {
    let names = [
        ("normal", 0),
        ("min-monetary-cost", 1),
        ("max-reliability", 2),
        ("max-throughput", 4),
        ("min-delay", 8),
    ];
    let word = reader.word("a type of service")?;
    let named = names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    named.or_else(|| word.parse().ok().filter(|value| *value < 16)).ok_or_else(|| {
        Finding::not_recognized(format!("`{word}` is not a type of service (0 to 15 or a name)"))
    })
}

impl AclEntry {
    /// Whether both match the same packets and take the same action.
    pub(super) fn says_the_same(&self, other: &AclEntry) -> bool {
        let AclEntry { line: _, sequence: _, .. } = other;
        *self == AclEntry { line: self.line, sequence: self.sequence, ..other.clone() }
    }
}
