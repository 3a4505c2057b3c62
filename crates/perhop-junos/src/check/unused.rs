//! Reports definitions that are not used.

use std::collections::BTreeMap;

use perhop_lint::Diagnostic;

use super::checked::{Checked, finding};
use crate::rules;
use crate::tree::{NodeId, Tree};

/// The paths of the statements that contain named definitions, with the kind of definition.
const DEFINITIONS: [(&[&str], &str); 10] = [
    (&["class-of-service", "schedulers"], "scheduler"),
    (&["class-of-service", "scheduler-maps"], "scheduler map"),
    (&["class-of-service", "drop-profiles"], "drop profile"),
    (&["class-of-service", "traffic-control-profiles"], "traffic-control profile"),
    (&["firewall", "policer"], "policer"),
    (&["firewall", "three-color-policer"], "three-color policer"),
    (&["firewall", "hierarchical-policer"], "hierarchical policer"),
    (&["firewall", "filter"], "filter"),
    (&["firewall", "family", "inet", "filter"], "filter"),
    (&["firewall", "family", "inet6", "filter"], "filter"),
];
/// The paths of the statements that contain, for each type of codepoints, named definitions.
const BY_CODEPOINTS: [(&[&str], &str); 2] = [
    (&["class-of-service", "classifiers"], "classifier"),
    (&["class-of-service", "rewrite-rules"], "rewrite rule"),
];
/// The hierarchy of configuration groups.
const GROUPS: &str = "groups";

/// Reports definitions whose name appears nowhere else in the configuration.
pub(super) fn check(checked: Checked) -> Vec<Diagnostic> {
    let tree = checked.tree;
    let mut definitions: Vec<(NodeId, &str)> = Vec::new();
    for (path, kind) in DEFINITIONS {
        let Some(around) = tree.at(NodeId::ROOT, path) else { continue };
        definitions.extend(named(tree, around).map(|node| (node, kind)));
    }
    for (path, kind) in BY_CODEPOINTS {
        let Some(around) = tree.at(NodeId::ROOT, path) else { continue };
        for codepoints in tree.children(around) {
            definitions.extend(named(tree, codepoints).map(|node| (node, kind)));
        }
    }
    let words = words(tree);
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    for (node, _) in &definitions {
        *defined.entry(tree.word(*node)).or_default() += 1;
    }
    let is_unused = |node: NodeId| {
        let word = tree.word(node);
        words.get(word).copied().unwrap_or(0) <= defined.get(word).copied().unwrap_or(0)
    };
    let unused = definitions.iter().filter(|(node, _)| is_unused(*node));
    unused
        .filter_map(|(node, kind)| {
            let message = format!("{kind} {} is not used", tree.word(*node));
            finding(&rules::JUNOS_UNUSED, tree.line(*node), message, "it has no effect")
        })
        .collect()
}

fn named(tree: &Tree, around: NodeId) -> impl Iterator<Item = NodeId> {
    tree.children(around).into_iter().filter(|node| !tree.word(*node).starts_with("apply-"))
}

/// Counts the words of the configuration. Words inside groups do not count, because the configuration
/// contains inherited copies of them.
fn words(tree: &Tree) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    let mut open = tree.children(NodeId::ROOT);
    open.retain(|node| tree.word(*node) != GROUPS);
    while let Some(node) = open.pop() {
        *found.entry(tree.word(node)).or_default() += 1;
        open.extend(tree.children(node));
    }
    found
}
