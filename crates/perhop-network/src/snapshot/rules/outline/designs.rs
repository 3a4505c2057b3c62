//! Policies with a different design: each of their classes lacks a line.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Blocks};
use super::form::{Deviation, DeviationKind};

/// The beginning of the paths of policies.
const POLICIES: &str = "policy-map ";
/// The minimum number of classes of a policy that has a different design.
const LEAST: usize = 3;

/// Reclassifies missing lines from decisive to unusual, if every class of the policy lacks a line.
pub(super) fn weaken(blocks: &Blocks, found: &mut [Deviation]) {
    let decisive = |deviation: &&mut Deviation| deviation.kind == DeviationKind::Decisive;
    let at: BTreeSet<(usize, usize)> =
        found.iter_mut().filter(decisive).map(|deviation| (deviation.device, deviation.line)).collect();
    // The classes of each policy of a device.
    let mut classes: BTreeMap<(usize, &str), Vec<&Block>> = BTreeMap::new();
    for (path, group) in blocks.by_path.iter().filter(|(path, _)| path.starts_with(POLICIES)) {
        let Some((policy, _)) = path.split_once(" / ") else { continue };
        for block in group {
            classes.entry((block.device, policy)).or_default().push(block);
        }
    }
    let lacks = |block: &&Block| at.contains(&(block.device, block.header.line));
    let designs = classes.into_values().filter(|all| all.len() >= LEAST && all.iter().all(lacks));
    let lines: BTreeSet<(usize, usize)> =
        designs.flatten().map(|block| (block.device, block.header.line)).collect();
    for deviation in found.iter_mut().filter(decisive) {
        if lines.contains(&(deviation.device, deviation.line)) {
            deviation.kind = DeviationKind::Unusual;
        }
    }
}
