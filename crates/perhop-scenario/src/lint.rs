//! What rules find in the policies of a scenario that runs.

use std::collections::BTreeMap;

use perhop_lint::{Finding, Place, Severity, Subject, check};
use perhop_qos::Rate;
use perhop_qos::framing::HeaderStack;
use perhop_qos::policy::{PolicyConfig, WireConfig};

use super::diagnostic::{Diagnostic, MOST_SHOWN, more};
use super::document::Document;
use super::path::ValuePath;
use super::scenario::Scenario;

/// Warnings and notes about the policies of `scenario`, which `document` holds: each at the first interface
/// that uses it, or by itself.
pub(super) fn of_scenario(document: &Document, scenario: &Scenario) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut used = BTreeMap::new();
    for link in &scenario.links {
        for (node, interface) in &link.interfaces {
            let rate = interface.rate.unwrap_or(link.rate);
            let headers = HeaderStack::EMPTY;
            let wire = WireConfig { rate, framing: link.framing(), headers, ring: interface.ring };
            if let Some(name) = &interface.output {
                used.entry(name.as_str()).or_insert((node, Some(wire)));
            }
            if let Some(name) = &interface.input {
                used.entry(name.as_str()).or_insert((node, None));
            }
        }
    }
    for (name, policy) in &scenario.policies {
        let path = ValuePath::from("policies").join(name);
        let (node, wire) = used.get(name.as_str()).map_or((None, None), |(node, wire)| (Some(*node), *wire));
        // An interface is called by the neighbor at its other end.
        let at = |link: &&crate::LinkConfig| node.is_some_and(|node| link.interfaces.contains_key(node));
        let ends = scenario.links.iter().filter(at).flat_map(|link| link.interfaces.keys());
        let interfaces: Vec<String> = ends.filter(|other| Some(*other) != node).cloned().collect();
        found.extend(of_policy(document, &path, policy, wire.as_ref(), &interfaces));
    }
    shown(&found)
}

/// Warnings and notes about a policy that stands by itself.
pub(super) fn of_policy(
    document: &Document,
    path: &ValuePath,
    policy: &PolicyConfig,
    wire: Option<&WireConfig>,
    interfaces: &[String],
) -> Vec<Diagnostic> {
    let limits: BTreeMap<String, Rate> = BTreeMap::new();
    let rate = wire.map(|wire| wire.rate);
    let subject = Subject { policy, rate, wire, limits: &limits, interfaces };
    let to_diagnostic = |finding: Finding| {
        let at = place(path, &finding.place);
        let severity = finding.rule.severity;
        document.diagnostic(severity, &at, finding.message).by(finding.rule).help(finding.remedy)
    };
    check(&subject).into_iter().map(to_diagnostic).collect()
}

/// As many of each severity as are shown of a document.
pub(super) fn shown(found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut kept = Vec::new();
    for severity in [Severity::Warning, Severity::Note] {
        let of_severity: Vec<_> = found.iter().filter(|one| one.severity == severity).cloned().collect();
        let count = of_severity.len();
        kept.extend(of_severity.into_iter().take(MOST_SHOWN));
        kept.extend(more(severity, count));
    }
    kept
}

fn place(policy: &ValuePath, place: &Place) -> ValuePath {
    match place {
        Place::Policy => policy.clone(),
        Place::Conditioner(index) => policy.join("conditioners").join(*index),
        Place::Class(indices) => indices
            .iter()
            .fold(policy.clone(), |path, index| path.join("queueing").join("classes").join(*index)),
    }
}
