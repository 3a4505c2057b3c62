//! Pairs of lines with the same address on every device except one.

use std::collections::BTreeMap;

use super::block::Block;
use super::block::Blocks;
use super::form::{Deviation, DeviationKind};
use super::words::Entry;

/// The minimum number of other devices on which both lines have the same value.
const OTHERS: usize = 3;

/// A value of a line that occurs once on a device: the path of the block, the shape of the line, and the
/// index of the value.
type Key<'b> = (&'b str, &'b str, usize);

/// Reports a device on which two lines have different addresses, if the two lines have the same address on
/// every other device. The finding is at the line that differs from most other lines in this way.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let devices = keys(blocks);
    let mut equal: BTreeMap<(Key, Key), Vec<&str>> = BTreeMap::new();
    for keys in &devices {
        let mut by_value: BTreeMap<&str, Vec<Key>> = BTreeMap::new();
        for (key, entry) in keys {
            by_value.entry(&entry.values[key.2]).or_default().push(*key);
        }
        for (value, same) in by_value {
            for (place, first) in same.iter().enumerate() {
                for second in &same[place + 1..] {
                    equal.entry((*first, *second)).or_default().push(value);
                }
            }
        }
    }
    let mut broken: BTreeMap<(usize, Key), (usize, Key)> = BTreeMap::new();
    for ((first, second), values) in equal {
        let is_constant = values.iter().all(|value| *value == values[0]);
        if values.len() < OTHERS || is_constant {
            continue;
        }
        let both = devices
            .iter()
            .enumerate()
            .filter(|(_, keys)| keys.contains_key(&first) && keys.contains_key(&second));
        let odd: Vec<usize> = both
            .filter(|(_, keys)| keys[&first].values[first.2] != keys[&second].values[second.2])
            .map(|(device, _)| device)
            .take(2)
            .collect();
        let [device] = odd.as_slice() else { continue };
        for (key, other) in [(first, second), (second, first)] {
            broken.entry((*device, key)).or_insert((0, other)).0 += 1;
        }
    }
    for ((device, key), (count, other)) in &broken {
        let of_device = broken.iter().filter(|((one, _), _)| one == device);
        if of_device.map(|(_, (count, _))| *count).max() != Some(*count) {
            continue;
        }
        let (entry, instead) = (devices[*device][key], devices[*device][other]);
        let message = format!(
            "`{}` and `{}` have different addresses, but all other devices have the same address in both lines",
            entry.text(),
            instead.text()
        );
        let kind = DeviationKind::Unusual.of_entries([entry, instead]).of_neighbors(entry.text());
        found.push(Deviation { device: *device, line: entry.line, kind, message });
    }
}

/// Returns, for each device, the addresses in lines whose shape occurs once.
fn keys<'b>(blocks: &'b Blocks) -> Vec<BTreeMap<Key<'b>, &'b Entry>> {
    let mut found: Vec<BTreeMap<Key<'b>, &'b Entry>> =
        blocks.devices.iter().map(|_| BTreeMap::new()).collect();
    let mut add = |device: usize, path: &'b str, entry: &'b Entry| {
        for (place, _) in entry.addresses().iter().filter(|(place, _)| !entry.values[*place].contains('/')) {
            found[device].insert((path, entry.shape.as_str(), *place), entry);
        }
    };
    for (path, group) in &blocks.by_path {
        let mut own: BTreeMap<usize, Vec<&Block>> = BTreeMap::new();
        for block in group {
            own.entry(block.device).or_default().push(block);
        }
        for (device, several) in own {
            if let [block] = several.as_slice() {
                block.single_entries().for_each(|entry| add(device, path.as_str(), entry));
            }
        }
    }
    for (device, own) in blocks.devices.iter().enumerate() {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in &own.top {
            *counts.entry(&entry.shape).or_default() += 1;
        }
        let is_single = |entry: &&Entry| counts[entry.shape.as_str()] == 1;
        own.top.iter().filter(is_single).for_each(|entry| add(device, "", entry));
    }
    found
}
