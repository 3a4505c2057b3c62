//! `set …` of a class, and the fields that it can set.

use super::numbers::{dscp, field_value, precedence};
use crate::ast::{At, Field, Marking, PolicyClass};
use crate::rules;
use crate::words::{Finding, Reader, Reading};

pub(super) fn set(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let (marking, finding) = marking(reader)?;
    let same = |other: &Marking| match other.field() {
        None => *other == marking,
        field => field == marking.field(),
    };
    class.marks.retain(|mark| !same(&mark.value));
    if reader.negated() {
        return Ok(Finding::MODELLED);
    }
    if let Some(other) = class.marks.iter().find(|mark| same_byte(&mark.value, &marking)) {
        let line = other.line;
        reader.report(
            &rules::DSCP_AND_PRECEDENCE_SET,
            format!("the class sets both DSCP and IP precedence (line {line}), which are in the same byte"),
            "the router refuses the line: only the first of the two lines applies",
        );
        return Ok(finding);
    }
    class.marks.push(At::new(reader.line, marking));
    Ok(finding)
}

/// Whether one mark sets the DSCP and the other the IP precedence.
fn same_byte(marking: &Marking, other: &Marking) -> bool {
    matches!(
        (marking.field(), other.field()),
        (Some(Field::Dscp), Some(Field::Precedence)) | (Some(Field::Precedence), Some(Field::Dscp))
    )
}

/// Parses a field. Returns `None` for a field outside the model, and does not read its word.
fn field(reader: &mut Reader) -> Option<Field> {
    let keywords = [
        "ip",
        "precedence",
        "prec",
        "dscp",
        "qos-group",
        "cos",
        "cos-inner",
        "mpls",
        "discard-class",
        "traffic-class",
    ];
    let mut word = reader.keyword(&keywords)?;
    if word == "ip" {
        word = reader.keyword(&["precedence", "dscp"])?;
    }
    Some(match word {
        "dscp" if reader.eat("tunnel") => Field::TunnelDscp,
        "dscp" => Field::Dscp,
        "precedence" | "prec" if reader.eat("tunnel") => Field::TunnelPrecedence,
        "precedence" | "prec" => Field::Precedence,
        "qos-group" => Field::QosGroup,
        "cos" if reader.eat("inner") => Field::CosInner,
        "cos" => Field::Cos,
        "cos-inner" => Field::CosInner,
        "mpls" => {
            reader.keyword(&["experimental"])?;
            match reader.keyword(&["imposition", "topmost"]) {
                Some("topmost") => Field::MplsTopmost,
                _ => Field::MplsImposition,
            }
        }
        "discard-class" => Field::DiscardClass,
        _ => Field::TrafficClass,
    })
}

pub(super) fn marking(reader: &mut Reader) -> Result<(Marking, Finding), Finding> {
    let Some(to) = field(reader) else { return other(reader) };
    let taken_back = reader.negated() && reader.peek().is_none();
    let marking = match source(reader) {
        Some(from) => Marking::Copy { to, from, table: table(reader)? },
        None if taken_back => value_of(to, 0),
        None => value(to, reader)?,
    };
    reader.eat("tunnel");
    reader.end()?;
    let finding = unseen(&marking).map_or(Finding::MODELLED, Finding::not_modelled);
    Ok((marking, finding))
}

/// Parses the source field of a copy, if the next word is a field and not a value.
pub(super) fn source(reader: &mut Reader) -> Option<Field> {
    let names =
        ["precedence", "prec", "dscp", "qos-group", "cos", "mpls", "exp", "discard-class", "traffic-class"];
    let word = reader.peek()?;
    // A codepoint name takes precedence over a field: `set dscp default` sets a value.
    let exact = names.iter().find(|name| name.eq_ignore_ascii_case(word))?;
    reader.next();
    Some(match *exact {
        "precedence" | "prec" => Field::Precedence,
        "dscp" => Field::Dscp,
        "qos-group" => Field::QosGroup,
        "cos" if reader.eat("inner") => Field::CosInner,
        "cos" => Field::Cos,
        "mpls" | "exp" => {
            reader.keyword(&["experimental"]);
            reader.keyword(&["topmost"]);
            Field::MplsTopmost
        }
        "discard-class" => Field::DiscardClass,
        _ => Field::TrafficClass,
    })
}

/// Parses `table NAME`, if present.
pub(super) fn table(reader: &mut Reader) -> Result<Option<String>, Finding> {
    if !reader.eat("table") {
        return Ok(None);
    }
    reader.word("a table-map").map(|name| Some(name.to_owned()))
}

/// Parses a value for `field`.
pub(super) fn value(field: Field, reader: &mut Reader) -> Result<Marking, Finding> {
    Ok(match field {
        Field::Precedence => Marking::Precedence(precedence(reader)?),
        Field::Dscp => Marking::Dscp(dscp(reader)?),
        Field::QosGroup => Marking::QosGroup(reader.number("a group", 0..=99)? as u32),
        _ => Marking::Number(field, field_value(field, reader)?),
    })
}

/// Returns the marking of a negated line: `field` gets `value`; the precedence and the DSCP get their
/// defaults.
fn value_of(field: Field, value: u8) -> Marking {
    match field {
        Field::Precedence => Marking::Precedence(perhop_qos::packet::IpPrecedence::default()),
        Field::Dscp => Marking::Dscp(perhop_qos::Dscp::DEFAULT),
        Field::QosGroup => Marking::QosGroup(value.into()),
        _ => Marking::Number(field, value),
    }
}

/// Returns the reason why perhop does not set the field of `marking`, if it does not.
pub(super) fn unseen(marking: &Marking) -> Option<String> {
    Some(match (marking, marking.field()?) {
        (_, Field::CosInner) => {
            "in perhop both VLAN tags have the same class of service: write `set cos`".to_owned()
        }
        (_, Field::TunnelPrecedence | Field::TunnelDscp) => {
            "perhop does not set the outer header of a tunnel".to_owned()
        }
        _ => return None,
    })
}

/// Parses a mark of a layer outside the model.
fn other(reader: &mut Reader) -> Result<(Marking, Finding), Finding> {
    let keywords = [
        "atm-clp",
        "fr-de",
        "forward-class",
        "interface",
        "wlan",
        "ip",
        "ipv4",
        "ipv6",
        "vlan",
        "mpls-exp",
        "fr-fecn-becn",
        "next-hop",
        "flow",
        "as-path",
    ];
    let word = reader.one_of(&keywords)?;
    while reader.next().is_some() {}
    let finding =
        Finding::not_modelled(format!("perhop's packets have no field that `set {word}` could set"));
    Ok((Marking::NotModelled(word.to_owned()), finding))
}
