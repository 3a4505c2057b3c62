//! `[edit class-of-service shared-buffer]`: the packet memory of a switch.

use perhop_device::intent::At;

use super::classes::Classes;
use crate::context::Context;
use crate::families::Chip;
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
        all.flatten().map(|at| at.line)
    }
}

/// Reads the memory of departing packets. perhop does not model the memory of arriving packets.
pub(super) fn read(context: &mut Context, cos: NodeId, classes: &Classes) -> SharedBuffer {
    let mut found = SharedBuffer::default();
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

/// Parses the index of a dynamic threshold.
pub(super) fn threshold(text: &str) -> Option<u8> {
    text.parse().ok().filter(|index| *index <= Chip::MOST_INDEX)
}
