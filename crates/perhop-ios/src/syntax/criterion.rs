//! Criteria after `match` in a class-map.

use super::numbers::{dscp, eight, list, precedence};
use crate::ast::{Criterion, Family};
use crate::words::{Finding, Reader};

/// Criteria in the model.
const KEYWORDS: &[&str] = &[
    "any",
    "access-group",
    "ip",
    "precedence",
    "dscp",
    "input-interface",
    "protocol",
    "qos-group",
    "class-map",
    "cos",
    "mpls",
    "packet",
    "vlan",
    "discard-class",
    "traffic-class",
    "application",
    "none",
];

/// Parses a criterion and its address family.
pub(super) fn criterion(reader: &mut Reader) -> Result<(Family, Criterion), Finding> {
    let Some(keyword) = reader.keyword(KEYWORDS) else { return unseen(reader) };
    let criterion = match keyword {
        "any" => Criterion::Any,
        "access-group" => {
            reader.eat("name");
            Criterion::AccessGroup(reader.word("an access list")?.to_owned())
        }
        "ip" => {
            return Ok(match reader.one_of(&["precedence", "dscp", "rtp"])? {
                "precedence" => (Family::Ipv4, Criterion::Precedence(list(reader, precedence)?)),
                "dscp" => (Family::Ipv4, Criterion::Dscp(list(reader, dscp)?)),
                _ => (Family::Any, rtp(reader)?),
            });
        }
        "precedence" => Criterion::Precedence(list(reader, precedence)?),
        "dscp" => Criterion::Dscp(list(reader, dscp)?),
        "input-interface" => Criterion::InputInterface(interface_name(reader)?),
        "protocol" => return protocol(reader),
        "qos-group" => Criterion::QosGroup(reader.number("a group", 0..=99)? as u32),
        "class-map" => Criterion::ClassMap(reader.word("a class-map")?.to_owned()),
        "cos" if reader.eat("inner") => Criterion::CosInner(list(reader, eight)?),
        "cos" => Criterion::Cos(list(reader, eight)?),
        "mpls" => {
            reader.one_of(&["experimental"])?;
            reader.keyword(&["topmost"]);
            Criterion::MplsTopmost(list(reader, eight)?)
        }
        "packet" => length(reader)?,
        "vlan" if reader.eat("inner") => Criterion::VlanInner(vlans(reader)?),
        "vlan" => Criterion::Vlan(vlans(reader)?),
        "discard-class" => Criterion::DiscardClass(list(reader, eight)?),
        "traffic-class" => Criterion::TrafficClass(list(reader, eight)?),
        "application" => Criterion::Application(words(reader, "an application")?),
        _ => Criterion::NotModelled("any packet".to_owned()),
    };
    reader.end()?;
    Ok((Family::Any, criterion))
}

/// Criteria on properties that packets in perhop do not have, by their first word.
const UNSEEN: [(&str, &str); 27] = [
    ("atm", "ATM headers"),
    ("atm-clp", "cell loss priorities"),
    ("atm-oam", "ATM OAM cells"),
    ("atm-vci", "ATM headers"),
    ("destination-address", "MAC addresses"),
    ("ethertype", "EtherTypes"),
    ("field", "fields of a PHDF packet description"),
    ("flow", "flow labels"),
    ("fr-de", "the discard eligibility of frame relay"),
    ("fr-dlci", "frame relay circuits"),
    ("group-object", "groups of users"),
    ("identity", "the identity of users"),
    ("input", "the input interface of packets"),
    ("ipv6", "IPv6 options"),
    ("l2", "MAC addresses"),
    ("metadata", "metadata of end systems"),
    ("non-client-nrt", "wireless traffic"),
    ("packet-tag", "tags that the router attaches to packets"),
    ("port-type", "types of ports"),
    ("security-group", "security groups"),
    ("service", "service instances"),
    ("source-address", "MAC addresses"),
    ("start", "bytes at an offset in the packet"),
    ("tag", "tags"),
    ("traffic-category", "the router's catalog of applications"),
    ("user-group", "groups of users"),
    ("wlan", "wireless traffic"),
];

fn unseen(reader: &mut Reader) -> Result<(Family, Criterion), Finding> {
    let keywords = UNSEEN.map(|(word, _)| word);
    let found = reader.keyword(&keywords).ok_or_else(|| {
        let all: Vec<&str> = KEYWORDS.iter().copied().chain(keywords).collect();
        reader.misspelled(&all)
    })?;
    if found != "non-client-nrt" {
        reader.word("a value")?;
    }
    let what = UNSEEN.iter().find(|(word, _)| *word == found).map_or(found, |(_, what)| *what);
    Ok((Family::Any, Criterion::NotModelled(what.to_owned())))
}

/// Parses `match protocol …` with its sub-options.
fn protocol(reader: &mut Reader) -> Result<(Family, Criterion), Finding> {
    let name = words(reader, "a protocol")?;
    Ok(match name.as_str() {
        "ip" => (Family::Ipv4, Criterion::Protocol(name)),
        "ipv6" => (Family::Ipv6, Criterion::Protocol(name)),
        _ => (Family::Any, Criterion::Protocol(name)),
    })
}

/// Returns the rest of the line, which must have at least one word.
fn words(reader: &mut Reader, what: &str) -> Result<String, Finding> {
    let words = reader.rest().join(" ");
    reader.word(what)?;
    while reader.next().is_some() {}
    Ok(words)
}

/// Reads `match packet length min … max …`. At least one of the limits is required.
fn length(reader: &mut Reader) -> Result<Criterion, Finding> {
    reader.one_of(&["length"])?;
    let (mut min, mut max) = (None, None);
    while min.is_none() || max.is_none() {
        let place = match reader.keyword(&["min", "max"]) {
            Some("min") => &mut min,
            Some(_) => &mut max,
            None if min.is_some() || max.is_some() => break,
            None => return Err(reader.unexpected("min or max")),
        };
        *place = Some(reader.number("bytes", 1..=65535)? as u32);
    }
    Ok(Criterion::PacketLength { min, max })
}

/// Parses VLANs and ranges, with or without spaces around the hyphen.
fn vlans(reader: &mut Reader) -> Result<Vec<(u16, u16)>, Finding> {
    reader.keyword(&["range"]);
    let line = reader.rest().join(" ").replace(" - ", "-");
    let vlan = |word: &str| word.parse::<u16>().ok().filter(|vlan| (1..=4094).contains(vlan));
    let ranges = line.split([' ', ',']).filter(|word| !word.is_empty()).map(|word| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some((vlan(first)?, vlan(last)?))
    });
    let ranges: Option<Vec<(u16, u16)>> = ranges.collect();
    let ranges = ranges.filter(|ranges| !ranges.is_empty());
    let ranges = ranges.ok_or_else(|| reader.unexpected("VLANs (1 to 4094)"))?;
    while reader.next().is_some() {}
    Ok(ranges)
}

/// Reads `match ip rtp`: the lowest UDP destination port, and the size of the range.
fn rtp(reader: &mut Reader) -> Result<Criterion, Finding> {
    let first = reader.number("a port", 2000..=65535)?;
    let span = reader.number("a range of ports", 0..=16383)?;
    Ok(Criterion::Rtp(first as u16, (first + span).min(65535) as u16))
}

/// Parses the name of an interface, with or without a space before its number, and returns the full name.
pub(super) fn interface_name(reader: &mut Reader) -> Result<String, Finding> {
    let name = reader.word("an interface")?;
    let written = match reader.next() {
        Some(number) => format!("{name}{number}"),
        None => name.to_owned(),
    };
    Ok(super::interface_name::full_name(&written).full)
}
