//! [`Rule`]: what may be found, under a name that stays.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The router refuses it, or what it does with it cannot be meant; a scenario cannot be run.
    Error,
    /// It works, though probably not as it was meant.
    Warning,
    /// It may be meant, and is worth knowing.
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

/// What may be found in a configuration or a policy.
pub struct Rule {
    /// Its name, which stays from release to release.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Its page in Markdown: what it finds; `Why`, `Source`, `Remedy`; and, where a configuration shows it,
    /// one that is `Bad` and one that is `Good`.
    pub page: &'static str,
}

/// Its name alone.
impl fmt::Debug for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.id)
    }
}

/// Rules are equal by their names.
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

/// As its name.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}
