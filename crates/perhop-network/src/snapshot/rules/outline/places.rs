//! Values of a block that depend on its device: an address in a subnet of the device, or a name that the
//! device defines.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind};
use super::missing::are_enough;
use super::values::NUMBER_OF_SYSTEM;
use super::words::Entry;

/// The kind of interface of a VLAN, and the first word of lines about the VLANs of a port.
const VLAN: &str = "vlan";
const SWITCHED: &str = "switchport";

/// Reports a value that does not exist on the device of its block, if the values in all other blocks of the
/// group exist on their devices. A value exists if it is an address in a subnet of the device or a name that
/// the device defines.
pub(super) fn check(group: &[Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    let mut by_place: BTreeMap<(&str, usize), Vec<(&Block, &Entry)>> = BTreeMap::new();
    for block in group {
        for entry in &block.entries {
            for place in 0..entry.values.len() {
                by_place.entry((&entry.shape, place)).or_default().push((block, entry));
            }
        }
    }
    for ((_, place), lines) in by_place {
        let value = |entry: &Entry| entry.values[place].clone();
        let is_near = |(block, entry): &(&Block, &Entry)| devices[block.device].is_near(&entry.values[place]);
        // The address of an internal neighbor is usually the loopback of the neighbor, so it is in no subnet.
        let is_internal = |block: &Block, entry: &Entry| {
            entry.shape.contains(NUMBER_OF_SYSTEM) && entry.values.last() == block.header.values.last()
        };
        let with_addresses: Vec<(&Block, &Entry)> = lines
            .iter()
            .copied()
            .filter(|(block, entry)| entry.address(place).is_some() && !is_internal(block, entry))
            .collect();
        report(&with_addresses, is_near, devices, found, |entry| {
            format!("{} is in no subnet of the device", value(entry))
        });
        let is_name =
            |(block, entry): &(&Block, &Entry)| devices[block.device].names.contains(&entry.values[place]);
        // The AS number of an internal neighbor is the name of the BGP process, and the number of an external
        // neighbor is not, so AS numbers are not checked as names.
        if !lines[0].1.shape.contains(NUMBER_OF_SYSTEM) {
            report(&lines, is_name, devices, found, |entry| {
                format!("the device does not define {}", value(entry))
            });
        }
        for stem in stems(&lines, place, devices) {
            let is_numbered = |(block, entry): &(&Block, &Entry)| {
                devices[block.device].names.contains(&format!("{stem}{}", entry.values[place]))
            };
            report(&lines, is_numbered, devices, found, |entry| {
                format!("the device does not have {stem}{}", value(entry))
            });
        }
    }
}

/// Returns the stems of names that exist with the numbers in the lines: `Tunnel` for the number 7 if the
/// device defines `Tunnel7`.
fn stems<'d>(lines: &[(&Block, &Entry)], place: usize, devices: &'d [Defined]) -> BTreeSet<&'d str> {
    let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    let stems_of = |(block, entry): &(&Block, &Entry)| {
        let value = &entry.values[place];
        if is_number(value) { devices[block.device].numbers(value) } else { BTreeSet::new() }
    };
    // The line must contain the kind of interface: `multilink group 1` means `Multilink1`. A switch needs no
    // interface for the VLAN of a port, because another device can route the VLAN.
    let shape = lines[0].1.shape.as_str();
    let is_named = |stem: &&str| {
        let stem = stem.to_lowercase();
        shape.contains(&stem) && !(stem == VLAN && shape.starts_with(SWITCHED))
    };
    // At most one line is an exception, so the first two lines contain all candidates.
    lines.iter().take(2).flat_map(stems_of).filter(is_named).collect()
}

/// Reports the only line for which `holds` returns false.
fn report(
    lines: &[(&Block, &Entry)],
    holds: impl Fn(&(&Block, &Entry)) -> bool,
    devices: &[Defined],
    found: &mut Vec<Deviation>,
    words: impl Fn(&Entry) -> String,
) {
    let odd: Vec<&(&Block, &Entry)> = lines.iter().filter(|line| !holds(line)).take(2).collect();
    let [(block, entry)] = odd.as_slice() else { return };
    let others: Vec<&Block> = lines.iter().filter(|line| holds(line)).map(|(block, _)| *block).collect();
    if devices.len() < 3 || !are_enough(block, &others) {
        return;
    }
    let message = format!(
        "`{}` in `{}`: {}, unlike the devices of {} other such lines",
        entry.text(),
        block.title(),
        words(entry),
        others.len()
    );
    let kind = DeviationKind::Unusual.in_block(block, entry.text());
    found.push(Deviation { device: block.device, line: entry.line, kind, message });
}
