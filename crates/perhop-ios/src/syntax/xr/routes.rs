//! `router static` of IOS XR.

use std::net::IpAddr;

use perhop_device::InterfaceAddress;

use crate::ast::Configuration;
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, not_modelled_block};
use crate::syntax::route::route;
use crate::words::{Finding, Form, Reader, Reading};

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    Command { words: "address-family", does: crate::syntax::command::Does::Read(family) },
    not_modelled_block(
        "vrf",
        "the block has routes of another table: in perhop packets of that table have no route",
    ),
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
    reader.opens = Some(if is_unicast { Mode::StaticRoutes } else { Mode::Irrelevant });
    Ok(if is_unicast { Finding::MODELLED } else { Finding::IRRELEVANT })
}

/// Reads `10.0.0.0/8 192.0.2.1`, `10.0.0.0/8 GigabitEthernet0/0/0/1 192.0.2.1`; `None` if the line does not
/// begin with a prefix.
pub(super) fn read(configuration: &mut Configuration, reader: &mut Reader) -> Option<Reading> {
    let (address, length) = reader.peek()?.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let prefix_length: u8 = length.parse().ok()?;
    let prefix = InterfaceAddress { line: reader.line, address, prefix_length }.subnet()?;
    reader.next();
    // `vrf default` before the next hop names the default table, which is also the table without these words.
    if reader.rest().first() == Some(&"vrf") {
        return Some(Ok(Finding::not_modelled(
            "the next hop is in another routing table: in perhop packets of this route have no route there",
        )));
    }
    Some(route(configuration, reader, None, prefix))
}
