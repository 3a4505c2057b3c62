//! Lines with names and numbers that all other blocks of one name have, and one block has not.
//!
//! Shapes of lines do not distinguish a list with the right entries from one with an entry turned around;
//! this comparison of whole lines does.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind};
use super::missing::{are_enough, is_extension, line_beside};
use super::words::Entry;

/// Commands whose numbers follow from the circuit of a site, or are set by experience: other rules compare
/// them.
const OF_CIRCUITS: &[&str] = &["bandwidth", "priority", "queue-limit", "random-detect", "shape"];

/// The part of the other blocks of a name that must have a line: two thirds.
const MOST: usize = 2;
const WHOLE: usize = 3;

/// A block with its lines by text.
type Lines<'b> = (&'b Block, BTreeMap<String, &'b Entry>);

/// Reports a line that the only block with its lines lacks, where the other blocks of its name differ in this
/// line only.
pub(super) fn check(group: &[Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    if !group[0].has_name() {
        return;
    }
    let mut variants: BTreeMap<Vec<String>, Vec<Lines>> = BTreeMap::new();
    for block in group {
        let lines: BTreeMap<String, &Entry> =
            block.entries.iter().map(|entry| (entry.text(), entry)).collect();
        variants.entry(lines.keys().cloned().collect()).or_default().push((block, lines));
    }
    for own in variants.values() {
        let [(block, lines)] = own.as_slice() else { continue };
        let mut lacking: BTreeMap<&str, Vec<&Lines>> = BTreeMap::new();
        for peer in variants.values().flatten() {
            if let Some(text) = only_lacking(lines, &peer.1) {
                lacking.entry(text).or_default().push(peer);
            }
        }
        let most = lacking.into_iter().max_by_key(|(_, peers)| peers.len());
        if let Some((text, peers)) = most {
            // Most blocks of the name have the line: a line of few sites is their own.
            let is_usual = WHOLE * peers.len() >= MOST * (group.len() - 1);
            if is_usual {
                report((block, lines), text, &peers, devices, found);
            }
        }
    }
}

/// Returns the only line of a peer that a block lacks, if the block has at most one line more.
fn only_lacking<'p>(own: &BTreeMap<String, &Entry>, peer: &'p BTreeMap<String, &Entry>) -> Option<&'p str> {
    let mut lacks = peer.keys().filter(|text| !own.contains_key(*text));
    let text = lacks.next()?;
    let more = own.keys().filter(|text| !peer.contains_key(*text)).count();
    (lacks.next().is_none() && more <= 1).then_some(text)
}

fn report(
    (block, lines): (&Block, &BTreeMap<String, &Entry>),
    text: &str,
    peers: &[&Lines],
    devices: &[Defined],
    found: &mut Vec<Deviation>,
) {
    let blocks: Vec<&Block> = peers.iter().map(|(peer, _)| *peer).collect();
    let example = peers[0].1[text];
    let own = &devices[block.device];
    let is_elsewhere =
        own.is_foreign(example.values.iter().map(String::as_str), devices) || own.has_near(&example.values);
    if !are_enough(block, &blocks) || is_elsewhere {
        return;
    }
    let of_peers: BTreeSet<&str> =
        peers.iter().flat_map(|(_, lines)| lines.keys()).map(String::as_str).collect();
    let instead = lines.iter().find(|(text, _)| !of_peers.contains(text.as_str())).map(|(_, entry)| *entry);
    let is_known = instead.is_some_and(|entry| {
        entry.shape == example.shape && OF_CIRCUITS.contains(&entry.command())
            || is_extension(entry, example)
            || is_extension(example, entry)
    });
    if is_known {
        return;
    }
    let title = block.title();
    let (line, kind, message) = match instead {
        Some(entry) => (
            entry.line,
            DeviationKind::Unusual,
            format!("`{}` in `{title}`: {} such blocks have `{text}`", entry.text(), peers.len()),
        ),
        None => (
            line_beside(block, &blocks, text).unwrap_or(block.header.line),
            DeviationKind::Missing,
            format!("`{title}` lacks `{text}`, which {} such blocks have", peers.len()),
        ),
    };
    found.push(Deviation { device: block.device, line, kind, message });
}
