//! [`Log`]: states, notes and diagnostics of the lines that were read.

use perhop_lint::{Diagnostic, LineState, Rule, Severity};

/// States, notes and diagnostics of the lines that were read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// The notes by line number minus 1.
    lines: Vec<LineNotes>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Debug, Default)]
struct LineNotes {
    state: Option<LineState>,
    notes: Vec<String>,
}

/// The rank of a line's state. A state in which perhop can differ from Linux takes precedence.
fn rank(state: LineState) -> u8 {
    match state {
        LineState::Irrelevant => 0,
        LineState::Modelled => 1,
        LineState::NotModelled => 2,
        LineState::NotRecognized => 3,
        LineState::Suspicious => 4,
    }
}

/// Limit on the notes of one line.
const MOST_NOTES: usize = 24;

impl Log {
    fn at(&mut self, line: usize) -> &mut LineNotes {
        if self.lines.len() < line {
            self.lines.resize_with(line, LineNotes::default);
        }
        &mut self.lines[line.max(1) - 1]
    }
    /// Sets the state of a line, unless its state has a higher rank.
    pub(crate) fn state(&mut self, line: usize, state: LineState) {
        let entry = self.at(line);
        if entry.state.is_none_or(|known| rank(known) < rank(state)) {
            entry.state = Some(state);
        }
    }
    /// Adds a note to a line.
    pub(crate) fn note(&mut self, line: usize, note: impl Into<String>) {
        let (entry, note) = (self.at(line), note.into());
        if entry.notes.len() < MOST_NOTES && !entry.notes.contains(&note) {
            entry.notes.push(note);
        }
    }
    /// Records a part of a line that perhop does not model.
    pub(crate) fn not_modelled(&mut self, line: usize, note: impl Into<String>) {
        self.state(line, LineState::NotModelled);
        self.note(line, note);
    }
    /// Adds a diagnostic about a line, with the reaction of Linux.
    pub(crate) fn found(
        &mut self,
        rule: &'static Rule,
        line: usize,
        message: impl Into<String>,
        linux: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::new(rule, line, message, linux);
        self.add(diagnostic);
    }
    /// Adds a diagnostic unless the log already contains it.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity != Severity::Note {
            self.state(diagnostic.line, LineState::Suspicious);
        }
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }
    /// Records that the line `by` undoes `line`.
    pub(crate) fn taken_back(&mut self, line: usize, by: usize) {
        let entry = self.at(line);
        entry.state = Some(LineState::Irrelevant);
        entry.notes = vec![format!("line {by} undoes this line")];
        self.diagnostics.retain(|diagnostic| diagnostic.line != line);
    }
    /// Returns the state of a line, and its note.
    pub(crate) fn line_state(&self, line: usize) -> (LineState, Option<String>) {
        let Some(entry) = self.lines.get(line - 1) else { return (LineState::Irrelevant, None) };
        let note = (!entry.notes.is_empty()).then(|| entry.notes.join("; "));
        (entry.state.unwrap_or(LineState::Irrelevant), note)
    }
}
