//! Access lists of classes with a well-known port of another transport protocol: `permit tcp … eq ntp`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// Ports that only one transport protocol uses, the protocol, and the service. Sources: RFC 4253 (SSH), 854
/// (Telnet), 5321 (SMTP), 2131 (DHCP), 1350 (TFTP), 5905 (NTP), 4271 (BGP), 7296 (IKE), 3618 (MSDP), 2281
/// (HSRP), 3435 (MGCP), 5881 (BFD); ITU-T H.323 (call signaling); Cisco for SCCP and for the ports of RTP of
/// its phones and gateways. SNMP (RFC 3430), RADIUS (RFC 6613) and IKE at port 4500 (RFC 9329) also run over
/// TCP.
const PORTS: &[(RangeInclusive<u16>, &str, &str)] = &[
    (22..=22, "tcp", "SSH"),
    (23..=23, "tcp", "Telnet"),
    (25..=25, "tcp", "SMTP"),
    (67..=68, "udp", "DHCP"),
    (69..=69, "udp", "TFTP"),
    (123..=123, "udp", "NTP"),
    (179..=179, "tcp", "BGP"),
    (500..=500, "udp", "IKE"),
    (639..=639, "tcp", "MSDP"),
    (1720..=1720, "tcp", "call signaling of H.323"),
    (1985..=1985, "udp", "HSRP"),
    (2000..=2002, "tcp", "SCCP"),
    (2427..=2427, "udp", "MGCP"),
    (3784..=3785, "udp", "BFD"),
    (16384..=32767, "udp", "RTP"),
];
/// Names of ports in lists, with their numbers (IANA, service names).
const NAMES: &[(&str, u16)] = &[
    ("bgp", 179),
    ("bootpc", 68),
    ("bootps", 67),
    ("isakmp", 500),
    ("non500-isakmp", 4500),
    ("ntp", 123),
    ("smtp", 25),
    ("snmp", 161),
    ("snmptrap", 162),
    ("telnet", 23),
    ("tftp", 69),
];
/// The minimum size of a range of ports that counts as RTP. The range must begin with the first port of RTP,
/// because applications choose single ports and other ranges among the ports of RTP.
const WIDE: u16 = 1000;

/// Reports entries of access lists of classes that have a well-known port of another transport protocol.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    for (device, parts) in devices.iter().enumerate() {
        for (list, entries) in &parts.lists {
            let read: Vec<(usize, &str, Vec<RangeInclusive<u16>>)> = entries
                .iter()
                .filter_map(|(line, words)| Some((*line, protocol(words)?, ports(words))))
                .collect();
            // A list with both protocols for a port is complete on purpose.
            let used: BTreeSet<(&str, u16)> = read
                .iter()
                .flat_map(|(_, protocol, ports)| ports.iter().map(move |range| (*protocol, *range.start())))
                .collect();
            for (line, own, ports) in &read {
                let known = ports.iter().find_map(|range| known(range).map(|known| (range, known)));
                let Some((range, (protocol, service))) = known else { continue };
                if protocol == *own || used.contains(&(protocol, *range.start())) {
                    continue;
                }
                let message = format!(
                    "{list} of {} permits {own} with a port of {service}, which uses {protocol}",
                    snapshot.devices[device].name
                );
                let effect = format!("packets of {service} are not in the class");
                let rule = &rules::NETWORK_SERVICE_DIFFERS;
                found.push(snapshot.finding(device, rule, *line, (message, effect)));
            }
        }
    }
}

/// Returns the transport protocol of an entry that permits packets.
fn protocol<'t>(words: &[&'t str]) -> Option<&'t str> {
    let at = words.iter().position(|word| *word == "permit")?;
    words.get(at + 1).copied().filter(|word| ["tcp", "udp"].contains(word))
}

/// Returns the ports of an entry: of `eq` and `range`.
fn ports(words: &[&str]) -> Vec<RangeInclusive<u16>> {
    let number = |word: &&str| {
        word.parse().ok().or_else(|| NAMES.iter().find(|(name, _)| name == word).map(|(_, port)| *port))
    };
    let mut found = Vec::new();
    for (place, word) in words.iter().enumerate() {
        match *word {
            "eq" => {
                let numbers = words[place + 1..].iter().map_while(number);
                found.extend(numbers.map(|port| port..=port));
            }
            "range" => {
                let mut ends = words[place + 1..].iter().map_while(number);
                if let (Some(first), Some(last)) = (ends.next(), ends.next()) {
                    found.push(first..=last);
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the protocol and the service of well-known ports.
fn known(range: &RangeInclusive<u16>) -> Option<(&'static str, &'static str)> {
    let contains = |(ports, ..): &&(RangeInclusive<u16>, &str, &str)| {
        let is_single = ports.end() - ports.start() < WIDE;
        ports.contains(range.start())
            && ports.contains(range.end())
            && (is_single || range.start() == ports.start() && range.end() - range.start() >= WIDE)
    };
    PORTS.iter().find(contains).map(|(_, protocol, service)| (*protocol, *service))
}

#[cfg(test)]
mod tests {
    use super::{known, ports};

    #[test]
    fn ports_are_numbers_or_names() {
        let words: Vec<&str> = "permit tcp any eq bgp any range 16384 32767".split(' ').collect();
        assert_eq!(ports(&words), [179..=179, 16384..=32767]);
    }

    #[test]
    fn a_single_port_of_the_range_of_rtp_is_not_well_known() {
        assert_eq!(known(&(16384..=32767)), Some(("udp", "RTP")));
        assert_eq!(known(&(16384..=20000)), Some(("udp", "RTP")));
        assert_eq!(known(&(20000..=20100)), None);
        assert_eq!(known(&(20000..=30000)), None, "passive FTP, for example, uses such ranges");
        assert_eq!(known(&(4500..=4500)), None, "IKE also runs over TCP");
        assert_eq!(known(&(123..=123)), Some(("udp", "NTP")));
        assert_eq!(known(&(443..=443)), None);
    }
}
