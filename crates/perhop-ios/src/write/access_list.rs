//! Writing of conditions as access list entries.

use std::net::IpAddr;

use perhop_qos::classifier::{MatchConfig, OneOrMany, PortRange, Prefix};
use perhop_qos::packet::Protocol;

use super::criteria::{Key, but_not, keys};
use super::words::codepoint;

/// Limit on the access list entries of one condition.
pub(super) const MOST_ENTRIES: usize = 4096;

/// The kind of an access list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ipv4,
    Ipv6,
}

impl Kind {
    /// Returns the command that opens a list of this kind.
    pub(super) fn command(self) -> &'static str {
        match self {
            Kind::Ipv4 => "ip access-list extended",
            Kind::Ipv6 => "ipv6 access-list",
        }
    }
}

/// Returns the kind and the entries of an access list that permits the packets of a condition; `None` if no
/// list of a single address family can permit them.
pub(super) fn of_condition(condition: &MatchConfig) -> Option<(Kind, Vec<String>)> {
    let entries = entries(condition)?;
    match families(condition) {
        (true, true) => None,
        (false, true) => Some((Kind::Ipv6, entries)),
        _ => Some((Kind::Ipv4, entries)),
    }
}

/// Whether a condition has IPv4 prefixes, and whether it has IPv6 prefixes.
fn families(condition: &MatchConfig) -> (bool, bool) {
    let own = condition.source.iter().chain(&condition.destination).flat_map(|prefixes| &prefixes.0);
    let own = own.map(|prefix| (prefix.address().is_ipv4(), prefix.address().is_ipv6()));
    let inner = condition.all.iter().chain(&condition.any).flatten().chain(condition.not.as_deref());
    own.chain(inner.map(families))
        .fold((false, false), |found, other| (found.0 || other.0, found.1 || other.1))
}

fn entries(condition: &MatchConfig) -> Option<Vec<String>> {
    let with = |action: &str, entries: Vec<String>| -> Vec<String> {
        entries.into_iter().map(|entry| format!("{action} {entry}")).collect()
    };
    if keys(condition) == [Key::Any] {
        let (last, first) = condition.any.as_deref()?.split_last()?;
        let mut found = Vec::new();
        for entry in first {
            found.extend(with("permit", plain(entry)?));
        }
        found.extend(entries(last)?);
        return Some(found);
    }
    if let Some((kept, refused)) = but_not(condition) {
        let several = match refused.any.as_deref() {
            Some(any) if keys(refused) == [Key::Any] => any,
            _ => std::slice::from_ref(refused),
        };
        let mut found = Vec::new();
        for entry in several {
            found.extend(with("deny", plain(entry)?));
        }
        found.extend(entries(kept)?);
        return Some(found);
    }
    plain(condition).map(|entries| with("permit", entries))
}

/// Returns the entries, without action, for a condition without nested conditions.
fn plain(condition: &MatchConfig) -> Option<Vec<String>> {
    let keys = keys(condition);
    let is_listed = keys.iter().all(|key| key.is_of_list()) && keys.iter().any(|key| key.is_address());
    if !is_listed || (condition.dscp.is_some() && condition.precedence.is_some()) {
        return None;
    }
    let is_six = families(condition) == (false, true);
    let ports = |ports: &Option<OneOrMany<PortRange>>| match ports {
        None => vec![String::new()],
        Some(OneOrMany(ports)) => ports.iter().map(|range| port_words(*range)).collect(),
    };
    let prefixes = |prefixes: &Option<OneOrMany<Prefix>>| match prefixes {
        None => vec!["any".to_owned()],
        Some(OneOrMany(prefixes)) => prefixes.iter().map(|prefix| prefix_words(*prefix)).collect(),
    };
    let marks: Vec<String> = match (&condition.dscp, &condition.precedence) {
        (Some(OneOrMany(values)), _) => {
            values.iter().map(|dscp| format!(" dscp {}", codepoint(*dscp))).collect()
        }
        (_, Some(OneOrMany(values))) => values.iter().map(|value| format!(" precedence {value}")).collect(),
        _ => vec![String::new()],
    };
    let fields = [
        protocols(condition, is_six),
        prefixes(&condition.source).into_iter().map(|prefix| format!(" {prefix}")).collect(),
        ports(&condition.source_port),
        prefixes(&condition.destination).into_iter().map(|prefix| format!(" {prefix}")).collect(),
        ports(&condition.destination_port),
        marks,
    ];
    if fields.iter().map(Vec::len).product::<usize>() > MOST_ENTRIES {
        return None;
    }
    Some(fields.iter().fold(vec![String::new()], |before, words| {
        let each =
            |start: &String| words.iter().map(move |word| format!("{start}{word}")).collect::<Vec<_>>();
        before.iter().flat_map(each).collect()
    }))
}

fn protocols(condition: &MatchConfig, is_six: bool) -> Vec<String> {
    let has_ports = condition.source_port.is_some() || condition.destination_port.is_some();
    let word = |protocol: &Protocol| match protocol {
        Protocol(58) if is_six => "icmp".to_owned(),
        other => other.to_string(),
    };
    match &condition.protocol {
        Some(OneOrMany(protocols)) => protocols.iter().map(word).collect(),
        None if has_ports => vec!["tcp".to_owned(), "udp".to_owned()],
        None => vec![if is_six { "ipv6" } else { "ip" }.to_owned()],
    }
}

fn prefix_words(prefix: Prefix) -> String {
    let (address, length) = (prefix.address(), prefix.length());
    match address {
        _ if length == 0 => "any".to_owned(),
        IpAddr::V4(_) if length == 32 => format!("host {address}"),
        IpAddr::V6(_) if length == 128 => format!("host {address}"),
        IpAddr::V4(address) => {
            let wildcard = std::net::Ipv4Addr::from_bits(u32::MAX >> length);
            format!("{address} {wildcard}")
        }
        IpAddr::V6(address) => format!("{address}/{length}"),
    }
}

fn port_words(range: PortRange) -> String {
    if range.first() == range.last() {
        format!(" eq {}", range.first())
    } else {
        format!(" range {} {}", range.first(), range.last())
    }
}
