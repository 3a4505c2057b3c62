//! Commands common to classes, interfaces and circuits.

use crate::ast::{At, FairQueue, ServicePolicies};
use crate::rules;
use crate::words::{Finding, Reader, Reading};

/// Parses `fair-queue` of an interface, a circuit or a class.
pub(super) fn fair_queue(reader: &mut Reader) -> Result<FairQueue, Finding> {
    let mut fair = FairQueue::default();
    if reader.eat("queue-limit") {
        fair.congestive_discard = Some(reader.number("packets of a flow", 1..=32_768)?);
    } else if reader.eat("individual-limit") {
        fair.individual_limit = Some(reader.number("packets of a flow", 1..=32_768)?);
    } else {
        fair.congestive_discard = optional(reader, "packets of a flow", 1..=4096)?;
        fair.dynamic_queues = optional(reader, "queues for flows", 16..=4096)?;
        fair.reservable_queues = optional(reader, "queues for reserved flows", 0..=1000)?;
    }
    reader.end()?;
    Ok(fair)
}

/// Parses a number in `range`, if present.
pub(super) fn optional(
    reader: &mut Reader,
    what: &str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u64>, Finding> {
    reader.peek().is_some().then(|| reader.number(what, range)).transpose()
}

/// Reads `service-policy input|output …`.
pub(super) fn service_policy(policies: &mut ServicePolicies, reader: &mut Reader) -> Reading {
    if reader.keyword(&["history"]).is_some() {
        return Ok(Finding::IRRELEVANT);
    }
    if reader.eat("type") && reader.keyword(&["qos", "queueing", "lan-queueing"]).is_none() {
        return Ok(other_type(reader.peek()));
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
        reader.report(
            &rules::SECOND_POLICY,
            format!("policy {other} is already attached in this direction (line {line})"),
            "the router refuses the second policy: the first remains",
        );
        return Ok(Finding::MODELLED);
    }
    *place = Some(At::new(reader.line, name.to_owned()));
    Ok(Finding::MODELLED)
}

/// Returns the finding for classes and policies of a type other than quality of service.
pub(super) fn other_type(name: Option<&str>) -> Finding {
    match name {
        Some("inspect" | "access-control" | "urlfilter" | "port-filter" | "queue-threshold" | "logging") => {
            Finding::not_modelled("the line attaches a firewall policy, which may drop packets")
        }
        Some(
            "network-qos" | "pbr" | "traffic" | "service-chain" | "redirect" | "packet-service" | "epbr",
        ) => Finding::not_modelled("the policy has a type other than quality of service"),
        _ => Finding::irrelevant("the policy measures traffic or controls sessions"),
    }
}
