//! Decoding of values into types, with a report of all errors. serde stops at the first invalid value. This
//! module therefore replaces the invalid value by a valid one and decodes again, until no error remains. The
//! document with the replaced values is discarded.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use super::diagnostic::{Diagnostic, Diagnostics, MOST_SHOWN, Severity};
use super::document::Document;
use super::message::{Fault, Problem, explain};
use super::path::ValuePath;
use super::position::Part;
use super::printable::refuse_unprintable;
use perhop_lint::nearest;

/// Limit on the values that all attempts to decode a document may visit. A large document is decoded fewer
/// times than a small one, so fewer of its errors are found.
const MOST_VISITED: usize = 30_000_000;

/// Decodes the document as a `T`.
///
/// # Errors
/// All invalid values, or only the first invalid values of a large document; all strings with unprintable
/// characters.
pub(super) fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, Diagnostics> {
    decode_within(document, MOST_VISITED)
}

/// Decodes the document as [`decode`] does, within a budget of `most_visited` values.
fn decode_within<T: DeserializeOwned>(document: &Document, most_visited: usize) -> Result<T, Diagnostics> {
    refuse_unprintable(document)?;
    let mut value = document.value.clone();
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut repaired: Vec<ValuePath> = Vec::new();
    let mut attempts = most_visited / count(&value);
    for _ in 0..MOST_SHOWN {
        let problem = match attempt::<T>(&value) {
            Ok(decoded) if found.is_empty() => return Ok(decoded),
            Ok(_) => break,
            Err(problem) => problem,
        };
        if !repaired.iter().any(|path| problem.path.is_within(path)) {
            found.push(diagnose(document, &problem));
        }
        match repair::<T>(&mut value, &problem, &mut attempts) {
            Some(path) => repaired.push(path),
            None => break,
        }
    }
    Err(Diagnostics::new(found))
}

/// Returns the number of values in a document, including the document.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(count).sum::<usize>(),
        Value::Object(entries) => entries.values().map(count).sum(),
        _ => 0,
    }
}

fn attempt<T: DeserializeOwned>(value: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let segments = error.path().iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        });
        explain(&ValuePath::root().extend(segments), &error.inner().to_string())
    })
}

fn diagnose(document: &Document, problem: &Problem) -> Diagnostic {
    let Problem { path, fault, message, help } = problem;
    let mut diagnostic = Diagnostic::new(Severity::Error, path, message);
    diagnostic.help.clone_from(help);
    match fault {
        Fault::UnknownKey(_) => document.place(diagnostic, path, Part::Key),
        Fault::UnknownChoice { word, .. } => document.place(diagnostic, &path.join(word), Part::Key),
        _ => document.place(diagnostic, path, Part::Value),
    }
}

/// Replaces the value that causes `problem`. Returns the path of the replaced value; `None` if no replacement
/// is valid or no `attempts` remain.
fn repair<T: DeserializeOwned>(
    value: &mut Value,
    problem: &Problem,
    attempts: &mut usize,
) -> Option<ValuePath> {
    *attempts = attempts.checked_sub(1)?;
    if let Fault::UnknownKey(known) = &problem.fault {
        return rename_or_remove(value, &problem.path, known);
    }
    let original = value.clone();
    for candidate in candidates(&original, problem) {
        *attempts = attempts.checked_sub(1)?;
        value.clone_from(&original);
        if !put(value, &problem.path, candidate) {
            return None;
        }
        if attempt::<T>(value).err().is_none_or(|next| is_progress(problem, &next)) {
            return Some(problem.path.clone());
        }
    }
    None
}

/// Renames an unknown key to the nearest known key, so that the known key is not also reported as missing.
fn rename_or_remove(value: &mut Value, path: &ValuePath, known: &[String]) -> Option<ValuePath> {
    let Some(Value::Object(entries)) = value.pointer_mut(&path.parent().pointer()) else { return None };
    let key = path.last()?;
    let content = entries.shift_remove(key)?;
    let free = known.iter().map(String::as_str).filter(|name| !entries.contains_key(*name));
    let Some(name) = nearest(key, free).map(str::to_owned) else { return Some(path.clone()) };
    let renamed = path.parent().join(&name);
    entries.insert(name, content);
    Some(renamed)
}

/// Whether the `next` error is not at the place of the error `before`, or is deeper inside the same value.
fn is_progress(before: &Problem, next: &Problem) -> bool {
    !before.path.is_within(&next.path)
}

/// Returns replacement values. At every place where the language expects a single value or a collection, at
/// least one of them is valid.
fn candidates(document: &Value, problem: &Problem) -> Vec<Value> {
    let mut all = Vec::new();
    if let Fault::UnknownChoice { known, .. } = &problem.fault {
        all.extend(renamed(document.pointer(&problem.path.pointer()), known));
    }
    all.extend([json!({}), json!([]), json!(1), json!("1s"), json!("1Mb/s"), json!("1000B")]);
    all.extend([json!("1 packets"), json!("x"), json!("default"), json!(0.5), json!(["x", "y"])]);
    all.extend([json!("10.0.0.1"), json!("gre"), json!(true), Value::Null]);
    all
}

/// Returns the content of `found` under each of the known names, the most likely name first.
fn renamed(found: Option<&Value>, known: &[String]) -> Vec<Value> {
    let (word, inside) = match found {
        Some(Value::Object(entries)) => {
            entries.iter().next().map_or(("", None), |(key, value)| (key.as_str(), Some(value)))
        }
        Some(Value::String(word)) => (word.as_str(), None),
        _ => ("", None),
    };
    let mut names: Vec<&str> = known.iter().map(String::as_str).collect();
    let likeliest = nearest(word, names.iter().copied());
    names.sort_by_key(|name| Some(*name) != likeliest);
    let variants = |name: &str| {
        let whole = inside.map(|inside| json!({name: inside}));
        whole.into_iter().chain([json!(name), json!({name: {}})]).collect::<Vec<_>>()
    };
    names.into_iter().flat_map(variants).collect()
}

/// Sets the value at `path` to `new`. Returns `false` if the path does not exist.
fn put(value: &mut Value, path: &ValuePath, new: Value) -> bool {
    if let Some(slot) = value.pointer_mut(&path.pointer()) {
        *slot = new;
        return true;
    }
    match (value.pointer_mut(&path.parent().pointer()), path.last()) {
        (Some(Value::Object(entries)), Some(key)) => entries.insert(key.to_owned(), new).is_none(),
        // An alternative may be a single word. In this case, the last segment of the path is this word.
        (Some(word @ Value::String(_)), Some(_)) => {
            *word = new;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    #[test]
    fn a_document_is_decoded_again_while_visited_values_are_left() {
        let value = json!({
            "perhop": 1, "name": "x", "duration": "1s", "hosts": {}, "routers": {}, "links": [], "traffic": [],
            "aaaaaaa": 1, "bbbbbbb": 1, "ccccccc": 1,
        });
        let document = Document::from_json(value);
        let values = count(&document.value);
        let errors = |most| decode_within::<Scenario>(&document, most).unwrap_err().iter().count();
        // The first error is found by the first decoding. Each further error needs one further decoding.
        assert_eq!((errors(2 * values), errors(2 * values - 1)), (3, 2));
        assert_eq!((errors(values), errors(values - 1)), (2, 1));
        assert_eq!(errors(MOST_VISITED), 3);
    }
}
