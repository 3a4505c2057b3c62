//! [`Pattern`]: patterns for output lines that contain numbers.
//!
//! A pattern matches word by word, regardless of the spaces between words. `{name}` matches a number and
//! names it, `#` matches a number, `one|other` matches either word, `[…]` is an optional part, and `$`
//! matches the end of the line. Without `$`, the line may continue.

use std::iter::Peekable;
use std::str::Chars;

/// A pattern for a line of output.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Part>);

#[derive(Debug)]
enum Part {
    /// One of these words.
    Word(Vec<String>),
    /// A number, with its name.
    Number(Option<String>),
    /// Optional parts.
    Optional(Vec<Part>),
    /// The end of the line.
    End,
}

/// The numbers of a line by name.
pub(super) type Numbers = Vec<(String, u64)>;

impl Pattern {
    /// Reads a pattern.
    pub(super) fn new(text: &str) -> Pattern {
        Pattern(parts(&mut text.chars().peekable()))
    }

    /// Returns the numbers of a line of `words`; `None` if the line does not match.
    pub(super) fn numbers(&self, words: &[String]) -> Option<Numbers> {
        let mut found = Numbers::new();
        words_after_match(&self.0, words, &mut found).map(|_| found)
    }
}

/// Splits a line into words, numbers and single characters.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut rest = line.chars().peekable();
    let mut found = Vec::new();
    while let Some(first) = rest.peek().copied() {
        if first.is_whitespace() {
            rest.next();
        } else {
            found.push(word(&mut rest));
        }
    }
    found
}

fn word(rest: &mut Peekable<Chars>) -> String {
    let mut word: String = rest.next().into_iter().collect();
    let is_letter = |character: char| character.is_ascii_alphabetic() || character == '-';
    let is_more = |character: char| match word.chars().next() {
        Some(first) if is_letter(first) => is_letter(character),
        Some(first) => first.is_ascii_digit() && character.is_ascii_digit(),
        None => false,
    };
    let more: String = std::iter::from_fn(|| rest.next_if(|character| is_more(*character))).collect();
    word.push_str(&more);
    word
}

fn parts(rest: &mut Peekable<Chars>) -> Vec<Part> {
    let mut found = Vec::new();
    while let Some(first) = rest.peek().copied() {
        match first {
            ' ' => {
                rest.next();
            }
            ']' => {
                rest.next();
                return found;
            }
            '[' => {
                rest.next();
                found.push(Part::Optional(parts(rest)));
            }
            '{' => {
                rest.next();
                found.push(Part::Number(Some(
                    rest.by_ref().take_while(|character| *character != '}').collect(),
                )));
            }
            '#' => {
                rest.next();
                found.push(Part::Number(None));
            }
            '$' => {
                rest.next();
                found.push(Part::End);
            }
            _ => {
                let mut words = vec![word(rest)];
                while rest.next_if_eq(&'|').is_some() {
                    words.push(word(rest));
                }
                found.push(Part::Word(words));
            }
        }
    }
    found
}

/// Returns the words after the part that matches `parts`; `None` if the words do not match.
fn words_after_match<'w>(parts: &[Part], words: &'w [String], found: &mut Numbers) -> Option<&'w [String]> {
    let mut rest = words;
    for part in parts {
        match part {
            Part::End => {
                if !rest.is_empty() {
                    return None;
                }
            }
            Part::Word(known) => {
                let (first, behind) = rest.split_first()?;
                known.contains(first).then_some(())?;
                rest = behind;
            }
            Part::Number(name) => {
                let (first, behind) = rest.split_first()?;
                first.starts_with(|character: char| character.is_ascii_digit()).then_some(())?;
                // A number that exceeds 64 bits becomes the maximum.
                let value = first.parse().unwrap_or(u64::MAX);
                found.extend(name.iter().map(|name| (name.clone(), value)));
                rest = behind;
            }
            Part::Optional(inner) => {
                let before = found.len();
                match words_after_match(inner, rest, found) {
                    Some(behind) => rest = behind,
                    None => found.truncate(before),
                }
            }
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::{Pattern, words};

    fn numbers(pattern: &str, line: &str) -> Option<Vec<u64>> {
        let found = Pattern::new(pattern).numbers(&words(line))?;
        Some(found.into_iter().map(|(_, value)| value).collect())
    }

    #[test]
    fn spaces_do_not_count_and_parts_can_be_missing() {
        let pattern = "Bandwidth {kbps} (kbps)[Max Threshold {limit}]";
        assert_eq!(numbers(pattern, "Bandwidth  64 (kbps)Max Threshold 9 (packets)"), Some(vec![64, 9]));
        assert_eq!(numbers(pattern, "Bandwidth 64 (kbps)"), Some(vec![64]));
        assert_eq!(numbers(pattern, "Bandwidth 64 (%)"), None);
    }

    #[test]
    fn an_end_matches_only_the_end_of_the_line() {
        assert_eq!(numbers("{n} packets$", "7 packets"), Some(vec![7]));
        assert_eq!(numbers("{n} packets$", "7 packets, 100 bytes"), None);
        assert_eq!(
            numbers("# second|minute offered rate {bps}", "5 minute offered rate 3 bps"),
            Some(vec![3])
        );
        assert_eq!(numbers("[{n} packets,]{b} bytes", "8 bytes"), Some(vec![8]));
    }
}
