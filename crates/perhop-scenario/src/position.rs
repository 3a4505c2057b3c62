//! [`Positions`]: the positions of the values in a YAML text, from the parser's events.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_saphyr::granit_parser::{Event, Parser, ScanError, Span};

use super::path::ValuePath;

/// One line of a file, and the range of this line that a diagnostic marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Line number, from 1.
    pub(super) line: usize,
    /// The line without its line break; for a long line, the surroundings of the marked range.
    pub(super) text: String,
    /// Byte range within `text`.
    pub(super) range: Range<usize>,
    /// Column of the first marked character, from 1.
    pub(super) column: usize,
}

/// Limit on the bytes of a line before and after the marked range.
const MOST_SHOWN: usize = 200;

impl Excerpt {
    /// Creates the excerpt of the line of `source` in which the range `bytes` begins. The marked range ends
    /// at the latest with that line.
    pub(super) fn new(source: &str, bytes: Range<usize>) -> Excerpt {
        let floor = |at: usize| floor(source, at);
        // An error at the end of the text is shown on its last line.
        let content = source.trim_end_matches(['\n', '\r']).len();
        let (start, end) = (floor(bytes.start.min(content)), floor(bytes.end.min(content)));
        let begin = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let text = source[begin..].lines().next().unwrap_or_default();
        let first = (start - begin).min(text.len());
        let last = end.saturating_sub(begin).clamp(first, text.len());
        let marked = first..first + text[first..last].trim_end().len();
        Excerpt::within(source[..begin].matches('\n').count() + 1, text, marked)
    }
    /// Creates the excerpt of line number `line` (from 1) of `lines`, and marks the whole line.
    pub(super) fn of_line(lines: &[&str], line: usize) -> Excerpt {
        let text = lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        Excerpt::within(line, text, 0..text.len())
    }
    /// Cuts a long line around `range`.
    fn within(line: usize, text: &str, range: Range<usize>) -> Excerpt {
        let begin = floor(text, range.start.saturating_sub(MOST_SHOWN));
        let end = floor(text, range.end.min(range.start + MOST_SHOWN));
        let after = floor(text, (end + MOST_SHOWN).min(text.len()));
        let [before, behind] = [begin > 0, after < text.len()].map(|is_cut| if is_cut { "…" } else { "" });
        let shift = |at: usize| at - begin + before.len();
        Excerpt {
            line,
            text: format!("{before}{}{behind}", &text[begin..after]),
            range: shift(range.start)..shift(end),
            column: text[..range.start].chars().count() + 1,
        }
    }
}

/// Returns the start of the character at or before the byte `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// The part of an entry that a diagnostic marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The key.
    Key,
    /// The value if it is a scalar, otherwise the key.
    Value,
}

/// A duplicate key in a mapping.
#[derive(Clone, Debug)]
pub(super) struct Repeated {
    pub(super) path: ValuePath,
    pub(super) first: Range<usize>,
    pub(super) second: Range<usize>,
}

/// The positions of the values of one YAML text, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Positions {
    root: Node,
    /// Duplicate keys, in the order of the text.
    pub(super) repeated: Vec<Repeated>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    key: Option<Range<usize>>,
    value: Range<usize>,
    /// The children of a mapping or sequence. An alias has no children, because its content is elsewhere.
    children: BTreeMap<String, Node>,
    is_scalar: bool,
}

impl Node {
    /// Returns the position of the scalar, or of the first key or scalar in the collection.
    fn beginning(&self) -> Range<usize> {
        let first =
            self.children.values().min_by_key(|child| child.key.as_ref().unwrap_or(&child.value).start);
        match first {
            Some(child) => child.key.clone().unwrap_or_else(|| child.beginning()),
            None => self.value.clone(),
        }
    }
}

impl Positions {
    /// Reads the positions in `source`.
    ///
    /// # Errors
    /// `source` is not YAML.
    pub(super) fn read(source: &str) -> Result<Positions, ScanError> {
        let mut reader = Reader { events: Parser::new_from_str(source), repeated: Vec::new() };
        let mut root = Node::default();
        while let Some((event, span)) = reader.next()? {
            match event {
                Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
                first => {
                    root = reader.node(&ValuePath::root(), &first, &span)?;
                    break;
                }
            }
        }
        // The rest of the text is read only to find syntax errors. If it has a second document, the decoder
        // of the values refuses it later.
        while reader.next()?.is_some() {}
        Ok(Positions { root, repeated: reader.repeated })
    }

    /// Returns the bytes to mark for `path`; the bytes of the innermost enclosing value if the text does not
    /// contain `path`.
    pub(super) fn locate(&self, path: &ValuePath, part: Part) -> Range<usize> {
        let mut node = &self.root;
        let mut part = part;
        for segment in path.segments() {
            let Some(child) = node.children.get(segment) else {
                part = Part::Value;
                break;
            };
            node = child;
        }
        match (&node.key, part) {
            (Some(key), Part::Key) => key.clone(),
            (Some(key), Part::Value) if !node.is_scalar || node.value.is_empty() => key.clone(),
            _ => node.beginning(),
        }
    }
}

struct Reader<'a> {
    events: Parser<'a, serde_saphyr::granit_parser::StrInput<'a>>,
    repeated: Vec<Repeated>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, ScanError> {
        self.events.next().transpose()
    }
    /// Reads the node that `event` begins.
    fn node(&mut self, path: &ValuePath, event: &Event<'a>, span: &Span) -> Result<Node, ScanError> {
        let mut node = Node { value: bytes(span), ..Node::default() };
        match event {
            Event::MappingStart(..) => self.mapping(path, &mut node)?,
            Event::SequenceStart(..) => self.sequence(path, &mut node)?,
            _ => node.is_scalar = true,
        }
        Ok(node)
    }
    fn mapping(&mut self, path: &ValuePath, node: &mut Node) -> Result<(), ScanError> {
        while let Some((event, key_span)) = self.next()? {
            let name = match &event {
                Event::MappingEnd => return Ok(()),
                Event::Scalar(name, ..) => name.to_string(),
                // Only a scalar can be a key. The decoder refuses other keys later, so their events are
                // skipped here.
                other => {
                    self.node(path, other, &key_span)?;
                    "?".to_owned()
                }
            };
            let Some((event, span)) = self.next()? else { break };
            let inner = path.join(&name);
            let child = Node { key: Some(bytes(&key_span)), ..self.node(&inner, &event, &span)? };
            if let Some(first) = node.children.get(&name) {
                let first = first.key.clone().unwrap_or_default();
                self.repeated.push(Repeated { path: inner, first, second: bytes(&key_span) });
            } else {
                node.children.insert(name, child);
            }
        }
        Ok(())
    }
    fn sequence(&mut self, path: &ValuePath, node: &mut Node) -> Result<(), ScanError> {
        for index in 0.. {
            match self.next()? {
                None | Some((Event::SequenceEnd, _)) => break,
                Some((event, span)) => {
                    let child = self.node(&path.join(index), &event, &span)?;
                    node.children.insert(index.to_string(), child);
                }
            }
        }
        Ok(())
    }
}

fn bytes(span: &Span) -> Range<usize> {
    let at = |marker: &serde_saphyr::granit_parser::Marker| marker.byte_offset().unwrap_or(marker.index());
    at(&span.start)..at(&span.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a: 1\n# comment\nlist:\n  - é: [x, yy]\n    b: 'two words'\nempty:\n";

    fn shown(path: &ValuePath, part: Part) -> (usize, usize, String) {
        let positions = Positions::read(TEXT).unwrap();
        let excerpt = Excerpt::new(TEXT, positions.locate(path, part));
        (excerpt.line, excerpt.column, excerpt.text[excerpt.range.clone()].to_owned())
    }

    #[test]
    fn every_value_is_found() {
        let item = ValuePath::from("list").join(0);
        assert_eq!(shown(&"a".into(), Part::Value), (1, 4, "1".into()));
        assert_eq!(shown(&"a".into(), Part::Key), (1, 1, "a".into()));
        assert_eq!(shown(&"list".into(), Part::Value), (3, 1, "list".into()));
        assert_eq!(shown(&item.join("é").join(1), Part::Value), (4, 12, "yy".into()));
        assert_eq!(shown(&item.join("b"), Part::Value), (5, 8, "'two words'".into()));
    }

    #[test]
    fn missing_values_are_shown_at_their_parent() {
        assert_eq!(shown(&"empty".into(), Part::Value), (6, 1, "empty".into()));
        assert_eq!(shown(&ValuePath::from("a").join("b").join("c"), Part::Key).0, 1);
        assert_eq!(shown(&ValuePath::from("list").join(0).join("z"), Part::Key).0, 4);
    }

    #[test]
    fn repeated_keys_are_reported_with_both_places() {
        let positions = Positions::read("a: 1\nb: {c: 1, c: 2}\na: 3\n").unwrap();
        let paths: Vec<String> =
            positions.repeated.iter().map(|repeated| repeated.path.to_string()).collect();
        assert_eq!(paths, ["b.c", "a"]);
    }
}
