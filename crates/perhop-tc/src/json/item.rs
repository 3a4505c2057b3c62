//! [`Item`]: an object of JSON as the lines that `tc` prints of it.

use super::value::{Object, Value};

/// A discipline, class or filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Item {
    /// What tc prints of it: a line at the begin of a line, and those further in.
    pub(crate) lines: Vec<String>,
    /// What is not in the JSON of tc and would be in its text.
    pub(crate) missing: Vec<&'static str>,
}

/// The words of the begin of a line: where it is.
pub(super) fn place(object: &Object, line: &mut String) {
    let mut say = |words: &[&str]| {
        for word in words {
            line.push(' ');
            line.push_str(&plain(word));
        }
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("dev" | "parent" | "ingress_block" | "egress_block" | "block" | "refcnt", value) => {
                if let Some(word) = value.word() {
                    say(&[key, word]);
                }
            }
            ("root" | "ingress" | "egress" | "offloaded", Value::Flag(true)) => say(&[key]),
            _ => {}
        }
    }
}

/// A word: text of JSON may have spaces and ends of lines.
pub(super) fn plain(word: &str) -> String {
    word.split_whitespace().collect::<Vec<_>>().join("_")
}
