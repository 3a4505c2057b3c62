//! Rejects strings with characters that terminals, tables and pictures cannot show.

use perhop_lint::changes_order;
use serde_json::Value;

use super::diagnostic::{Diagnostic, Diagnostics, MOST_SHOWN, Severity};
use super::document::Document;
use super::path::ValuePath;
use super::position::Part;

/// The key of a router configuration, whose text may contain any character.
const CONFIGURATION: &str = "configuration";

/// Refuses keys and strings with control characters other than tabs and line ends, or with characters that
/// change the order in which text is displayed (Unicode Technical Report 36, section 2.6).
///
/// # Errors
/// All such strings, at most 100.
pub(super) fn refuse_unprintable(document: &Document) -> Result<(), Diagnostics> {
    let mut found = Vec::new();
    look(document, &document.value, &ValuePath::root(), &mut found);
    if found.is_empty() { Ok(()) } else { Err(Diagnostics::new(found)) }
}

fn look(document: &Document, value: &Value, path: &ValuePath, found: &mut Vec<Diagnostic>) {
    match value {
        _ if found.len() >= MOST_SHOWN => {}
        Value::String(text) => found.extend(wrong(document, text, path, Part::Value)),
        Value::Array(all) => {
            for (index, value) in all.iter().enumerate() {
                look(document, value, &path.join(index), found);
            }
        }
        Value::Object(all) => {
            for (key, value) in all {
                let path = path.join(key);
                found.extend(wrong(document, key, &path, Part::Key));
                if key != CONFIGURATION {
                    look(document, value, &path, found);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn wrong(document: &Document, text: &str, path: &ValuePath, part: Part) -> Option<Diagnostic> {
    let bad = text.chars().find(|character| is_unprintable(*character))?;
    let message = format!("character U+{:04X} cannot be shown", u32::from(bad));
    let diagnostic = Diagnostic::new(Severity::Error, path, message).help("remove it");
    Some(document.place(diagnostic, path, part))
}

fn is_unprintable(character: char) -> bool {
    (character.is_control() && !matches!(character, '\t' | '\n' | '\r')) || changes_order(character)
}
