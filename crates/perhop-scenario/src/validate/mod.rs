//! Semantic checks beyond types: names must exist, numbers must be consistent, destinations must be
//! reachable.
//!
//! All checks run, so that an author sees all errors at once.

mod application;
mod measure;
mod policies;
mod topology;
mod traffic;

use std::path::Path;

use perhop_qos::policy::PolicyConfig;

use super::Scenario;
use super::diagnostic::{Diagnostic, Diagnostics, Severity};
use super::document::Document;
use super::path::ValuePath;

/// The supported version of the scenario language.
const LANGUAGE_VERSION: u32 = 1;

/// Checks `scenario`, decoded from `document`, and returns all warnings, including those in `found`.
///
/// # Errors
/// All errors and warnings, if there is any error.
pub(super) fn validate_scenario(
    document: &Document,
    scenario: &Scenario,
    base: &Path,
    found: Vec<Diagnostic>,
) -> Result<Vec<Diagnostic>, Diagnostics> {
    let mut findings = Findings { document, all: found };
    run(scenario, &mut findings);
    let network = topology::check(scenario, &mut findings);
    traffic::check(scenario, &network, base, &mut findings);
    policies::check(scenario, &network, &mut findings);
    measure::check(scenario, &network, &mut findings);
    findings.close()
}

/// Checks policies outside a scenario.
///
/// # Errors
/// All errors in any of them.
pub(super) fn validate_policies<'a>(
    document: &Document,
    policies: impl IntoIterator<Item = (ValuePath, &'a PolicyConfig)>,
) -> Result<(), Diagnostics> {
    let mut findings = Findings::new(document);
    for (path, policy) in policies {
        policies::check_alone(&path, policy, &mut findings);
    }
    findings.close().map(|_| ())
}

/// Version, duration, replications.
fn run(scenario: &Scenario, findings: &mut Findings) {
    if scenario.perhop != LANGUAGE_VERSION {
        let found = scenario.perhop;
        findings.error(&"perhop".into(), format!("unknown version {found} of the scenario language")).help =
            Some(format!("write `perhop: {LANGUAGE_VERSION}`"));
    }
    if scenario.duration.as_picoseconds() == 0 {
        findings.error(&"duration".into(), "`duration` must be above 0").help =
            Some("for example 60s".into());
    }
    if scenario.replications == 0 {
        findings.error(&"replications".into(), "`replications` must be at least 1").help =
            Some("1 runs the experiment once".into());
    }
}

/// The diagnostics so far.
pub(super) struct Findings<'a> {
    document: &'a Document,
    all: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    fn new(document: &'a Document) -> Findings<'a> {
        Findings { document, all: Vec::new() }
    }
    fn error(&mut self, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        self.push(self.document.diagnostic(Severity::Error, path, message))
    }
    fn warning(&mut self, path: &ValuePath, message: impl Into<String>) -> &mut Diagnostic {
        self.push(self.document.diagnostic(Severity::Warning, path, message))
    }
    /// An error about `path` that repeats or contradicts `other`.
    fn clash(&mut self, path: &ValuePath, message: impl Into<String>, other: &ValuePath) -> &mut Diagnostic {
        let diagnostic = self.document.diagnostic(Severity::Error, path, message);
        self.push(self.document.relate(diagnostic, other, "conflicts with this"))
    }
    /// Adds `diagnostic` unless it is known: a policy may be built at several interfaces.
    fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let known = self.all.iter().position(|one| {
            one.path == diagnostic.path && one.message == diagnostic.message && one.file == diagnostic.file
        });
        let index = known.unwrap_or_else(|| {
            self.all.push(diagnostic);
            self.all.len() - 1
        });
        &mut self.all[index]
    }
    fn has_errors_within(&self, path: &ValuePath) -> bool {
        let prefix = path.to_string();
        self.all.iter().any(|one| {
            let rest = one.path.strip_prefix(&prefix);
            one.severity == Severity::Error
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
    /// The warnings, if there are no errors.
    fn close(self) -> Result<Vec<Diagnostic>, Diagnostics> {
        if self.all.iter().any(|one| one.severity == Severity::Error) {
            Err(Diagnostics::new(self.all))
        } else {
            let mut warnings = self.all;
            warnings.sort_by_key(|one| (one.line.unwrap_or(usize::MAX), one.column));
            Ok(warnings)
        }
    }
}
