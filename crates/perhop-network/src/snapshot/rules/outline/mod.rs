//! Lines that one of several otherwise equal blocks lacks, or for which this block has a different value.
//!
//! Devices with the same task have equal blocks: interfaces of the same kind, classes, protocols. If only one
//! block lacks a line, the line was probably forgotten. If only one block has a different value, or breaks a
//! relation between values that all other blocks have, the value is probably a mistake (Kakarla et al.,
//! "Finding Network Misconfigurations by Automatic Template Inference", NSDI 2020).

mod announced;
mod block;
mod contents;
mod designs;
mod equalities;
mod form;
mod headers;
mod hidden;
mod links;
mod lists;
mod management;
mod mirrors;
mod missing;
mod names;
mod places;
mod ports;
mod relations;
mod texts;
mod twins;
mod values;
mod variants;
mod words;

use std::collections::BTreeMap;

use block::{Block, Blocks, INTERFACE};
use form::{OTHER_INTERFACES, forms};
use hidden::without_secrets;
use rayon::prelude::*;
use words::with_codepoint_names;

use super::tree::Numbered;

pub(crate) use form::{Deviation, DeviationKind, End};

/// Returns the lines in which a block differs from the blocks of other devices. `devices` contains the lines
/// of each device without comments. `links` contains the first lines of the interfaces at the ends of each
/// link.
pub(crate) fn deviations(devices: &[Vec<Numbered>], links: &[Vec<End>]) -> Vec<Deviation> {
    let blocks = Blocks::read(devices);
    let (mut found, others) = rayon::join(
        || of_groups(&blocks),
        || rayon::join(|| of_ports(&blocks), || of_devices(&blocks, links)),
    );
    found.extend(others.0);
    found.extend(others.1);
    links::weaken_agreed(&blocks, links, &mut found);
    management::weaken(&blocks, devices, &mut found);
    designs::weaken(&blocks, &mut found);
    variants::weaken(&blocks, &mut found);
    found.sort();
    // Several comparisons can find the same fault. One message per line is sufficient.
    found.dedup_by_key(|deviation| (deviation.device, deviation.line));
    for deviation in &mut found {
        deviation.message = with_codepoint_names(&without_secrets(&deviation.message));
    }
    found
}

/// Compares blocks with the same path.
fn of_groups(blocks: &Blocks) -> Vec<Deviation> {
    let groups = blocks.by_path.par_iter().filter(|(_, group)| group.len() > 2);
    let check = |(_, group): (&String, &Vec<Block>)| {
        let mut found = Vec::new();
        let forms = forms(group);
        values::check_headers(group, &blocks.devices, &mut found);
        places::check(group, &blocks.devices, &mut found);
        missing::check(&forms, &blocks.devices, &mut found);
        for of_kind in by_kind(group, &blocks.kinds).values() {
            missing::check_lacking(of_kind, &blocks.devices, &mut found);
        }
        values::check(&forms, &blocks.devices, &mut found);
        relations::check(&forms, &blocks.devices, &mut found);
        texts::check(group, &blocks.devices, &mut found);
        found
    };
    groups.flat_map_iter(check).collect()
}

/// Compares the interfaces with the same name on devices of the same kind.
fn of_ports(blocks: &Blocks) -> Vec<Deviation> {
    let groups = ports_of_kinds(blocks);
    let check = |(_, group): (_, &Vec<&Block>)| {
        let mut found = Vec::new();
        let forms = forms(group.iter().copied());
        missing::check(&forms, &blocks.devices, &mut found);
        values::check(&forms, &blocks.devices, &mut found);
        found
    };
    groups.par_iter().filter(|(_, group)| group.len() > OTHER_INTERFACES).flat_map_iter(check).collect()
}

/// Compares lines of different blocks and devices.
fn of_devices(blocks: &Blocks, links: &[Vec<End>]) -> Vec<Deviation> {
    let mut found = Vec::new();
    headers::check(blocks, &mut found);
    announced::check(blocks, &mut found);
    mirrors::check(blocks, &mut found);
    equalities::check(blocks, &mut found);
    links::check(blocks, links, &mut found);
    twins::check(blocks, &mut found);
    found
}

/// Groups blocks by the kind of their device.
fn by_kind<'b>(group: &'b [Block], kinds: &[usize]) -> BTreeMap<usize, Vec<&'b Block>> {
    let mut found: BTreeMap<usize, Vec<&Block>> = BTreeMap::new();
    for block in group {
        found.entry(kinds[block.device]).or_default().push(block);
    }
    found
}

/// Groups the interfaces of devices of the same kind. Hardware interfaces are grouped by name, virtual
/// interfaces by their kind.
fn ports_of_kinds(blocks: &Blocks) -> BTreeMap<(usize, &str, &[String]), Vec<&Block>> {
    let mut found: BTreeMap<(usize, &str, &[String]), Vec<&Block>> = BTreeMap::new();
    let interfaces = blocks.by_path.iter().filter(|(path, _)| path.starts_with(INTERFACE));
    for (path, group) in interfaces.filter(|(path, _)| !path.contains('/')) {
        for block in group {
            let name: &[String] = if path == INTERFACE { &block.header.values } else { &[] };
            found.entry((blocks.kinds[block.device], path, name)).or_default().push(block);
        }
    }
    found
}
