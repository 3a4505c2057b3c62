//! Access lists and groups of addresses of NX-OS.

use crate::ast::{AccessList, AclKind, At, Configuration, GroupMember, ObjectGroup};
use crate::mode::Mode;
use crate::syntax::access_entry::{prefix, prefix_of_ipv4};
use crate::syntax::access_list::{self, COMMANDS as OF_IOS};
use crate::syntax::command::{Command, irrelevant, not_modelled};
use crate::syntax::lookup::{Spelling, run};
use crate::syntax::numbers::address;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<AccessList>] = &[
    irrelevant("remark"),
    irrelevant("statistics"),
    irrelevant("ignore"),
    not_modelled("fragments", "fragments match by other rules"),
];

/// Reads `ip access-list NAME`.
pub(super) fn ipv4(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    list(configuration, AclKind::Extended, reader)
}

/// Reads `ipv6 access-list NAME`.
pub(super) fn ipv6(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    list(configuration, AclKind::Ipv6, reader)
}

fn list(configuration: &mut Configuration, kind: AclKind, reader: &mut Reader) -> Reading {
    if reader.rest().len() > 1 && reader.keyword(&["match-local-traffic"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    access_list::list_of_kind(configuration, kind, reader)
}

/// Reads `10 permit tcp any any eq 80`, also without the number; `None` for other lines.
pub(super) fn entry(list: &mut AccessList, reader: &mut Reader) -> Option<Reading> {
    let sequence = reader.maybe_number();
    if sequence.is_none() && !matches!(reader.peek(), Some("permit" | "deny")) {
        return None;
    }
    let words: Vec<&str> = reader
        .rest()
        .iter()
        .map(|word| match *word {
            "addrgroup" => "object-group",
            "icmpv6" if list.kind == AclKind::Ipv6 => "icmp",
            other => other,
        })
        .collect();
    if words.contains(&"portgroup") {
        return Some(Ok(Finding::not_modelled(
            "perhop does not model groups of ports, and ignores the entry",
        )));
    }
    let mut common = Reader::new(&words, reader.form, reader.line, &mut *reader.found);
    match sequence {
        Some(number) => Some(access_list::sequenced(list, number, &mut common)),
        None => run(&[OF_IOS], list, Spelling::Full, &mut common),
    }
}

/// Reads `object-group ip address NAME`, `object-group ipv6 address NAME`.
pub(super) fn open_group(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    reader.one_of(&["ip", "ipv6"])?;
    if reader.one_of(&["address", "port"])? == "port" {
        const PORTS: &str = "perhop does not model groups of ports, and ignores the entries that name the \
                             group";
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(PORTS));
        return Ok(Finding::not_modelled(PORTS));
    }
    let name = reader.word("the group's name")?;
    let groups = &mut configuration.object_groups;
    if reader.negated() {
        groups.remove(name);
        return Ok(Finding::MODELLED);
    }
    let line = reader.line;
    let place = groups.place(name, || ObjectGroup { name: name.to_owned(), line, members: Vec::new() });
    reader.opens = Some(Mode::ObjectGroup(place));
    Ok(Finding::MODELLED)
}

/// Reads `[10] 10.0.0.0/8`, `[10] host 192.0.2.1`, `[10] 10.0.0.0 0.255.255.255`.
pub(super) fn group_member(group: &mut ObjectGroup, reader: &mut Reader) -> Option<Reading> {
    let has_number = reader.maybe_number().is_some();
    let first = reader.peek()?;
    let is_member = first == "host" || first.starts_with(|first: char| first.is_ascii_hexdigit());
    if !is_member || !has_number && first.parse::<u64>().is_ok() {
        return None;
    }
    Some(member(reader).map(|member| {
        group.members.retain(|other| other.value != member);
        if !reader.negated() {
            group.members.push(At::new(reader.line, member));
        }
        Finding::MODELLED
    }))
}

fn member(reader: &mut Reader) -> Result<GroupMember, Finding> {
    use crate::ast::AddressMatch;
    let of_ipv6 = reader.rest().iter().any(|word| word.contains(':'));
    if of_ipv6 {
        return prefix(reader).map(GroupMember::Prefix);
    }
    let found = if reader.eat("host") {
        AddressMatch::host(address(reader, "an address")?)
    } else if let Some(found) = prefix_of_ipv4(reader) {
        found
    } else {
        let own = address(reader, "an address")?;
        AddressMatch { address: own, wildcard: address(reader, "a wildcard")? }
    };
    reader.end()?;
    Ok(GroupMember::Address(found))
}
