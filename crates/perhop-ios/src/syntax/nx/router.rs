//! `router ospf` and `router isis` of NX-OS: the commands that IOS does not have.

use crate::ast::{Configuration, RouterProcess};
use crate::mode::Mode;
use crate::syntax::command::{Command, noted};
use crate::syntax::lookup::{Spelling, run};
use crate::syntax::router;
use crate::words::{Finding, Form, Reader, Reading};

pub(super) const COMMANDS: &[Command<RouterProcess>] = &[
    noted("address-family", |_, reader| {
        // The block of IPv4 has commands of the process.
        let is_ipv4 = reader.peek() == Some("ipv4") && reader.rest().get(1) != Some(&"multicast");
        let mode = if is_ipv4 { reader.mode } else { Mode::Irrelevant };
        reader.opens = (reader.form == Form::Plain).then_some(mode);
    }),
    noted("distribute", router::not_computed),
    noted("reference-bandwidth", router::reference),
    noted("shutdown", |process, reader| process.is_off = !reader.negated()),
    noted("table-map", router::not_computed),
];

/// Reads a line in the block of a process.
pub(super) fn read(
    configuration: &mut Configuration,
    place: usize,
    spelling: Spelling,
    reader: &mut Reader,
) -> Option<Reading> {
    if !router::is_read(configuration, place) {
        return None;
    }
    if router::open_vrf(configuration, place, reader).is_some() {
        return Some(Ok(Finding::IRRELEVANT));
    }
    run(&[router::COMMANDS, COMMANDS], configuration.processes.get_mut(place)?, spelling, reader)
}
