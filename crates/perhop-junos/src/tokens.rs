//! Words and punctuation of a line.

/// A token of a configuration in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'t> {
    /// A word, without its quotes.
    Word(&'t str),
    Open,
    Close,
    ListOpen,
    ListClose,
    End,
}

/// Whether a comment of several lines is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Comment {
    #[default]
    None,
    Open,
}

/// Returns the tokens of a line, and whether its end is inside a comment.
pub(crate) fn tokens(text: &str, mut comment: Comment) -> (Vec<Token<'_>>, Comment) {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        if comment == Comment::Open {
            let Some((_, after)) = rest.split_once("*/") else { return (found, comment) };
            (rest, comment) = (after, Comment::None);
        }
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return (found, comment) };
        if let Some(after) = rest.strip_prefix("/*") {
            (rest, comment) = (after, Comment::Open);
            continue;
        }
        let single = match first {
            '#' => return (found, comment),
            '{' => Some(Token::Open),
            '}' => Some(Token::Close),
            '[' => Some(Token::ListOpen),
            ']' => Some(Token::ListClose),
            ';' => Some(Token::End),
            _ => None,
        };
        if let Some(token) = single {
            found.push(token);
            rest = &rest[1..];
            continue;
        }
        let (word, after) = word(rest);
        found.push(Token::Word(word));
        rest = after;
    }
}

/// Splits the first word off a text that does not begin with a space.
fn word(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut is_escaped = false;
        for (index, character) in quoted.char_indices() {
            match character {
                '"' if !is_escaped => return (&quoted[..index], &quoted[index + 1..]),
                _ => is_escaped = character == '\\' && !is_escaped,
            }
        }
        return (quoted, "");
    }
    // Square brackets inside a word are part of a wildcard, such as `<ge-[0-1]*>` or `ge-0/0/[0-3]`.
    let mut depth = 0usize;
    for (index, character) in text.char_indices() {
        let is_end = match character {
            '[' if index > 0 => {
                depth += 1;
                false
            }
            ']' if depth > 0 => {
                depth -= 1;
                false
            }
            ';' | '{' | '}' | ']' => true,
            other => other.is_whitespace(),
        };
        if is_end {
            return text.split_at(index);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_quotes_and_wildcards_together() {
        let (found, _) = tokens(r#"members [ "a b;" ge-0/0/[0-3] ]; # rest"#, Comment::None);
        assert_eq!(
            found,
            [
                Token::Word("members"),
                Token::ListOpen,
                Token::Word("a b;"),
                Token::Word("ge-0/0/[0-3]"),
                Token::ListClose,
                Token::End
            ]
        );
    }

    #[test]
    fn a_comment_can_span_lines() {
        let (found, open) = tokens("a /* b", Comment::None);
        assert_eq!((found, open), (vec![Token::Word("a")], Comment::Open));
        let (found, open) = tokens("c */ d;", Comment::Open);
        assert_eq!((found, open), (vec![Token::Word("d"), Token::End], Comment::None));
    }
}
