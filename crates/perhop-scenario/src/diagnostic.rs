//! [`Diagnostic`]: an error or warning about a file, with its position and a remedy, as text and as JSON.

use std::fmt;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
pub use perhop_lint::Severity;
use perhop_lint::{Rule, changes_order, pictured, rules};
use serde::Serialize;

use super::path::ValuePath;
use super::position::Excerpt;

/// Limit on the errors, and on the warnings, that are shown for a document.
pub(super) const MOST_SHOWN: usize = 100;

/// Returns the message about the diagnostics of a severity that exceed the limit, if there are any.
pub(super) fn more(severity: Severity, count: usize) -> Option<Diagnostic> {
    let beyond = count.checked_sub(MOST_SHOWN).filter(|beyond| *beyond > 0)?;
    let what = match severity {
        Severity::Error => "errors",
        Severity::Warning => "warnings",
        Severity::Note => "notes",
    };
    Some(Diagnostic::new(severity, &ValuePath::root(), format!("and {beyond} more {what}")))
}

/// Whether rendered text contains ANSI colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coloring {
    /// Without colors, for files, pipes and terminals without colors.
    Plain,
    /// With ANSI colors, for a terminal.
    Ansi,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnostic {
    /// Error, warning or note.
    pub severity: Severity,
    /// The rule that reports the diagnostic.
    pub rule: &'static Rule,
    /// The file; `None` for a scenario that did not come from a file.
    pub file: Option<String>,
    /// Line in the file, from 1; `None` if the value is not in the file.
    pub line: Option<usize>,
    /// Column in the line, in characters from 1.
    pub column: Option<usize>,
    /// Path of the value in the form of `--set`; empty for the whole document.
    pub path: String,
    /// The override (`path=value`) that set the value, if any.
    pub set: Option<String>,
    /// The description of the fault.
    pub message: String,
    /// The description of the correction.
    pub help: Option<String>,
    /// The line of the file, for the rendered text.
    #[serde(skip)]
    excerpt: Option<Excerpt>,
    /// Another line that the message refers to, and its label.
    #[serde(skip)]
    related: Option<(Excerpt, String)>,
}

impl Diagnostic {
    /// Creates a diagnostic about `path`, without a file.
    pub fn new(severity: Severity, path: &ValuePath, message: impl Into<String>) -> Diagnostic {
        let rule = match severity {
            Severity::Error => &rules::SCENARIO_INVALID,
            Severity::Warning | Severity::Note => &rules::SCENARIO_DOUBTFUL,
        };
        Diagnostic {
            severity,
            rule,
            file: None,
            line: None,
            column: None,
            path: path.to_string(),
            set: None,
            message: message.into(),
            help: None,
            excerpt: None,
            related: None,
        }
    }
    /// Sets the rule that reports the diagnostic.
    pub fn by(self, rule: &'static Rule) -> Diagnostic {
        Diagnostic { rule, ..self }
    }
    /// Sets the text about the correction.
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }
    /// Sets the file.
    pub fn in_file(self, file: impl Into<String>) -> Diagnostic {
        Diagnostic { file: Some(file.into()), ..self }
    }
    /// Sets the line and the column from `excerpt`.
    pub(super) fn at(self, excerpt: Excerpt) -> Diagnostic {
        let (line, column) = (Some(excerpt.line), Some(excerpt.column));
        Diagnostic { line, column, excerpt: Some(excerpt), ..self }
    }
    /// Sets the line, from 1, in `lines` of a file other than the document.
    pub fn at_line(self, lines: &[&str], line: usize) -> Diagnostic {
        self.at(Excerpt::of_line(lines, line))
    }
    /// Sets the override that set the value.
    pub(super) fn in_override(self, set: &str) -> Diagnostic {
        Diagnostic { set: Some(set.to_owned()), ..self }
    }
    /// Sets another line to show, with its label.
    pub(super) fn related(self, excerpt: Excerpt, label: &str) -> Diagnostic {
        Diagnostic { related: Some((excerpt, label.to_owned())), ..self }
    }

    /// Renders the message, the line with the position marked, the path and the help.
    pub fn render(&self, coloring: Coloring) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut title = level.primary_title(self.message.as_str());
        if ![&rules::SCENARIO_INVALID, &rules::SCENARIO_DOUBTFUL].contains(&self.rule) {
            title = title.id(self.rule.id);
        }
        let file = self.file.as_deref().map(pictured);
        let origin = self.origin();
        let mut group = match &self.excerpt {
            Some(excerpt) => title.element(snippet(file.as_deref(), excerpt, AnnotationKind::Primary, None)),
            None => match origin.as_deref().map(pictured) {
                Some(origin) => title.element(Origin::path(origin)),
                None => Group::with_title(title),
            },
        };
        if let Some((excerpt, label)) = &self.related {
            group = group.element(snippet(file.as_deref(), excerpt, AnnotationKind::Context, Some(label)));
        }
        if self.excerpt.is_some() && !self.path.is_empty() {
            group = group.element(Level::NOTE.with_name("path").message(pictured(&self.path)));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(pictured(help)));
        }
        let renderer = match coloring {
            Coloring::Plain => Renderer::plain(),
            Coloring::Ansi => Renderer::styled(),
        };
        // The renderer replaces control characters in titles and source lines, but not these characters.
        renderer.decor_style(DecorStyle::Ascii).render(&[group]).replace(changes_order, "\u{fffd}")
    }

    /// Returns the position as text, for a diagnostic without a source line.
    fn origin(&self) -> Option<String> {
        match (&self.set, &self.file, self.path.as_str()) {
            (Some(set), ..) => Some(format!("override {set}")),
            (None, Some(file), "") => Some(file.clone()),
            (None, Some(file), path) => Some(format!("{file}, {path}")),
            (None, None, "") => None,
            (None, None, path) => Some(path.to_owned()),
        }
    }
}

/// Writes one line: `file:line: message (help)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(formatter, "{file}:")?;
            self.line.map_or(Ok(()), |line| write!(formatter, "{line}:"))?;
            formatter.write_str(" ")?;
        }
        formatter.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(formatter, " ({help})"))
    }
}

impl std::error::Error for Diagnostic {}

/// The diagnostics of one scenario, at least one of which is an error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Sorts `all`: errors before warnings, and diagnostics of one severity in the order of the file.
    pub fn new(mut all: Vec<Diagnostic>) -> Diagnostics {
        all.sort_by_key(|diagnostic| {
            (diagnostic.severity, diagnostic.line.unwrap_or(usize::MAX), diagnostic.column)
        });
        Diagnostics(all)
    }
    /// Iterates over the diagnostics in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
    /// Renders all diagnostics as text, separated by empty lines.
    pub fn render(&self, coloring: Coloring) -> String {
        render(&self.0, coloring)
    }
    /// Returns all diagnostics as a JSON array.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self.0)
    }
}

fn snippet<'a>(
    file: Option<&'a str>,
    excerpt: &'a Excerpt,
    kind: AnnotationKind,
    label: Option<&'a str>,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    Snippet::source(excerpt.text.as_str())
        .line_start(excerpt.line)
        .path(file)
        .annotation(kind.span(excerpt.range.clone()).label(label))
}

/// Renders `diagnostics` as text, separated by empty lines.
pub fn render(diagnostics: &[Diagnostic], coloring: Coloring) -> String {
    diagnostics.iter().map(|diagnostic| diagnostic.render(coloring)).collect::<Vec<_>>().join("\n\n")
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.render(Coloring::Plain))
    }
}

impl std::error::Error for Diagnostics {}
