//! [`Notes`]: the differences that a writer records.

use perhop_lint::pictured;

use crate::writing::NotExpressed;

/// The recorded differences, without duplicates, in order.
#[derive(Clone, Debug, Default)]
pub struct Notes(Vec<NotExpressed>);

impl Notes {
    /// Adds a difference.
    pub fn add(&mut self, note: NotExpressed) {
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }
    /// Returns the differences.
    pub fn into_list(self) -> Vec<NotExpressed> {
        self.0
    }
    /// Returns the differences so far.
    pub fn list(&self) -> &[NotExpressed] {
        &self.0
    }
    /// Returns a recorder for the differences of one policy or class.
    pub fn at<'a>(&'a mut self, place: &str) -> NotesAt<'a> {
        NotesAt { notes: self, place: place.to_owned() }
    }
}

/// Adds the differences of one policy or class.
#[derive(Debug)]
pub struct NotesAt<'a> {
    notes: &'a mut Notes,
    place: String,
}

impl NotesAt<'_> {
    /// Adds a missing or different construct, with the reason.
    pub fn report(&mut self, construct: impl Into<String>, reason: impl Into<String>) {
        self.add(Missing::new(construct, reason));
    }
    /// Adds a missing or different construct, with the reason and a change that avoids the difference.
    pub fn report_with_change(
        &mut self,
        construct: impl Into<String>,
        reason: impl Into<String>,
        instead: &str,
    ) {
        self.add(Missing::new(construct, reason).instead(instead));
    }
    /// Adds a missing construct.
    pub fn add(&mut self, missing: Missing) {
        let Missing { construct, reason, instead } = missing;
        self.notes.add(NotExpressed { construct, place: self.place.clone(), reason, instead });
    }
}

/// A construct that a language lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    construct: String,
    reason: String,
    instead: Option<String>,
}

impl Missing {
    /// Creates a missing construct with the reason for the difference.
    pub fn new(construct: impl Into<String>, reason: impl Into<String>) -> Missing {
        Missing { construct: construct.into(), reason: reason.into(), instead: None }
    }
    /// Adds a change that avoids the difference.
    #[must_use]
    pub fn instead(self, change: &str) -> Missing {
        Missing { instead: Some(change.to_owned()), ..self }
    }
}

/// Converts text for a comment. Line breaks are removed, because names come from files and a line break in a
/// name would start a command.
pub fn comment(text: &str) -> String {
    pictured(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
