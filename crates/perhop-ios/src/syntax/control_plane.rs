//! Commands of the block `control-plane`.

use super::command::{Command, irrelevant, modelled};
use super::queueing::service_policy;
use crate::ast::{Configuration, ControlPlane};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<ControlPlane>] = &[
    modelled("service-policy", |plane, reader| {
        service_policy(&mut plane.service_policies, reader)?;
        Ok(Finding::modelled("only packets to the router itself are subject to this policy"))
    }),
    irrelevant("exit-control-plane"),
    irrelevant("ip"),
    irrelevant("management-interface"),
];

/// Reads `control-plane [host|transit|cef-exception]`.
#[allow(clippy::unnecessary_wraps)] // all readers of a table have one type
pub(super) fn open(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let part = reader.keyword(&["host", "transit", "cef-exception", "slot"]);
    if part.is_none() && reader.peek().is_none() && !reader.negated() {
        let line = reader.line;
        configuration.control_plane.get_or_insert_with(|| ControlPlane { line, ..ControlPlane::default() });
        reader.opens = Some(Mode::ControlPlane);
    } else {
        reader.opens = (!reader.negated()).then_some(Mode::Irrelevant);
    }
    Ok(Finding::IRRELEVANT)
}
