//! Commands of the block `object-group`.

use std::net::Ipv4Addr;

use super::access_entry::{prefix, prefix_of_ipv4, protocol, protocol_number};
use super::command::{Command, irrelevant, modelled};
use super::numbers::address;
use super::ports::ports_or_port;
use crate::ast::{AddressMatch, At, Configuration, GroupMember, ObjectGroup, PrefixMatch, ServiceMatch};
use crate::grammar::Grammar;
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};
use perhop_qos::packet::Protocol;

pub(super) const COMMANDS: &[Command<ObjectGroup>] = &[
    modelled("any", |group, reader| add(group, reader, GroupMember::Address(AddressMatch::ANY))),
    modelled("group-object", |group, reader| {
        let name = reader.word("an object group")?.to_owned();
        add(group, reader, GroupMember::Group(name))
    }),
    modelled("host", host),
    modelled("range", |group, reader| {
        let (first, last) = (address(reader, "the first address")?, address(reader, "the last address")?);
        add(group, reader, GroupMember::Range(first.min(last), first.max(last)))
    }),
    irrelevant("description"),
];

/// Reads `object-group network|service …`.
pub(super) fn open(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let kinds = ["network", "service", "v4-network", "v4-service", "v6-network", "v6-service"];
    if reader.keyword(&kinds).is_none() {
        const OTHER: &str = "a group of a kind other than addresses and ports";
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(OTHER));
        return Ok(Finding::not_modelled(OTHER));
    }
    if configuration.grammar == Grammar::IosXr {
        reader.keyword(&["ipv4", "ipv6"]);
    }
    let name = reader.word("the group's name")?;
    let groups = &mut configuration.object_groups;
    if reader.negated() {
        groups.remove(name);
        return Ok(Finding::MODELLED);
    }
    let place =
        groups.place(name, || ObjectGroup { name: name.to_owned(), line: reader.line, members: Vec::new() });
    reader.opens = Some(Mode::ObjectGroup(place));
    Ok(Finding::MODELLED)
}

/// Reads a line of IOS XR that is a prefix of IPv4, `10.0.0.0/8`.
pub(super) fn with_length(group: &mut ObjectGroup, reader: &mut Reader) -> Option<Reading> {
    let prefix = prefix_of_ipv4(reader)?;
    Some(add(group, reader, GroupMember::Address(prefix)))
}

/// Reads a line that begins with an address, a prefix or a protocol.
pub(super) fn unnamed(group: &mut ObjectGroup, reader: &mut Reader) -> Option<Reading> {
    let first = reader.peek()?;
    if first.parse::<Ipv4Addr>().is_ok() {
        return Some(network(reader).and_then(|network| add(group, reader, GroupMember::Address(network))));
    }
    if first.contains(':') {
        return Some(prefix(reader).and_then(|prefix| add(group, reader, GroupMember::Prefix(prefix))));
    }
    let service = match first {
        "ip" => reader.rest().len() == 1,
        _ => first == "tcp-udp" || protocol_number(first).is_some(),
    };
    service.then(|| service_member(group, reader))
}

/// Reads `tcp source eq 80`, `udp range 16384 32767`, `tcp-udp eq 53`, `icmp echo`, `ip`.
fn service_member(group: &mut ObjectGroup, reader: &mut Reader) -> Reading {
    let mut service = ServiceMatch::default();
    if reader.eat("tcp-udp") {
        service.protocols = vec![Protocol::TCP, Protocol::UDP];
    } else {
        service.protocols.extend(protocol(reader)?);
    }
    let first = service.protocols.first().copied();
    if reader.eat("source") {
        service.source_ports = ports_or_port(first, reader)?;
    }
    reader.keyword(&["destination"]);
    service.destination_ports = ports_or_port(first, reader)?;
    if reader.peek().is_some()
        && first.is_some_and(|protocol| ![Protocol::TCP, Protocol::UDP].contains(&protocol))
    {
        while reader.next().is_some() {}
        add(group, reader, GroupMember::Service(service))?;
        return Ok(Finding::not_modelled(
            "perhop does not distinguish message types: all messages of this protocol match",
        ));
    }
    add(group, reader, GroupMember::Service(service))
}

fn add(group: &mut ObjectGroup, reader: &mut Reader, member: GroupMember) -> Reading {
    reader.end()?;
    if reader.negated() {
        group.members.retain(|other| other.value != member);
    } else {
        group.members.push(At::new(reader.line, member));
    }
    Ok(Finding::MODELLED)
}

fn host(group: &mut ObjectGroup, reader: &mut Reader) -> Reading {
    if reader.peek().is_some_and(|word| word.contains(':')) {
        let PrefixMatch { address, .. } = prefix(reader)?;
        return add(group, reader, GroupMember::Prefix(PrefixMatch { address, length: 128 }));
    }
    if reader.peek().is_some_and(|word| word.parse::<Ipv4Addr>().is_err()) {
        reader.next();
        return Ok(Finding::not_modelled("perhop does not resolve names: no packet matches this member"));
    }
    let host = AddressMatch::host(address(reader, "an address")?);
    add(group, reader, GroupMember::Address(host))
}

/// Parses `10.0.0.0 255.0.0.0` or `10.0.0.0 /8`. Unlike in an access list, the 1-bits of the mask are the
/// significant bits.
fn network(reader: &mut Reader) -> Result<AddressMatch, Finding> {
    let network = address(reader, "an address")?;
    let Some(word) = reader.peek() else { return Ok(AddressMatch::host(network)) };
    let length = word.strip_prefix('/').and_then(|length| length.parse::<u32>().ok());
    let mask = match length.filter(|length| *length <= 32) {
        Some(length) => {
            reader.next();
            u32::MAX.checked_shl(32 - length).unwrap_or(0)
        }
        None => address(reader, "a subnet mask")?.to_bits(),
    };
    Ok(AddressMatch { address: network, wildcard: Ipv4Addr::from_bits(!mask) })
}
