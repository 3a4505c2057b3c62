//! Wildcards in names of interfaces and of group statements.

/// Whether `text` matches `pattern`: `*` matches any text, `?` one character, and `[a-c]` one character of a
/// set.
///
/// The time is proportional to the product of their lengths.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    if !is_pattern(pattern) {
        return pattern == text;
    }
    let (pattern, text): (Vec<Piece>, Vec<char>) = (pieces(pattern), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // The position of the last `*`, and the end of the text that it matches so far.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some(Piece::Any) => {
                star = Some((at, read));
                at += 1;
            }
            Some(Piece::One(set)) if set.contains(text[read]) => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((from, reached)) = star else { return false };
                star = Some((from, reached + 1));
                (at, read) = (from + 1, reached + 1);
            }
        }
    }
    pattern[at..].iter().all(|piece| matches!(piece, Piece::Any))
}

/// Returns the pattern inside `<…>`; `None` for a plain word.
pub(crate) fn group_pattern(word: &str) -> Option<&str> {
    word.strip_prefix('<')?.strip_suffix('>')
}

/// Returns the characters before the first wildcard.
pub(crate) fn literal_beginning(name: &str) -> &str {
    name.split(['*', '?', '[']).next().unwrap_or(name)
}

/// Whether a name has wildcards.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Returns the number of characters that are not `*` or `?`. A more specific pattern has more of them.
pub(crate) fn specificity(pattern: &str) -> usize {
    pattern.chars().filter(|character| !matches!(character, '*' | '?')).count()
}

enum Piece {
    Any,
    One(Set),
}

enum Set {
    All,
    Of(Vec<(char, char)>),
}

impl Set {
    fn contains(&self, character: char) -> bool {
        match self {
            Set::All => true,
            Set::Of(ranges) => ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)),
        }
    }
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        found.push(match character {
            '*' => Piece::Any,
            '?' => Piece::One(Set::All),
            '[' => {
                let inside: Vec<char> = rest.by_ref().take_while(|next| *next != ']').collect();
                Piece::One(Set::Of(ranges(&inside)))
            }
            other => Piece::One(Set::Of(vec![(other, other)])),
        });
    }
    found
}

fn ranges(inside: &[char]) -> Vec<(char, char)> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < inside.len() {
        let first = inside[index];
        if let (Some('-'), Some(last)) = (inside.get(index + 1), inside.get(index + 2)) {
            found.push((first, *last));
            index += 3;
        } else {
            found.push((first, first));
            index += 1;
        }
    }
    found
}

/// Returns the names that match a pattern without stars: `ge-0/0/[0-2]`. `None` if there are more than
/// `most`.
pub(crate) fn expanded(pattern: &str, most: usize) -> Option<Vec<String>> {
    let mut names = vec![String::new()];
    for piece in pieces(pattern) {
        let Piece::One(Set::Of(ranges)) = piece else { return None };
        let characters: Vec<char> = ranges.iter().flat_map(|(first, last)| *first..=*last).collect();
        if names.len().saturating_mul(characters.len()) > most {
            return None;
        }
        names = names
            .iter()
            .flat_map(|name| characters.iter().map(move |character| format!("{name}{character}")))
            .collect();
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, name, expected) in [
            ("ge-*", "ge-0/0/1", true),
            ("ge-*", "xe-0/0/1", false),
            ("*", "", true),
            ("[a-c]*", "b1", true),
            ("[a-c]*", "d1", false),
            ("ge-0/0/[13]", "ge-0/0/2", false),
            ("ge-*/0/*", "ge-1/0/3", true),
            ("ge-?", "ge-12", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn members_expand() {
        assert_eq!(expanded("ge-0/0/[0-2]", 10).unwrap(), ["ge-0/0/0", "ge-0/0/1", "ge-0/0/2"]);
        assert_eq!(expanded("ge-[0-9][0-9][0-9]", 10), None);
        assert_eq!(expanded("ge-*", 10), None);
    }
}
