//! [`Role`]: the role of a class, recognized by its name, its codepoint or its ports.
//!
//! Roles, codepoints and the nature of each role's traffic are those of RFC 4594 (figures 2 and 3), with one
//! exception. Cisco's designs mark call signaling CS3 and broadcast video CS5 (Enterprise Medianet QoS Design
//! 4.0, overview), and most configurations follow them; the RFC has the opposite assignment. The names are
//! the class names of such design guides, and usual abbreviations.

use perhop_scenario::Role as Judged;
use serde::{Deserialize, Serialize};

use crate::header::Header;

/// The behavior of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Packets at regular intervals.
    Constant,
    /// Single datagrams at random times.
    Datagrams,
    /// Bursts of datagrams.
    Bursts,
    /// Short TCP transfers.
    Transfers,
    /// TCP that uses all available bandwidth.
    Greedy,
}

/// A role of a class in RFC 4594, with the behavior of its sources and the words, codepoints and ports that
/// identify it.
#[derive(Debug)]
pub(crate) struct Role {
    pub(crate) name: &'static str,
    /// The role whose limits the class must meet.
    pub(crate) judged_as: Judged,
    pub(crate) kind: Kind,
    /// IP bytes of a datagram, for roles that send datagrams: G.711 every 20 ms for voice, one SIP or SNMP
    /// message, one routing update, a slice of a video frame.
    pub(crate) packet_bytes: u32,
    /// The usual codepoint of the role, and alternatives.
    dscps: &'static [&'static str],
    /// Words in names of classes. A word with a space means consecutive words.
    words: &'static [&'static str],
    /// Ranges of UDP or TCP ports that identify the role.
    ports: &'static [(u16, u16)],
}

const SIGNALLING: Role = Role {
    name: "signalling",
    judged_as: Judged::Signaling,
    kind: Kind::Datagrams,
    packet_bytes: 200,
    dscps: &["cs3"],
    words: &[
        "sig",
        "sign",
        "signal",
        "signaling",
        "signalling",
        "sip",
        "sccp",
        "skinny",
        "mgcp",
        "h323",
        "voice control",
        "call control",
        "vo ip control",
        "voip control",
        "video control",
    ],
    ports: &[(5060, 5061), (1720, 1720), (2000, 2002), (2427, 2428)],
};
const ROUTING: Role = Role {
    name: "routing",
    judged_as: Judged::Control,
    kind: Kind::Datagrams,
    packet_bytes: 100,
    dscps: &["cs6", "cs7"],
    words: &[
        "routing",
        "route",
        "bgp",
        "ospf",
        "eigrp",
        "isis",
        "rip",
        "igp",
        "bfd",
        "hsrp",
        "ldp",
        "nc",
        "network control",
        "net ctrl",
        "netctrl",
        "internetwork control",
        "control",
        "ctrl",
    ],
    ports: &[(179, 179), (520, 521), (646, 646), (3784, 3785)],
};
const MANAGEMENT: Role = Role {
    name: "management",
    judged_as: Judged::Control,
    kind: Kind::Datagrams,
    packet_bytes: 300,
    dscps: &["cs2"],
    words: &[
        "mgmt",
        "management",
        "oam",
        "snmp",
        "ssh",
        "telnet",
        "syslog",
        "ntp",
        "ops",
        "netmgmt",
        "admin",
    ],
    ports: &[(22, 23), (123, 123), (161, 162), (514, 514)],
};
const SCAVENGER: Role = Role {
    name: "scavenger",
    judged_as: Judged::Scavenger,
    kind: Kind::Greedy,
    packet_bytes: 1000,
    dscps: &["cs1", "le"],
    words: &["scavenger", "scav", "torrent", "bittorrent", "less than", "p2 p", "junk", "games"],
    ports: &[],
};
const STREAMING: Role = Role {
    name: "streaming",
    judged_as: Judged::Streaming,
    kind: Kind::Bursts,
    packet_bytes: 1200,
    dscps: &["af31", "af32", "af33", "cs5"],
    words: &["streaming", "stream", "broadcast", "iptv", "vod", "cctv", "multicast"],
    ports: &[],
};
const VIDEO: Role = Role {
    name: "video",
    judged_as: Judged::Video,
    kind: Kind::Bursts,
    packet_bytes: 1200,
    dscps: &["af41", "af42", "af43", "cs4"],
    words: &[
        "video",
        "vid",
        "conferencing",
        "conference",
        "conf",
        "telepresence",
        "webex",
        "zoom",
        "teams",
        "real time interactive",
        "realtime interactive",
        "multimedia",
    ],
    ports: &[],
};
const VOICE: Role = Role {
    name: "voice",
    judged_as: Judged::Voice,
    kind: Kind::Constant,
    packet_bytes: 200,
    dscps: &["ef", "voice-admit"],
    words: &[
        "voice",
        "voip",
        "vo ip",
        "rtp",
        "phone",
        "phones",
        "telephony",
        "audio",
        "ef",
        "llq",
        "realtime",
        "real time",
        "rt",
    ],
    ports: &[(16384, 32767)],
};
const BULK: Role = Role {
    name: "bulk",
    judged_as: Judged::Bulk,
    kind: Kind::Greedy,
    packet_bytes: 1000,
    dscps: &["af11", "af12", "af13"],
    words: &[
        "bulk",
        "backup",
        "ftp",
        "mail",
        "email",
        "smtp",
        "replication",
        "storage",
        "batch",
        "sync",
        "bronze",
        "high throughput",
    ],
    ports: &[(20, 21), (25, 25)],
};
const TRANSACTIONAL: Role = Role {
    name: "transactional",
    judged_as: Judged::Transactions,
    kind: Kind::Transfers,
    packet_bytes: 600,
    dscps: &["af21", "af22", "af23"],
    words: &[
        "transactional",
        "transaction",
        "trans",
        "business",
        "critical",
        "mission",
        "database",
        "data",
        "interactive",
        "sap",
        "oracle",
        "citrix",
        "erp",
        "crm",
        "sql",
        "app",
        "apps",
        "application",
        "applications",
        "low latency",
        "gold",
        "silver",
        "platinum",
        "premium",
    ],
    ports: &[(1433, 1433), (1521, 1521), (3200, 3299), (1494, 1494)],
};
const BEST_EFFORT: Role = Role {
    name: "best effort",
    judged_as: Judged::BestEffort,
    kind: Kind::Greedy,
    packet_bytes: 1000,
    dscps: &["default", "cs0"],
    words: &[
        "default",
        "best effort",
        "besteffort",
        "be",
        "internet",
        "web",
        "http",
        "https",
        "guest",
        "other",
        "others",
    ],
    ports: &[(80, 80), (443, 443), (8080, 8080)],
};

/// All roles, in the order in which a name is compared with their words: VOICE-SIGNALING is signaling, and
/// VIDEO-STREAMING is streaming.
static ROLES: [Role; 10] =
    [SIGNALLING, ROUTING, MANAGEMENT, SCAVENGER, STREAMING, VIDEO, VOICE, BULK, TRANSACTIONAL, BEST_EFFORT];
pub(crate) static SIGNALING_ROLE: &Role = &ROLES[0];
pub(crate) static VOICE_ROLE: &Role = &ROLES[6];
static REST_ROLE: &Role = &ROLES[9];

/// Whether the queue of a class has strict priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Priority,
    Ordinary,
}

/// Returns the role of a class whose packets have `header`, by name, codepoint, ports or priority.
pub(crate) fn role_of(name: &str, header: &Header, service: Service) -> &'static Role {
    let named = role_named(name);
    let found = named.or_else(|| by_codepoint(header)).or_else(|| by_ports(header));
    // Before codepoints existed, IP precedence 5 meant voice. It is now codepoint CS5.
    let is_old_voice = header.dscp.as_deref() == Some("cs5") && named.is_none();
    match found {
        Some(role) if service == Service::Ordinary || !is_old_voice => role,
        None if service == Service::Ordinary => REST_ROLE,
        _ => VOICE_ROLE,
    }
}

/// Returns the name, the kind and the usual codepoint of the role that a class name contains, if any.
pub fn role_by_name(name: &str) -> Option<(&'static str, Kind, &'static str)> {
    role_named(name).map(|role| (role.name, role.kind, role.dscps[0]))
}

/// Returns the kind of traffic of the role `name`.
pub fn kind_of_role(name: &str) -> Option<Kind> {
    ROLES.iter().find(|role| role.name == name).map(|role| role.kind)
}

fn role_named(name: &str) -> Option<&'static Role> {
    let words: Vec<String> = words_of(name).into_iter().map(str::to_lowercase).collect();
    let spaced = format!(" {} ", words.join(" "));
    let has_word = |role: &&Role| role.words.iter().any(|word| spaced.contains(&format!(" {word} ")));
    ROLES.iter().find(has_word).or_else(|| words.iter().find_map(|word| with_codepoint(word)))
}

fn with_codepoint(dscp: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| role.dscps.contains(&dscp))
}

fn by_codepoint(header: &Header) -> Option<&'static Role> {
    // The default codepoint does not identify a role.
    header.dscp.as_deref().filter(|dscp| *dscp != "default").and_then(with_codepoint)
}

fn by_ports(header: &Header) -> Option<&'static Role> {
    let given: Vec<u16> = [header.destination_port, header.source_port].into_iter().flatten().collect();
    let has_port = |(first, last): &(u16, u16)| given.iter().any(|port| (first..=last).contains(&port));
    ROLES.iter().find(|role| role.ports.iter().any(has_port))
}

/// Returns the words of a name. Characters other than letters and digits separate words, and a capital also
/// begins a word: `callControl`.
fn words_of(name: &str) -> Vec<&str> {
    let bytes = name.as_bytes();
    let run = |from: usize, is: fn(&u8) -> bool| bytes[from..].iter().take_while(|byte| is(byte)).count();
    let mut words = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let capitals = run(start, u8::is_ascii_uppercase);
        let small = run(start + capitals, u8::is_ascii_lowercase);
        let letters = match (capitals, small) {
            (_, 0) | (0 | 1, _) => capitals + small,
            // The last capital begins the next word.
            _ => capitals - 1,
        };
        let end = start
            + letters
            + if letters == capitals + small { run(start + letters, u8::is_ascii_digit) } else { 0 };
        if end > start {
            words.push(&name[start..end]);
        }
        start = end.max(start + usize::from(end == start));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        assert_eq!(words_of("VOICE-SIGNALING_2"), ["VOICE", "SIGNALING", "2"]);
        assert_eq!(words_of("callControl"), ["call", "Control"]);
        assert_eq!(words_of("HTTPServer9x"), ["HTTP", "Server9", "x"]);
        assert_eq!(words_of("VoIP"), ["Vo", "IP"]);
        assert_eq!(words_of("é-AF31 q"), ["AF31", "q"]);
        assert_eq!(words_of(""), [""; 0]);
    }

    #[test]
    fn roles_are_recognized_by_name_then_codepoint_then_ports() {
        let role = |name: &str, header: &Header| role_of(name, header, Service::Ordinary).name;
        let marked = Header { dscp: Some("af41".into()), ..Header::default() };
        let port = Header { destination_port: Some(179), ..Header::default() };
        assert_eq!(role("VOICE-SIGNALING", &marked), "signalling");
        assert_eq!(role("C1", &marked), "video");
        assert_eq!(role("C1", &port), "routing");
        assert_eq!(role("C1", &Header::default()), "best effort");
        assert_eq!(role_of("C1", &Header::default(), Service::Priority).name, "voice");
        let old = Header { dscp: Some("cs5".into()), ..Header::default() };
        assert_eq!(role_of("C1", &old, Service::Priority).name, "voice");
        assert_eq!(role_of("STREAM", &old, Service::Priority).name, "streaming");
    }
}
