//! [`Findings`]: the diagnostics of the checks.

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::document::Document;
use crate::path::ValuePath;

/// The diagnostics so far.
pub(super) struct Findings<'a> {
    document: &'a Document,
    all: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    /// Starts with the diagnostics `found` before.
    pub(super) fn new(document: &'a Document, found: Vec<Diagnostic>) -> Findings<'a> {
        Findings { document, all: found }
    }
    pub(super) fn error(&mut self, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        self.push(self.document.diagnostic(Severity::Error, path, message))
    }
    pub(super) fn warning(&mut self, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        self.push(self.document.diagnostic(Severity::Warning, path, message))
    }
    /// Reports what `key` of the mapping at `path` must be, unless it is.
    pub(super) fn require(&mut self, is: bool, path: &ValuePath, key: &str, must: &str, help: &str) {
        if !is {
            self.error(&path.join(key), format!("`{key}` must be {must}")).help = Some(help.into());
        }
    }
    /// An error about `path` that repeats or contradicts `other`.
    pub(super) fn clash(
        &mut self,
        path: &ValuePath,
        message: impl Into<String>,
        other: &ValuePath,
    ) -> &mut Diagnostic {
        let diagnostic = self.document.diagnostic(Severity::Error, path, message);
        self.push(self.document.relate(diagnostic, other, "conflicts with this"))
    }
    /// Adds `diagnostic` unless it is known: a policy may be built at several interfaces.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let known = self.all.iter().position(|one| {
            one.path == diagnostic.path && one.message == diagnostic.message && one.file == diagnostic.file
        });
        let index = known.unwrap_or_else(|| {
            self.all.push(diagnostic);
            self.all.len() - 1
        });
        &mut self.all[index]
    }
    pub(super) fn has_errors_within(&self, path: &ValuePath) -> bool {
        let prefix = path.to_string();
        self.all.iter().any(|one| {
            let rest = one.path.strip_prefix(&prefix);
            one.severity == Severity::Error
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
    /// The warnings, if there are no errors.
    pub(super) fn close(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        if self.all.iter().any(|one| one.severity == Severity::Error) {
            Err(Diagnostics::new(self.all))
        } else {
            let mut warnings = self.all;
            warnings.sort_by_key(|one| (one.line.unwrap_or(usize::MAX), one.column));
            Ok(warnings)
        }
    }
}
