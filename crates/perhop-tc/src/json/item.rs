//! [`Item`]: a JSON object as the lines that `tc` prints.

use super::value::{Object, Value};

/// A discipline, class or filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Item {
    /// The lines that tc prints: an unindented line, then indented lines.
    pub(crate) lines: Vec<String>,
    /// Parts of the text output that the JSON lacks.
    pub(crate) missing: Vec<&'static str>,
}

/// Adds the position to the unindented line.
pub(super) fn place(object: &Object, line: &mut String) {
    let mut push_words = |words: &[&str]| {
        for word in words {
            line.push(' ');
            line.push_str(&plain(word));
        }
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("dev" | "parent" | "ingress_block" | "egress_block" | "block" | "refcnt", value) => {
                if let Some(word) = value.word() {
                    push_words(&[key, word]);
                }
            }
            ("root" | "ingress" | "egress" | "offloaded", Value::Flag(true)) => push_words(&[key]),
            _ => {}
        }
    }
}

/// Replaces spaces and line ends, which JSON text may contain.
pub(super) fn plain(word: &str) -> String {
    word.split_whitespace().collect::<Vec<_>>().join("_")
}
