//! Pairs of devices, each with a line that contains an address of the other device.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::block::{Block, Blocks, PART};
use super::form::{Deviation, DeviationKind};
use super::words::Entry;

/// The minimum number of lines that agree. With fewer, the rule reports no other line.
const LEAST: usize = 3;

/// A line that contains an address.
struct Line<'b> {
    device: usize,
    entry: &'b Entry,
    /// The index of the address among the values of the line.
    place: usize,
    /// The device that has the address.
    other: Option<usize>,
    /// Whether the address is in a subnet of the device that has the line.
    is_near: bool,
}

/// Reports a line about another device that differs from the other device's line about this device. Also
/// reports a line with an address that no device has. Both require that all other lines of the shape are
/// correct.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let mut owners: BTreeMap<Ipv4Addr, Vec<usize>> = BTreeMap::new();
    for (device, own) in blocks.devices.iter().enumerate() {
        for address in &own.addresses {
            owners.entry(*address).or_default().push(device);
        }
    }
    let numbered = numbered(blocks);
    for lines in lines_by_shape(blocks, &owners).values() {
        check_owners(lines, found);
        check_values(&numbered, lines, found);
    }
}

/// Blocks whose first line has one value, such as `router bgp 65000`: for each path, the value on each
/// device.
type Numbered<'b> = Vec<(&'b str, BTreeMap<usize, &'b str>)>;

fn numbered(blocks: &Blocks) -> Numbered<'_> {
    let groups = blocks.by_path.iter().filter(|(path, group)| **path == group[0].header.shape);
    groups
        .map(|(path, group)| (path.as_str(), group.iter().filter_map(Block::number_of_device).collect()))
        .collect()
}

impl Block {
    /// Returns the device of the block and the first value of its first line.
    fn number_of_device(&self) -> Option<(usize, &str)> {
        Some((self.device, self.header.values.first()?.as_str()))
    }
}

/// Returns the lines that contain addresses, by the shape of the line and the index of the address.
fn lines_by_shape<'b>(
    blocks: &'b Blocks,
    owners: &BTreeMap<Ipv4Addr, Vec<usize>>,
) -> BTreeMap<(&'b str, usize), Vec<Line<'b>>> {
    let inside = blocks.by_path.iter().filter(|(path, _)| !path.contains(PART)).flat_map(|(_, group)| group);
    let inside = inside.flat_map(|block| block.entries.iter().map(|entry| (block.device, entry)));
    let outside = blocks.devices.iter().enumerate();
    let outside = outside.flat_map(|(device, own)| own.top.iter().map(move |entry| (device, entry)));
    let mut found: BTreeMap<(&str, usize), Vec<Line>> = BTreeMap::new();
    for (device, entry) in inside.chain(outside) {
        for (place, address) in entry.addresses().iter().copied() {
            if entry.values[place].contains('/') {
                continue;
            }
            let devices = owners.get(&address).map_or(&[][..], Vec::as_slice);
            // In different routing tables, several devices can have the same address.
            if devices.len() > 1 {
                continue;
            }
            let other = devices.first().copied().filter(|other| *other != device);
            let is_near = blocks.devices[device].is_near_address(address);
            if blocks.devices[device].addresses.contains(&address) {
                continue;
            }
            found.entry((&entry.shape, place)).or_default().push(Line {
                device,
                entry,
                place,
                other,
                is_near,
            });
        }
    }
    found
}

/// Reports the only line whose address no device has.
fn check_owners(lines: &[Line], found: &mut Vec<Deviation>) {
    let odd: Vec<&Line> = lines.iter().filter(|line| line.other.is_none()).take(2).collect();
    let [line] = odd.as_slice() else { return };
    if lines.len() > LEAST && line.is_near {
        let message = format!(
            "`{}`: no device has the address {}, but devices have the addresses of {} similar lines",
            line.entry.text(),
            line.entry.values[line.place],
            lines.len() - 1
        );
        let (device, line) = (line.device, line.entry.line);
        found.push(Deviation { device, line, kind: DeviationKind::Unusual, message });
    }
}

/// Reports values that differ from the other device's line about this device, and values that differ from the
/// number in the first line of the other device's block.
fn check_values(numbered: &Numbered, lines: &[Line], found: &mut Vec<Deviation>) {
    let Some(first) = lines.first() else { return };
    let mut backs: BTreeMap<(usize, usize), &Line> = BTreeMap::new();
    for line in lines {
        if let Some(other) = line.other {
            backs.entry((line.device, other)).or_insert(line);
        }
    }
    for value in (0..first.entry.values.len()).filter(|value| *value != first.place) {
        let pairs: Vec<(&Line, &Line)> =
            lines.iter().filter_map(|line| Some((line, *backs.get(&(line.other?, line.device))?))).collect();
        let differ = |(line, back): &&(&Line, &Line)| line.entry.values[value] != back.entry.values[value];
        // Each pair of lines is listed once from each side.
        let count = pairs.iter().filter(differ).count();
        if count == 2 && pairs.len() >= 2 * LEAST {
            for (line, back) in pairs.iter().filter(differ) {
                let message = format!(
                    "`{}`: the line of the other device about this device has {}",
                    line.entry.text(),
                    back.entry.values[value]
                );
                let kind = DeviationKind::Unusual.of_neighbors(line.entry.text());
                found.push(Deviation { device: line.device, line: line.entry.line, kind, message });
            }
        }
        check_numbers(numbered, lines, value, found);
    }
}

/// Reports the only line whose value differs from the number in the first line of the other device's block.
fn check_numbers(numbered: &Numbered, lines: &[Line], value: usize, found: &mut Vec<Deviation>) {
    for (path, number) in numbered {
        let known: Vec<(&Line, &str)> =
            lines.iter().filter_map(|line| Some((line, *number.get(&line.other?)?))).collect();
        let odd: Vec<&(&Line, &str)> =
            known.iter().filter(|(line, number)| line.entry.values[value] != *number).take(2).collect();
        let [(line, number)] = odd.as_slice() else { continue };
        let differs = known.iter().any(|(_, other)| other != number);
        if known.len() > LEAST && differs {
            let message = format!(
                "`{}`: the other device has {number} in `{}`",
                line.entry.text(),
                path.replace('#', number)
            );
            let kind = DeviationKind::Unusual.of_neighbors(line.entry.text());
            found.push(Deviation { device: line.device, line: line.entry.line, kind, message });
        }
    }
}
