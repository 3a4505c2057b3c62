//! [`changed_lines`]: the lines of two texts, compared with the sections that contain them.
//!
//! A section is a line that opens a block, together with its enclosing sections. Two lines correspond if they
//! have the same words in the same section, at any position.

use std::collections::{BTreeMap, BTreeSet};

use perhop_device::DeviceModel;
use perhop_lint::LineState;

/// A line that is not blank.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) number: usize,
    pub(crate) state: LineState,
    /// The words of the line, joined by single spaces.
    pub(crate) text: String,
    pub(crate) note: Option<String>,
    /// The number of the section that contains the line.
    section: usize,
    /// Whether the line that opens the section is modeled; true outside all sections.
    is_in_model: bool,
    /// Whether the line opens a section.
    opens: bool,
}

/// A line without counterpart in the other text, or two similar lines.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) section: Vec<String>,
    pub(crate) old: Option<Entry>,
    pub(crate) new: Option<Entry>,
    /// Whether `old` and `new` are the same line at different positions in the section.
    pub(crate) is_moved: bool,
}

/// The sections of both texts: the parent of each section, and the line that opens it. Section 0 is the whole
/// text.
struct Sections {
    known: BTreeMap<(usize, String), usize>,
    all: Vec<(usize, String)>,
}

/// Limit on the added lines with which each removed line is compared.
const MOST_CANDIDATES: usize = 50;

impl Sections {
    fn number(&mut self, around: usize, opener: &str) -> usize {
        let next = self.all.len();
        let number = *self.known.entry((around, opener.to_owned())).or_insert(next);
        if number == next {
            self.all.push((around, opener.to_owned()));
        }
        number
    }

    /// Returns the lines that open a section and its parents, the outermost first.
    fn path(&self, mut section: usize) -> Vec<String> {
        let mut path = Vec::new();
        while section != 0 {
            let (around, opener) = &self.all[section];
            path.push(opener.clone());
            section = *around;
        }
        path.reverse();
        path
    }

    /// Returns the lines of a model that are not blank.
    fn entries(&mut self, model: &DeviceModel) -> Vec<Entry> {
        let mut found: Vec<Entry> = Vec::new();
        let mut by_number: BTreeMap<usize, usize> = BTreeMap::new();
        for line in model.lines.iter().filter(|line| !line.is_blank(model.comment)) {
            let opener = line.block.and_then(|number| by_number.get(&number)).map(|at| &mut found[*at]);
            let (section, is_in_model) = match opener {
                Some(opener) => {
                    opener.opens = true;
                    (self.number(opener.section, &opener.text), opener.state == LineState::Modelled)
                }
                None => (0, true),
            };
            let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
            by_number.insert(line.number, found.len());
            let (number, state, note) = (line.number, line.state, line.note.clone());
            found.push(Entry { number, state, text, note, section, is_in_model, opens: false });
        }
        found
    }
}

/// Returns the lines that differ between two texts, in the order of their sections.
pub(crate) fn changed_lines(models: [&DeviceModel; 2]) -> Vec<Change> {
    let mut sections = Sections { known: BTreeMap::new(), all: vec![(0, String::new())] };
    let sides = models.map(|model| sections.entries(model));
    let mut by_key: BTreeMap<(usize, &str), [Vec<usize>; 2]> = BTreeMap::new();
    for (side, entries) in sides.iter().enumerate() {
        for (at, entry) in entries.iter().enumerate() {
            by_key.entry((entry.section, &entry.text)).or_default()[side].push(at);
        }
    }
    // For each section, the positions of the common lines in both texts, and the lines of only one text.
    let mut common: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    let mut alone: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for ((section, _), [old, new]) in &by_key {
        let pairs = old.iter().copied().zip(new.iter().copied());
        common.entry(*section).or_default().extend(pairs);
        let both = old.len().min(new.len());
        let left = alone.entry(*section).or_default();
        left[0].extend(&old[both..]);
        left[1].extend(&new[both..]);
    }
    let mut found = Vec::new();
    let entry = |side: usize, at: usize| sides[side][at].clone();
    for (section, mut left) in alone {
        for side in &mut left {
            side.sort_unstable();
        }
        for (old, new) in similar(&sides, left) {
            let (old, new) = (old.map(|at| entry(0, at)), new.map(|at| entry(1, at)));
            found.push(Change { section: sections.path(section), old, new, is_moved: false });
        }
    }
    for (section, mut pairs) in common {
        pairs.sort_unstable();
        let moved = out_of_order(&pairs);
        let listed = repeated_words(pairs.iter().map(|(old, _)| &sides[0][*old]));
        for (old, new) in moved {
            if !may_matter(&sides[0][old], &listed) {
                continue;
            }
            let (old, new) = (Some(entry(0, old)), Some(entry(1, new)));
            found.push(Change { section: sections.path(section), old, new, is_moved: true });
        }
    }
    let place = |change: &Change| {
        let number = |entry: &Option<Entry>| entry.as_ref().map(|entry| entry.number);
        (number(&change.old).or(number(&change.new)), number(&change.new))
    };
    found.sort_by_key(place);
    found
}

/// Whether the position of a line in its section may matter. It does not matter for lines that open a
/// section. For lines that are not modeled, it matters only if the lines look like a list.
fn may_matter(entry: &Entry, listed: &BTreeSet<&str>) -> bool {
    let is_list = !entry.is_in_model || entry.section == 0 && listed.contains(first_word(&entry.text));
    match entry.state {
        LineState::Irrelevant => false,
        LineState::Modelled | LineState::Suspicious => true,
        LineState::NotModelled | LineState::NotRecognized => !entry.opens && is_list,
    }
}

/// Returns the first words that several lines outside the model share.
fn repeated_words<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let words = entries.filter(|entry| entry.state.differs()).map(|entry| first_word(&entry.text));
    words.filter(|word| !seen.insert(*word)).collect()
}

/// Pairs removed and added lines of a section that begin with the same words. Other lines remain unpaired.
fn similar(
    sides: &[Vec<Entry>; 2],
    [removed, added]: [Vec<usize>; 2],
) -> Vec<(Option<usize>, Option<usize>)> {
    let mut by_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in &added {
        by_word.entry(first_word(&sides[1][*at].text)).or_default().push(*at);
    }
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    for at in removed {
        let text = &sides[0][at].text;
        let candidates = by_word.get_mut(first_word(text));
        let chosen = candidates.and_then(|candidates| {
            let alike = |other: &usize| common_words(text, &sides[1][*other].text);
            let near = candidates.iter().take(MOST_CANDIDATES).enumerate();
            // The first of several equally similar lines is chosen.
            let (index, _) = near.rev().max_by_key(|(_, other)| alike(other))?;
            Some(candidates.remove(index))
        });
        taken.extend(chosen);
        found.push((Some(at), chosen));
    }
    found.extend(added.into_iter().filter(|at| !taken.contains(at)).map(|at| (None, Some(at))));
    found
}

fn first_word(text: &str) -> &str {
    text.split(' ').next().unwrap_or_default()
}

fn common_words(line: &str, other: &str) -> usize {
    line.split(' ').zip(other.split(' ')).take_while(|(line, other)| line == other).count()
}

/// Returns the pairs outside a longest sequence of pairs with the same order in both texts. `pairs` is sorted
/// by the first index.
fn out_of_order(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Patience sorting: `ends[n]` is the pair that ends the best sequence of n + 1 pairs.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        previous.push(length.checked_sub(1).map(|before| ends[before]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut in_order = vec![false; pairs.len()];
    let mut last = ends.last().copied();
    while let Some(at) = last {
        in_order[at] = true;
        last = previous[at];
    }
    pairs.iter().zip(in_order).filter(|(_, kept)| !kept).map(|(pair, _)| *pair).collect()
}
