//! [`Form`]: blocks with equal lines, and [`Deviation`]: a line in which one differs.

use std::collections::BTreeMap;

use super::block::{Block, INTERFACE, PART};

/// The number of other blocks that must agree: interfaces of several tasks may look alike, and blocks with
/// one name have one task.
pub(super) const OTHER_INTERFACES: usize = 3;
const OTHER_NAMESAKES: usize = 2;

/// An interface: its device and first line.
pub(crate) type End = (usize, usize);

/// A line in which a block differs from its peers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deviation {
    pub(crate) device: usize,
    pub(crate) line: usize,
    pub(crate) kind: DeviationKind,
    pub(crate) message: String,
}

/// The kind of a [`Deviation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeviationKind {
    /// A line that all others have.
    Missing,
    /// Another value or line than all others have.
    Unusual,
}

/// Blocks with the same shapes of lines.
pub(super) struct Form<'b> {
    pub(super) shapes: Vec<&'b str>,
    pub(super) blocks: Vec<&'b Block>,
}

impl Form<'_> {
    /// Returns the number of shapes that it has and another has not.
    pub(super) fn more_than(&self, other: &Form) -> usize {
        self.shapes.iter().filter(|shape| !other.has(shape)).count()
    }

    pub(super) fn has(&self, shape: &str) -> bool {
        self.shapes.binary_search(&shape).is_ok()
    }
}

/// Returns the blocks of a group by the shapes of their lines.
pub(super) fn forms<'b>(group: impl IntoIterator<Item = &'b Block>) -> Vec<Form<'b>> {
    let mut found: BTreeMap<Vec<&str>, Vec<&Block>> = BTreeMap::new();
    for block in group {
        let mut shapes: Vec<&str> = block.entries.iter().map(|entry| entry.shape.as_str()).collect();
        shapes.sort_unstable();
        shapes.dedup();
        found.entry(shapes).or_default().push(block);
    }
    found.into_iter().map(|(shapes, blocks)| Form { shapes, blocks }).collect()
}

impl Block {
    /// Returns the number of other blocks that must agree.
    pub(super) fn least_others(&self) -> usize {
        if self.has_name() { OTHER_NAMESAKES } else { OTHER_INTERFACES }
    }

    /// Whether it is an interface or a part of one.
    pub(super) fn is_of_interface(&self) -> bool {
        self.path.starts_with(INTERFACE)
    }

    /// Whether it is a block inside an interface.
    pub(super) fn is_inside_interface(&self) -> bool {
        self.is_of_interface() && self.path.contains('/')
    }

    /// Whether it is the lines of a block about one thing.
    pub(super) fn is_part(&self) -> bool {
        self.path.contains(PART)
    }

    /// Whether blocks of its group have one name. Processes of protocols have numbers of their site.
    pub(super) fn has_name(&self) -> bool {
        !self.is_of_interface() && !self.path.starts_with("router ") && !self.path.contains('#')
    }

    /// Returns the first line as text.
    pub(super) fn title(&self) -> String {
        self.header.text()
    }
}
