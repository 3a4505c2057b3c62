//! Policies, classes and lists of two devices with one task, such as both routers of a site.

use std::collections::BTreeSet;

use super::block::Blocks;
use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind};
use super::missing::{first_word, is_extension};
use super::values::is_mild;
use super::words::Entry;

/// The part of its blocks with names that two devices must share to have one task.
const SHARED: f64 = 0.8;

/// Commands without which a class has another treatment.
const OF_QUEUES: &[&str] = &["bandwidth", "class", "priority", "service-policy", "shape"];

/// Reports lines of blocks that only two devices have, and which have other values there.
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
    for (_, group) in groups {
        let [first, second] = group.as_slice() else { continue };
        if first.device != second.device && are_twins(&paths[first.device], &paths[second.device]) {
            compare([first, second], &blocks.devices, found);
            compare([second, first], &blocks.devices, found);
        }
    }
}

fn is_compared(path: &str) -> bool {
    ["policy-map ", "class-map ", "ip access-list "].iter().any(|start| path.starts_with(start))
}

fn are_twins(first: &BTreeSet<&str>, second: &BTreeSet<&str>) -> bool {
    first.intersection(second).count() as f64 >= SHARED * first.union(second).count() as f64
}

/// Reports a command of queues that the first block lacks, and the second has.
fn report_lacking([own, other]: [&Block; 2], entry: &Entry, devices: &[Defined], found: &mut Vec<Deviation>) {
    let is_foreign = devices[own.device].is_foreign(entry.values.iter().map(String::as_str), devices);
    if is_foreign || !OF_QUEUES.contains(&entry.command()) {
        return;
    }
    let message = format!(
        "`{}` lacks `{}`, which the only other device with `{}` has",
        own.title(),
        entry.text(),
        other.title()
    );
    let (device, line) = (own.device, own.header.line);
    found.push(Deviation { device, line, kind: DeviationKind::Missing, message });
}

/// Reports lines of the first block that the second has with another value.
fn compare([own, other]: [&Block; 2], devices: &[Defined], found: &mut Vec<Deviation>) {
    let has = |block: &Block, entry: &Entry| block.entries.iter().any(|one| one.text() == entry.text());
    let only: Vec<&Entry> = own.entries.iter().filter(|entry| !has(other, entry)).collect();
    let theirs: Vec<&Entry> = other.entries.iter().filter(|entry| !has(own, entry)).collect();
    for entry in only {
        let is_counterpart = |one: &&&Entry| first_word(&one.shape) == first_word(&entry.shape);
        let Some(instead) = theirs.iter().find(is_counterpart) else {
            report_lacking([other, own], entry, devices, found);
            continue;
        };
        let is_site = [entry, instead].iter().any(|one| {
            devices[own.device].has_near(&one.values) || devices[other.device].has_near(&one.values)
        });
        let is_same = entry.shape == instead.shape
            && entry.values.iter().zip(&instead.values).all(|(a, b)| a == b || is_mild(entry, a, b));
        let is_longer = is_extension(entry, instead) || is_extension(instead, entry);
        let is_foreign = devices[other.device].is_foreign(entry.values.iter().map(String::as_str), devices);
        if is_site || is_same || is_longer || is_foreign {
            continue;
        }
        let message = format!(
            "`{}` in `{}`: the only other device with this block has `{}`",
            entry.text(),
            own.title(),
            instead.text()
        );
        found.push(Deviation { device: own.device, line: entry.line, kind: DeviationKind::Unusual, message });
    }
}
