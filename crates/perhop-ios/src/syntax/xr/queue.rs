//! `queue-limit` and `random-detect` of IOS XR.

use std::collections::BTreeMap;

use super::units::{Length, dscp_value, length, precedence_value, values};
use crate::ast::{At, Basis, PolicyClass, QueueLimit, RandomDetect, ThresholdUnit, Thresholds};
use crate::rules;
use crate::syntax::numbers::eight;
use crate::words::{Finding, Reader, Reading};

/// A parser of one value of a field.
type ParseValue = fn(&mut Reader) -> Result<u8, Finding>;
/// The note for a limit in packets.
const PACKETS: &str = "packets of 256 bytes";

/// Reads `queue-limit N [UNIT]`.
pub(super) fn queue_limit(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    if reader.negated() {
        class.queue_limit = None;
        return Ok(Finding::MODELLED);
    }
    let by_value =
        ["dscp", "precedence", "discard-class", "exp", "cos", "dei", "atm-clp", "fr-de", "percent"];
    if let Some(word) = reader.keyword(&by_value) {
        while reader.next().is_some() {}
        return Ok(Finding::not_modelled(format!("a limit by {word}")));
    }
    let is_packets = matches!(reader.rest(), [_] | [_, "packets"]);
    let limit = match length(reader, "packets")? {
        Length::Bytes(bytes) => QueueLimit::Bytes(bytes),
        Length::Microseconds(us) => QueueLimit::Microseconds(us),
    };
    reader.end()?;
    class.queue_limit = Some(At::new(reader.line, limit));
    Ok(if is_packets { Finding::modelled(PACKETS) } else { Finding::MODELLED })
}

/// Reads `random-detect default|ecn|MIN MAX`, `random-detect dscp VALUES MIN MAX`, and lines with other
/// fields.
///
/// A line that perhop cannot parse does not enable WRED.
pub(super) fn random_detect(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let before = class.random_detect.clone();
    let reading = drop_profile(class, reader);
    if reading.is_err() {
        class.random_detect = before;
    }
    reading
}

fn drop_profile(class: &mut PolicyClass, reader: &mut Reader) -> Reading {
    let line = reader.line;
    let keywords =
        ["default", "ecn", "dscp", "precedence", "discard-class", "cos", "exp", "dei", "atm-clp", "fr-de"];
    let word = reader.keyword(&keywords);
    if reader.negated() && matches!(word, Some("default") | None) {
        class.random_detect = None;
        return Ok(Finding::MODELLED);
    }
    if let Some(other @ ("exp" | "dei" | "atm-clp" | "fr-de")) = word {
        while reader.next().is_some() {}
        return Ok(Finding::not_modelled(format!("perhop does not model WRED by {other}")));
    }
    let detect = &mut class.random_detect.get_or_insert_with(|| At::new(line, RandomDetect::default())).value;
    let (basis, parse_value): (Basis, ParseValue) = match word {
        Some("default") => {
            reader.end()?;
            return Ok(Finding::MODELLED);
        }
        Some("ecn") => {
            detect.ecn = (!reader.negated()).then(|| At::new(line, ()));
            reader.end()?;
            return Ok(Finding::MODELLED);
        }
        None => {
            detect.aggregate = None;
            let thresholds = thresholds(detect, reader)?;
            detect.aggregate = thresholds.map(|at| At::new(line, Some(at.value)));
            return Ok(Finding::MODELLED);
        }
        Some("dscp") => (Basis::Dscp, dscp_value),
        Some("precedence") => (Basis::Precedence, precedence_value),
        Some("discard-class") => (Basis::DiscardClass, eight),
        Some(_) => (Basis::Cos, eight),
    };
    of_values(detect, basis, parse_value, reader)
}

/// Reads the thresholds of the values of a field.
fn of_values(
    detect: &mut RandomDetect,
    basis: Basis,
    parse_value: ParseValue,
    reader: &mut Reader,
) -> Reading {
    let values = values(reader, 1, parse_value)?;
    if detect.basis != basis && detect.has_thresholds() {
        return Err(Finding::not_modelled(
            "the class has WRED by two fields: perhop uses the field of the first line",
        ));
    }
    detect.basis = basis;
    let thresholds = if reader.negated() { None } else { thresholds(detect, reader)? };
    let all: &mut BTreeMap<u8, At<Thresholds>> = match basis {
        Basis::Precedence => &mut detect.precedences,
        Basis::Dscp => &mut detect.dscps,
        Basis::DiscardClass => &mut detect.discard_classes,
        Basis::Cos => &mut detect.classes_of_service,
    };
    for value in values {
        match thresholds {
            Some(thresholds) => all.insert(value, thresholds),
            None => all.remove(&value),
        };
    }
    Ok(Finding::MODELLED)
}

/// Parses minimum and maximum with their units and the probability; `None` if the router refuses them.
fn thresholds(detect: &mut RandomDetect, reader: &mut Reader) -> Result<Option<At<Thresholds>>, Finding> {
    let words = reader.rest();
    let (min, unit) = threshold(reader)?;
    let second = reader.rest();
    let (max, other) = threshold(reader)?;
    // The numbers as they are written: `10 ms` is stored as 10000 µs.
    let lengths = [&words[..words.len() - second.len()], &second[..second.len() - reader.rest().len()]];
    let mut denominator = DEFAULT_DENOMINATOR;
    if reader.eat("probability") {
        reader.keyword(&["percentage", "percent"]);
        let percent = reader.number("a percentage", 1..=100)?;
        // perhop stores the probability as one in a whole number of packets.
        if !100_u64.is_multiple_of(percent) {
            return Err(Finding::not_modelled(format!(
                "a probability of {percent} % is not one in a number"
            )));
        }
        denominator = 100 / percent;
    }
    reader.end()?;
    let has_others = detect.has_thresholds() || detect.aggregate.is_some_and(|at| at.value.is_some());
    if unit != other || has_others && detect.unit != unit {
        reader.report(
            &rules::WRED_UNITS_MIXED,
            "the class mixes WRED thresholds in bytes and in time",
            "perhop models one unit per class: the default thresholds apply",
        );
        return Ok(None);
    }
    if min > max {
        report_crossed(reader, lengths);
        return Ok(None);
    }
    detect.unit = unit;
    let thresholds = Thresholds { min, max: max.max(min + 1), mark_probability_denominator: denominator };
    Ok(Some(At::new(reader.line, thresholds)))
}

/// Reports a minimum above the maximum, both as their words: a number, perhaps with a unit.
fn report_crossed(reader: &mut Reader, [min, max]: [&[&str]; 2]) {
    let message = format!(
        "the minimum threshold, {}, is above the maximum threshold, {}",
        min.join(" "),
        max.join(" ")
    );
    let (rule, effect) =
        (&rules::WRED_THRESHOLDS_CROSSED, "the router refuses the line: the default thresholds apply");
    if min[1..] == max[1..] {
        reader.report_crossed(rule, (min[0], max[0]), message, effect);
    } else {
        // An exchange of the numbers alone would give other lengths.
        reader.report(rule, message, effect);
    }
}

fn threshold(reader: &mut Reader) -> Result<(u64, ThresholdUnit), Finding> {
    Ok(match length(reader, "packets")? {
        Length::Bytes(bytes) => (bytes, ThresholdUnit::Bytes),
        Length::Microseconds(us) => (us, ThresholdUnit::Microseconds),
    })
}

/// The default of the mark probability denominator n, as on IOS: at the maximum threshold, 1 of n packets is
/// dropped.
const DEFAULT_DENOMINATOR: u64 = 10;
