//! What stands under `class-map`.

use super::command::{Command, irrelevant, modelled};
use super::numbers::{dscp, list, precedence};
use crate::ast::{APPLICATIONS, ClassMap, Criterion, IP_PROTOCOLS, Polarity, Statement};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<ClassMap>] = &[modelled("match", matches), irrelevant("description")];

fn matches(map: &mut ClassMap, reader: &mut Reader) -> Reading {
    let polarity = if reader.eat("not") { Polarity::Not } else { Polarity::Is };
    let criterion = criterion(reader)?;
    if reader.negated() {
        map.statements
            .retain(|statement| (&statement.criterion, statement.polarity) != (&criterion, polarity));
        return Ok(Finding::MODELLED);
    }
    let finding = match &criterion {
        Criterion::Protocol(name) => protocol_finding(name),
        Criterion::NotModelled(what) => {
            Finding::not_modelled(format!("perhop does not model {what}: no packet matches this criterion"))
        }
        _ => Finding::MODELLED,
    };
    map.statements.push(Statement { line: reader.line, polarity, criterion });
    Ok(finding)
}

/// What is to be said of `match protocol`.
fn protocol_finding(name: &str) -> Finding {
    let mut words = name.split(' ');
    let word = words.next().unwrap_or_default();
    if word == "ip" || IP_PROTOCOLS.iter().any(|(known, _)| *known == word) {
        return Finding::MODELLED;
    }
    match (APPLICATIONS.iter().any(|(known, ..)| *known == word), words.next()) {
        (true, None) => Finding::modelled(
            "identified by its well-known ports: perhop's packets have no content to inspect",
        ),
        (true, Some(_)) => Finding::not_modelled(
            "identified by its well-known ports: perhop's packets have no content to inspect",
        ),
        (false, _) => {
            Finding::not_modelled("identified by its content only: no packet matches this criterion")
        }
    }
}

/// Criteria on what perhop's packets do not carry, by their first word.
const UNSEEN: [(&str, &str); 10] = [
    ("cos", "the class of service"),
    ("mpls", "MPLS labels"),
    ("packet", "lengths"),
    ("source-address", "MAC addresses"),
    ("destination-address", "MAC addresses"),
    ("fr-dlci", "frame relay circuits"),
    ("fr-de", "frame relay's discard eligibility"),
    ("vlan", "VLANs"),
    ("atm", "ATM headers"),
    ("discard-class", "discard classes"),
];

fn criterion(reader: &mut Reader) -> Result<Criterion, Finding> {
    const KEYWORDS: &[&str] = &[
        "any",
        "access-group",
        "ip",
        "ipv6",
        "precedence",
        "dscp",
        "input-interface",
        "protocol",
        "qos-group",
        "class-map",
        "cos",
        "mpls",
        "packet",
        "source-address",
        "destination-address",
        "fr-dlci",
        "fr-de",
        "vlan",
        "atm",
        "discard-class",
    ];
    Ok(match reader.one_of(KEYWORDS)? {
        "any" => Criterion::Any,
        "access-group" => {
            reader.eat("name");
            Criterion::AccessGroup(reader.word("an access list")?.to_owned())
        }
        "ip" => match reader.one_of(&["precedence", "dscp", "rtp"])? {
            "precedence" => Criterion::Precedence(list(reader, precedence)?),
            "dscp" => Criterion::Dscp(list(reader, dscp)?),
            _ => rtp(reader)?,
        },
        "precedence" => Criterion::Precedence(list(reader, precedence)?),
        "dscp" => Criterion::Dscp(list(reader, dscp)?),
        "input-interface" => Criterion::InputInterface(interface_name(reader)?),
        "protocol" => {
            let words = reader.rest().join(" ");
            reader.word("a protocol")?;
            Criterion::Protocol(words)
        }
        "qos-group" => Criterion::QosGroup(reader.number("a group", 0..=99)? as u32),
        "class-map" => Criterion::ClassMap(reader.word("a class-map")?.to_owned()),
        "ipv6" => Criterion::NotModelled("IPv6 headers".to_owned()),
        other => {
            let unseen = UNSEEN.iter().find(|(word, _)| *word == other);
            Criterion::NotModelled(unseen.map_or(other, |(_, what)| what).to_owned())
        }
    })
}

/// `match ip rtp`: the lowest UDP destination port, and how many above it.
fn rtp(reader: &mut Reader) -> Result<Criterion, Finding> {
    let first = reader.number("a port", 2000..=65535)?;
    let span = reader.number("a range of ports", 0..=16383)?;
    Ok(Criterion::Rtp(first as u16, (first + span).min(65535) as u16))
}

/// The full name of an interface, written with or without a space before its number.
pub(super) fn interface_name(reader: &mut Reader) -> Result<String, Finding> {
    let name = reader.word("an interface")?;
    let written = match reader.next() {
        Some(number) => format!("{name}{number}"),
        None => name.to_owned(),
    };
    Ok(super::interface_name::full_name(&written).0)
}
