//! `vrf context`: static routes of a table.

use crate::ast::Configuration;
use crate::mode::Mode;
use crate::syntax::command::{Command, irrelevant, irrelevant_block, modelled};
use crate::syntax::route::{ipv6_in, prefix_route};
use crate::words::{Finding, Form, Reader, Reading};

pub(super) const COMMANDS: &[Command<Configuration>] = &[
    modelled("ip route", |configuration, reader| {
        let table = table(configuration, reader);
        prefix_route(configuration, reader, table)
    }),
    modelled("ipv6 route", |configuration, reader| {
        let table = table(configuration, reader);
        ipv6_in(configuration, reader, table)
    }),
    irrelevant_block("address-family"),
    irrelevant("description"),
    irrelevant("ip amt"),
    irrelevant("ip auto-discard"),
    irrelevant("ip domain-list"),
    irrelevant("ip domain-name"),
    irrelevant("ip icmp-errors"),
    irrelevant("ip igmp"),
    irrelevant("ip mroute"),
    irrelevant("ip multicast"),
    irrelevant("ip name-server"),
    irrelevant("ip pim"),
    irrelevant("ipv6 mld"),
    irrelevant("ipv6 pim"),
    irrelevant("mdt"),
    irrelevant("rd"),
    irrelevant("route-target"),
    irrelevant("shutdown"),
    irrelevant("vni"),
];

/// Reads `vrf context NAME`.
pub(super) fn open(configuration: &mut Configuration, reader: &mut Reader) -> Reading {
    let name = reader.word("the VRF's name")?.to_owned();
    reader.end()?;
    let tables = &mut configuration.nx_os.tables;
    let place = tables.iter().position(|table| *table == name).unwrap_or_else(|| {
        tables.push(name);
        tables.len() - 1
    });
    reader.opens = (reader.form == Form::Plain).then_some(Mode::VrfContext(place));
    Ok(Finding::MODELLED)
}

/// Returns the table of the block, `None` for the default table.
fn table(configuration: &Configuration, reader: &Reader) -> Option<String> {
    let Mode::VrfContext(place) = reader.mode else { return None };
    configuration.nx_os.tables.get(place).filter(|table| *table != "default").cloned()
}
