//! `ipv4 access-list` and `ipv6 access-list` of IOS XR, whose entries have numbers.

use crate::ast::{AccessList, AclKind, Configuration};
use crate::syntax::access_list;
use crate::syntax::command::{Command, irrelevant, not_modelled};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<AccessList>] = &[
    irrelevant("remark"),
    irrelevant("acl-base"),
    not_modelled("permit", "the entry has no number; IOS XR numbers every entry"),
    not_modelled("deny", "the entry has no number; IOS XR numbers every entry"),
];

/// Reads `ipv4 access-list NAME`.
pub(super) fn ipv4(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    list(configuration, AclKind::Extended, reader)
}

/// Reads `ipv6 access-list NAME`.
pub(super) fn ipv6(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    list(configuration, AclKind::Ipv6, reader)
}

fn list(configuration: &mut Configuration, kind: AclKind, reader: &mut Reader) -> Reading {
    if reader.keyword(&["log-update", "maximum"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    access_list::list_of_kind(configuration, kind, reader)
}

/// Reads `10 permit ipv4 any any`; `None` if the line does not begin with a number.
pub(super) fn sequenced(list: &mut AccessList, reader: &mut Reader) -> Option<Reading> {
    let sequence = reader.maybe_number()?;
    let (words, effect) = common_words(list.kind, reader.rest());
    let mut common = Reader::new(&words, reader.form, reader.line, &mut *reader.found);
    let reading = access_list::sequenced(list, sequence, &mut common);
    let is_whole = matches!(&reading, Ok(finding) if *finding == Finding::MODELLED);
    Some(effect.filter(|_| is_whole).map_or(reading, |effect| Ok(Finding::not_modelled(effect))))
}

/// Whether the word after these words is a port.
fn is_port(before: &[&str]) -> bool {
    matches!(before, [.., "eq" | "neq" | "lt" | "gt" | "range"] | [.., "range", _])
}

/// Returns the words of an entry in the syntax of IOS, and the effect of an action that only IOS XR has.
///
/// Source: Cisco, "IP Addresses and Services Command Reference for Cisco ASR 9000", permit (IPv4).
fn common_words<'a>(kind: AclKind, words: &[&'a str]) -> (Vec<&'a str>, Option<&'static str>) {
    if words.first() == Some(&"remark") {
        return (words.to_vec(), None);
    }
    let mut common = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "capture" => {}
            "counter" => drop(rest.next()),
            "nexthop1" => return (common, Some("packets that match this entry take another next hop")),
            "set" => return (common, Some("the router also marks packets that match this entry")),
            "police" => return (common, Some("the router also polices packets that match this entry")),
            "net-group" => common.push("object-group"),
            // Ports that only IOS XR names.
            "ldp" if is_port(&common) => common.push("646"),
            "ssh" if is_port(&common) => common.push("22"),
            "icmpv6" if kind == AclKind::Ipv6 => common.push("icmp"),
            other => common.push(other),
        }
    }
    (common, None)
}
