//! Values of a block that differ from the value in all other blocks of its form.

use std::collections::BTreeMap;

use super::block::{Block, Defined, INTERFACE};
use super::form::{Deviation, DeviationKind, Form};
use super::missing::{are_enough, are_terms, line_beside};
use super::words::Entry;

/// The word that precedes the AS number of a neighbor.
pub(super) const NUMBER_OF_SYSTEM: &str = "remote-as";
/// Processes whose number has a meaning only on one device.
const LOCAL: &[&str] = &["router ospf"];
/// The first word of lines about the VLANs of a port.
const SWITCHPORT: &str = "switchport";
/// The first word of a block for a sub-interface (Junos).
const UNIT: &str = "unit";
/// Commands whose numbers operators choose by experience.
const OF_BUFFERS: &[&str] = &["queue-limit", "random-detect"];
/// The minimum factor by which two numbers of these commands must differ to contradict each other.
const UNEQUAL: u64 = 2;

/// Reports a value that only one block of a form has, if all other blocks have the same value.
pub(super) fn check(forms: &[Form], devices: &[Defined], found: &mut Vec<Deviation>) {
    for form in forms.iter().filter(|form| form.blocks.len() > 2) {
        for shape in &form.shapes {
            let lines: Vec<Vec<&Entry>> =
                form.blocks.iter().map(|block| block.entries_of(shape).collect()).collect();
            if lines.iter().all(|lines| lines.len() == 1) {
                let single: Vec<&Entry> = lines.iter().map(|lines| lines[0]).collect();
                check_single((form, forms), &single, devices, found);
            } else {
                check_several(form, &lines, devices, found);
            }
        }
    }
}

/// Compares the numbers of routing processes, which must be equal on all devices.
pub(super) fn check_headers(group: &[Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    let path = &group[0].path;
    let is_shared = path.starts_with("router ") && !LOCAL.iter().any(|name| path.starts_with(name));
    if is_shared && *path == group[0].header.shape {
        let headers: Vec<&Entry> = group.iter().map(|block| &block.header).collect();
        let form = Form { shapes: Vec::new(), blocks: group.iter().collect() };
        let mut own = Vec::new();
        check_single((&form, &[]), &headers, devices, &mut own);
        own.retain(|deviation| !is_known_to_neighbors(group, deviation.device));
        found.extend(own.into_iter().map(|own| Deviation { kind: DeviationKind::Decisive, ..own }));
    }
}

/// Whether another device has a neighbor with the number of a device's process. The device is then in another
/// autonomous system intentionally.
fn is_known_to_neighbors(group: &[Block], device: usize) -> bool {
    let numbers = group.iter().filter(|block| block.device == device).flat_map(|block| &block.header.values);
    let own: Vec<&String> = numbers.collect();
    let others = group.iter().filter(|block| block.device != device).flat_map(|block| &block.entries);
    let mut neighbors = others.filter(|entry| entry.shape.contains(NUMBER_OF_SYSTEM));
    neighbors.any(|entry| entry.values.last().is_some_and(|number| own.contains(&number)))
}

/// Compares the values of a line that each block of a form has once.
fn check_single(
    (form, forms): (&Form, &[Form]),
    lines: &[&Entry],
    devices: &[Defined],
    found: &mut Vec<Deviation>,
) {
    let count = lines.iter().map(|line| line.values.len()).min().unwrap_or(0);
    for place in 0..count {
        let Some((odd, usual)) = only_exception(lines.iter().map(|line| line.values[place].as_str())) else {
            continue;
        };
        let (block, entry) = (form.blocks[odd], lines[odd]);
        let others: Vec<&Block> =
            form.blocks.iter().copied().filter(|other| !std::ptr::eq(*other, block)).collect();
        let own = entry.values[place].as_str();
        let is_mild = is_mild(entry, own, usual);
        // The names of ports and units differ between devices.
        let command = entry.command();
        let is_port = command == UNIT || command == INTERFACE && !block.is_of_interface();
        if is_mild
            || is_port
            || !are_enough(block, &others)
            || !form.shapes.is_empty() && is_renamed(block.device, own, usual, devices)
        {
            continue;
        }
        let message = format!(
            "`{}` in `{}`: {} similar blocks have {usual} in place of {own}",
            entry.text(),
            block.title(),
            others.len()
        );
        // Another rule checks both ends of a session or tunnel to an address of a device.
        let is_of_device = devices.iter().any(|device| device.owns(own));
        let kind = if is_of_device || is_of_other_task(block, entry, &others, forms) {
            DeviationKind::Unusual
        } else {
            DeviationKind::Unusual.in_block(block, entry.text())
        };
        found.push(Deviation { device: block.device, line: entry.line, kind, message });
    }
}

/// Whether a switch port has another task than the ports of its form: its description differs too, and
/// another port of the device has the same line.
fn is_of_other_task(block: &Block, entry: &Entry, others: &[&Block], forms: &[Form]) -> bool {
    let all = forms.iter().flat_map(|form| form.blocks.iter().copied());
    let mut namesakes = all.filter(|other| other.device == block.device && !std::ptr::eq(*other, block));
    entry.command() == SWITCHPORT
        && others.iter().all(|other| other.description != block.description)
        && namesakes
            .any(|other| other.entries_of(&entry.shape).any(|candidate| candidate.values == entry.values))
}

/// Whether the values are similar numbers in a line whose numbers operators choose by experience.
pub(super) fn is_mild(entry: &Entry, own: &str, usual: &str) -> bool {
    OF_BUFFERS.contains(&entry.command()) && !are_unequal(own, usual)
}

/// Whether two values contradict each other: they are not numbers, or their ratio is at least [`UNEQUAL`].
fn are_unequal(own: &str, usual: &str) -> bool {
    match (own.parse::<u64>(), usual.parse::<u64>()) {
        (Ok(own), Ok(usual)) => own * UNEQUAL <= usual || own >= usual * UNEQUAL,
        _ => true,
    }
}

/// Returns the index of the only value that differs from all others, and the value of the others.
pub(super) fn only_exception<'v>(values: impl Iterator<Item = &'v str>) -> Option<(usize, &'v str)> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, value) in values.enumerate() {
        let own = places.entry(value).or_default();
        if own.len() < 2 {
            own.push(place);
        }
        if places.len() > 2 {
            return None;
        }
    }
    let odd = places.iter().find(|(_, own)| own.len() == 1)?;
    let usual = places.iter().find(|(_, own)| own.len() > 1)?;
    Some((odd.1[0], usual.0))
}

/// Whether a device uses a name of its own in place of the name that other devices use.
pub(super) fn is_renamed(device: usize, own: &str, usual: &str, devices: &[Defined]) -> bool {
    let device = &devices[device];
    if device.renames(own, usual) {
        return true;
    }
    let is_usual = device.uses(usual) > 0;
    let is_own = device.names.contains(own);
    is_usual && is_own && !device.names.contains(usual)
        || own.bytes().all(|byte| byte.is_ascii_digit()) && device.any_has_number(usual, &device.numbers(own))
}

/// Compares the lines of a shape that occurs several times in blocks.
fn check_several(form: &Form, lines: &[Vec<&Entry>], devices: &[Defined], found: &mut Vec<Deviation>) {
    let texts: Vec<BTreeMap<&str, usize>> =
        lines.iter().map(|lines| lines.iter().map(|entry| (entry.text(), entry.line)).collect()).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts.iter().flat_map(BTreeMap::keys) {
        *counts.entry(text).or_default() += 1;
    }
    // No block lacks a line that all blocks have.
    for (text, _) in counts.iter().filter(|(_, count)| **count < texts.len()) {
        // A device does not need a line with a name that it does not define, or with an address of its own
        // subnet.
        let is_foreign = |place: &usize| {
            let own = &devices[form.blocks[*place].device];
            own.is_foreign(text.split(' ')) || own.lacks_policy(text)
        };
        let lacking: Vec<usize> = (0..texts.len())
            .filter(|place| !texts[*place].contains_key(*text))
            .filter(|place| !is_foreign(place))
            .take(2)
            .collect();
        let [lacks] = lacking.as_slice() else { continue };
        let (lacks, block) = (*lacks, form.blocks[*lacks]);
        let others: Vec<&Block> = (0..texts.len())
            .filter(|place| texts[*place].contains_key(*text))
            .map(|place| form.blocks[place])
            .collect();
        if !are_enough(block, &others) {
            continue;
        }
        let own = texts[lacks].iter().find(|(own, _)| counts[*own] == 1);
        // A line about a subnet of this device does not replace a line about another subnet.
        let is_near = |own: &str| own.split(' ').any(|word| devices[block.device].is_near(word));
        if own.is_some_and(|(own, _)| are_terms(own, text) || is_near(own)) {
            continue;
        }
        let (line, kind, message) = match own {
            Some((own, line)) => (
                *line,
                DeviationKind::Unusual.in_block(block, text),
                format!("`{own}` in `{}`: {} similar blocks have `{text}`", block.title(), others.len()),
            ),
            None => (
                line_beside(block, &others, text).unwrap_or(block.header.line),
                DeviationKind::Missing.of_missing(block, text),
                format!("`{}` lacks `{text}`; {} similar blocks have this line", block.title(), others.len()),
            ),
        };
        found.push(Deviation { device: block.device, line, kind, message });
    }
}
