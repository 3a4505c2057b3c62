//! Merging of entries of access lists that differ only in adjacent ports.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::words::{Content, Entry};

/// The first and the last port.
type Range = (u32, u32);

/// The destination ports of a permit entry.
pub(super) struct Ports {
    /// The words of the entry that precede the ports.
    pub(super) rest: Vec<String>,
    pub(super) range: Range,
}

impl Ports {
    /// Reads the ports of an entry; `None` if the entry has no destination ports.
    pub(super) fn read(words: &[String]) -> Option<Ports> {
        let port = |word: &String| word.parse::<u32>().ok();
        let (rest, range) = match words {
            [rest @ .., command, port_word] if command == "eq" => {
                (rest, (port(port_word)?, port(port_word)?))
            }
            [rest @ .., command, first, last] if command == "range" => (rest, (port(first)?, port(last)?)),
            _ => return None,
        };
        let rest = rest.first().is_some_and(|word| word == "permit").then(|| rest.to_vec())?;
        Some(Ports { rest, range })
    }
}

/// The number of a line, one of its contents, and the ports in this content.
pub(super) type WithPorts<'c> = (usize, &'c Arc<Content>, Option<&'c Ports>);

/// Returns the entries of a list. Entries with adjacent ranges of destination ports are merged, because a
/// list can have one entry for a range or several. `content` creates a content from words.
pub(super) fn merged(lines: &[WithPorts], content: impl Fn(&[String]) -> Content) -> Vec<Entry> {
    let mut by_rest: BTreeMap<&[String], Vec<(usize, Range)>> = BTreeMap::new();
    for (place, (_, _, ports)) in lines.iter().enumerate() {
        if let Some(Ports { rest, range }) = ports {
            by_rest.entry(rest).or_default().push((place, *range));
        }
    }
    let mut found: Vec<Option<Entry>> =
        lines.iter().map(|(line, own, _)| Some(Entry { line: *line, content: Arc::clone(own) })).collect();
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
            if let Some(entry) = &mut found[open.0] {
                let mut words = rest.to_vec();
                words.extend(["range".to_owned(), open.1.0.to_string(), open.1.1.to_string()]);
                entry.content = Arc::new(content(&words));
            }
        }
    }
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::super::words::Content;
    use super::{Ports, merged};

    #[test]
    fn adjacent_ports_are_one_entry() {
        let text = [
            "permit tcp any any eq 5060",
            "permit udp any any range 100 199",
            "permit tcp any any eq 5061",
            "permit tcp any any eq 5070",
            "deny tcp any any eq 5062",
        ];
        let content = |words: &[String]| Content::new(words, &BTreeSet::new());
        let read = |line: &&str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            (Arc::new(content(&words)), Ports::read(&words))
        };
        let lines: Vec<_> = text.iter().map(read).collect();
        let numbered = lines.iter().zip(1..).map(|((own, ports), line)| (line, own, ports.as_ref()));
        let merged = merged(&numbered.collect::<Vec<_>>(), content);
        let shown: Vec<_> = merged.iter().map(|entry| (entry.line, entry.text().to_owned())).collect();
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
