//! [`Diagnostic`]: what is wrong with a file, where, and what would be right, for people and for programs.

use std::fmt;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use super::path::ValuePath;
use super::position::Excerpt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nothing is run.
    Error,
    /// It is run, though probably not what was meant.
    Warning,
}

/// Whether rendered text carries ANSI colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coloring {
    /// For files, pipes and terminals that asked for none.
    Plain,
    /// For a terminal.
    Ansi,
}

/// One thing that is wrong or doubtful.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file at fault; `None` for a scenario that came from no file.
    pub file: Option<String>,
    /// Line in the file, from 1; `None` where the value does not stand in the file.
    pub line: Option<usize>,
    /// Column in the line, in characters from 1.
    pub column: Option<usize>,
    /// Path of the value, as `--set` takes it; empty for the document as a whole.
    pub path: String,
    /// The override (`path=value`) that brought the value in, if one did.
    pub set: Option<String>,
    /// What was found.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    /// The line of the file, for the rendered text.
    #[serde(skip)]
    excerpt: Option<Excerpt>,
    /// Another line that the message speaks of, and what to say beside it.
    #[serde(skip)]
    related: Option<(Excerpt, String)>,
}

impl Diagnostic {
    /// A diagnostic about `path` that names no file yet.
    pub fn new(severity: Severity, path: &ValuePath, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
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
    /// The same with what would be right.
    pub fn help(self, help: impl Into<String>) -> Diagnostic {
        Diagnostic { help: Some(help.into()), ..self }
    }
    /// The same, said of the value at `path`.
    pub(super) fn about(self, path: &ValuePath) -> Diagnostic {
        Diagnostic { path: path.to_string(), ..self }
    }
    /// The same, in `file`.
    pub fn in_file(self, file: impl Into<String>) -> Diagnostic {
        Diagnostic { file: Some(file.into()), ..self }
    }
    /// The same, at a line of its file.
    pub(super) fn at(self, excerpt: Excerpt) -> Diagnostic {
        let (line, column) = (Some(excerpt.line), Some(excerpt.column()));
        Diagnostic { line, column, excerpt: Some(excerpt), ..self }
    }
    /// The same, in a value that the override `set` brought in.
    pub(super) fn in_override(self, set: &str) -> Diagnostic {
        Diagnostic { set: Some(set.to_owned()), ..self }
    }
    /// The same with another line to look at.
    pub(super) fn related(self, excerpt: Excerpt, label: &str) -> Diagnostic {
        Diagnostic { related: Some((excerpt, label.to_owned())), ..self }
    }

    /// The diagnostic as text: message, the line it is about with a mark under the place, path, help.
    pub fn render(&self, coloring: Coloring) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(self.message.as_str());
        let mut group = match &self.excerpt {
            Some(excerpt) => title.element(self.snippet(excerpt, AnnotationKind::Primary, None)),
            None => match self.origin() {
                Some(origin) => title.element(Origin::path(origin)),
                None => Group::with_title(title),
            },
        };
        if let Some((excerpt, label)) = &self.related {
            group = group.element(self.snippet(excerpt, AnnotationKind::Context, Some(label)));
        }
        if self.excerpt.is_some() && !self.path.is_empty() {
            group = group.element(Level::NOTE.with_name("path").message(self.path.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = match coloring {
            Coloring::Plain => Renderer::plain(),
            Coloring::Ansi => Renderer::styled(),
        };
        renderer.decor_style(DecorStyle::Ascii).render(&[group])
    }

    fn snippet<'a>(
        &'a self,
        excerpt: &'a Excerpt,
        kind: AnnotationKind,
        label: Option<&'a str>,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        Snippet::source(excerpt.text.as_str())
            .line_start(excerpt.line)
            .path(self.file.as_deref())
            .annotation(kind.span(excerpt.range.clone()).label(label))
    }
    /// What stands for the place where no line of a file can be shown.
    fn origin(&self) -> Option<String> {
        match (&self.set, &self.file, self.path.as_str()) {
            (Some(set), ..) => Some(format!("{set}, set in place of what the scenario says")),
            (None, Some(file), "") => Some(file.clone()),
            (None, Some(file), path) => Some(format!("{file}, {path}")),
            (None, None, "") => None,
            (None, None, path) => Some(path.to_owned()),
        }
    }
}

/// One line: `file:line: message (help)`.
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

/// Everything that is wrong or doubtful with one scenario, at least one error among it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// `all`, in the order of the file, errors before warnings.
    pub fn new(mut all: Vec<Diagnostic>) -> Diagnostics {
        all.sort_by_key(|one| (one.severity, one.line.unwrap_or(usize::MAX), one.column));
        Diagnostics(all)
    }
    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
    /// All of them as text, an empty line between two.
    pub fn render(&self, coloring: Coloring) -> String {
        render(&self.0, coloring)
    }
    /// All of them as one JSON array.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!(self.0)
    }
}

/// `diagnostics` as text, an empty line between two.
pub fn render(diagnostics: &[Diagnostic], coloring: Coloring) -> String {
    diagnostics.iter().map(|one| one.render(coloring)).collect::<Vec<_>>().join("\n\n")
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics(vec![one])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.render(Coloring::Plain))
    }
}

impl std::error::Error for Diagnostics {}
