//! Merges entries of access lists that differ only by adjacent ports.

use std::collections::BTreeMap;

/// The words of an entry, with the number of its line.
type Words = (usize, Vec<String>);

/// The first and the last port.
type Range = (u32, u32);

/// Returns the entries of a list. Entries with adjacent ranges of destination ports are merged, because a
/// list may write a range in one entry or in several.
pub(super) fn merged(entries: Vec<Words>) -> Vec<Words> {
    let mut by_rest: BTreeMap<Vec<String>, Vec<(usize, Range)>> = BTreeMap::new();
    for (place, (_, words)) in entries.iter().enumerate() {
        if let Some((rest, range)) = range(words) {
            by_rest.entry(rest.to_vec()).or_default().push((place, range));
        }
    }
    let mut found: Vec<Option<Words>> = entries.into_iter().map(Some).collect();
    for (rest, mut ranges) in by_rest.into_iter().filter(|(_, ranges)| ranges.len() > 1) {
        ranges.sort_unstable_by_key(|(_, range)| *range);
        let mut open = ranges[0];
        for (place, next) in ranges.into_iter().skip(1) {
            if next.0 > open.1.1 + 1 {
                open = (place, next);
                continue;
            }
            open.1.1 = open.1.1.max(next.1);
            found[place] = None;
            if let Some((_, words)) = &mut found[open.0] {
                words.clone_from(&rest);
                words.extend(["range".to_owned(), open.1.0.to_string(), open.1.1.to_string()]);
            }
        }
    }
    found.into_iter().flatten().collect()
}

/// Returns the words before the destination ports of an entry that permits packets, and these ports.
fn range(words: &[String]) -> Option<(&[String], Range)> {
    let port = |word: &String| word.parse::<u32>().ok();
    let (rest, range) = match words {
        [rest @ .., command, port_word] if command == "eq" => (rest, (port(port_word)?, port(port_word)?)),
        [rest @ .., command, first, last] if command == "range" => (rest, (port(first)?, port(last)?)),
        _ => return None,
    };
    rest.first().is_some_and(|word| word == "permit").then_some((rest, range))
}

#[cfg(test)]
mod tests {
    use super::merged;

    #[test]
    fn adjacent_ports_are_one_entry() {
        let text = [
            "permit tcp any any eq 5060",
            "permit udp any any range 100 199",
            "permit tcp any any eq 5061",
            "permit tcp any any eq 5070",
            "deny tcp any any eq 5062",
        ];
        let words = |line: &str| line.split(' ').map(str::to_owned).collect();
        let entries = text.iter().enumerate().map(|(place, line)| (place + 1, words(line))).collect();
        let shown: Vec<_> = merged(entries).iter().map(|(line, words)| (*line, words.join(" "))).collect();
        assert_eq!(
            shown,
            [
                (1, "permit tcp any any range 5060 5061".to_owned()),
                (2, text[1].to_owned()),
                (4, text[3].to_owned()),
                (5, text[4].to_owned())
            ]
        );
    }
}
