//! `system qos`: the policies of all ports without policies of their own.

use crate::ast::{At, SystemPolicies};
use crate::rules;
use crate::syntax::command::{Command, modelled};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<SystemPolicies>] = &[modelled("service-policy", service_policy)];

/// Effect of a queuing policy on arriving packets.
pub(super) const ARRIVING: &str = "the policy also queues arriving packets (buffers of priority flow \
                                   control)";

/// Reads `service-policy type qos input NAME`, `type queuing input|output NAME`, `type network-qos NAME`.
fn service_policy(system: &mut SystemPolicies, reader: &mut Reader) -> Reading {
    reader.one_of(&["type"])?;
    let kind = reader.one_of(&["qos", "queuing", "network-qos"])?;
    let direction = if kind == "network-qos" { "" } else { reader.one_of(&["input", "output"])? };
    let name = reader.next().map(str::to_owned);
    while reader.next().is_some() {}
    let (place, finding) = match (kind, direction) {
        ("network-qos", _) => (&mut system.network, Finding::MODELLED),
        ("queuing", "output") => (&mut system.queuing, Finding::MODELLED),
        ("queuing", _) => (&mut system.queuing_input, Finding::not_modelled(ARRIVING)),
        (_, "input") => (&mut system.input, Finding::MODELLED),
        _ => {
            return Ok(Finding::not_modelled(
                "the policy marks and polices the departing packets of all ports",
            ));
        }
    };
    if reader.negated() {
        *place = None;
        return Ok(Finding::IRRELEVANT);
    }
    let name = name.ok_or_else(|| Finding::not_recognized("the policy-map's name is missing"))?;
    if let Some(other) = place.as_ref().filter(|other| other.value != name) {
        let (line, other) = (other.line, other.value.clone());
        reader.report(
            &rules::SECOND_POLICY,
            format!("policy {other} is already attached to the system (line {line})"),
            "the switch has one policy of each type: the first remains",
        );
        return Ok(finding);
    }
    *place = Some(At::new(reader.line, name));
    Ok(finding)
}
