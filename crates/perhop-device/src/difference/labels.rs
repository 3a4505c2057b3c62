//! [`with_renumbered_labels`]: renumbering of labels that are local to a policy.

use std::collections::{BTreeMap, BTreeSet};

use perhop_qos::action::Action;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

/// Returns an output policy with canonical numbers of its local labels: descending from the highest number,
/// in the order of the stages.
///
/// A label is local if the policy both sets and matches it. Its number has no effect outside of the policy.
/// Labels that another policy sets or matches keep their numbers.
pub fn with_renumbered_labels(policy: &PolicyConfig) -> PolicyConfig {
    let mut given: Vec<u8> = Vec::new();
    for stage in &policy.conditioners {
        for action in [&stage.actions, &stage.green, &stage.yellow, &stage.red].into_iter().flatten() {
            if let Action::Label(label) = action
                && !given.contains(label)
            {
                given.push(*label);
            }
        }
    }
    let mut matched = BTreeSet::new();
    let mut renamed = policy.clone();
    each_condition(&mut renamed, &mut |condition| matched.extend(labels(condition)));
    let is_own = |label: &u8| matched.contains(label);
    let foreign: BTreeSet<u8> = given
        .iter()
        .filter(|label| !is_own(label))
        .chain(matched.iter().filter(|label| !given.contains(label)))
        .copied()
        .collect();
    let free = (0..=u8::MAX).rev().filter(|number| !foreign.contains(number));
    let names: BTreeMap<u8, u8> = given.iter().copied().filter(|label| is_own(label)).zip(free).collect();
    let rename = |label: &mut u8| *label = names.get(label).copied().unwrap_or(*label);
    each_condition(&mut renamed, &mut |condition| {
        if let Some(OneOrMany(labels)) = &mut condition.label {
            labels.iter_mut().for_each(rename);
        }
    });
    for stage in &mut renamed.conditioners {
        let ConditionerConfig { actions, green, yellow, red, .. } = stage;
        for action in [actions, green, yellow, red].into_iter().flatten() {
            if let Action::Label(label) = action {
                rename(label);
            }
        }
    }
    renamed
}

fn labels(condition: &MatchConfig) -> Vec<u8> {
    condition.label.as_ref().map(|labels| labels.0.clone()).unwrap_or_default()
}

fn each_condition(policy: &mut PolicyConfig, change: &mut impl FnMut(&mut MatchConfig)) {
    for stage in &mut policy.conditioners {
        stage.matches.iter_mut().for_each(|condition| within(condition, change));
    }
    policy.queueing.iter_mut().for_each(|queueing| in_classes(queueing, change));
}

fn in_classes(queueing: &mut QueueingConfig, change: &mut impl FnMut(&mut MatchConfig)) {
    for class in &mut queueing.classes {
        class.matches.iter_mut().for_each(|condition| within(condition, change));
        class.queueing.iter_mut().for_each(|inner| in_classes(inner, change));
    }
}

fn within(condition: &mut MatchConfig, change: &mut impl FnMut(&mut MatchConfig)) {
    change(condition);
    let inner = condition.all.iter_mut().chain(&mut condition.any).flatten();
    inner.chain(condition.not.as_deref_mut()).for_each(|inner| within(inner, change));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::difference::differences;

    /// Returns a policy that sets and matches two labels, and matches the label `foreign` of another policy.
    fn labeled(of_stages: [u8; 2], of_queues: [u8; 2], foreign: u8) -> PolicyConfig {
        let stage = |name: &str, label: u8| json!({"name": name, "green": [{"label": label}, "transmit"]});
        let queue = |name: &str, label: u8| json!({"name": name, "match": {"label": label}});
        let given = json!({"name": "given", "match": {"any": [{"label": foreign}, {"dscp": "ef"}]}});
        serde_json::from_value(json!({
            "conditioners": [stage("a", of_stages[0]), stage("b", of_stages[1])],
            "queueing": {"classes": [queue("a", of_queues[0]), queue("b", of_queues[1]), given]},
        }))
        .unwrap()
    }

    #[test]
    fn policies_are_compared_up_to_the_numbers_of_their_own_labels() {
        let first = labeled([1, 2], [1, 2], 7);
        let is_same = |other: &PolicyConfig| {
            differences(&with_renumbered_labels(&first), &with_renumbered_labels(other)).is_empty()
        };
        assert!(is_same(&labeled([100, 101], [100, 101], 7)));
        assert!(is_same(&labeled([2, 1], [2, 1], 7)));
        assert!(!is_same(&labeled([1, 1], [1, 1], 7)), "one label for two classes");
        assert!(!is_same(&labeled([1, 2], [1, 2], 8)), "a label of another policy");
        assert!(!is_same(&labeled([1, 2], [2, 1], 7)), "each queue matches the label of the other");
    }
}
