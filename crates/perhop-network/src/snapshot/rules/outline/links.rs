//! Lines whose values agree at the two ends of every link except one.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Block, Defined};
use super::block::{Blocks, INTERFACE};
use super::form::{Deviation, DeviationKind, End};
use super::values::{is_renamed, only_exception};
use super::words::Entry;

/// The minimum number of other links that agree.
const OTHERS: usize = 3;

/// Commands about groups of routers with a virtual address (HSRP, VRRP).
const GROUPS: &[&str] = &["standby", "vrrp"];

/// First words of lines that attach policies and lists. The ends of a link need not use the same names.
const ATTACHED: &[&str] = &["ip", "service-policy"];

/// Reclassifies a deviation from decisive to unusual if the other end of the link has the same line, because
/// an operator then changed both ends intentionally.
pub(super) fn weaken_agreed(blocks: &Blocks, links: &[Vec<End>], found: &mut [Deviation]) {
    let by_place = interfaces(blocks);
    let mut agreed: BTreeSet<(usize, usize)> = BTreeSet::new();
    for link in links {
        let ends: Vec<&Block> = link.iter().filter_map(|end| by_place.get(end).copied()).collect();
        let [first, second] = ends.as_slice() else { continue };
        for entry in &first.entries {
            let is_setting = !ATTACHED.contains(&entry.command()) || is_length(entry);
            let theirs = second.entries_of(&entry.shape).find(|candidate| candidate.values == entry.values);
            if let Some(theirs) = theirs.filter(|_| is_setting && !entry.values.is_empty()) {
                agreed.extend([(first.device, entry.line), (second.device, theirs.line)]);
            }
        }
    }
    for deviation in found.iter_mut().filter(|deviation| deviation.kind == DeviationKind::Decisive) {
        if agreed.contains(&(deviation.device, deviation.line)) {
            deviation.kind = DeviationKind::Unusual;
        }
    }
}

/// Whether a line limits the length of packets or TCP segments.
fn is_length(entry: &Entry) -> bool {
    entry.shape.split(' ').any(|word| ["mtu", "adjust-mss"].contains(&word))
}

/// Returns the interfaces, by device and first line.
fn interfaces(blocks: &Blocks) -> BTreeMap<End, &Block> {
    let paths = blocks.by_path.iter().filter(|(path, _)| path.starts_with(INTERFACE) && !path.contains('/'));
    let all = paths.flat_map(|(_, group)| group);
    all.map(|block| ((block.device, block.header.line), block)).collect()
}

/// The lines of one shape at both ends of a link.
struct Pair<'b> {
    blocks: [&'b Block; 2],
    entries: [Option<&'b Entry>; 2],
}

/// Reports a link that differs from all other links in a line: one end lacks the line, or the two ends have
/// different values although the values at both ends of each other link are equal. For lines about groups of
/// routers (HSRP, VRRP), also reports equal values if the values on all other links differ.
pub(super) fn check(blocks: &Blocks, links: &[Vec<End>], found: &mut Vec<Deviation>) {
    let by_place = interfaces(blocks);
    let mut by_shape: BTreeMap<&str, Vec<Pair>> = BTreeMap::new();
    for link in links {
        let ends: Vec<&Block> = link.iter().filter_map(|end| by_place.get(end).copied()).collect();
        match ends.as_slice() {
            [first, second] => add_pair([first, second], &mut by_shape),
            several if several.len() > OTHERS => check_several(several, found),
            _ => {}
        }
    }
    for pairs in by_shape.values().filter(|pairs| pairs.len() > 1) {
        check_presence(pairs, &blocks.devices, found);
        check_values(pairs, &blocks.devices, found);
    }
}

fn add_pair<'b>(blocks: [&'b Block; 2], found: &mut BTreeMap<&'b str, Vec<Pair<'b>>>) {
    let shapes = blocks.iter().flat_map(|block| block.single_entries());
    let mut shapes: Vec<&str> = shapes.map(|entry| entry.shape.as_str()).collect();
    shapes.sort_unstable();
    shapes.dedup();
    for shape in shapes {
        let entries = blocks.map(|block| block.single_entry(shape));
        found.entry(shape).or_default().push(Pair { blocks, entries });
    }
}

fn check_presence(pairs: &[Pair], devices: &[Defined], found: &mut Vec<Deviation>) {
    let odd: Vec<&Pair> =
        pairs.iter().filter(|pair| pair.entries.iter().any(Option::is_none)).take(2).collect();
    let [pair] = odd.as_slice() else { return };
    if pairs.len() <= OTHERS {
        return;
    }
    for (block, entry) in pair.blocks.iter().zip(&pair.entries) {
        let (None, Some(other)) = (entry, pair.entries.iter().flatten().next()) else { continue };
        if is_of_management(block, &devices[block.device]) {
            continue;
        }
        let message = format!(
            "`{}` lacks `{}`; the other end of its link and both ends of {} other links have this line",
            block.title(),
            other.text(),
            pairs.len() - 1
        );
        let kind = DeviationKind::Missing.of_missing(block, other.text()).of_neighbors(other.text());
        found.push(Deviation { device: block.device, line: block.header.line, kind, message });
    }
}

/// Whether a block is the interface of a VLAN on a switch that does not route. Such an interface has only the
/// address for the management of the switch. `ip default-gateway` is the gateway of a device without routing
/// (IOS command reference).
fn is_of_management(block: &Block, own: &Defined) -> bool {
    let is_vlan = block.header.values.first().is_some_and(|name| name.starts_with("Vlan"));
    is_vlan && own.top.iter().any(|entry| entry.text().starts_with("ip default-gateway "))
}

fn check_values(pairs: &[Pair], devices: &[Defined], found: &mut Vec<Deviation>) {
    let both: Vec<(&Pair, [&Entry; 2])> = pairs
        .iter()
        .filter_map(|pair| match pair.entries {
            [Some(first), Some(second)] => Some((pair, [first, second])),
            _ => None,
        })
        .collect();
    let count = both.iter().map(|(_, [first, _])| first.values.len()).min().unwrap_or(0);
    // The priorities of the routers in a group must differ, so that one router is active. A single other
    // group with different values is sufficient evidence.
    let is_of_group = both.iter().any(|(_, [first, _])| GROUPS.contains(&first.command()));
    for place in 0..count {
        let is_equal =
            |(_, [first, second]): &&(&Pair, [&Entry; 2])| first.values[place] == second.values[place];
        let equal = both.iter().filter(is_equal).count();
        let is_odd_equal = match (equal, both.len() - equal) {
            (1, others) if others > 0 && is_of_group => true,
            (others, 1) if others >= OTHERS => false,
            _ => continue,
        };
        let Some((pair, entries)) = both.iter().find(|pair| is_equal(pair) == is_odd_equal) else { continue };
        let [first, second] = pair.blocks.map(|block| block.device);
        let [own, other] = entries.map(|entry| entry.values[place].as_str());
        if is_renamed(first, own, other, devices) || is_renamed(second, other, own, devices) {
            continue;
        }
        let [words, of_others] = if is_odd_equal { ["are equal", "differ"] } else { ["differ", "are equal"] };
        for (block, entry) in pair.blocks.iter().zip(entries) {
            let message = format!(
                "`{}` in `{}`: the values at the two ends of this link {words}; on the other links ({}) they \
                 {of_others}",
                entry.text(),
                block.title(),
                both.len() - 1
            );
            let kind = DeviationKind::Unusual.of_neighbors(entry.text());
            found.push(Deviation { device: block.device, line: entry.line, kind, message });
        }
    }
}

/// Reports the only end of a link with several ends whose value differs from the common value of the other
/// ends.
fn check_several(ends: &[&Block], found: &mut Vec<Deviation>) {
    for entry in ends[0].single_entries() {
        let entries: Vec<&Entry> = ends.iter().filter_map(|end| end.single_entry(&entry.shape)).collect();
        if entries.len() != ends.len() {
            continue;
        }
        for place in 0..entry.values.len() {
            let values = entries.iter().map(|entry| entry.values[place].as_str());
            let Some((odd, usual)) = only_exception(values) else { continue };
            let message = format!(
                "`{}` in `{}`: the {} other ends of the link have {usual}",
                entries[odd].text(),
                ends[odd].title(),
                ends.len() - 1
            );
            let (device, line) = (ends[odd].device, entries[odd].line);
            let kind = DeviationKind::Unusual.of_neighbors(entries[odd].text());
            found.push(Deviation { device, line, kind, message });
        }
    }
}
