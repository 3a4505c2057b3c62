//! Parsing of ports, by number or name, with operators.

use perhop_qos::packet::Protocol;

use crate::ast::PortMatch;
use crate::words::{Finding, Reader};

/// Parses an operator with its ports. Returns an empty list, which matches all ports, if the line has no
/// operator.
pub(super) fn ports(protocol: Option<Protocol>, reader: &mut Reader) -> Result<Vec<PortMatch>, Finding> {
    if !matches!(protocol, Some(Protocol::TCP | Protocol::UDP)) {
        return Ok(Vec::new());
    }
    let Some(operator) = reader.keyword(&["eq", "neq", "lt", "gt", "range"]) else { return Ok(Vec::new()) };
    let first = port(reader)?;
    let span = |first: u16, last: u16| (first <= last).then_some(PortMatch { first, last });
    Ok(match operator {
        // Later releases accept several ports after one `eq` or `neq`.
        "eq" => {
            several(first, reader)?.into_iter().map(|port| PortMatch { first: port, last: port }).collect()
        }
        "neq" => all_but(several(first, reader)?),
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
            // The ports may have any order, because the router sorts them.
            vec![PortMatch { first: first.min(last), last: first.max(last) }]
        }
    })
}

/// Returns `first` and the ports that follow it after `eq` or `neq`.
fn several(first: u16, reader: &mut Reader) -> Result<Vec<u16>, Finding> {
    let mut all = vec![first];
    while reader.peek().is_some_and(|word| port_number(word).is_some()) {
        all.push(port(reader)?);
    }
    Ok(all)
}

/// Returns the ranges of all ports except `ports`.
fn all_but(mut ports: Vec<u16>) -> Vec<PortMatch> {
    ports.sort_unstable();
    let mut next = Some(0);
    let mut ranges = Vec::new();
    for port in ports {
        let below = port.checked_sub(1);
        let first = next.zip(below).filter(|(first, last)| first <= last);
        ranges.extend(first.map(|(first, last)| PortMatch { first, last }));
        next = port.checked_add(1).filter(|_| next.is_some());
    }
    ranges.extend(next.map(|first| PortMatch { first, last: u16::MAX }));
    ranges
}

/// Parses ports like [`ports`], or a single port without an operator.
pub(super) fn ports_or_port(
    protocol: Option<Protocol>,
    reader: &mut Reader,
) -> Result<Vec<PortMatch>, Finding> {
    // A word such as `echo` is a port only for TCP and UDP. For ICMP it is the name of a message.
    let has_ports = matches!(protocol, Some(Protocol::TCP | Protocol::UDP));
    match reader.peek().and_then(port_number).filter(|_| has_ports) {
        Some(port) => {
            reader.next();
            Ok(vec![PortMatch { first: port, last: port }])
        }
        None => ports(protocol, reader),
    }
}

fn nothing(what: &str) -> Finding {
    Finding::not_recognized(format!("no port matches `{what}`"))
}

fn port(reader: &mut Reader) -> Result<u16, Finding> {
    let port = reader.peek().and_then(port_number).ok_or_else(|| reader.unexpected("a port"))?;
    reader.next();
    Ok(port)
}

/// The ports by name.
const PORTS: &[(&str, u16)] = &[
    ("bgp", 179),
    ("biff", 512),
    ("bootpc", 68),
    ("bootps", 67),
    ("chargen", 19),
    ("cmd", 514),
    ("connectedapps-plain", 15001),
    ("connectedapps-tls", 15002),
    ("daytime", 13),
    ("discard", 9),
    ("dnsix", 195),
    ("domain", 53),
    ("drip", 3949),
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
    ("msrpc", 135),
    ("nameserver", 42),
    ("netbios-dgm", 138),
    ("netbios-ns", 137),
    ("netbios-ss", 139),
    ("nntp", 119),
    ("non500-isakmp", 4500),
    ("ntp", 123),
    ("onep-plain", 15001),
    ("onep-tls", 15002),
    ("pim-auto-rp", 496),
    ("pop2", 109),
    ("pop3", 110),
    ("rip", 520),
    ("ripv6", 521),
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

#[cfg(test)]
mod tests {
    use super::all_but;

    #[test]
    fn all_but_returns_the_ranges_between_the_ports() {
        let left = |ports: &[u16]| {
            let ranges = all_but(ports.to_vec());
            ranges.iter().map(|range| (range.first, range.last)).collect::<Vec<_>>()
        };
        assert_eq!(left(&[80]), [(0, 79), (81, 65535)]);
        assert_eq!(left(&[443, 80, 81]), [(0, 79), (82, 442), (444, 65535)]);
        assert_eq!(left(&[0, 65535]), [(1, 65534)]);
        assert_eq!(left(&[7, 7]), [(0, 6), (8, 65535)]);
    }
}
