//! [`Diagnostic`]: what is wrong with a configuration, where, and what the router does about it.

use std::fmt;

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The router refuses it, or what it does with it cannot be meant.
    Error,
    /// The router takes it, though probably not as it was meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.pad(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// One thing that is wrong or doubtful.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    /// Line in the file, from 1.
    pub line: usize,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// What the router itself does with it, and perhop after it.
    pub router: String,
}

impl Diagnostic {
    /// The router refuses it, or what it does with it cannot be meant.
    pub fn error(line: usize, message: impl Into<String>, router: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, line, message: message.into(), router: router.into() }
    }
    /// The router takes it, though probably not as it was meant.
    pub fn warning(line: usize, message: impl Into<String>, router: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, line, message: message.into(), router: router.into() }
    }
}

/// One line: `line 12: error: message (what the router does)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "line {}: {}: {} ({})", self.line, self.severity, self.message, self.router)
    }
}
