//! Lines that one of several equal blocks lacks, or has with another value.
//!
//! Devices with one task have equal blocks: interfaces of one kind, classes, protocols. A line that all
//! others have, and one block has not, is probably forgotten; a value in which one block differs from all
//! others, or from a rule that all others obey, is probably a mistake (Kakarla et al., "Finding Network
//! Misconfigurations by Automatic Template Inference", NSDI 2020).

mod announced;
mod block;
mod equalities;
mod links;
mod mirrors;
mod missing;
mod places;
mod relations;
mod twins;
mod values;
mod words;

use std::collections::BTreeMap;

use block::{Block, Blocks, Defined, INTERFACE, PART};

pub(crate) use block::Numbered;

/// The number of other blocks that must agree: interfaces of several tasks may look alike, and blocks with
/// one name have one task.
const OTHER_INTERFACES: usize = 3;
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

/// Returns the lines in which blocks differ from those of other devices. `devices` has the lines of each
/// without comments,
/// and `links` the first lines of the interfaces at the ends of each link.
pub(crate) fn deviations(devices: &[Vec<Numbered>], links: &[Vec<End>]) -> Vec<Deviation> {
    let blocks = Blocks::read(devices);
    let mut found = Vec::new();
    for group in blocks.by_path.values().filter(|group| group.len() > 2) {
        let forms = forms(group);
        values::check_headers(group, &blocks.devices, &mut found);
        places::check(group, &blocks.devices, &mut found);
        missing::check(&forms, &blocks.devices, &mut found);
        values::check(&forms, &blocks.devices, &mut found);
        relations::check(&forms, &blocks.devices, &mut found);
    }
    for group in ports_of_kinds(&blocks).values().filter(|group| group.len() > OTHER_INTERFACES) {
        let forms = forms(group.iter().copied());
        missing::check(&forms, &blocks.devices, &mut found);
        values::check(&forms, &blocks.devices, &mut found);
    }
    announced::check(&blocks, &mut found);
    mirrors::check(&blocks, &mut found);
    equalities::check(&blocks, &mut found);
    links::check(&blocks, links, &mut found);
    twins::check(&blocks, &mut found);
    found.sort();
    found.dedup();
    found
}

/// Blocks with the same shapes of lines.
struct Form<'b> {
    shapes: Vec<&'b str>,
    blocks: Vec<&'b Block>,
}

impl Form<'_> {
    /// Returns the number of shapes that it has and another has not.
    fn more_than(&self, other: &Form) -> usize {
        self.shapes.iter().filter(|shape| !other.has(shape)).count()
    }

    fn has(&self, shape: &str) -> bool {
        self.shapes.binary_search(&shape).is_ok()
    }
}

/// Returns the interfaces of one name on devices of one kind.
fn ports_of_kinds(blocks: &Blocks) -> BTreeMap<(usize, &[String]), Vec<&Block>> {
    let mut found: BTreeMap<(usize, &[String]), Vec<&Block>> = BTreeMap::new();
    let hardware = blocks.by_path.get(INTERFACE).into_iter().flatten();
    for block in hardware {
        found.entry((blocks.kinds[block.device], &block.header.values)).or_default().push(block);
    }
    found
}

/// Returns the blocks of a group by the shapes of their lines.
fn forms<'b>(group: impl IntoIterator<Item = &'b Block>) -> Vec<Form<'b>> {
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
    fn least_others(&self) -> usize {
        if self.has_name() { OTHER_NAMESAKES } else { OTHER_INTERFACES }
    }

    /// Whether it is an interface or a part of one.
    fn is_of_interface(&self) -> bool {
        self.path.starts_with(INTERFACE)
    }

    /// Whether it is the lines of a block about one thing.
    fn is_part(&self) -> bool {
        self.path.contains(PART)
    }

    /// Whether blocks of its group have one name. Processes of protocols have numbers of their site.
    fn has_name(&self) -> bool {
        !self.is_of_interface() && !self.path.starts_with("router ") && !self.path.contains('#')
    }

    /// Returns the first line as text.
    fn title(&self) -> String {
        self.header.text()
    }
}
