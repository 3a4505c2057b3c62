//! Semantic checks beyond types: names must exist, numbers must be consistent, destinations must be
//! reachable.
//!
//! All checks run, so that an author sees all errors at once.

mod datagram;
mod findings;
mod judged;
mod measure;
mod pauses;
mod policies;
mod topology;
mod traffic;

use std::path::Path;

use perhop_qos::policy::PolicyConfig;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::Document;
use super::path::ValuePath;
use crate::scenario::Scenario;
use findings::Findings;

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
    let mut findings = Findings::new(document, found);
    run(scenario, &mut findings);
    let network = topology::check(scenario, &mut findings);
    traffic::check(scenario, &network, base, &mut findings);
    policies::check(scenario, &network, &mut findings);
    pauses::check(scenario, &mut findings);
    measure::check(scenario, &network, &mut findings);
    findings.close()
}

/// Checks policies without a scenario.
///
/// # Errors
/// All errors in the policies.
pub(super) fn validate_policies<'a>(
    document: &Document,
    policies: impl IntoIterator<Item = (ValuePath, &'a PolicyConfig)>,
) -> Result<(), Diagnostics> {
    let mut findings = Findings::new(document, Vec::new());
    for (path, policy) in policies {
        policies::check_alone(&path, policy, &mut findings);
    }
    findings.close().map(|_| ())
}

/// Checks version, duration and replications.
fn run(scenario: &Scenario, findings: &mut Findings) {
    if scenario.perhop != LANGUAGE_VERSION {
        let found = scenario.perhop;
        findings.error(&"perhop".into(), format!("unknown version {found} of the scenario language")).help =
            Some(format!("write `perhop: {LANGUAGE_VERSION}`"));
    }
    let (root, has_duration) = (ValuePath::root(), scenario.duration.as_picoseconds() > 0);
    findings.require(has_duration, &root, "duration", "above 0", "for example 60s");
    let help = "1 runs the experiment once";
    findings.require(scenario.replications != Some(0), &root, "replications", "at least 1", help);
}
