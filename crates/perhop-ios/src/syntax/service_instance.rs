//! Commands of the block `service instance`: frames of some VLANs on a port.

use super::command::{Command, irrelevant, modelled, not_modelled, recorded};
use super::queueing::service_policy;
use crate::ast::{At, Interface, ServiceInstance};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

pub(super) const COMMANDS: &[Command<ServiceInstance>] = &[
    recorded("encapsulation", "only frames of these VLANs enter the service instance", |instance, reader| {
        text(&mut instance.encapsulation, reader)
    }),
    recorded("rewrite", "the line adds or removes VLAN tags", |instance, reader| {
        text(&mut instance.rewrite, reader)
    }),
    recorded("bridge-domain", FRAMES, |instance, reader| {
        let number = reader.maybe_number();
        instance.bridge_domain =
            number.filter(|_| !reader.negated()).map(|number| At::new(reader.line, number));
        Ok(())
    }),
    modelled("service-policy", |instance, reader| service_policy(&mut instance.service_policies, reader)),
    not_modelled("xconnect", FRAMES),
    not_modelled("ip access-group", "packets that the list denies are dropped here"),
    not_modelled("mac access-group", "frames that the list denies are dropped here"),
    irrelevant("cfm"),
    irrelevant("description"),
    irrelevant("ethernet"),
    irrelevant("group"),
    irrelevant("ip"),
    irrelevant("ipv6"),
    irrelevant("l2protocol"),
    irrelevant("mac"),
    irrelevant("member"),
    irrelevant("shutdown"),
    irrelevant("snmp"),
    irrelevant("storm-control"),
    irrelevant("vc"),
];

const FRAMES: &str = "the device bridges these frames; perhop only routes packets";

/// Reads `service instance [trunk] … ethernet [name]`.
pub(super) fn open(interface: &mut Interface, reader: &mut Reader) -> Reading {
    reader.keyword(&["trunk"]);
    let number = reader.number("a service instance", 1..=8000)?;
    reader.one_of(&["ethernet"])?;
    let instances = &mut interface.service_instances;
    if reader.negated() {
        instances.retain(|instance| instance.number != number);
        return Ok(Finding::MODELLED);
    }
    let place = instances.iter().position(|instance| instance.number == number).unwrap_or_else(|| {
        instances.push(ServiceInstance { line: reader.line, number, ..ServiceInstance::default() });
        instances.len() - 1
    });
    if let Mode::Interface(interface) = reader.mode {
        reader.opens = Some(Mode::ServiceInstance(interface, place));
    }
    Ok(Finding::MODELLED)
}

/// Stores the remaining words of the line in `value`; a `no` line clears `value`.
///
/// # Errors
///
/// The line has no value.
pub(super) fn text(value: &mut Option<At<String>>, reader: &mut Reader) -> Result<(), Finding> {
    let words = reader.rest().join(" ");
    while reader.next().is_some() {}
    if reader.negated() {
        *value = None;
        return Ok(());
    }
    if words.is_empty() {
        return Err(reader.unexpected("a value"));
    }
    *value = Some(At::new(reader.line, words));
    Ok(())
}
