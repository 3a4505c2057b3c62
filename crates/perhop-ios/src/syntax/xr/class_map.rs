//! Criteria of class-maps of IOS XR.

use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;

use super::units::{dscp_value, precedence_value, values};
use crate::ast::{ClassMap, Combination, Criterion, Family, Polarity, Statement};
use crate::syntax::class_map::matches as ios_matches;
use crate::syntax::command::{Command, irrelevant, modelled};
use crate::syntax::numbers::eight;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<ClassMap>] = &[modelled("match", matches), irrelevant("description")];

/// The maximum number of values in a line.
const MOST_VALUES: usize = 64;
/// Criteria on fields that packets in perhop do not have, by their first word.
const UNSEEN: [(&str, &str); 14] = [
    ("dei", "the drop eligibility of tags"),
    ("ethertype", "types of frames"),
    ("destination-address", "addresses of frames"),
    ("source-address", "addresses of frames"),
    ("destination-port", "ports of flow specifications"),
    ("source-port", "ports of flow specifications"),
    ("flow-tag", "tags of flows"),
    ("fragment-type", "fragments"),
    ("frame-relay", "frame relay"),
    ("atm", "ATM headers"),
    ("tcp-flag", "flags of TCP"),
    ("ttl", "times to live"),
    ("ipv4", "options of IPv4"),
    ("ipv6", "options of IPv6"),
];

fn matches(map: &mut ClassMap, reader: &mut Reader) -> Reading {
    let polarity = if reader.eat("not") { Polarity::Not } else { Polarity::Is };
    let Some((family, criteria)) = criteria(reader)? else {
        // The IOS reader begins again at the first word after `match`.
        reader.skip(1);
        return ios_matches(map, reader);
    };
    reader.end()?;
    if criteria.len() > 1 && (map.combination == Combination::MatchAll || polarity == Polarity::Not) {
        let what = Criterion::NotModelled("lists of groups in a class-map match-all".to_owned());
        let statement = Statement { line: reader.line, polarity, family, criterion: what };
        return Ok(add(map, vec![statement], reader));
    }
    let line = reader.line;
    let statement = |criterion| Statement { line, polarity, family, criterion };
    Ok(add(map, criteria.into_iter().map(statement).collect(), reader))
}

fn add(map: &mut ClassMap, statements: Vec<Statement>, reader: &Reader) -> Finding {
    let mut finding = Finding::MODELLED;
    for statement in statements {
        map.statements.retain(|other| *other != Statement { line: other.line, ..statement.clone() });
        if reader.negated() {
            continue;
        }
        if let Some(what) = statement.criterion.unseen() {
            finding = Finding::not_modelled(format!(
                "perhop does not model {what}: no packet matches this criterion"
            ));
        }
        map.statements.push(statement);
    }
    finding
}

/// Parses a criterion in a form that only IOS XR has; `None` for the forms of IOS.
fn criteria(reader: &mut Reader) -> Result<Option<(Family, Vec<Criterion>)>, Finding> {
    let keywords = [
        "access-group",
        "dscp",
        "precedence",
        "qos-group",
        "traffic-class",
        "discard-class",
        "cos",
        "mpls",
        "protocol",
    ];
    if let Some(word) = reader.keyword(&UNSEEN.map(|(word, _)| word)) {
        while reader.next().is_some() {}
        let what = UNSEEN.iter().find(|(known, _)| *known == word).map_or(word, |(_, what)| what);
        return Ok(Some((Family::Any, vec![Criterion::NotModelled(what.to_owned())])));
    }
    let Some(keyword) = reader.keyword(&keywords) else { return Ok(None) };
    if keyword == "access-group" && reader.rest().len() > 1 && reader.eat("ethernet-services") {
        reader.word("an access list")?;
        let what = "access lists of frames".to_owned();
        return Ok(Some((Family::Any, vec![Criterion::NotModelled(what)])));
    }
    let family = match keyword {
        "access-group" | "dscp" | "precedence" => family(reader),
        _ => Family::Any,
    };
    let criteria = match keyword {
        "access-group" => vec![Criterion::AccessGroup(reader.word("an access list")?.to_owned())],
        "dscp" => {
            let found = values(reader, MOST_VALUES, dscp_value)?;
            vec![Criterion::Dscp(found.into_iter().filter_map(Dscp::new).collect())]
        }
        "precedence" => {
            let found = values(reader, MOST_VALUES, precedence_value)?;
            vec![Criterion::Precedence(found.into_iter().filter_map(IpPrecedence::new).collect())]
        }
        "qos-group" => {
            let found = groups(reader)?;
            found.into_iter().map(Criterion::QosGroup).collect()
        }
        "traffic-class" => vec![Criterion::TrafficClass(values(reader, MOST_VALUES, eight)?)],
        "discard-class" => vec![Criterion::DiscardClass(values(reader, MOST_VALUES, eight)?)],
        "cos" if reader.eat("inner") => vec![Criterion::CosInner(values(reader, MOST_VALUES, eight)?)],
        "cos" => vec![Criterion::Cos(values(reader, MOST_VALUES, eight)?)],
        "mpls" => vec![mpls(reader)?],
        _ => return protocol(reader).map(Some),
    };
    Ok(Some((family, criteria)))
}

fn family(reader: &mut Reader) -> Family {
    match reader.keyword(&["ipv4", "ipv6"]) {
        Some("ipv4") => Family::Ipv4,
        Some(_) => Family::Ipv6,
        None => Family::Any,
    }
}

/// Reads `mpls experimental topmost VALUES`.
fn mpls(reader: &mut Reader) -> Result<Criterion, Finding> {
    let is_topmost = reader.keyword(&["experimental"]).is_some() && reader.keyword(&["imposition"]).is_none();
    if !is_topmost {
        while reader.next().is_some() {}
        return Ok(Criterion::NotModelled("labels that the router adds or removes".to_owned()));
    }
    reader.keyword(&["topmost"]);
    Ok(Criterion::MplsTopmost(values(reader, MOST_VALUES, eight)?))
}

/// Reads groups from 0 to 511 (Cisco, `hw-module profile qos ingress-model peering`).
fn groups(reader: &mut Reader) -> Result<Vec<u32>, Finding> {
    let mut found = Vec::new();
    while let Some(word) = reader.peek() {
        for part in word.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
            let (first, last) = range
                .filter(|(first, last)| first <= last && *last <= 511)
                .ok_or_else(|| reader.unexpected("groups (0 to 511)"))?;
            found.extend(first..=last);
        }
        reader.next();
    }
    if found.is_empty() { Err(reader.unexpected("groups (0 to 511)")) } else { Ok(found) }
}

/// Reads `protocol tcp`, `protocol ipv4`: one or more protocols, by number or name.
fn protocol(reader: &mut Reader) -> Result<(Family, Vec<Criterion>), Finding> {
    let mut found = Vec::new();
    while let Some(word) = reader.next() {
        found.push(Criterion::Protocol(if word == "ipv4" { "ip".to_owned() } else { word.to_owned() }));
    }
    match found.as_slice() {
        [] => Err(reader.unexpected("a protocol")),
        [Criterion::Protocol(only)] if only == "ip" => Ok((Family::Ipv4, found)),
        [Criterion::Protocol(only)] if only == "ipv6" => Ok((Family::Ipv6, found)),
        _ => Ok((Family::Any, found)),
    }
}
