//! Conditions on the Ethernet header of a frame, and on fragments.
//!
//! Packets in perhop are whole IP packets. A condition that only other frames or fragments meet matches no
//! packet.

use perhop_lint::LineState;
use perhop_qos::classifier::{MatchConfig, OneOrMany, Prefix};
use perhop_qos::packet::LinkMark;

use super::prefixes::prefix;
use crate::context::{Context, Word};
use crate::values::number;

const NO_PACKET: &str = "packets in perhop are whole IP packets: none matches this condition";
const IPV4: &str = "0.0.0.0/0";
const IPV6: &str = "::/0";

/// The names of Ethernet types, with their numbers (Junos Routing Policies and Firewall Filters User Guide,
/// "Firewall Filter Match Conditions for Layer 2 Bridging Traffic").
const TYPES: [(&str, u64); 11] = [
    ("appletalk", 0x809b),
    ("arp", 0x0806),
    ("ipv4", 0x0800),
    ("ipv6", 0x86dd),
    ("mpls-multicast", 0x8848),
    ("mpls-unicast", 0x8847),
    ("oam", 0x8902),
    ("ppp", 0x880b),
    ("pppoe-discovery", 0x8863),
    ("pppoe-session", 0x8864),
    ("sna", 0x80d5),
];

/// Returns the condition of `ether-type`: packets of IPv4, packets of IPv6, or packets with labels.
pub(super) fn ether_type(context: &mut Context, word: &Word) -> Option<MatchConfig> {
    context.modeled(word.node);
    let mut conditions = Vec::new();
    for value in context.names(word.node) {
        let Some(number) = type_number(&value.text) else {
            context.invalid(&value, "ether-type");
            return None;
        };
        match number {
            0x0800 => conditions.push(without_labels(IPV4)),
            0x86dd => conditions.push(without_labels(IPV6)),
            0x8847 => conditions.push(labels()),
            _ => context.tree.mark_deep(value.node, LineState::Modelled, NO_PACKET),
        }
    }
    Some(match conditions.len() {
        0 => no_packet(),
        1 => conditions.remove(0),
        _ => any(conditions),
    })
}

fn type_number(text: &str) -> Option<u64> {
    let named = TYPES.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
    let hexadecimal = || u64::from_str_radix(text.strip_prefix("0x").or(text.strip_prefix("0X"))?, 16).ok();
    named.or_else(hexadecimal).or_else(|| number(text)).filter(|number| *number <= 0xffff)
}

/// Returns the condition of destination addresses; `None` if the condition depends on addresses of devices.
pub(super) fn destinations(context: &mut Context, word: &Word) -> Option<MatchConfig> {
    let groups: Option<Vec<Group>> =
        context.keywords(word.node).iter().map(|address| group(&address.text)).collect();
    let Some(groups) = groups.filter(|groups| !groups.is_empty()) else {
        context.not_modeled(word.node, "perhop skips a term with this condition");
        return None;
    };
    let ip = groups.into_iter().filter_map(|group| match group {
        Group::Ip(all) => prefix(all).map(destination),
        Group::Other => None,
    });
    let mut conditions: Vec<MatchConfig> = ip.collect();
    let note = if conditions.is_empty() { NO_PACKET } else { "" };
    context.tree.mark_deep(word.node, LineState::Modelled, note);
    Some(match conditions.len() {
        0 => no_packet(),
        1 => conditions.remove(0),
        _ => any(conditions),
    })
}

/// The receivers of a group address.
enum Group {
    /// The receivers of IP groups.
    Ip(&'static str),
    /// Receivers of frames without IP packets, such as bridges and clocks.
    Other,
}

/// Returns the group of an address such as `01:00:5e:00:00:00/25`. IPv4 groups have 25 fixed bits (RFC 1112,
/// section 6.4), IPv6 groups have 16 (RFC 2464, section 7). The only other group address of IP packets is the
/// broadcast address.
fn group(text: &str) -> Option<Group> {
    let (address, length) = text.split_once('/').unwrap_or((text, "48"));
    let length: usize = length.parse().ok().filter(|length| *length <= 48)?;
    let octets: Vec<u8> =
        address.split(':').map(|octet| u8::from_str_radix(octet, 16).ok()).collect::<Option<_>>()?;
    let is_group = octets.first().is_some_and(|first| first & 1 == 1);
    match octets.as_slice() {
        [0x01, 0x00, 0x5e, 0, 0, 0] if matches!(length, 24 | 25) => Some(Group::Ip("224.0.0.0/4")),
        [0x33, 0x33, 0, 0, 0, 0] if length == 16 => Some(Group::Ip("ff00::/8")),
        [0x01, 0x00, 0x5e, ..] | [0x33, 0x33, ..] | [0xff, 0xff, 0xff, ..] => None,
        all if all.len() == 6 && is_group && length >= 24 => Some(Group::Other),
        _ => None,
    }
}

/// Returns the condition for fragments after the first fragment, or for the first of several fragments.
pub(super) fn fragments(context: &mut Context, word: &Word) -> MatchConfig {
    context.tree.mark_deep(word.node, LineState::Modelled, NO_PACKET);
    no_packet()
}

/// Returns the condition that no packet meets.
fn no_packet() -> MatchConfig {
    let all = [IPV4, IPV6].into_iter().filter_map(prefix).map(source).collect();
    MatchConfig { all: Some(all), ..MatchConfig::default() }
}

fn labels() -> MatchConfig {
    let marks = (0..8).filter_map(LinkMark::new).collect();
    MatchConfig { mpls_exp: Some(OneOrMany(marks)), ..MatchConfig::default() }
}

fn without_labels(all: &str) -> MatchConfig {
    MatchConfig {
        not: Some(Box::new(labels())),
        source: prefix(all).map(|prefix| OneOrMany(vec![prefix])),
        ..MatchConfig::default()
    }
}

fn source(prefix: Prefix) -> MatchConfig {
    MatchConfig { source: Some(OneOrMany(vec![prefix])), ..MatchConfig::default() }
}

fn destination(prefix: Prefix) -> MatchConfig {
    MatchConfig { destination: Some(OneOrMany(vec![prefix])), ..MatchConfig::default() }
}

/// Returns the condition of packets that meet one of `conditions`.
pub(super) fn any(conditions: Vec<MatchConfig>) -> MatchConfig {
    MatchConfig { any: Some(conditions), ..MatchConfig::default() }
}
