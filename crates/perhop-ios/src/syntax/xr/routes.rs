//! `router static` of IOS XR.

use std::net::IpAddr;

use perhop_device::{InterfaceAddress, RouteOrigin, RouteTarget};

use crate::ast::Configuration;
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, modelled};
use crate::syntax::route::{STATIC, route};
use crate::words::{Finding, Form, Reader, Reading};

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    modelled("address-family", family),
    modelled("vrf", vrf),
    irrelevant("description"),
    irrelevant("maximum"),
];

/// Reads `router static`.
pub(super) fn open(_: &mut Configuration, reader: &mut Reader) -> Reading {
    reader.end()?;
    reader.opens = (reader.form == Form::Plain).then_some(Mode::StaticRoutes);
    Ok(Finding::MODELLED)
}

/// Reads `address-family ipv4 unicast`.
fn family(_: &mut Configuration, reader: &mut Reader) -> Reading {
    reader.one_of(&["ipv4", "ipv6"])?;
    let is_unicast = reader.one_of(&["unicast", "multicast"])? == "unicast";
    reader.opens = Some(if is_unicast { reader.mode } else { Mode::Irrelevant });
    Ok(if is_unicast { Finding::MODELLED } else { Finding::IRRELEVANT })
}

/// Reads `vrf NAME`.
fn vrf(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.word("the VRF's name")?.to_owned();
    reader.end()?;
    let tables = &mut configuration.static_tables;
    tables.push(name);
    reader.opens = (reader.form == Form::Plain).then_some(Mode::VrfStaticRoutes(tables.len() - 1));
    Ok(Finding::MODELLED)
}

/// Reads `10.0.0.0/8 192.0.2.1`, `10.0.0.0/8 GigabitEthernet0/0/0/1 192.0.2.1`; `None` if the line does not
/// begin with a prefix.
pub(super) fn read(configuration: &mut Configuration, reader: &mut Reader) -> Option<Reading> {
    let (address, length) = reader.peek()?.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let prefix_length: u8 = length.parse().ok()?;
    let prefix = InterfaceAddress { line: reader.line, address, prefix_length }.subnet()?;
    reader.next();
    let vrf = match reader.mode {
        Mode::VrfStaticRoutes(place) => configuration.static_tables.get(place).cloned(),
        _ => None,
    };
    // `vrf default` before the next hop names the default table, which is also the table without these words.
    if reader.rest().first() == Some(&"vrf") {
        if !reader.negated() {
            // The route hides routes with shorter prefixes.
            configuration.routes.push(perhop_device::Route {
                line: reader.line,
                vrf,
                prefix,
                via: RouteTarget::Learned,
                distance: STATIC,
                is_conditional: false,
                origin: RouteOrigin::Configured,
            });
        }
        return Some(Ok(Finding::not_modelled(
            "the next hop is in another routing table: in perhop packets of this route have no route there",
        )));
    }
    Some(route(configuration, reader, vrf, prefix))
}
