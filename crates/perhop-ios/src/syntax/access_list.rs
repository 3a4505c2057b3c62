//! Commands of the block `ip access-list`, and the numbered lines without a block.

use super::access_entry::entry;
use super::command::{Command, irrelevant, modelled, not_modelled};
use crate::ast::{AccessList, AclAction, AclKind, Configuration, RateLimitAcl};
use crate::mode::Mode;
use crate::rules;
use crate::words::{Finding, Reader, Reading};
use perhop_qos::packet::IpPrecedence;

pub(super) const COMMANDS: &[Command<AccessList>] = &[
    modelled("permit", |list, reader| numbered_entry(list, reader, None, AclAction::Permit)),
    modelled("deny", |list, reader| numbered_entry(list, reader, None, AclAction::Deny)),
    modelled("sequence", |list, reader| {
        let number = reader.number("the number of an entry", 1..=u64::from(u32::MAX))?;
        sequenced(list, number, reader)
    }),
    irrelevant("remark"),
    irrelevant("statistics"),
    not_modelled("evaluate", "sessions create and remove the entries of this list"),
    not_modelled("dynamic", "logins of users create and remove the entries"),
];

/// Parses `10 permit …`, after the number.
pub(super) fn sequenced(list: &mut AccessList, number: u64, reader: &mut Reader) -> Reading {
    if reader.negated() && reader.peek().is_none() {
        list.entries.retain(|entry| entry.sequence != number);
        return Ok(Finding::MODELLED);
    }
    match reader.one_of(&["permit", "deny", "remark"])? {
        "permit" => numbered_entry(list, reader, Some(number), AclAction::Permit),
        "deny" => numbered_entry(list, reader, Some(number), AclAction::Deny),
        _ => Ok(Finding::IRRELEVANT),
    }
}

fn numbered_entry(
    list: &mut AccessList,
    reader: &mut Reader,
    sequence: Option<u64>,
    action: AclAction,
) -> Reading {
    if list.kind == AclKind::Other {
        return Ok(Finding::IRRELEVANT);
    }
    let next = list.entries.last().map_or(10, |last| last.sequence.saturating_add(10));
    let (entry, finding) = entry(list.kind, action, sequence.unwrap_or(next), reader)?;
    if reader.negated() {
        list.entries.retain(|other| !other.is_equivalent(&entry));
        return Ok(Finding::MODELLED);
    }
    match list.entries.binary_search_by_key(&entry.sequence, |other| other.sequence) {
        Ok(_) => reader.report(
            &rules::ACCESS_ENTRY_REPEATED,
            format!("this list already has an entry {}", entry.sequence),
            "the router refuses the line: the first entry remains",
        ),
        Err(place) => list.entries.insert(place, entry),
    }
    Ok(finding)
}

/// Reads `ip access-list standard|extended …`.
pub(super) fn named(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let kinds = [
        "standard",
        "extended",
        "resequence",
        "log-update",
        "logging",
        "role-based",
        "fqdn",
        "egress",
        "hardware",
        "helper",
        "match-local-traffic",
        "persistent",
    ];
    let kind = match reader.one_of(&kinds)? {
        "role-based" | "fqdn" => {
            reader.opens = Some(Mode::Irrelevant);
            return Ok(Finding::irrelevant("a list that no class-map can name"));
        }
        "standard" => AclKind::Standard,
        "extended" => AclKind::Extended,
        _ => return Ok(Finding::IRRELEVANT),
    };
    list_of_kind(configuration, kind, reader)
}

/// Reads the name of a list, and opens the list or removes it.
pub(super) fn list_of_kind(configuration: &mut Configuration, kind: AclKind, reader: &mut Reader) -> Reading {
    let name = reader.word("the list's name")?;
    reader.end()?;
    if reader.negated() {
        configuration.access_lists.remove(name);
        return Ok(Finding::MODELLED);
    }
    reader.opens = Some(open(configuration, name, kind, reader).map_or(Mode::Irrelevant, Mode::AccessList));
    Ok(Finding::MODELLED)
}

/// Reads `ipv6 access-list …`.
pub(super) fn ipv6(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if reader.keyword(&["log-update"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    list_of_kind(configuration, AclKind::Ipv6, reader)
}

/// Reads `access-list <number> …`.
pub(super) fn numbered(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    if reader.eat("rate-limit") {
        return rate_limit(configuration, reader);
    }
    let number = reader.number("an access list", 1..=2699)?;
    let kind = match number {
        1..=99 | 1300..=1999 => AclKind::Standard,
        100..=199 | 2000..=2699 => AclKind::Extended,
        _ => AclKind::Other,
    };
    let name = number.to_string();
    if reader.negated() {
        // The router removes the whole list, even if the line contains an entry.
        configuration.access_lists.remove(&name);
        return Ok(Finding::MODELLED);
    }
    if kind == AclKind::Other {
        open(configuration, &name, kind, reader);
        return Ok(Finding::irrelevant("a list for a protocol other than IP"));
    }
    if reader.eat("remark") {
        return Ok(Finding::IRRELEVANT);
    }
    if reader.eat("dynamic") {
        return Ok(Finding::not_modelled("logins of users create and remove the entries"));
    }
    let action = match reader.one_of(&["permit", "deny"])? {
        "permit" => AclAction::Permit,
        _ => AclAction::Deny,
    };
    let Some(place) = open(configuration, &name, kind, reader) else { return Ok(Finding::MODELLED) };
    reader.adds_to = Some(Mode::AccessList(place));
    match configuration.access_lists.at_mut(place) {
        Some(list) => numbered_entry(list, reader, None, action),
        None => Ok(Finding::MODELLED),
    }
}

/// Returns the index of the list `name`, which is created if missing. Reports the line and returns `None` if
/// a list of another kind has the name.
pub(super) fn open(
    configuration: &mut Configuration,
    name: &str,
    kind: AclKind,
    reader: &mut Reader,
) -> Option<usize> {
    let lists = &mut configuration.access_lists;
    let line = reader.line;
    let place = lists.place(name, || AccessList { name: name.to_owned(), line, kind, entries: Vec::new() });
    if let Some(other) = lists.at(place).filter(|other| other.kind != kind) {
        reader.report(
            &rules::ACCESS_LIST_KIND,
            format!("access list {name} is already a list of another kind (line {})", other.line),
            "the router refuses the line and those below it: the first list remains",
        );
        return None;
    }
    Some(place)
}

/// Reads `access-list rate-limit <number> <precedence>`, or `… mask <hexadecimal>` with one bit per
/// precedence.
fn rate_limit(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.number("an access list", 1..=299)?.to_string();
    if reader.negated() {
        configuration.rate_limit_lists.remove(&name);
        return Ok(Finding::MODELLED);
    }
    let mask = if reader.eat("mask") {
        let mask = reader.peek().and_then(|word| u8::from_str_radix(word, 16).ok());
        mask.ok_or_else(|| reader.unexpected("a mask of precedences in hexadecimal"))?
    } else {
        let precedence = reader.peek().and_then(|word| word.parse::<IpPrecedence>().ok());
        match precedence {
            Some(precedence) => 1 << precedence.value(),
            None => {
                return Ok(Finding::not_modelled(
                    "perhop does not model lists of MAC addresses or MPLS labels: no packet matches this \
                     list",
                ));
            }
        }
    };
    let line = reader.line;
    let precedences = (0..8).filter(|bit| mask >> bit & 1 == 1).filter_map(IpPrecedence::new).collect();
    let new = || RateLimitAcl { name: name.clone(), line, precedences: Vec::new() };
    let place = configuration.rate_limit_lists.place(&name, new);
    if let Some(list) = configuration.rate_limit_lists.at_mut(place) {
        list.precedences = precedences;
    }
    Ok(Finding::MODELLED)
}
