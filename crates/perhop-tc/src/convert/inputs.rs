//! Input interfaces in conditions.

use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

/// Returns the input interfaces in the conditions of a policy. Whether these interfaces exist depends on the
/// scenario.
pub(super) fn inputs(policy: &PolicyConfig) -> Vec<String> {
    fn within(queueing: &QueueingConfig, found: &mut Vec<String>) {
        for class in &queueing.classes {
            class.matches.iter().for_each(|condition| inputs_of(condition, found));
            class.queueing.iter().for_each(|inner| within(inner, found));
        }
    }
    let mut found = Vec::new();
    policy
        .conditioners
        .iter()
        .filter_map(|conditioner| conditioner.matches.as_ref())
        .for_each(|condition| inputs_of(condition, &mut found));
    policy.queueing.iter().for_each(|queueing| within(queueing, &mut found));
    found.sort();
    found.dedup();
    found
}

/// Adds the input interfaces in `condition` to `found`.
pub(super) fn inputs_of(condition: &MatchConfig, found: &mut Vec<String>) {
    found.extend(condition.input.iter().flat_map(|names| names.0.iter().cloned()));
    let inner = condition.all.iter().chain(condition.any.iter()).flatten();
    inner.chain(condition.not.as_deref()).for_each(|inner| inputs_of(inner, found));
}
