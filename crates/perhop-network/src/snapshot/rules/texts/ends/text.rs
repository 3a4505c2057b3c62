//! [`Text`]: the blocks of a device, by their first lines.

use std::collections::BTreeMap;

use super::super::super::tree::Node;
use super::super::super::{PortId, Snapshot};

/// The blocks of a device.
pub(super) struct Text<'n, 't> {
    pub(super) nodes: &'n [Node<'t>],
    by_line: BTreeMap<usize, &'n Node<'t>>,
}

impl<'n, 't> Text<'n, 't> {
    pub(super) fn new(nodes: &'n [Node<'t>]) -> Text<'n, 't> {
        Text { nodes, by_line: nodes.iter().map(|node| (node.line.0, node)).collect() }
    }

    /// Returns the block of an interface.
    pub(super) fn interface(&self, snapshot: &Snapshot, id: PortId) -> Option<&'n Node<'t>> {
        let node = self.by_line.get(&snapshot.port(id).line)?;
        node.line.1.starts_with("interface ").then_some(*node)
    }
}
