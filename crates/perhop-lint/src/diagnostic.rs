//! [`Diagnostic`]: a fault in a configuration, its position, and the router's reaction.

use std::fmt;

use serde::Serialize;

use crate::rule::{Rule, Severity};

/// An error, a warning or a note about one line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// Line in the file, from 1.
    pub line: usize,
    /// The severity of the rule.
    pub severity: Severity,
    /// The rule that reports the diagnostic.
    pub rule: &'static Rule,
    /// The fault.
    pub message: String,
    /// The reaction of the router. perhop behaves in the same way.
    pub router: String,
    /// A certain correction of words in the line, if there is one.
    #[serde(skip)]
    pub fix: Option<Fix>,
}

/// A replacement of words in one line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fix {
    /// Line in the file, from 1.
    pub line: usize,
    /// Words of the line, and their replacements.
    pub words: Vec<(String, String)>,
}

impl Fix {
    /// Returns the line `text` of the file with the replacements.
    pub fn apply(&self, text: &str) -> String {
        let changed = |word: &str| {
            let known = self.words.iter().find(|(from, _)| from == word);
            known.map_or(word, |(_, to)| to).to_owned()
        };
        text.split(' ').map(changed).collect::<Vec<_>>().join(" ")
    }
}

impl Diagnostic {
    /// Creates a diagnostic of `rule` about a line. `router` is the reaction of the router.
    pub fn new(
        rule: &'static Rule,
        line: usize,
        message: impl Into<String>,
        router: impl Into<String>,
    ) -> Diagnostic {
        let (message, router) = (message.into(), router.into());
        Diagnostic { line, severity: rule.severity, rule, message, router, fix: None }
    }
    /// Adds the word that the author probably meant. It is a guess, so it is never a correction.
    #[must_use]
    pub fn suggesting(self, word: Option<&str>) -> Diagnostic {
        let Some(word) = word else { return self };
        Diagnostic { router: format!("{}; did you mean `{word}`?", self.router), ..self }
    }
    /// Adds a certain correction: words of the line and their replacements.
    #[must_use]
    pub fn mended_by(self, words: impl IntoIterator<Item = (String, String)>) -> Diagnostic {
        let fix = Fix { line: self.line, words: words.into_iter().collect() };
        Diagnostic { fix: Some(fix).filter(|fix| !fix.words.is_empty()), ..self }
    }
}

/// Writes one line: `line 12: error: message (reaction of the router)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "line {}: {}: {} ({})", self.line, self.severity, self.message, self.router)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_changes_words_and_keeps_the_space_between_them() {
        let words = vec![("40".to_owned(), "30".to_owned()), ("30".to_owned(), "40".to_owned())];
        let fix = Fix { line: 7, words };
        assert_eq!(fix.apply("  random-detect  dscp 18 40 30 10"), "  random-detect  dscp 18 30 40 10");
    }
}
