//! Values that a block takes from its device: an address in one of its subnets, or a name that it defines.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind};
use super::missing::are_enough;
use super::values::NUMBER_OF_SYSTEM;
use super::words::Entry;

/// Reports the one block of a group whose value its device does not have or define, if the devices of all
/// other blocks do.
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
        // The address of an internal neighbor usually belongs to its loopback.
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
        // An internal neighbor has the number of its device, and an external neighbor has another number.
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

/// Returns the name stems that the numbers of most lines belong to: `Tunnel` for 7 if `Tunnel7` is defined.
fn stems<'d>(lines: &[(&Block, &Entry)], place: usize, devices: &'d [Defined]) -> BTreeSet<&'d str> {
    let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    let of = |(block, entry): &(&Block, &Entry)| {
        let value = &entry.values[place];
        if is_number(value) { devices[block.device].numbers(value) } else { BTreeSet::new() }
    };
    // The line names the kind of interface: `multilink group 1` means `Multilink1`.
    let is_named = |stem: &&str| lines[0].1.shape.contains(&stem.to_lowercase());
    // At most one line is an exception, so the first two lines show all candidates.
    lines.iter().take(2).flat_map(of).filter(is_named).collect()
}

/// Reports the one line for which `holds` is false.
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
