//! [`Notes`]: what Linux does not have, or has otherwise.

use perhop_device::NotExpressed;
use perhop_lint::pictured;

/// The differences of a script, each once, in order.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<NotExpressed>);

impl Notes {
    /// Adds one.
    pub(super) fn add(&mut self, note: NotExpressed) {
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }
    /// Returns them.
    pub(super) fn into_list(self) -> Vec<NotExpressed> {
        self.0
    }
    /// Returns a place for the differences of one policy or class.
    pub(super) fn at<'a>(&'a mut self, place: &str) -> NotesAt<'a> {
        NotesAt { notes: self, place: place.to_owned() }
    }
}

/// Adds the differences of one policy or class.
pub(super) struct NotesAt<'a> {
    notes: &'a mut Notes,
    place: String,
}

impl NotesAt<'_> {
    /// Adds a construct and the reason for the difference.
    pub(super) fn say(&mut self, construct: impl Into<String>, reason: impl Into<String>) {
        self.add(Missing::new(construct, reason));
    }
    /// Adds a construct, the reason for the difference, and a change after which it is gone.
    pub(super) fn say_instead(
        &mut self,
        construct: impl Into<String>,
        reason: impl Into<String>,
        instead: &str,
    ) {
        self.add(Missing::new(construct, reason).instead(instead));
    }
    /// Adds what is missing.
    pub(super) fn add(&mut self, missing: Missing) {
        let Missing { construct, reason, instead } = missing;
        self.notes.add(NotExpressed { construct, place: self.place.clone(), reason, instead });
    }
}

/// A construct that Linux does not have.
#[derive(Debug)]
pub(super) struct Missing {
    construct: String,
    reason: String,
    instead: Option<String>,
}

impl Missing {
    /// A construct and the reason.
    pub(super) fn new(construct: impl Into<String>, reason: impl Into<String>) -> Missing {
        Missing { construct: construct.into(), reason: reason.into(), instead: None }
    }
    /// Adds a change after which nothing is missing.
    pub(super) fn instead(self, change: &str) -> Missing {
        Missing { instead: Some(change.to_owned()), ..self }
    }
}

/// Returns a text for a comment: names come from files, and a line end in one would begin a command.
pub(super) fn comment(text: &str) -> String {
    pictured(text).split_whitespace().collect::<Vec<_>>().join(" ")
}
