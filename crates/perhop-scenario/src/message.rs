//! Translation of serde's errors into messages for authors of scenarios.

use super::nearest::{listed, suggest};
use super::path::ValuePath;
use super::schema;

/// Kind of decoding error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// An unknown key of a mapping, with the allowed keys.
    UnknownKey(Vec<String>),
    /// A required key is missing.
    MissingKey,
    /// A word, or the key of a mapping, that is not one of the alternatives.
    UnknownChoice {
        /// The word.
        word: String,
        /// The alternatives.
        known: Vec<String>,
    },
    /// A value of the wrong type or out of range.
    Unfit,
}

/// One fault: its path, its kind and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: ValuePath,
    pub(super) fault: Fault,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// Translates `raw`, serde's message about the value at `path`.
pub(super) fn explain(path: &ValuePath, raw: &str) -> Problem {
    let quoted: Vec<&str> = raw.split('`').skip(1).step_by(2).collect();
    match (raw, quoted.as_slice()) {
        (_, [key, known @ ..]) if raw.starts_with("unknown field") => unknown_key(path, key, known),
        (_, [key, ..]) if raw.starts_with("missing field") => missing_key(path, key),
        (_, [word, known @ ..]) if raw.starts_with("unknown variant") => unknown_choice(path, word, known),
        _ => unfit(path, raw),
    }
}

fn unknown_key(path: &ValuePath, key: &str, known: &[&str]) -> Problem {
    let path = if path.last() == Some(key) { path.clone() } else { path.join(key) };
    Problem {
        message: format!("unknown key `{key}` {}", within(&path.parent())),
        help: Some(suggest("keys", key, known.iter().copied())),
        fault: Fault::UnknownKey(owned(known)),
        path,
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn missing_key(path: &ValuePath, key: &str) -> Problem {
    let path = path.join(key);
    Problem {
        message: format!("missing key `{key}` {}", within(&path.parent())),
        help: schema::description(&path).map(|text| format!("`{key}`: {}", one_line(text))),
        fault: Fault::MissingKey,
        path,
    }
}

fn unknown_choice(path: &ValuePath, word: &str, known: &[&str]) -> Problem {
    let path = if path.last() == Some(word) { path.parent() } else { path.clone() };
    Problem {
        message: format!("`{word}` is not a choice for `{}`", subject(&path)),
        help: Some(suggest("choices", word, known.iter().copied())),
        fault: Fault::UnknownChoice { word: word.to_owned(), known: owned(known) },
        path,
    }
}

fn unfit(path: &ValuePath, raw: &str) -> Problem {
    let (message, help) = mismatch(path, raw).unwrap_or_else(|| match raw.split_once(": write ") {
        Some((message, help)) => (format!("`{}`: {message}", subject(path)), Some(format!("write {help}"))),
        None => (format!("`{}`: {raw}", subject(path)), None),
    });
    Problem { path: path.clone(), fault: Fault::Unfit, message, help }
}

/// Returns message and help for a value of the wrong type; `None` for other errors.
fn mismatch(path: &ValuePath, raw: &str) -> Option<(String, Option<String>)> {
    let subject = subject(path);
    if raw == "invalid IP address syntax" {
        let help = "write an address such as 10.0.0.1 or 2001:db8::1".to_owned();
        return Some((format!("`{subject}` is not an IP address"), Some(help)));
    }
    if let Some(rest) = raw.strip_prefix("invalid length ") {
        let (count, expected) = rest.split_once(", expected ")?;
        let expected = schema::length(path).map_or(expected.to_owned(), |length| length.to_string());
        return Some((format!("`{subject}` has {count} elements"), Some(format!("expected {expected}"))));
    }
    let rest = raw.strip_prefix("invalid type: ").or_else(|| raw.strip_prefix("invalid value: "))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let help = Some(humanize_expected(path, expected));
    if expected == "map with a single key" {
        return Some((format!("`{subject}` does not have exactly one key"), help));
    }
    if found.starts_with("unit variant") {
        let keys = schema::keys(path);
        let help = format!("add its keys below it: {}", listed(keys.iter().map(String::as_str)));
        return Some((format!("`{subject}` needs keys"), Some(help)));
    }
    Some((format!("`{subject}` is {}", humanize_found(found)), help))
}

/// Describes the value that serde found.
fn humanize_found(found: &str) -> String {
    let (kind, shown) = found.split_once(' ').unwrap_or((found, ""));
    let plain = shown.trim_matches('`');
    match kind {
        "integer" => format!("the number {plain}"),
        "floating" => format!("the number {}", plain.trim_start_matches("point `")),
        "string" => format!("the text {shown}"),
        "boolean" => format!("the boolean {plain}"),
        "map" | "newtype" | "struct" | "tuple" => "a mapping".into(),
        "sequence" => "a list".into(),
        "null" => "empty".into(),
        _ => found.into(),
    }
}

/// Describes the value that serde expected, with keys and choices from the schema at `path`.
fn humanize_expected(path: &ValuePath, expected: &str) -> String {
    let keys = schema::keys(path);
    let one_of = |words: &[String]| listed(words.iter().map(String::as_str));
    let first = expected.split(' ').next().unwrap_or_default();
    match first {
        "string" | "map" | "enum" if expected != "map" && !keys.is_empty() => {
            format!("write exactly one of {}", one_of(&[schema::choices(path), keys].concat()))
        }
        "struct" | "a" | "map" if expected.contains("map") || expected.starts_with("struct") => {
            if keys.is_empty() {
                "expected a mapping: indented lines of `key: value`".into()
            } else {
                format!("expected a mapping with the keys {}", one_of(&keys))
            }
        }
        "u8" | "u16" | "u32" | "u64" | "usize" => format!("expected a whole number{}", range_of(first)),
        "f32" | "f64" => "expected a number".into(),
        "unit" => "expected no keys below this word".into(),
        "a" | "an" if expected.contains("sequence") => {
            "expected a list: `- element` on each line, or [a, b]".into()
        }
        "an" | "a" if expected.starts_with("an array of length ") => {
            format!("expected a list of {}", expected.trim_start_matches("an array of length "))
        }
        "a" if expected == "a string" => "expected text; put a number that is meant as text in quotes".into(),
        _ => format!("expected {expected}"),
    }
}

fn range_of(kind: &str) -> &'static str {
    match kind {
        "u8" => " from 0 to 255",
        "u16" => " from 0 to 65535",
        "u32" => " from 0 to 4294967295",
        _ => ", 0 or more",
    }
}

/// Returns the key that a message is about; for an element of a list, the key of the list and the index.
fn subject(path: &ValuePath) -> String {
    match path.last() {
        None => "the document".into(),
        Some(last) if last.parse::<usize>().is_ok() => {
            let list = path.parent();
            format!("{}.{last}", list.last().unwrap_or_default())
        }
        Some(last) => last.into(),
    }
}

fn within(mapping: &ValuePath) -> String {
    if mapping.is_root() { "at the top level".into() } else { format!("in `{mapping}`") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
