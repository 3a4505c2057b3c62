//! Commands of the block `table-map`.

use super::command::{Command, modelled};
use super::numbers::{dscp, precedence};
use crate::ast::{Configuration, TableDefault, TableMap};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};
use perhop_qos::packet::IpPrecedence;

pub(super) const COMMANDS: &[Command<TableMap>] =
    &[modelled("map from", map), modelled("from", map), modelled("default", default)];

pub(super) fn open(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.word("the table's name")?;
    reader.end()?;
    let maps = &mut configuration.table_maps;
    if reader.negated() {
        maps.remove(name);
        return Ok(Finding::MODELLED);
    }
    let (entries, default) = (std::collections::BTreeMap::new(), TableDefault::default());
    let place = maps.place(name, || TableMap { name: name.to_owned(), line: reader.line, entries, default });
    reader.opens = Some(Mode::TableMap(place));
    Ok(Finding::MODELLED)
}

/// Parses a number, or the name of a codepoint or a precedence.
fn value(reader: &mut Reader) -> Result<u8, Finding> {
    if reader.peek().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
        return reader.number("a value", 0..=99).map(|value| value as u8);
    }
    match dscp(reader) {
        Ok(dscp) => Ok(dscp.value()),
        Err(_) => precedence(reader).map(IpPrecedence::value),
    }
}

/// Reads `map from … to …`: maps one or more values to one value.
fn map(map: &mut TableMap, reader: &mut Reader) -> Reading {
    let mut from = vec![value(reader)?];
    while !reader.eat("to") {
        from.push(value(reader)?);
    }
    let to = value(reader)?;
    reader.end()?;
    for from in from {
        if reader.negated() {
            map.entries.remove(&from);
        } else {
            map.entries.insert(from, to);
        }
    }
    Ok(Finding::MODELLED)
}

fn default(map: &mut TableMap, reader: &mut Reader) -> Reading {
    map.default = match reader.keyword(&["copy", "ignore"]) {
        _ if reader.negated() => TableDefault::default(),
        Some("copy") => TableDefault::Copy,
        Some(_) => TableDefault::Ignore,
        None => TableDefault::Value(value(reader)?),
    };
    reader.end()?;
    Ok(Finding::MODELLED)
}
