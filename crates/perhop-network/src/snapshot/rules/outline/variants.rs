//! Lines with an address that a port with the same number on another device also has.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Blocks, INTERFACE};
use super::form::{Deviation, DeviationKind};

/// A line of an interface: the name of the interface after its last point, or its whole name, and the text.
type Line<'b> = (&'b str, &'b str);

/// Reclassifies a line with an address as unusual if a port with the same number on another device has the
/// same line. For example, each customer has its own server.
pub(super) fn weaken(blocks: &Blocks, found: &mut [Deviation]) {
    let at: BTreeSet<(usize, usize)> = found
        .iter()
        .filter(|deviation| deviation.kind == DeviationKind::Decisive)
        .map(|deviation| (deviation.device, deviation.line))
        .collect();
    if at.is_empty() {
        return;
    }
    let mut devices: BTreeMap<Line, BTreeSet<usize>> = BTreeMap::new();
    let mut lines: Vec<(usize, usize, Line)> = Vec::new();
    for (_, group) in blocks.by_path.iter().filter(|(path, _)| path.starts_with(INTERFACE)) {
        for block in group {
            let name = block.header.values.first().map_or("", String::as_str);
            let number = name.rsplit_once('.').map_or(name, |(_, number)| number);
            for entry in block.entries.iter().filter(|entry| !entry.addresses().is_empty()) {
                let line = (number, entry.text());
                devices.entry(line).or_default().insert(block.device);
                if at.contains(&(block.device, entry.line)) {
                    lines.push((block.device, entry.line, line));
                }
            }
        }
    }
    let shared: BTreeSet<(usize, usize)> = lines
        .into_iter()
        .filter(|(.., line)| devices[line].len() > 1)
        .map(|(device, line, _)| (device, line))
        .collect();
    for deviation in found.iter_mut().filter(|deviation| shared.contains(&(deviation.device, deviation.line)))
    {
        deviation.kind = deviation.kind.weakened();
    }
}
