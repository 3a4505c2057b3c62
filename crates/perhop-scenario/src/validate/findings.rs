//! [`Findings`]: the diagnostics of the checks.

use crate::diagnostic::{Diagnostic, Diagnostics, MOST_SHOWN, Severity, more};
use crate::document::Document;
use crate::path::ValuePath;

/// The diagnostics that were found: at most 100 errors and 100 warnings, and the total numbers.
pub(super) struct Findings<'a> {
    document: &'a Document,
    all: Vec<Diagnostic>,
    /// Number of errors and of warnings, including those above the limits.
    counts: [usize; 2],
    /// A diagnostic that callers modify in place of a diagnostic above the limits.
    beyond: Diagnostic,
}

impl<'a> Findings<'a> {
    /// Creates findings that begin with the diagnostics `found`.
    pub(super) fn new(document: &'a Document, found: Vec<Diagnostic>) -> Findings<'a> {
        let beyond = Diagnostic::new(Severity::Error, &ValuePath::root(), "");
        let mut findings = Findings { document, all: Vec::new(), counts: [0; 2], beyond };
        for diagnostic in found {
            findings.push(diagnostic);
        }
        findings
    }
    pub(super) fn error(&mut self, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        self.find(Severity::Error, path, message)
    }
    pub(super) fn warning(&mut self, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        self.find(Severity::Warning, path, message)
    }
    /// Adds an error. The help text is expensive, so `help` computes it only if the error is shown.
    pub(super) fn error_with(
        &mut self,
        path: &ValuePath,
        message: impl Into<String>,
        help: impl FnOnce() -> String,
    ) {
        let is_shown = !self.is_full();
        let found = self.error(path, message);
        if is_shown {
            found.help = Some(help());
        }
    }
    /// Whether the limit of shown errors is reached.
    pub(super) fn is_full(&self) -> bool {
        self.counts[Severity::Error as usize] >= MOST_SHOWN
    }
    fn find(&mut self, severity: Severity, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        let message = message.into();
        // The search for a position reads the whole file, so a diagnostic that was already added is looked up
        // first.
        if let Some(index) = self.known(&path.to_string(), &message, self.document.file()) {
            return &mut self.all[index];
        }
        if self.counts[severity as usize] >= MOST_SHOWN {
            self.counts[severity as usize] += 1;
            return &mut self.beyond;
        }
        self.push(self.document.diagnostic(severity, path, message))
    }
    /// Reports that `key` of the mapping at `path` must meet the condition `must`, unless `is` is true.
    pub(super) fn require(&mut self, is: bool, path: &ValuePath, key: &str, must: &str, help: &str) {
        if !is {
            self.error(&path.join(key), format!("`{key}` must be {must}")).help = Some(help.into());
        }
    }
    /// Adds an error about `path`, whose value repeats or contradicts the value at `other`.
    pub(super) fn clash(
        &mut self,
        path: &ValuePath,
        message: impl Into<String>,
        other: &ValuePath,
    ) -> &mut Diagnostic {
        if self.counts[Severity::Error as usize] >= MOST_SHOWN {
            return self.error(path, message);
        }
        let diagnostic = self.document.diagnostic(Severity::Error, path, message);
        self.push(self.document.relate(diagnostic, other, "conflicts with this line"))
    }
    /// Adds `diagnostic` unless it was already added. The same diagnostic is found at each interface that
    /// uses a policy.
    pub(super) fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let Diagnostic { path, message, file, .. } = &diagnostic;
        if let Some(index) = self.known(path, message, file.as_deref()) {
            return &mut self.all[index];
        }
        let count = &mut self.counts[diagnostic.severity as usize];
        *count += 1;
        if *count > MOST_SHOWN {
            return &mut self.beyond;
        }
        self.all.push(diagnostic);
        self.all.last_mut().unwrap_or(&mut self.beyond)
    }
    fn known(&self, path: &str, message: &str, file: Option<&str>) -> Option<usize> {
        let is_same = |diagnostic: &Diagnostic| {
            diagnostic.path == path && diagnostic.message == message && diagnostic.file.as_deref() == file
        };
        self.all.iter().position(is_same)
    }
    pub(super) fn has_errors_within(&self, path: &ValuePath) -> bool {
        let prefix = path.to_string();
        self.all.iter().any(|diagnostic| {
            let rest = diagnostic.path.strip_prefix(&prefix);
            diagnostic.severity == Severity::Error
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
    /// Returns the warnings.
    ///
    /// # Errors
    /// All diagnostics, if there is any error.
    pub(super) fn close(mut self) -> Result<Vec<Diagnostic>, Diagnostics> {
        for (severity, count) in [Severity::Error, Severity::Warning].into_iter().zip(self.counts) {
            self.all.extend(more(severity, count));
        }
        if self.all.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            Err(Diagnostics::new(self.all))
        } else {
            let mut warnings = self.all;
            warnings.sort_by_key(|diagnostic| (diagnostic.line.unwrap_or(usize::MAX), diagnostic.column));
            Ok(warnings)
        }
    }
}
