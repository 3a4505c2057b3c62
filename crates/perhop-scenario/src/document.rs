//! [`Document`]: a scenario file as untyped values, with the position of every value.

use std::io::IsTerminal;
use std::ops::Range;
use std::path::Path;

use perhop_lint::{MOST_LEVELS, nested_too_deeply};
use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

use super::diagnostic::{Diagnostic, Diagnostics, MOST_SHOWN, Severity, more};
use super::input_file::{SCENARIO, reason};
use super::path::ValuePath;
use super::position::{Excerpt, Part, Positions};
use perhop_lint::nearest;

/// The values of a YAML file or of a program, after the overrides.
#[derive(Clone, Debug)]
pub struct Document {
    /// The values.
    pub(super) value: Value,
    text: Option<Text>,
    /// The overrides in order: the path, and the `path=value` from the command line.
    pub(super) overrides: Vec<(ValuePath, String)>,
}

#[derive(Clone, Debug)]
struct Text {
    file: String,
    source: String,
    positions: Positions,
}

impl Document {
    /// Reads the document in the file `path`. If `path` is `-`, reads standard input.
    ///
    /// # Errors
    /// The file cannot be read or is not YAML.
    pub fn read(path: &Path) -> Result<Document, Diagnostics> {
        let piped = path == Path::new("-");
        let file = if piped { "standard input".to_owned() } else { path.display().to_string() };
        if piped && std::io::stdin().is_terminal() {
            return Err(whole_file(&file, "no scenario on standard input".into())
                .help("name a file, or redirect one: perhop run - < scenario.yaml")
                .into());
        }
        match if piped { SCENARIO.read_from(std::io::stdin()) } else { SCENARIO.read(path) } {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(source) => Document::parse(source, file),
                Err(error) => {
                    let valid = error.utf8_error().valid_up_to();
                    let line = String::from_utf8_lossy(&error.as_bytes()[..valid]).matches('\n').count() + 1;
                    Err(whole_file(&file, format!("line {line} is not UTF-8 text"))
                        .help("save the file as UTF-8")
                        .into())
                }
            },
            Err(error) => {
                let diagnostic = whole_file(&file, format!("cannot read `{file}`: {}", reason(&error)));
                let missing = error.kind() == std::io::ErrorKind::NotFound;
                Err(match neighbor(path).filter(|_| missing) {
                    Some(name) => diagnostic.help(format!("did you mean `{name}`?")).into(),
                    None => diagnostic.into(),
                })
            }
        }
    }

    /// Parses `source`; diagnostics use `file` as its name.
    ///
    /// # Errors
    /// `source` is not YAML or has a duplicate key.
    pub fn parse(source: impl Into<String>, file: impl Into<String>) -> Result<Document, Diagnostics> {
        let (source, file) = (source.into(), file.into());
        // Some editors write a byte order mark, which is not part of the text.
        let source = source.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(source);
        let positions = Positions::read(&source).map_err(|error| {
            let at = error.marker().byte_offset().unwrap_or(error.marker().index());
            let info = error.info();
            // The parser has its own limit, which is higher than the limit on the depth of values.
            if info.starts_with("recursion limit exceeded") {
                return unreadable(&file, &source, at..at + 1, nested_too_deeply("lists and mappings"));
            }
            not_yaml(&file, &source, at..at + 1, &info)
        })?;
        let text = Text { file, source, positions };
        text.refuse_repeated_keys()?;
        let value = yaml_value(&text.source).map_err(|error| {
            let at = error.line.and_then(|(line, column)| offset(&text.source, line, column));
            let at = at.unwrap_or_default();
            unreadable(&text.file, &text.source, at..at + 1, error.message)
        })?;
        Ok(Document { value, text: Some(text), overrides: Vec::new() })
    }

    /// Creates a document from a program's value, without a file.
    pub fn from_json(value: Value) -> Document {
        Document { value, text: None, overrides: Vec::new() }
    }

    /// Returns the name of the file in diagnostics.
    pub fn file(&self) -> Option<&str> {
        self.text.as_ref().map(|text| text.file.as_str())
    }

    /// Creates a diagnostic about the value at `path`.
    pub fn diagnostic(&self, severity: Severity, path: &ValuePath, message: impl Into<String>) -> Diagnostic {
        self.place(Diagnostic::new(severity, path, message), path, Part::Value)
    }
    /// Adds the line of `path` to `diagnostic`, marked with `label`.
    pub(super) fn relate(&self, diagnostic: Diagnostic, path: &ValuePath, label: &str) -> Diagnostic {
        match &self.text {
            Some(text) if self.override_of(path).is_none() => {
                diagnostic.related(text.excerpt(path, Part::Value), label)
            }
            _ => diagnostic,
        }
    }

    /// Adds the position of a part of the entry at `path` to `diagnostic`.
    pub(super) fn place(&self, diagnostic: Diagnostic, path: &ValuePath, part: Part) -> Diagnostic {
        let diagnostic = match &self.text {
            Some(text) => diagnostic.in_file(text.file.as_str()),
            None => diagnostic,
        };
        match (self.override_of(path), &self.text) {
            (Some(set), _) => diagnostic.in_override(set),
            (None, Some(text)) => diagnostic.at(text.excerpt(path, part)),
            (None, None) => diagnostic,
        }
    }
    fn override_of(&self, path: &ValuePath) -> Option<&str> {
        let last = self.overrides.iter().rev().find(|(overridden, _)| path.is_within(overridden));
        last.map(|(_, set)| set.as_str())
    }
}

impl Text {
    fn excerpt(&self, path: &ValuePath, part: Part) -> Excerpt {
        Excerpt::new(&self.source, self.positions.locate(path, part))
    }
    fn refuse_repeated_keys(&self) -> Result<(), Diagnostics> {
        let diagnostic = |repeated: &super::position::Repeated| {
            let key = repeated.path.last().unwrap_or_default();
            Diagnostic::new(Severity::Error, &repeated.path, format!("duplicate key `{key}`"))
                .in_file(self.file.as_str())
                .at(Excerpt::new(&self.source, repeated.second.clone()))
                .related(Excerpt::new(&self.source, repeated.first.clone()), "first defined here")
                .help("remove one of them")
        };
        match self.positions.repeated.as_slice() {
            [] => Ok(()),
            repeated => {
                let shown = repeated.iter().take(MOST_SHOWN).map(diagnostic);
                Err(Diagnostics::new(shown.chain(more(Severity::Error, repeated.len())).collect()))
            }
        }
    }
}

/// The reason why a text is not YAML, and the line and column of the error, both from 1.
#[derive(Debug)]
pub(super) struct YamlError {
    pub(super) message: String,
    line: Option<(u64, u64)>,
}

/// Limit on the number of values that aliases add to a document.
const MOST_COPIES: usize = 250_000;

/// Parses a YAML 1.2 text.
pub(super) fn yaml_value(source: &str) -> Result<Value, YamlError> {
    // A value needs at least one byte and causes at most two events. A file without aliases therefore cannot
    // exceed these limits; only copies by aliases can.
    let written = source.len();
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MOST_LEVELS,
            max_nodes: written + MOST_COPIES,
            max_events: 2 * written + 4 * MOST_COPIES,
            max_total_scalar_bytes: written + (64 << 20),
            max_aliases: written,
            max_anchors: written,
            // An anchor with many aliases is allowed, because the limits above bound the number of copies.
            enforce_alias_anchor_ratio: false,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options::<Value>(source, options).map_err(|error| {
        let line = error.location().map(|location| (location.line(), location.column()));
        YamlError { message: plain_words(&error.without_snippet().to_string()), line }
    })
}

/// Returns the message of the YAML library without the position, because the diagnostic shows it, and without
/// names of the library's options.
fn plain_words(text: &str) -> String {
    let message = text.split(" at line ").next().unwrap_or(text);
    if message.starts_with("non-finite float") {
        let number = message.split('`').nth(1).unwrap_or("it");
        format!("{number} is not a finite number")
    } else if message.starts_with("multiple YAML documents") {
        "multiple YAML documents: a file has only one document".to_owned()
    } else if message.starts_with("budget breached: Depth") {
        nested_too_deeply("lists and mappings")
    } else if message.starts_with("budget breached") || message.starts_with("alias replay") {
        "too large after expansion of YAML aliases".to_owned()
    } else if message.starts_with("unsupported tag") {
        format!("{message}: write the value without a tag")
    } else {
        message.to_owned()
    }
}

/// Returns the byte offset of `line` and `column` (in characters), both from 1.
fn offset(source: &str, line: u64, column: u64) -> Option<usize> {
    let before: usize = source.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    let rest = source.get(before..)?;
    let within = rest.char_indices().nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at);
    Some(before + within)
}

fn unreadable(file: &str, source: &str, at: Range<usize>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Severity::Error, &ValuePath::root(), message).in_file(file).at(Excerpt::new(source, at))
}

fn not_yaml(file: &str, source: &str, at: Range<usize>, message: &str) -> Diagnostic {
    let tab = source.lines().any(|line| line.trim_start_matches(' ').starts_with('\t'));
    unreadable(file, source, at, format!("not YAML: {message}")).help(if tab {
        "indent YAML with spaces, not tabs"
    } else {
        "the cause may be on an earlier line: a bracket or quote that is not closed, or wrong indentation"
    })
}

fn whole_file(file: &str, message: String) -> Diagnostic {
    Diagnostic::new(Severity::Error, &ValuePath::root(), message).in_file(file)
}

/// Returns the file with the name most similar to the missing `path`, in the same directory.
fn neighbor(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(directory).ok()?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    let missing = path.file_name()?.to_str()?;
    let others = names.iter().map(String::as_str).filter(|name| *name != missing);
    let name = nearest(missing, others)?;
    Some(path.with_file_name(name).display().to_string())
}
