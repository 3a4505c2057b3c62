//! Reports WRED thresholds for codepoints that the class does not match.

use std::collections::BTreeSet;

use perhop_device::Combination;
use perhop_lint::Diagnostic;
use perhop_qos::Dscp;

use crate::ast::{ClassMap, Configuration, Criterion, Polarity, PolicyClass};
use crate::rules;

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for class in configuration.policy_maps.iter().flat_map(|policy| &policy.classes) {
        let Some(map) = configuration.class_maps.get(&class.name) else { continue };
        let Some(held) = codepoints(map) else { continue };
        found.extend(absent(class, &held));
    }
}

/// Returns the codepoints of a class that matches only codepoints; `None` for other classes.
fn codepoints(map: &ClassMap) -> Option<BTreeSet<u8>> {
    if map.combination == Combination::MatchAll && map.statements.len() > 1 {
        return None;
    }
    let mut found = BTreeSet::new();
    for statement in &map.statements {
        let Criterion::Dscp(values) = &statement.criterion else { return None };
        if statement.polarity == Polarity::Not {
            return None;
        }
        found.extend(values.iter().map(|dscp| dscp.value()));
    }
    Some(found).filter(|found| !found.is_empty())
}

/// Returns a finding if all thresholds of a class are for codepoints that the class does not match. If some
/// of the codepoints match, the list of thresholds may be a template, and nothing is reported.
fn absent(class: &PolicyClass, held: &BTreeSet<u8>) -> Option<Diagnostic> {
    let thresholds = &class.random_detect.as_ref()?.value.dscps;
    // WRED reads the codepoint after the class has written it.
    if !class.marks.is_empty() || thresholds.keys().any(|dscp| held.contains(dscp)) {
        return None;
    }
    let (dscp, at) = thresholds.first_key_value()?;
    let name = |value: &u8| Dscp::new(*value).map_or_else(|| value.to_string(), |dscp| dscp.to_string());
    let names: Vec<String> = held.iter().map(name).collect();
    Some(Diagnostic::new(
        &rules::WRED_CODEPOINT_ABSENT,
        at.line,
        format!(
            "class {} matches only {}, but has thresholds for {}",
            class.name,
            names.join(", "),
            name(dscp)
        ),
        "these thresholds have no effect: the packets of the class get the default thresholds",
    ))
}
