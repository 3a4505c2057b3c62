//! Commands that stand in classes, under interfaces and under circuits alike.

use super::numbers::{dscp, precedence};
use crate::ast::{At, Basis, FairQueue, RandomDetect, ServicePolicies, Thresholds};
use crate::words::{Finding, Reader, Reading};

/// `random-detect …`: the command itself, and the lines that set its parameters.
pub(super) fn random_detect(detect: &mut Option<At<RandomDetect>>, reader: &mut Reader) -> Reading {
    const KEYWORDS: &[&str] = &[
        "prec-based",
        "precedence-based",
        "dscp-based",
        "exponential-weighting-constant",
        "precedence",
        "dscp",
        "ecn",
        "discard-class",
        "discard-class-based",
        "cos",
        "cos-based",
        "clp",
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
    // The router turns WRED on with its first parameter as well.
    let parameters = &mut detect.get_or_insert_with(|| At::new(line, RandomDetect::default())).value;
    match word {
        "prec-based" | "precedence-based" => parameters.basis = Basis::Precedence,
        "dscp-based" => {
            parameters.basis = if reader.negated() { Basis::Precedence } else { Basis::Dscp };
        }
        "exponential-weighting-constant" if reader.negated() => parameters.exponent = None,
        "exponential-weighting-constant" => {
            parameters.exponent = Some(reader.number("the exponent", 1..=16)? as u32);
        }
        "ecn" => parameters.ecn = (!reader.negated()).then(|| At::new(line, ())),
        "precedence" => return of_precedence(parameters, reader),
        "dscp" => {
            let dscp = dscp(reader)?.value();
            match thresholds(reader)? {
                Some(thresholds) => parameters.dscps.insert(dscp, thresholds),
                None => parameters.dscps.remove(&dscp),
            };
        }
        other => return Ok(Finding::not_modelled(format!("WRED by {other} is not modelled"))),
    }
    reader.end()?;
    Ok(Finding::MODELLED)
}

fn of_precedence(parameters: &mut RandomDetect, reader: &mut Reader) -> Reading {
    if reader.eat("rsvp") {
        thresholds(reader)?;
        return Ok(Finding::irrelevant("perhop has no reserved flows"));
    }
    let precedence = precedence(reader)?.value();
    match thresholds(reader)? {
        Some(thresholds) => parameters.precedences.insert(precedence, thresholds),
        None => parameters.precedences.remove(&precedence),
    };
    reader.end()?;
    Ok(Finding::MODELLED)
}

/// Minimum, maximum and mark probability denominator; `None` where the router refuses them or the line
/// takes them back.
fn thresholds(reader: &mut Reader) -> Result<Option<At<Thresholds>>, Finding> {
    if reader.negated() {
        while reader.next().is_some() {}
        return Ok(None);
    }
    let min = reader.number("the minimum threshold in packets", 1..=512_000_000)?;
    reader.eat("packets");
    let max = reader.number("the maximum threshold in packets", 1..=512_000_000)?;
    reader.eat("packets");
    let denominator = match reader.peek() {
        Some(_) => reader.number("the mark probability denominator", 1..=65536)?,
        None => DEFAULT_MARK_PROBABILITY_DENOMINATOR,
    };
    reader.end()?;
    if min >= max {
        reader.error(
            format!(
                "the minimum threshold, {min} packets, is not below the maximum threshold, {max} packets"
            ),
            "the router refuses the line: the default thresholds apply",
        );
        return Ok(None);
    }
    let thresholds = Thresholds { min, max, mark_probability_denominator: denominator };
    Ok(Some(At::new(reader.line, thresholds)))
}

/// One in ten packets at the maximum threshold.
pub(crate) const DEFAULT_MARK_PROBABILITY_DENOMINATOR: u64 = 10;

/// `fair-queue` of an interface, a circuit or a class, with its numbers.
pub(super) fn fair_queue(reader: &mut Reader) -> Result<FairQueue, Finding> {
    let mut fair = FairQueue::default();
    if reader.eat("queue-limit") {
        fair.congestive_discard = Some(reader.number("packets of a flow", 1..=4096)?);
    } else {
        fair.congestive_discard = optional(reader, "packets of a flow", 1..=4096)?;
        fair.dynamic_queues = optional(reader, "queues for flows", 16..=4096)?;
        fair.reservable_queues = optional(reader, "queues for reserved flows", 0..=1000)?;
    }
    reader.end()?;
    Ok(fair)
}

/// A number in `range`, where one follows.
pub(super) fn optional(
    reader: &mut Reader,
    what: &str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u64>, Finding> {
    reader.peek().is_some().then(|| reader.number(what, range)).transpose()
}

/// `service-policy input|output …`
pub(super) fn service_policy(policies: &mut ServicePolicies, reader: &mut Reader) -> Reading {
    if reader.keyword(&["type", "history"]).is_some() {
        return Ok(Finding::not_modelled("a policy of a type other than quality of service"));
    }
    let direction = reader.one_of(&["input", "output"])?;
    let name = reader.next();
    let place = if direction == "input" { &mut policies.input } else { &mut policies.output };
    if reader.negated() {
        *place = None;
        return Ok(Finding::MODELLED);
    }
    let name = name.ok_or_else(|| Finding::not_recognized("the policy-map's name is missing"))?;
    reader.end()?;
    if let Some(other) = place.as_ref().filter(|other| other.value != name) {
        let (line, other) = (other.line, other.value.clone());
        reader.error(
            format!("policy {other} is already attached in this direction (line {line})"),
            "the router refuses the second policy: the first remains",
        );
        return Ok(Finding::MODELLED);
    }
    *place = Some(At::new(reader.line, name.to_owned()));
    Ok(Finding::MODELLED)
}
