//! Whole lines that one block lacks and all other blocks with the same name have.
//!
//! If an entry of a list has its source and destination exchanged, the shape of the line does not change.
//! This rule therefore compares whole lines.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use super::block::{Block, Defined, OWN_ADDRESS};
use super::form::{Deviation, DeviationKind};
use super::missing::{are_enough, are_queue_choices, are_terms, is_extension, line_beside};
use super::words::Entry;

/// Commands whose numbers depend on the circuit of a site or on experience. Other rules compare these
/// commands.
const OF_CIRCUITS: &[&str] = &["bandwidth", "priority", "queue-limit", "random-detect", "shape"];

/// The minimum fraction of the other blocks with the same name that must have a line: two thirds.
const MOST: usize = 2;
const WHOLE: usize = 3;

/// A block, and its lines by text.
type Lines<'b> = (&'b Block, BTreeMap<Cow<'b, str>, &'b Entry>);

/// Reports a line that one block lacks, if this line is the only difference from the other blocks with the
/// same name.
pub(super) fn check(group: &[Block], devices: &[Defined], found: &mut Vec<Deviation>) {
    if !group[0].has_name() {
        return;
    }
    let mut variants: BTreeMap<Vec<Cow<str>>, Vec<Lines>> = BTreeMap::new();
    for block in group {
        let lines: BTreeMap<Cow<str>, &Entry> =
            block.entries.iter().map(|entry| (devices[block.device].text_of_any(entry), entry)).collect();
        variants.entry(lines.keys().cloned().collect()).or_default().push((block, lines));
    }
    let variants: Vec<Vec<Lines>> = variants.into_values().collect();
    let without = without_one_line(&variants);
    for own in &variants {
        let [(block, lines)] = own.as_slice() else { continue };
        let all = sum(lines);
        let fewer = lines.keys().map(|text| all.wrapping_sub(hash(text)));
        let mut lacking: BTreeMap<&str, Vec<&Lines>> = BTreeMap::new();
        for (peers, text) in [all].into_iter().chain(fewer).filter_map(|sum| without.get(&sum)).flatten() {
            if !lines.contains_key(*text) {
                lacking.entry(text).or_default().extend(*peers);
            }
        }
        let most = lacking.into_iter().max_by_key(|(_, peers)| peers.len());
        if let Some((text, peers)) = most {
            // A line that only a few sites have is intended for these sites.
            let is_usual = WHOLE * peers.len() >= MOST * (group.len() - 1);
            if is_usual {
                report((block, lines), text, &peers, devices, found);
            }
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns the sum of the hashes of a set of lines. Subtracting the hash of a line gives the sum without that
/// line.
fn sum(lines: &BTreeMap<Cow<str>, &Entry>) -> u64 {
    lines.keys().fold(0, |sum, text| sum.wrapping_add(hash(text)))
}

/// A variant (blocks with equal lines) and one of its lines.
type Without<'v, 'b> = (&'v [Lines<'b>], &'v str);

/// Returns the variants by the sum of all their lines except one. If two blocks differ in one line, one of
/// these sums is equal. Comparing all pairs of blocks would take too long.
fn without_one_line<'v, 'b>(variants: &'v [Vec<Lines<'b>>]) -> BTreeMap<u64, Vec<Without<'v, 'b>>> {
    let mut found: BTreeMap<u64, Vec<Without>> = BTreeMap::new();
    for blocks in variants {
        let Some((_, lines)) = blocks.first() else { continue };
        let all = sum(lines);
        for text in lines.keys() {
            found.entry(all.wrapping_sub(hash(text))).or_default().push((blocks, text));
        }
    }
    found
}

/// Whether two lines differ only in names of blocks that the device renamed.
fn is_rename(own: &Defined, entry: &Entry, example: &Entry) -> bool {
    let mut pairs = entry.values.iter().zip(&example.values).filter(|(one, other)| one != other).peekable();
    entry.shape == example.shape
        && pairs.peek().is_some()
        && pairs.all(|(one, other)| own.renames(one, other))
}

fn report(
    (block, lines): (&Block, &BTreeMap<Cow<str>, &Entry>),
    text: &str,
    peers: &[&Lines],
    devices: &[Defined],
    found: &mut Vec<Deviation>,
) {
    let blocks: Vec<&Block> = peers.iter().map(|(peer, _)| *peer).collect();
    let example = peers[0].1[text];
    let own = &devices[block.device];
    let is_elsewhere = own.is_foreign(example.values.iter().map(String::as_str))
        || own.has_near(example)
        || own.lacks_policy(example.text());
    if !are_enough(block, &blocks) || is_elsewhere {
        return;
    }
    let of_peers: BTreeSet<&str> =
        peers.iter().flat_map(|(_, lines)| lines.keys()).map(|text| &**text).collect();
    let instead = lines.iter().find(|(text, _)| !of_peers.contains(text.as_ref())).map(|(_, entry)| *entry);
    let is_known = instead.is_some_and(|entry| {
        entry.shape == example.shape && OF_CIRCUITS.contains(&entry.command())
            || are_terms(entry.text(), text)
            || own.has_near(entry) && !text.contains(OWN_ADDRESS)
            || is_rename(own, entry, example)
            || are_queue_choices(entry, example)
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
            DeviationKind::Unusual.in_block(block, text),
            format!("`{}` in `{title}`: {} similar blocks have `{text}`", entry.text(), peers.len()),
        ),
        None => (
            line_beside(block, &blocks, text).unwrap_or(block.header.line),
            DeviationKind::Missing.of_missing(block, text),
            format!("`{title}` lacks `{text}`; {} similar blocks have this line", peers.len()),
        ),
    };
    found.push(Deviation { device: block.device, line, kind, message });
}
