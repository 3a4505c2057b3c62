//! Lines that a block lacks, and that all its peers have.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind, Form};
use super::words::Entry;

/// Lines that take something from packets are reported where only one block has them. Other rules know what
/// marks and policers of a class do.
const TAKING: &[&str] = &["shutdown"];
/// An interface with fewer lines in common with its peers has another task.
const LEAST_COMMON: usize = 3;
/// A block of this many lines may differ in one more line.
const LARGE: usize = 8;

/// Reports lines that the only block of its form lacks, and lines that only it has.
pub(super) fn check(forms: &[Form], devices: &[Defined], found: &mut Vec<Deviation>) {
    for own in forms {
        let [block] = own.blocks.as_slice() else { continue };
        let near: Vec<&Form> = forms.iter().filter(|other| is_near(own, other, block)).collect();
        // The peers that have one line more, by that line.
        let mut lacking: BTreeMap<&str, Vec<&Block>> = BTreeMap::new();
        for form in &near {
            let shape = form.shapes.iter().find(|shape| !own.has(shape));
            if let Some(shape) = shape {
                lacking.entry(shape).or_default().extend(&form.blocks);
            }
        }
        let most = lacking.into_iter().max_by_key(|(_, peers)| peers.len());
        if let Some((shape, peers)) = most.filter(|(_, peers)| are_enough(block, peers)) {
            report(block, shape, &peers, devices, found);
        }
        report_taking(block, own, &near, found);
    }
}

/// Reports lines that take something from packets and that no peer has.
fn report_taking(block: &Block, own: &Form, near: &[&Form], found: &mut Vec<Deviation>) {
    let peers: Vec<&Block> = near.iter().flat_map(|form| form.blocks.iter().copied()).collect();
    let is_extra = |shape: &str| !near.iter().any(|form| form.has(shape));
    let takes = |shape: &&&str| TAKING.contains(&first_word(shape)) && is_extra(shape);
    for shape in own.shapes.iter().filter(takes) {
        let entry = block.entries.iter().find(|entry| entry.shape == **shape);
        let Some(entry) = entry.filter(|_| are_enough(block, &peers)) else { continue };
        let message =
            format!("`{}` in `{}`: none of {} such blocks has it", entry.text(), block.title(), peers.len());
        found.push(Deviation {
            device: block.device,
            line: entry.line,
            kind: DeviationKind::Unusual,
            message,
        });
    }
}

/// Whether the blocks of a form have the same task as the only block of another.
fn is_near(own: &Form, other: &Form, block: &Block) -> bool {
    let (lacks, has_more) = (other.more_than(own), own.more_than(other));
    let common = own.shapes.len() - has_more;
    if lacks + has_more == 0 || lacks > 1 || has_more > 1 {
        return false;
    }
    let is_replaced = lacks == 1
        && has_more == 1
        && other.shapes.iter().filter(|shape| !own.has(shape)).any(|lacking| {
            own.shapes.iter().any(|more| !other.has(more) && first_word(more) == first_word(lacking))
        });
    let is_like = lacks + has_more == 1 || is_replaced || common >= LARGE;
    let is_same = || other.blocks.iter().all(|other| other.header.values == block.header.values);
    is_like && (!block.is_of_interface() || common >= LEAST_COMMON || is_same())
}

pub(super) fn first_word(shape: &str) -> &str {
    // These begin lines of many kinds.
    let count = if ["ip ", "set "].iter().any(|start| shape.starts_with(start)) { 2 } else { 1 };
    let end = shape.match_indices(' ').nth(count - 1).map_or(shape.len(), |(end, _)| end);
    &shape[..end]
}

/// Whether there are enough other blocks, on other devices unless the blocks are interfaces.
pub(super) fn are_enough(block: &Block, peers: &[&Block]) -> bool {
    let others: BTreeSet<usize> =
        peers.iter().map(|peer| peer.device).filter(|device| *device != block.device).collect();
    let count = if block.is_of_interface() || block.is_part() { peers.len() } else { others.len() };
    count >= block.least_others()
}

fn report(block: &Block, shape: &str, peers: &[&Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    let example = peers.iter().flat_map(|peer| &peer.entries).find(|entry| entry.shape == shape);
    let Some(example) = example else { return };
    // A name that the device does not have is another one there.
    let own = &devices[block.device];
    let examples: Vec<&Entry> =
        peers.iter().flat_map(|peer| &peer.entries).filter(|entry| entry.shape == shape).collect();
    let is_foreign = |entry: &&Entry| own.is_foreign(entry.values.iter().map(String::as_str), devices);
    if examples.iter().all(is_foreign) || examples.iter().any(|entry| own.has_near(&entry.values)) {
        return;
    }
    let instead = block.entries.iter().find(|entry| {
        first_word(&entry.shape) == first_word(shape)
            && !peers.iter().any(|peer| peer.entries.iter().any(|other| other.shape == entry.shape))
    });
    let (line, kind, message) = match instead {
        Some(entry) if is_extension(entry, example) => return,
        Some(entry) => (
            entry.line,
            DeviationKind::Unusual,
            format!(
                "`{}` in `{}`: {} such blocks have `{}`",
                entry.text(),
                block.title(),
                peers.len(),
                example.text()
            ),
        ),
        None => (
            block.header.line,
            DeviationKind::Missing,
            format!("`{}` lacks `{}`, which {} such blocks have", block.title(), example.text(), peers.len()),
        ),
    };
    found.push(Deviation { device: block.device, line, kind, message });
}

/// Whether a line of a policy is another one with more words behind it.
pub(super) fn is_extension(entry: &Entry, other: &Entry) -> bool {
    entry.text().strip_prefix(&other.text()).is_some_and(|rest| rest.starts_with(' '))
}
