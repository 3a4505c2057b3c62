//! `shared-buffer` and `dedicated-buffer`: the packet memory of a switch.

use perhop_device::intent::At;

use super::classes::Classes;
use crate::context::Context;
use crate::families::{Chip, Pools};
use crate::tree::NodeId;
use crate::values::percent;

/// The configured memory of departing packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedBuffer {
    /// The part of the memory that queues share, percent.
    pub(crate) percent: Option<At<u8>>,
    pub(crate) lossy: Partition,
    pub(crate) lossless: Partition,
    pub(crate) multicast: Partition,
    /// The fraction of the dedicated memory that remains dedicated, percent, for arriving and for departing
    /// packets.
    pub(crate) dedicated: [Option<At<u8>>; 2],
}

/// The part of the memory for some kind of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partition {
    /// The size of the part, percent of the shared memory.
    pub(crate) percent: Option<At<u8>>,
    /// The index of the dynamic threshold of its queues.
    pub(crate) threshold: Option<At<u8>>,
}

impl SharedBuffer {
    /// Returns the lines of the memory.
    pub(crate) fn lines(&self) -> impl Iterator<Item = usize> {
        let parts = [self.lossy, self.lossless, self.multicast];
        let all = parts.into_iter().flat_map(|part| [part.percent, part.threshold]).chain([self.percent]);
        let all = all.chain(self.dedicated);
        all.flatten().map(|at| at.line)
    }
}

/// Reads the memory of departing packets. perhop does not model the memory of arriving packets.
pub(super) fn read(context: &mut Context, cos: NodeId, classes: &Classes) -> SharedBuffer {
    let dedicated = dedicated(context, cos, classes);
    let mut found = SharedBuffer { dedicated, ..SharedBuffer::default() };
    let Some(node) = context.tree.child(cos, "shared-buffer") else { return found };
    if classes.family().rules().chip.is_none() {
        context.not_modeled(node, "shared memory of switches");
        return found;
    }
    context.modeled(node);
    if let Some(ingress) = context.tree.child(node, "ingress") {
        context.not_modeled(ingress, "the memory of arriving packets");
    }
    let Some(egress) = context.tree.child(node, "egress") else { return found };
    context.modeled(egress);
    found.percent = context.parsed(egress, "percent", percent);
    for part in context.items(egress, "buffer-partition") {
        let known = match part.text.as_str() {
            "lossy" => &mut found.lossy,
            "lossless" => &mut found.lossless,
            "multicast" => &mut found.multicast,
            _ => {
                context.invalid(&part, "buffer-partition");
                continue;
            }
        };
        known.percent = context.parsed(part.node, "percent", percent);
        known.threshold = context.parsed(part.node, "dynamic-threshold", threshold);
    }
    found
}

/// Reads `dedicated-buffer`. Less dedicated memory leaves more shared memory.
fn dedicated(context: &mut Context, cos: NodeId, classes: &Classes) -> [Option<At<u8>>; 2] {
    let Some(node) = context.tree.child(cos, "dedicated-buffer") else { return [None; 2] };
    let Some(chip) = classes.family().rules().chip else {
        context.not_modeled(node, "memory of switches");
        return [None; 2];
    };
    context.modeled(node);
    ["ingress", "egress"].map(|direction| {
        let part = context.tree.child(node, direction)?;
        if direction == "ingress" && chip.pools == Pools::Separate {
            context.not_modeled(part, "the memory of arriving packets");
            return None;
        }
        context.modeled(part);
        context.parsed(part, "percent", percent)
    })
}

/// Parses the index of a dynamic threshold.
pub(super) fn threshold(text: &str) -> Option<u8> {
    text.parse().ok().filter(|index| *index <= Chip::MOST_INDEX)
}
