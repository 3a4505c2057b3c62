//! `interface range` of IOS, and `interface` with several interfaces of NX-OS. Every line of such a block is
//! read for each interface.

use std::collections::BTreeSet;

use super::lookup::Spelling;
use crate::ast::{Configuration, Interface};
use crate::mode::Mode;
use crate::words::{Finding, Reader, Reading};

/// The maximum number of interfaces in a range. Without the three limits, a short text could require a long
/// time.
const MOST_MEMBERS: usize = 512;
/// The maximum number of ranges in a configuration.
const MOST_RANGES: usize = 256;
/// The maximum number of times that lines are read again for another interface of a range.
const MOST_READS: usize = 100_000;

const LEFT_OUT: &str = "several interfaces: write them one by one, as in the running-configuration";
const TOO_MANY: &str =
    "the interface ranges of the file have too many interfaces: write this one without a range";
const BLOCK: &str = "a block inside a range of interfaces";

/// Opens the block of the interfaces in `text`. `new` creates each interface from its name and the line.
pub(super) fn open(
    configuration: &mut Configuration,
    reader: &mut Reader,
    text: &str,
    new: fn(&str, usize) -> Interface,
) -> Finding {
    let known = names(text).filter(|_| configuration.interface_ranges.len() < MOST_RANGES);
    let Some(names) = known.filter(|_| !reader.negated()) else {
        reader.opens = (!reader.negated()).then_some(Mode::NotModelled(LEFT_OUT));
        return Finding::not_modelled(LEFT_OUT);
    };
    let mut members = BTreeSet::new();
    for name in names {
        let interface = new(&name, reader.line);
        let name = interface.name.clone();
        members.insert(configuration.interfaces.place(&name, || interface));
    }
    reader.opens = Some(Mode::InterfaceRange(configuration.interface_ranges.len()));
    configuration.interface_ranges.push(members.into_iter().collect());
    Finding::MODELLED
}

/// A function that reads a line as a command of a block.
type ReadLine = fn(&mut Configuration, Mode, Spelling, &mut Reader) -> Option<Reading>;

/// Reads a line for every interface of the range with `read_line`. The state and the diagnostics of the line
/// come from the first interface.
pub(super) fn read(
    configuration: &mut Configuration,
    range: usize,
    spelling: Spelling,
    reader: &mut Reader,
    read_line: ReadLine,
) -> Option<Reading> {
    let members = configuration.interface_ranges.get(range)?.clone();
    let (first, others) = members.split_first()?;
    let reading = read_line(configuration, Mode::Interface(*first), spelling, reader)?;
    if reader.opens.is_some() {
        reader.opens = Some(Mode::NotModelled(BLOCK));
        return Some(Ok(Finding::not_modelled(BLOCK)));
    }
    configuration.range_reads += others.len();
    if configuration.range_reads > MOST_READS {
        return Some(Ok(Finding::not_modelled(TOO_MANY)));
    }
    for other in others {
        let mut found = Vec::new();
        let mut again = reader.again(&mut found);
        read_line(configuration, Mode::Interface(*other), spelling, &mut again);
        reader.comparisons += again.comparisons;
    }
    Some(reading)
}

/// Returns the names in a list without spaces: `gi1/0/1-24,gi1/0/30`, `Ethernet1/1-4,Ethernet1/7`,
/// `vlan10-12`. Only the last number of a name can be a range. Returns `None` for other lists and for too
/// many names.
fn names(text: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut kind = "";
    for part in text.split(',') {
        let (own, numbers) = part.split_at(part.find(|letter: char| letter.is_ascii_digit())?);
        kind = if own.is_empty() { kind } else { own };
        let (from, to) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let (slot, first) = slot_and_port(from);
        // The end may be a number, or a name: `gi1/0/1-gi1/0/24`.
        let (other_slot, last) =
            slot_and_port(to.trim_start_matches(|letter: char| letter.is_ascii_alphabetic()));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        let is_one_slot = other_slot.is_empty() || other_slot == slot;
        if kind.is_empty() || !is_one_slot || last < first || last - first >= MOST_MEMBERS - found.len() {
            return None;
        }
        found.extend((first..=last).map(|number| format!("{kind}{slot}{number}")));
    }
    Some(found)
}

/// Splits `1/0/24` into `1/0/` and `24`.
fn slot_and_port(numbers: &str) -> (&str, &str) {
    numbers.split_at(numbers.rfind('/').map_or(0, |place| place + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_its_interfaces() {
        let all = |text: &str| names(text).map(|names| names.join(" "));
        for (text, expected) in [
            ("gi1/0/1-3", Some("gi1/0/1 gi1/0/2 gi1/0/3")),
            ("gi1/0/1-2,gi1/0/5,te1/1/1", Some("gi1/0/1 gi1/0/2 gi1/0/5 te1/1/1")),
            ("Ethernet1/1-2,1/7", Some("Ethernet1/1 Ethernet1/2 Ethernet1/7")),
            ("gi1/0/1-gi1/0/2", Some("gi1/0/1 gi1/0/2")),
            ("port-channel1-2", Some("port-channel1 port-channel2")),
            ("vlan10-12", Some("vlan10 vlan11 vlan12")),
            ("gi1/0/3-1", None),
            ("gi1/0/1-2/0/4", None),
            ("gi1/0/1.10-20", None),
            ("macroPORTS", None),
            ("1/1-2", None),
            ("", None),
            ("gi1/0/1,", None),
        ] {
            assert_eq!(all(text).as_deref(), expected, "{text}");
        }
        assert_eq!(names("e1/1-512").unwrap().len(), MOST_MEMBERS);
        assert!(names("e1/1-513").is_none() && names("e1/1-512,e1/600").is_none());
        assert!(names("e1/1-99999999999999999999").is_none());
    }
}
