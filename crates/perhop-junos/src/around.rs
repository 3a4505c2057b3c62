//! [`Around`]: the statements around each node.

use crate::tree::{NodeId, Tree, rank};

/// The statements around a node, and the node itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    /// The outermost statement.
    pub(crate) top: NodeId,
    /// The line of the command that removes the innermost removed statement of these statements.
    pub(crate) removed_by: Option<usize>,
    /// Whether one of the statements is inactive.
    pub(crate) is_inactive: bool,
    /// The enclosing statement whose mark covers the node.
    pub(crate) cover: Option<NodeId>,
}

/// Returns the surroundings of all nodes, in the order of their numbers. One pass suffices, because a parent
/// precedes its children.
pub(crate) fn surroundings(tree: &Tree) -> Vec<Around> {
    let mut found: Vec<Around> = Vec::with_capacity(tree.len());
    let rank_of = |id: NodeId| tree.mark_of(id).map_or(0, |mark| rank(mark.state));
    for id in tree.ids() {
        let parent = tree.parent(id);
        let around = found.get(parent.index()).copied().unwrap_or_default();
        let is_deep = id != NodeId::ROOT && tree.mark_of(parent).is_some_and(|mark| mark.is_deep);
        // The outer mark covers the node, unless the inner mark has a higher rank.
        let cover = match (Some(parent).filter(|_| is_deep), around.cover) {
            (Some(own), Some(outer)) if rank_of(own) <= rank_of(outer) => Some(outer),
            (own, outer) => own.or(outer),
        };
        let (removed_by, is_inactive) = tree.own_changes(id);
        found.push(Around {
            top: if parent == NodeId::ROOT { id } else { around.top },
            removed_by: removed_by.or(around.removed_by),
            is_inactive: is_inactive || around.is_inactive,
            cover,
        });
    }
    found
}
