//! Criteria of class-maps of NX-OS, with lists and ranges of values: `match dscp 24-31,46`.

use perhop_qos::Dscp;
use perhop_qos::packet::IpPrecedence;

use crate::ast::{ClassMap, Criterion, Family, Polarity, Statement};
use crate::syntax::class_map::matches as ios_matches;
use crate::syntax::command::{Command, irrelevant, modelled};
use crate::syntax::numbers::eight;
use crate::syntax::xr::units::{dscp_value, precedence_value, values};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<ClassMap>] = &[modelled("match", matches), irrelevant("description")];

/// The maximum number of values in a line.
const MOST_VALUES: usize = 64;
/// The largest number of a `qos-group`.
const LARGEST_GROUP: u64 = 99;

fn matches(map: &mut ClassMap, reader: &mut Reader) -> Reading {
    let polarity = if reader.eat("not") { Polarity::Not } else { Polarity::Is };
    let Some((family, criterion)) = criterion(reader)? else {
        // The IOS reader begins again at the first word after `match`.
        reader.skip(1);
        return ios_matches(map, reader);
    };
    reader.end()?;
    let statement = Statement { line: reader.line, polarity, family, criterion };
    map.statements.retain(|other| *other != Statement { line: other.line, ..statement.clone() });
    if !reader.negated() {
        map.statements.push(statement);
    }
    Ok(Finding::MODELLED)
}

/// Parses a criterion in a form of NX-OS; `None` for the forms that IOS also has.
fn criterion(reader: &mut Reader) -> Result<Option<(Family, Criterion)>, Finding> {
    let family = if reader.rest().len() > 2 && reader.rest()[0] == "ip" && reader.rest()[1] != "rtp" {
        reader.next();
        Family::Ipv4
    } else {
        Family::Any
    };
    let keywords = ["dscp", "precedence", "cos", "qos-group", "discard-class", "ip"];
    let Some(keyword) = reader.keyword(&keywords) else { return Ok(None) };
    let criterion = match keyword {
        "dscp" => Criterion::Dscp(
            values(reader, MOST_VALUES, dscp_value)?.into_iter().filter_map(Dscp::new).collect(),
        ),
        "precedence" => {
            let found = values(reader, MOST_VALUES, precedence_value)?;
            Criterion::Precedence(found.into_iter().filter_map(IpPrecedence::new).collect())
        }
        "cos" => Criterion::Cos(values(reader, MOST_VALUES, eight)?),
        "discard-class" => Criterion::DiscardClass(values(reader, MOST_VALUES, eight)?),
        "qos-group" => Criterion::QosGroup(reader.number("a group", 0..=LARGEST_GROUP)? as u32),
        // `match ip rtp 16384-32767`: IOS has the first port and the size of the range.
        _ if reader.eat("rtp") => ports(reader)?,
        _ => return Ok(None),
    };
    Ok(Some((family, criterion)))
}

fn ports(reader: &mut Reader) -> Result<Criterion, Finding> {
    let word = reader.word("ports")?;
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    match (first.parse::<u16>(), last.parse::<u16>()) {
        (Ok(first), Ok(last)) if first <= last => Ok(Criterion::Rtp(first, last)),
        _ => Err(Finding::not_recognized(format!("`{word}` is not a range of ports"))),
    }
}
