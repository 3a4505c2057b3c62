//! Commands of the block `class-map`.

use super::application::{NOT_IP, application, ip_protocol};
use super::command::{Command, irrelevant, modelled};
use super::criterion::criterion;
use crate::ast::{ClassMap, Criterion, Polarity, Statement};
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<ClassMap>] = &[modelled("match", matches), irrelevant("description")];

pub(super) fn matches(map: &mut ClassMap, reader: &mut Reader) -> Reading {
    let polarity = if reader.eat("not") { Polarity::Not } else { Polarity::Is };
    let (family, criterion) = criterion(reader)?;
    let line = reader.line;
    let statement = Statement { line, polarity, family, criterion };
    if reader.negated() {
        map.statements.retain(|other| *other != Statement { line: other.line, ..statement.clone() });
        return Ok(Finding::MODELLED);
    }
    let finding = match (&statement.criterion, statement.criterion.unseen()) {
        (Criterion::Protocol(name), None) => protocol_finding(name),
        (Criterion::Protocol(_), Some(_)) => Finding::not_modelled(
            "the router recognizes this protocol by packet contents, which perhop does not simulate: no \
             packet matches this criterion",
        ),
        (_, Some(what)) => {
            Finding::not_modelled(format!("perhop does not model {what}: no packet matches this criterion"))
        }
        (Criterion::CosInner(_), None) => {
            Finding::modelled("in perhop both VLAN tags of a packet have the same class of service")
        }
        (_, None) => Finding::MODELLED,
    };
    map.statements.push(statement);
    Ok(finding)
}

/// Returns the finding for `match protocol` of a known protocol.
fn protocol_finding(name: &str) -> Finding {
    if NOT_IP.contains(&name) {
        return Finding::modelled("perhop has only IP packets: no packet matches this criterion");
    }
    match application(name) {
        Some(_) if name.contains(' ') => Finding::not_modelled(
            "perhop recognizes RTP by its UDP ports: packets of every payload type match this criterion",
        ),
        Some(_) => Finding::modelled(
            "perhop recognizes the protocol by its well-known ports, because it does not \
                               simulate packet contents",
        ),
        None => Finding::MODELLED,
    }
}

impl Criterion {
    /// Returns the matched property if packets in perhop do not have it. Such a criterion matches no packet.
    pub(crate) fn unseen(&self) -> Option<&str> {
        Some(match self {
            Criterion::Application(_) => "the router's catalog of applications",
            Criterion::Protocol(name) if is_seen(name) => return None,
            Criterion::Protocol(_) => "the content of packets",
            Criterion::NotModelled(what) => what,
            _ => return None,
        })
    }
}

/// Whether the headers of packets show this protocol or application.
fn is_seen(name: &str) -> bool {
    let known = application(name).is_some() || ip_protocol(name).is_some();
    known || name == "ip" || name == "ipv6" || NOT_IP.contains(&name)
}
