//! `random-detect …`: the command, and its parameter lines.

use std::collections::BTreeMap;

use super::numbers::{field_value, scaled};
use crate::ast::{At, Basis, Field, RandomDetect, ThresholdUnit, Thresholds};
use crate::mode::Mode;
use crate::rules;
use crate::words::{Finding, Reader, Reading};

pub(super) fn random_detect(detect: &mut Option<At<RandomDetect>>, reader: &mut Reader) -> Reading {
    const KEYWORDS: &[&str] = &[
        "prec-based",
        "precedence-based",
        "dscp-based",
        "discard-class-based",
        "cos-based",
        "exponential-weighting-constant",
        "precedence",
        "prec",
        "dscp",
        "discard-class",
        "cos",
        "ecn",
        "clp",
        "atm-clp-based",
        "exp",
        "mpls-exp-based",
        "attach",
        "flow",
    ];
    let line = reader.line;
    let Some(word) = reader.keyword(KEYWORDS) else {
        if reader.negated() {
            *detect = None;
        } else {
            reader.end()?;
            detect.get_or_insert_with(|| At::new(line, RandomDetect::default()));
        }
        return Ok(Finding::MODELLED);
    };
    // The first parameter also enables WRED on the router.
    let parameters = &mut detect.get_or_insert_with(|| At::new(line, RandomDetect::default())).value;
    match word {
        "prec-based" | "precedence-based" => return basis(parameters, Basis::Precedence, reader),
        "dscp-based" => return basis(parameters, Basis::Dscp, reader),
        "discard-class-based" => return basis(parameters, Basis::DiscardClass, reader),
        "cos-based" => return basis(parameters, Basis::Cos, reader),
        "exponential-weighting-constant" if reader.negated() => parameters.exponent = None,
        "exponential-weighting-constant" => {
            parameters.exponent = Some(reader.number("the exponent", 1..=16)? as u32);
        }
        "ecn" => parameters.ecn = (!reader.negated()).then(|| At::new(line, ())),
        "precedence" | "prec" if reader.eat("rsvp") => {
            while reader.next().is_some() {}
            return Ok(Finding::irrelevant(
                "the line concerns flows reserved by RSVP, which perhop does not model",
            ));
        }
        "precedence" | "prec" => return of_values(parameters, Basis::Precedence, reader),
        "dscp" => return of_values(parameters, Basis::Dscp, reader),
        "discard-class" => return of_values(parameters, Basis::DiscardClass, reader),
        "cos" => return of_values(parameters, Basis::Cos, reader),
        other => return Ok(Finding::not_modelled(format!("perhop does not model WRED by {other}"))),
    }
    reader.end()?;
    Ok(Finding::MODELLED)
}

/// Returns the finding for a line that selects the field from which drop precedences are derived. perhop does
/// not model some fields on an interface.
fn finding(basis: Basis, reader: &Reader) -> Finding {
    let of_class = matches!(reader.mode, Mode::Class(..) | Mode::Police(..));
    match basis {
        Basis::Precedence | Basis::Dscp => Finding::MODELLED,
        _ if of_class => Finding::MODELLED,
        Basis::DiscardClass => {
            Finding::not_modelled("perhop does not model WRED by discard class on an interface")
        }
        Basis::Cos => Finding::not_modelled("perhop does not model WRED by class of service on an interface"),
    }
}

/// Reads `dscp-based [aggregate …]`.
fn basis(parameters: &mut RandomDetect, basis: Basis, reader: &mut Reader) -> Reading {
    parameters.basis = if reader.negated() { Basis::Precedence } else { basis };
    if reader.eat("aggregate") {
        let line = reader.line;
        let thresholds = if reader.peek().is_some() { thresholds(parameters, reader)? } else { None };
        let thresholds = thresholds.map(|at| at.value);
        parameters.aggregate = (!reader.negated()).then(|| At::new(line, thresholds));
        return Ok(match thresholds {
            Some(_) => finding(basis, reader),
            None if reader.negated() => Finding::MODELLED,
            None => Finding::not_modelled(
                "values without their own thresholds share thresholds that the hardware chooses",
            ),
        });
    }
    reader.end()?;
    Ok(finding(basis, reader))
}

/// Reads `dscp af11 32 40 10`, `dscp values 8 10 minimum-thresh 32 maximum-thresh 40`.
fn of_values(parameters: &mut RandomDetect, basis: Basis, reader: &mut Reader) -> Reading {
    let field = match basis {
        Basis::Precedence => Field::Precedence,
        Basis::Dscp => Field::Dscp,
        Basis::DiscardClass => Field::DiscardClass,
        Basis::Cos => Field::Cos,
    };
    let mut values = Vec::new();
    if reader.eat("values") {
        while reader.peek().is_some_and(|word| !["percent", "minimum-thresh"].contains(&word)) {
            values.push(field_value(field, reader)?);
        }
    } else {
        values.push(field_value(field, reader)?);
    }
    let thresholds = thresholds(parameters, reader)?;
    let all: &mut BTreeMap<u8, At<Thresholds>> = match basis {
        Basis::Precedence => &mut parameters.precedences,
        Basis::Dscp => &mut parameters.dscps,
        Basis::DiscardClass => &mut parameters.discard_classes,
        Basis::Cos => &mut parameters.classes_of_service,
    };
    for value in values {
        match thresholds {
            Some(thresholds) => all.insert(value, thresholds),
            None => all.remove(&value),
        };
    }
    Ok(finding(basis, reader))
}

/// Parses minimum, maximum and mark probability denominator; `None` if the router refuses them or the line is
/// negated.
fn thresholds(parameters: &mut RandomDetect, reader: &mut Reader) -> Result<Option<At<Thresholds>>, Finding> {
    if reader.negated() {
        while reader.next().is_some() {}
        return Ok(None);
    }
    let percent = reader.eat("percent").then_some(ThresholdUnit::Percent);
    reader.keyword(&["minimum-thresh"]);
    let (min, first) = threshold(reader, "the minimum threshold")?;
    reader.keyword(&["maximum-thresh"]);
    let (max, second) = threshold(reader, "the maximum threshold")?;
    reader.keyword(&["mark-prob", "mark-probability"]);
    let denominator = match reader.peek() {
        Some(_) => reader.number("the mark probability denominator", 1..=65536)?,
        None => DEFAULT_MARK_PROBABILITY_DENOMINATOR,
    };
    reader.end()?;
    let unit = percent.or(second).or(first).unwrap_or_default();
    if min >= max {
        let of = name(unit);
        reader.report_crossed(
            &rules::WRED_THRESHOLDS_CROSSED,
            (min, max),
            format!("the minimum threshold, {min} {of}, is not below the maximum threshold, {max} {of}"),
            "the router refuses the line: the default thresholds apply",
        );
        return Ok(None);
    }
    if unit != parameters.unit && parameters.has_thresholds() {
        reader.report(
            &rules::WRED_UNITS_MIXED,
            format!(
                "this threshold is in {}, but others of the class are in {}",
                name(unit),
                name(parameters.unit)
            ),
            "the router refuses the line: the default thresholds apply",
        );
        return Ok(None);
    }
    parameters.unit = unit;
    let thresholds = Thresholds { min, max, mark_probability_denominator: denominator };
    Ok(Some(At::new(reader.line, thresholds)))
}

/// Parses a threshold with its optional unit.
fn threshold(reader: &mut Reader, what: &str) -> Result<(u64, Option<ThresholdUnit>), Finding> {
    let value = reader.peek().and_then(scaled).filter(|value| (1..=1_000_000_000).contains(value));
    let value = value.ok_or_else(|| reader.unexpected(what))?;
    reader.next();
    Ok(match reader.keyword(&["packets", "bytes", "ms", "us", "percent"]) {
        None => (value, None),
        Some("packets") => (value, Some(ThresholdUnit::Packets)),
        Some("bytes") => (value, Some(ThresholdUnit::Bytes)),
        Some("ms") => (value * 1000, Some(ThresholdUnit::Microseconds)),
        Some("us") => (value, Some(ThresholdUnit::Microseconds)),
        Some(_) => (value, Some(ThresholdUnit::Percent)),
    })
}

pub(super) fn name(unit: ThresholdUnit) -> &'static str {
    match unit {
        ThresholdUnit::Packets => "packets",
        ThresholdUnit::Bytes => "bytes",
        ThresholdUnit::Microseconds => "microseconds",
        ThresholdUnit::Percent => "percent",
    }
}

/// The default of the mark probability denominator n: at the maximum threshold, 1 of n packets is dropped.
const DEFAULT_MARK_PROBABILITY_DENOMINATOR: u64 = 10;
