//! [`by_neighbor`]: replaces the names of interfaces in a policy by the names of neighbors.

use std::collections::BTreeMap;

use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::policy::{PolicyConfig, QueueingConfig};

/// The neighbors of a node by the names of its ports and interfaces.
pub(crate) type Neighbors<'a> = BTreeMap<&'a str, &'a str>;

/// Replaces the names of interfaces in a policy by the names of neighbors, because a scenario names
/// interfaces after their neighbors.
pub(crate) fn by_neighbor(policy: &mut PolicyConfig, neighbors: &Neighbors) {
    let rename = |condition: &mut MatchConfig| rename(condition, neighbors);
    policy.conditioners.iter_mut().filter_map(|stage| stage.matches.as_mut()).for_each(rename);
    if let Some(queueing) = &mut policy.queueing {
        in_classes(queueing, neighbors);
    }
}

fn in_classes(queueing: &mut QueueingConfig, neighbors: &Neighbors) {
    for class in &mut queueing.classes {
        if let Some(condition) = &mut class.matches {
            rename(condition, neighbors);
        }
        if let Some(inner) = &mut class.queueing {
            in_classes(inner, neighbors);
        }
    }
}

fn rename(condition: &mut MatchConfig, neighbors: &Neighbors) {
    if let Some(OneOrMany(names)) = &mut condition.input {
        for name in names.iter_mut() {
            if let Some(neighbor) = neighbors.get(name.as_str()) {
                (*neighbor).clone_into(name);
            }
        }
    }
    let inner = condition.all.iter_mut().chain(condition.any.iter_mut()).flatten();
    inner.chain(condition.not.as_deref_mut()).for_each(|inner| rename(inner, neighbors));
}
