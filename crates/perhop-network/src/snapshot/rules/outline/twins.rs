//! Policies, classes and lists of twins. Twins are two devices with the same task, such as the two routers of
//! a site.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Blocks, Defined, INTERFACE, PROCESS};
use super::form::{Deviation, DeviationKind, is_of_role};
use super::missing::{first_word, is_extension};
use super::values::is_mild;
use super::words::Entry;

/// The minimum fraction of named blocks that twins have in common.
const SHARED: f64 = 0.8;

/// The minimum number of named blocks that twins have in common.
const LEAST_SHARED: usize = 4;
/// The beginnings of the paths of the named blocks that are compared.
const COMPARED: &[&str] = &["class-map ", "ip access-list ", "ip prefix-list ", "policy-map ", "route-map "];
/// The minimum number of lines of a compared interface. Interfaces with fewer lines can have different tasks.
const LARGE: usize = 5;

/// The number of findings for a single difference: one for each twin.
const BOTH_ENDS: usize = 2;

/// Commands that change the treatment of a class.
const OF_QUEUES: &[&str] = &["bandwidth", "class", "priority", "service-policy", "shape"];

/// Reports lines with different values in a block that exactly two devices have.
pub(super) fn check(blocks: &Blocks, found: &mut Vec<Deviation>) {
    let groups: Vec<(&str, &Vec<Block>)> = blocks
        .by_path
        .iter()
        .map(|(path, group)| (path.as_str(), group))
        .filter(|(path, _)| is_compared(path))
        .collect();
    let mut paths: Vec<BTreeSet<&str>> = blocks.devices.iter().map(|_| BTreeSet::new()).collect();
    for (path, group) in &groups {
        for block in *group {
            paths[block.device].insert(path);
        }
    }
    check_interfaces(blocks, &paths, found);
    let mut twins: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    let mut of_pair: BTreeMap<(usize, usize), Vec<Deviation>> = BTreeMap::new();
    for (_, group) in groups {
        let [first, second] = group.as_slice() else { continue };
        if first.device == second.device {
            continue;
        }
        let are_twins = || are_twins(&paths[first.device], &paths[second.device]);
        if *twins.entry((first.device, second.device)).or_insert_with(are_twins) {
            let own = of_pair.entry((first.device, second.device)).or_default();
            compare([first, second], blocks, own);
            compare([second, first], blocks, own);
        }
    }
    for mut own in of_pair.into_values() {
        // If twins differ in several lines, the difference can be intended.
        if own.len() != BOTH_ENDS {
            for deviation in &mut own {
                deviation.kind = deviation.kind.weakened();
            }
        }
        found.append(&mut own);
    }
}

/// Reports a line of an interface or process that only one of two twins has, if no third device has the same
/// task.
fn check_interfaces(blocks: &Blocks, paths: &[BTreeSet<&str>], found: &mut Vec<Deviation>) {
    for (device, own) in paths.iter().enumerate().filter(|(_, own)| own.len() >= LEAST_SHARED) {
        let mut twins = (0..paths.len()).filter(|other| *other != device && are_twins(own, &paths[*other]));
        let (Some(twin), None) = (twins.next(), twins.next()) else { continue };
        let is_paired = |path: &str| path.starts_with(INTERFACE) || path.starts_with(PROCESS);
        let paired = blocks.by_path.iter().filter(|(path, _)| is_paired(path));
        for (_, group) in paired.filter(|(path, _)| !path.contains('/')) {
            for block in group.iter().filter(|block| block.device == device) {
                if let Some(other) = counterpart(block, group, twin) {
                    report_missing(block, other, &blocks.devices, found);
                }
            }
        }
    }
}

/// Returns the interface or process of a twin with the same name. If none has the name, returns the only
/// block of the group if both devices have just one.
fn counterpart<'b>(block: &Block, group: &'b [Block], twin: usize) -> Option<&'b Block> {
    let of = |device: usize| group.iter().filter(move |other| other.device == device);
    let namesake = of(twin).find(|other| other.header.values == block.header.values);
    let is_only = of(twin).count() == 1 && of(block.device).count() == 1;
    namesake.or_else(|| of(twin).next().filter(|_| is_only))
}

/// Reports the line that `block` lacks, if it is the only difference between an interface or process and the
/// same block of the twin.
fn report_missing(block: &Block, other: &Block, devices: &[Defined], found: &mut Vec<Deviation>) {
    let lacks = |block: &Block, other: &Block| {
        let mut shapes: Vec<(usize, String)> = Vec::new();
        for (place, entry) in other.entries.iter().enumerate() {
            // Two blocks can have different values of a command, but not different numbers of lines with it.
            let count = |block: &Block| {
                block.entries.iter().filter(|candidate| candidate.shape == entry.shape).count()
            };
            if count(block) < count(other) && !shapes.iter().any(|(_, shape)| *shape == entry.shape) {
                shapes.push((place, entry.shape.clone()));
            }
        }
        shapes
    };
    let (missing, more) = (lacks(block, other), lacks(other, block));
    let ([(place, shape)], []) = (missing.as_slice(), more.as_slice()) else { return };
    // Of the other block's lines with this shape, the missing line is the one that does not occur in this
    // block.
    let of_shape = block.entries.iter().filter(|entry| entry.shape == *shape);
    let own: Vec<&str> = of_shape.map(|entry| entry.text()).collect();
    let lacking = other.entries.iter().filter(|entry| entry.shape == *shape);
    let entry = lacking.clone().find(|entry| !own.contains(&entry.text())).unwrap_or(&other.entries[*place]);
    let is_foreign = devices[block.device].is_foreign(entry.values.iter().map(String::as_str));
    if other.entries.len() < LARGE || is_of_role(&entry.shape) || is_foreign {
        return;
    }
    let message = format!(
        "`{}` lacks `{}`; `{}` of the only other device with the same role has this line",
        block.title(),
        entry.text(),
        other.title()
    );
    let (device, line) = (block.device, block.header.line);
    let kind = if block.is_of_interface() {
        DeviationKind::Missing.of_missing(block, entry.text())
    } else {
        DeviationKind::Missing.of_passed_routes(entry.text())
    };
    found.push(Deviation { device, line, kind, message });
}

fn is_compared(path: &str) -> bool {
    COMPARED.iter().any(|start| path.starts_with(start))
}

fn are_twins(first: &BTreeSet<&str>, second: &BTreeSet<&str>) -> bool {
    first.intersection(second).count() as f64 >= SHARED * first.union(second).count() as f64
}

/// Reports a line that only the second block has, if the line is a queueing command or the only difference
/// between the blocks.
fn report_lacking([own, other]: [&Block; 2], entry: &Entry, devices: &[Defined], found: &mut Vec<Deviation>) {
    let is_foreign = devices[own.device].is_foreign(entry.values.iter().map(String::as_str));
    let has =
        |block: &Block, entry: &Entry| block.entries.iter().any(|candidate| candidate.text() == entry.text());
    let differing = own.entries.iter().filter(|entry| !has(other, entry)).count()
        + other.entries.iter().filter(|entry| !has(own, entry)).count();
    let is_near = devices[own.device].has_near(entry) != devices[other.device].has_near(entry);
    let is_clear = OF_QUEUES.contains(&entry.command()) || differing == 1 && !is_near;
    if is_foreign || !is_clear {
        return;
    }
    let message = format!(
        "`{}` lacks `{}`; the only other device with `{}` has this line",
        own.title(),
        entry.text(),
        other.title()
    );
    let (device, line) = (own.device, own.header.line);
    found.push(Deviation { device, line, kind: DeviationKind::Missing, message });
}

/// Whether two lines differ only in addresses of the sites: each device, and not the other one, has its
/// address in another block as well.
fn are_own(blocks: &Blocks, pair: [&Block; 2], entries: [&Entry; 2]) -> bool {
    let uses = |device: usize, value: &String| {
        let others = blocks.by_path.iter().filter(|(path, _)| **path != pair[0].path);
        let mut own = others.flat_map(|(_, group)| group).filter(|block| block.device == device);
        own.any(|block| block.entries.iter().any(|entry| entry.values.contains(value)))
    };
    let is_own = |place: usize| {
        let values = entries.map(|entry| &entry.values[place]);
        let is_address = entries.iter().all(|entry| entry.address(place).is_some());
        is_address
            && (0..2).all(|side| {
                let other = 1 - side;
                uses(pair[side].device, values[side]) && !uses(pair[other].device, values[side])
            })
    };
    let mut differing = (0..entries[0].values.len()).filter(|place| {
        let [first, second] = entries.map(|entry| entry.values.get(*place));
        first != second
    });
    entries[0].shape == entries[1].shape && differing.all(is_own)
}

/// Reports lines of the first block that the second block has with another value.
fn compare([own, other]: [&Block; 2], blocks: &Blocks, found: &mut Vec<Deviation>) {
    let devices = &blocks.devices;
    let texts =
        [own, other].map(|block| block.entries.iter().map(|entry| entry.text()).collect::<BTreeSet<&str>>());
    let only: Vec<&Entry> = own.entries.iter().filter(|entry| !texts[1].contains(entry.text())).collect();
    let theirs: Vec<&Entry> = other.entries.iter().filter(|entry| !texts[0].contains(entry.text())).collect();
    for entry in only {
        let is_counterpart = |candidate: &&&Entry| first_word(&candidate.shape) == first_word(&entry.shape);
        let Some(instead) = theirs.iter().find(is_counterpart) else {
            report_lacking([other, own], entry, devices, found);
            continue;
        };
        // Two devices of one site have the same subnets. On devices of two sites, lines about the subnets of
        // a site can be exchanged, so such lines are not compared.
        let near = |device: usize| [entry, instead].map(|nearest| devices[device].has_near(nearest));
        let (here, there) = (near(own.device), near(other.device));
        let is_site = here != there || entry.values != instead.values && here.contains(&true);
        let is_same = entry.shape == instead.shape
            && entry.values.iter().zip(&instead.values).all(|(a, b)| a == b || is_mild(entry, a, b));
        let is_longer = is_extension(entry, instead) || is_extension(instead, entry);
        let is_foreign = devices[other.device].is_foreign(entry.values.iter().map(String::as_str));
        if is_site || is_same || is_longer || is_foreign || are_own(blocks, [own, other], [entry, instead]) {
            continue;
        }
        let message = format!(
            "`{}` in `{}`: the only other device with this block has `{}`",
            entry.text(),
            own.title(),
            instead.text()
        );
        let kind = DeviationKind::Unusual.in_block(own, entry.text());
        found.push(Deviation { device: own.device, line: entry.line, kind, message });
    }
}
