//! What types cannot say: names that must exist, numbers that must fit together, routes that must lead somewhere.
//!
//! Every check runs, whatever the others find: an author sees all errors at once.

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

/// The version of the language that this program reads.
const LANGUAGE_VERSION: u32 = 1;

/// Checks `scenario`, which `document` says; `found` was found before: the warnings.
///
/// # Errors
/// Everything that is wrong, warnings included.
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

/// Checks policies that no scenario surrounds.
///
/// # Errors
/// Everything that is wrong with any of them.
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
        findings
            .error(&"perhop".into(), format!("version {found} of the scenario language is not known"))
            .help = Some(format!("write `perhop: {LANGUAGE_VERSION}`"));
    }
    if scenario.duration.as_picoseconds() == 0 {
        findings.error(&"duration".into(), "a run of no duration measures nothing").help =
            Some("for example 60s".into());
    }
    if scenario.replications == 0 {
        findings.error(&"replications".into(), "0 replications run nothing").help = Some("at least 1".into());
    }
}

/// What has been found so far.
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
        self.push(self.document.relate(diagnostic, other, "the other one"))
    }
    /// Adds `diagnostic` unless it is there already: a policy may be built at several interfaces.
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
    /// The warnings, if there is nothing worse.
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
