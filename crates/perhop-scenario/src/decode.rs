//! Decoding of values into types, reporting every error and not only the first.
//!
//! serde stops at the first invalid value. Here that value is replaced by any valid one and decoding goes on;
//! a document repaired in this way is never used.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use serde_path_to_error::Segment;

use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::message::{Fault, Problem, explain};
use super::nearest::nearest;
use super::path::ValuePath;

/// Limit on the number of reported errors.
const MOST_FAULTS: usize = 100;

/// The document as a `T`.
///
/// # Errors
/// All invalid values.
pub(super) fn decode<T: DeserializeOwned>(document: &Document) -> Result<T, Diagnostics> {
    let mut value = document.value.clone();
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut repaired: Vec<ValuePath> = Vec::new();
    for _ in 0..MOST_FAULTS {
        let problem = match attempt::<T>(&value) {
            Ok(decoded) if found.is_empty() => return Ok(decoded),
            Ok(_) => break,
            Err(problem) => problem,
        };
        if !repaired.iter().any(|path| problem.path.is_within(path)) {
            found.push(diagnose(document, &problem));
        }
        match repair::<T>(&mut value, &problem) {
            Some(path) => repaired.push(path),
            None => break,
        }
    }
    Err(Diagnostics::new(found))
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
    let diagnostic = match &problem.fault {
        Fault::UnknownKey(_) => document.key_diagnostic(Severity::Error, &problem.path, &problem.message),
        Fault::UnknownChoice { word, .. } => document.word_diagnostic(&problem.path, word, &problem.message),
        _ => document.diagnostic(Severity::Error, &problem.path, &problem.message),
    };
    match &problem.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Replaces the value that causes `problem`. Returns the path of what was replaced; `None` if nothing helps.
fn repair<T: DeserializeOwned>(value: &mut Value, problem: &Problem) -> Option<ValuePath> {
    if let Fault::UnknownKey(known) = &problem.fault {
        return rename_or_remove(value, &problem.path, known);
    }
    let original = value.clone();
    for candidate in candidates(&original, problem) {
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

/// Renames an unknown key to the nearest known one, so that this is not reported as missing as well.
fn rename_or_remove(value: &mut Value, path: &ValuePath, known: &[String]) -> Option<ValuePath> {
    let Some(Value::Object(entries)) = at_mut(value, &path.parent()) else { return None };
    let key = path.last()?;
    let content = entries.shift_remove(key)?;
    let free = known.iter().map(String::as_str).filter(|name| !entries.contains_key(*name));
    let Some(name) = nearest(key, free).map(str::to_owned) else { return Some(path.clone()) };
    let renamed = path.parent().join(&name);
    entries.insert(name, content);
    Some(renamed)
}

/// Whether decoding got further than `before`: the next error is elsewhere, or deeper inside.
fn is_progress(before: &Problem, next: &Problem) -> bool {
    !before.path.is_within(&next.path)
}

/// Replacement values: one of them is valid wherever the language expects a single value or a collection.
fn candidates(document: &Value, problem: &Problem) -> Vec<Value> {
    let mut all = Vec::new();
    if let Fault::UnknownChoice { known, .. } = &problem.fault {
        all.extend(renamed(at(document, &problem.path), known));
    }
    all.extend([json!({}), json!([]), json!(1), json!("1s"), json!("1Mb/s"), json!("1000B")]);
    all.extend([json!("1 packets"), json!("x"), json!("default"), json!(0.5), json!(["x", "y"])]);
    all.extend([json!("10.0.0.1"), json!(true), Value::Null]);
    all
}

/// The choice `found` under each of the known names with its content, the most likely name first.
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

fn at<'a>(value: &'a Value, path: &ValuePath) -> Option<&'a Value> {
    path.segments().iter().try_fold(value, |value, segment| match value {
        Value::Array(elements) => elements.get(segment.parse::<usize>().ok()?),
        other => other.get(segment),
    })
}

fn at_mut<'a>(value: &'a mut Value, path: &ValuePath) -> Option<&'a mut Value> {
    path.segments().iter().try_fold(value, |value, segment| match value {
        Value::Array(elements) => elements.get_mut(segment.parse::<usize>().ok()?),
        other => other.get_mut(segment),
    })
}

/// Sets the value at `path` to `new`; `false` if there can be none.
fn put(value: &mut Value, path: &ValuePath, new: Value) -> bool {
    if let Some(slot) = at_mut(value, path) {
        *slot = new;
        return true;
    }
    match (at_mut(value, &path.parent()), path.last()) {
        (Some(Value::Object(entries)), Some(key)) => entries.insert(key.to_owned(), new).is_none(),
        // An alternative written as a bare word: the path ends with it.
        (Some(word @ Value::String(_)), Some(_)) => {
            *word = new;
            true
        }
        _ => false,
    }
}
