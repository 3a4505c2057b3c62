//! Values that another value of the same block determines, in every block of a form except one.

use std::collections::BTreeMap;

use super::block::{Block, Defined};
use super::form::{Deviation, DeviationKind, Form};
use super::values::is_renamed;
use super::words::{Entry, numbers};

/// The minimum number of blocks from which a relation between values is inferred.
const LEAST: usize = 4;
/// The minimum number of other blocks for a finding with the usual severity. With fewer blocks, the finding
/// is a note.
const SURE: usize = 6;
/// The count of numbers in an IPv4 address. Values with this count are not compared as numbers.
const NUMBERS_OF_ADDRESS: usize = 4;
/// The maximum number of values of a block that are compared.
const MOST_PLACES: usize = 64;

/// A value that each block of a form has.
struct Place<'b> {
    entries: Vec<&'b Entry>,
    values: Vec<&'b str>,
    /// The numbers in the values of all blocks, if each value contains the same count of numbers.
    numbers: Option<Vec<u64>>,
    /// The count of numbers in the first value.
    count: usize,
    is_header: bool,
}

impl<'b> Place<'b> {
    fn new(entries: Vec<&'b Entry>, place: usize, is_header: bool) -> Place<'b> {
        let values: Vec<&str> = entries.iter().map(|entry| entry.values[place].as_str()).collect();
        let count = values.first().map_or(0, |value| numbers(value).count());
        let is_comparable = (1..NUMBERS_OF_ADDRESS).contains(&count)
            && values.iter().all(|value| numbers(value).count() == count);
        let numbers = is_comparable.then(|| values.iter().flat_map(|value| numbers(value)).collect());
        Place { entries, values, numbers, count, is_header }
    }
}

/// Reports values that break a relation that holds in all other blocks of the form. A relation is a constant
/// ratio of two numbers, or a value that determines another value.
pub(super) fn check(forms: &[Form], devices: &[Defined], found: &mut Vec<Deviation>) {
    for form in forms.iter().filter(|form| form.blocks.len() >= LEAST && form.blocks[0].is_of_interface()) {
        check_places(&places(form), &form.blocks, devices, true, found);
    }
    for (blocks, lines) in lines_by_shape(forms) {
        let count = lines[0].values.len();
        let place = |place: usize| Place::new(lines.clone(), place, false);
        check_places(&(0..count).map(place).collect::<Vec<_>>(), &blocks, devices, false, found);
    }
}

/// Returns the lines whose shape occurs several times in a block, by shape, with their blocks.
fn lines_by_shape<'b>(forms: &[Form<'b>]) -> Vec<(Vec<&'b Block>, Vec<&'b Entry>)> {
    let mut found: BTreeMap<&str, (Vec<&Block>, Vec<&Entry>, usize)> = BTreeMap::new();
    for block in forms.iter().flat_map(|form| form.blocks.iter().copied()) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in block.entries.iter().filter(|entry| entry.values.len() > 1) {
            let (blocks, lines, most) = found.entry(&entry.shape).or_default();
            blocks.push(block);
            lines.push(entry);
            let own = seen.entry(&entry.shape).or_default();
            *own += 1;
            *most = (*most).max(*own);
        }
    }
    let several = found.into_values().filter(|(blocks, _, most)| *most > 1 && blocks.len() >= LEAST);
    several.map(|(blocks, lines, _)| (blocks, lines)).collect()
}

/// Returns the values of lines that each block of a form has exactly once.
fn places<'b>(form: &Form<'b>) -> Vec<Place<'b>> {
    let mut found = Vec::new();
    let mut add = |entries: Vec<&'b Entry>, is_header: bool| {
        let count = entries.iter().map(|entry| entry.values.len()).min().unwrap_or(0);
        for place in 0..count {
            found.push(Place::new(entries.clone(), place, is_header));
        }
    };
    add(form.blocks.iter().map(|block| &block.header).collect(), true);
    for shape in &form.shapes {
        let lines: Vec<Vec<&'b Entry>> =
            form.blocks.iter().map(|block| block.entries_of(shape).collect()).collect();
        if lines.iter().all(|lines| lines.len() == 1) {
            add(lines.iter().map(|lines| lines[0]).collect(), false);
        }
    }
    found.retain(|place| place.values.iter().any(|value| *value != place.values[0]));
    found.truncate(MOST_PLACES);
    found
}

/// Counts the relations that each value breaks. In each block, reports the values that break the most
/// relations.
fn check_places(
    places: &[Place],
    blocks: &[&Block],
    devices: &[Defined],
    with_mappings: bool,
    found: &mut Vec<Deviation>,
) {
    // For each block, the values that break relations: the index of the value, the number of broken
    // relations, and the text about the first one.
    let mut broken: BTreeMap<usize, BTreeMap<usize, (usize, String)>> = BTreeMap::new();
    let mut add = |odd: usize, place: usize, words: &dyn Fn() -> String| {
        let entry = broken.entry(odd).or_default().entry(place).or_insert_with(|| (0, words()));
        entry.0 += 1;
    };
    for (first, place) in places.iter().enumerate() {
        for (second, other) in places.iter().enumerate() {
            if first == second {
                continue;
            }
            if first < second
                && let Some(odd) = breaks_proportion(place, other)
            {
                let (own, theirs) = (place.values[odd], other.values[odd]);
                let words = || format!("{own} and {theirs} are not in the ratio of the other lines");
                add(odd, first, &words);
                add(odd, second, &words);
            }
            // The name of a hardware port, such as `Gi0/1`, is arbitrary, so it does not determine other
            // values.
            let is_hardware = place.is_header && place.values[0].contains('/');
            if is_hardware || other.is_header || !with_mappings {
                continue;
            }
            let renamed =
                |odd: usize, usual: &str| is_renamed(blocks[odd].device, other.values[odd], usual, devices);
            if let Some((odd, usual)) =
                breaks_mapping(place, other).filter(|(odd, usual)| !renamed(*odd, usual))
            {
                let (own, theirs) = (place.values[odd], other.values[odd]);
                let words = || format!("{own} occurs with {theirs} here, but with {usual} elsewhere");
                add(odd, second, &words);
            }
        }
    }
    for (odd, places_of) in broken {
        let most = places_of.values().map(|(count, _)| *count).max().unwrap_or(0);
        for (place, (_, words)) in places_of.iter().filter(|(_, (count, _))| *count == most) {
            if places[*place].is_header && places_of.len() > 1 {
                continue;
            }
            let (entry, block) = (places[*place].entries[odd], blocks[odd]);
            let message = format!(
                "`{}` in `{}`: {words} ({} other lines compared)",
                entry.text(),
                block.title(),
                blocks.len() - 1
            );
            let kind = if blocks.len() > SURE {
                DeviationKind::Unusual.in_block(block, entry.text())
            } else {
                DeviationKind::Unusual
            };
            found.push(Deviation { device: block.device, line: entry.line, kind, message });
        }
    }
}

/// Returns the only block in which two numbers do not have the ratio that they have in all other blocks.
fn breaks_proportion(place: &Place, other: &Place) -> Option<usize> {
    let (own, theirs) = (place.numbers.as_ref()?, other.numbers.as_ref()?);
    for first in 0..place.count {
        for second in 0..other.count {
            let both = own.chunks(place.count).zip(theirs.chunks(other.count));
            let pairs: Vec<(u64, u64)> = both.map(|(a, b)| (a[first], b[second])).collect();
            if let Some(odd) = odd_proportion(&pairs) {
                return Some(odd);
            }
        }
    }
    None
}

fn odd_proportion(pairs: &[(u64, u64)]) -> Option<usize> {
    let fits = |(a, b): &(u64, u64), (c, d): &(u64, u64)| {
        u128::from(*a) * u128::from(*d) == u128::from(*c) * u128::from(*b)
    };
    if pairs.iter().any(|(a, b)| *a == 0 || *b == 0) {
        return None;
    }
    // At most one pair has another ratio, so one of the first two pairs has the common ratio.
    for base in &pairs[..2] {
        let mut odd = pairs.iter().enumerate().filter(|(_, pair)| !fits(base, pair)).map(|(place, _)| place);
        let place = odd.next()?;
        if odd.next().is_some() {
            continue;
        }
        let mut values: Vec<u64> =
            pairs.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, pair)| pair.0).collect();
        values.sort_unstable();
        values.dedup();
        return (values.len() > 1).then_some(place);
    }
    None
}

/// Returns the only block in which a value occurs with another second value than in the other blocks, and the
/// usual second value.
fn breaks_mapping<'b>(place: &Place, other: &Place<'b>) -> Option<(usize, &'b str)> {
    let mut groups: BTreeMap<&str, BTreeMap<&'b str, Vec<usize>>> = BTreeMap::new();
    for (block, (from, to)) in place.values.iter().zip(&other.values).enumerate() {
        groups.entry(from).or_default().entry(to).or_default().push(block);
    }
    let mut odd = None;
    let mut shared = 0;
    for targets in groups.values() {
        let count: usize = targets.values().map(Vec::len).sum();
        match targets.len() {
            1 if count > 1 => shared += 1,
            1 => {}
            2 => {
                let (few, many) = {
                    let mut both: Vec<(&&str, &Vec<usize>)> = targets.iter().collect();
                    both.sort_by_key(|(_, blocks)| blocks.len());
                    (both[0], both[1])
                };
                if odd.is_some() || few.1.len() != 1 || many.1.len() < LEAST - 1 {
                    return None;
                }
                odd = Some((few.1[0], *many.0));
            }
            _ => return None,
        }
    }
    // If no two blocks have the same pair of values, each block has its own pair, so no relation is known.
    odd.filter(|_| shared > 0)
}
