//! [`Diagnostic`]: what is wrong with a configuration, where, and what the router does about it.

use std::fmt;

use serde::Serialize;

use crate::rule::{Rule, Severity};

/// One thing that is wrong or doubtful.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// Line in the file, from 1.
    pub line: usize,
    /// How bad it is, which its rule says.
    pub severity: Severity,
    /// By which rule it was found.
    pub rule: &'static Rule,
    /// What was found.
    pub message: String,
    /// What the router itself does with it, and perhop after it.
    pub router: String,
    /// What mends it, where other words in its line do.
    #[serde(skip)]
    pub fix: Option<Fix>,
}

/// A change of one line: words that become others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fix {
    /// Line in the file, from 1.
    pub line: usize,
    /// Words of the line, and what is to stand in their place.
    pub words: Vec<(String, String)>,
}

impl Fix {
    /// `text`, the line as it stands in the file, with the change.
    pub fn apply(&self, text: &str) -> String {
        let changed = |word: &str| {
            let known = self.words.iter().find(|(from, _)| from == word);
            known.map_or(word, |(_, to)| to).to_owned()
        };
        text.split(' ').map(changed).collect::<Vec<_>>().join(" ")
    }
}

impl Diagnostic {
    /// What `rule` found in a line, and what the router does.
    pub fn new(
        rule: &'static Rule,
        line: usize,
        message: impl Into<String>,
        router: impl Into<String>,
    ) -> Diagnostic {
        let (message, router) = (message.into(), router.into());
        Diagnostic { line, severity: rule.severity, rule, message, router, fix: None }
    }
    /// This diagnostic, with the words of its line that mend it: what stands there, and what is to.
    #[must_use]
    pub fn mended_by(self, words: impl IntoIterator<Item = (String, String)>) -> Diagnostic {
        let fix = Fix { line: self.line, words: words.into_iter().collect() };
        Diagnostic { fix: Some(fix).filter(|fix| !fix.words.is_empty()), ..self }
    }
}

/// One line: `line 12: error: message (what the router does)`.
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
