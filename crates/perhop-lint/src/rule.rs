//! [`Rule`]: a rule with a stable name.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The router rejects the line, the effect of the line cannot be intended, or a scenario cannot run.
    Error,
    /// The line has an effect, but probably not the intended effect.
    Warning,
    /// The line may be intended, but its effect may surprise the author.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}

/// A rule for configurations or policies.
pub struct Rule {
    /// The name, stable across releases.
    pub id: &'static str,
    /// The severity of the findings.
    pub severity: Severity,
    /// The page in Markdown: a description; the sections `Why`, `Source` and `Remedy`; and optionally a `Bad`
    /// and a `Good` configuration. Empty in WebAssembly.
    pub page: &'static str,
}

/// Writes the name.
impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.id)
    }
}

/// Compares the names.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id
    }
}
impl Eq for Rule {}

impl Ord for Rule {
    fn cmp(&self, other: &Rule) -> Ordering {
        self.id.cmp(other.id)
    }
}
impl PartialOrd for Rule {
    fn partial_cmp(&self, other: &Rule) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Serializes the name.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}
