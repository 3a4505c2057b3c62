//! Rewrite rules: the codepoints that departing packets get.

use std::collections::BTreeMap;

use super::classes::{ASSURED, BEST_EFFORT, Classes, EXPEDITED, LossPriority, NETWORK_CONTROL};
use super::classifiers::Treatment;
use super::code_points::{Aliases, CodePoints, NO_DROP_ELIGIBLE};
use crate::context::Context;
use crate::tree::NodeId;

/// A rewrite rule: codepoints by class and loss priority, with their lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rewrite {
    pub(crate) line: usize,
    pub(crate) entries: BTreeMap<Treatment, (u8, usize)>,
    has_import: bool,
}

/// The rewrite rules by type and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rewrites(BTreeMap<(CodePoints, String), Rewrite>);

impl Rewrites {
    pub(crate) fn get(&self, kind: CodePoints, name: &str) -> Option<&Rewrite> {
        self.0.get(&(kind, name.to_owned()))
    }

    /// Returns the codepoints of a rule; `None` if the rule does not exist. Classes and loss priorities
    /// without an entry keep the codepoint (Junos CoS User Guide, "Rewrite Rules").
    pub(crate) fn table(
        &self,
        kind: CodePoints,
        name: &str,
        classes: &Classes,
    ) -> Option<BTreeMap<Treatment, (u8, usize)>> {
        let defaults = || built_in(kind, classes);
        match self.get(kind, name) {
            Some(rule) => {
                let mut table = if rule.has_import { defaults() } else { BTreeMap::new() };
                table.extend(rule.entries.iter().map(|(key, value)| (*key, *value)));
                Some(table)
            }
            None if name == "default" || name.ends_with("-default") => Some(defaults()),
            None => None,
        }
    }
}

/// The built-in rules `dscp-default`, `exp-default` and so on, for the built-in classes or the classes on
/// their queues (Junos CoS User Guide, "Default Rewrite Rules").
fn built_in(kind: CodePoints, classes: &Classes) -> BTreeMap<Treatment, (u8, usize)> {
    let rows: [(u8, u8, u8); 4] = match kind {
        CodePoints::Dscp | CodePoints::DscpIpv6 => {
            [(BEST_EFFORT, 0, 0), (EXPEDITED, 46, 46), (ASSURED, 10, 12), (NETWORK_CONTROL, 48, 56)]
        }
        CodePoints::InetPrecedence => {
            [(BEST_EFFORT, 0, 0), (EXPEDITED, 5, 5), (ASSURED, 1, 1), (NETWORK_CONTROL, 6, 7)]
        }
        // The drop eligible bit is the last of the four bits. Tags in perhop do not have this bit.
        CodePoints::Ieee8021ad => {
            [(BEST_EFFORT, 0, 2), (EXPEDITED, 4, 6), (ASSURED, 8, 10), (NETWORK_CONTROL, 12, 14)]
        }
        CodePoints::Ieee8021 | CodePoints::Exp => {
            [(BEST_EFFORT, 0, 1), (EXPEDITED, 2, 3), (ASSURED, 4, 5), (NETWORK_CONTROL, 6, 7)]
        }
    };
    let mut table = BTreeMap::new();
    for (role, low, high) in rows {
        if let Some(label) = classes.label_of_role(role) {
            table.insert(Treatment { label, loss: LossPriority::Low }, (low, 0));
            table.insert(Treatment { label, loss: LossPriority::High }, (high, 0));
        }
    }
    table
}

pub(super) fn read(context: &mut Context, cos: NodeId, classes: &Classes, aliases: &Aliases) -> Rewrites {
    let mut found = Rewrites::default();
    let Some(node) = context.tree.child(cos, "rewrite-rules") else { return found };
    context.modeled(node);
    for kind in CodePoints::ALL {
        for name in context.items(node, kind.word()) {
            let has_import = context.value(name.node, "import").is_some();
            let mut rule = Rewrite { line: name.line, entries: BTreeMap::new(), has_import };
            for class in context.items(name.node, "forwarding-class") {
                let Some(label) = classes.label(&class.text) else {
                    context.undefined_block(class.node, "forwarding class", &class.text);
                    continue;
                };
                for priority in context.items(class.node, "loss-priority") {
                    let Some(loss) = LossPriority::named(&priority.text) else {
                        context.invalid(&priority, "loss-priority");
                        continue;
                    };
                    let parse = |text: &str| aliases.parse(kind, text);
                    // Configurations have both spellings.
                    let key = ["code-point", "code-points"]
                        .into_iter()
                        .find(|key| context.tree.child(priority.node, key).is_some());
                    let point = key.and_then(|key| context.parsed(priority.node, key, parse));
                    if let Some(point) = point {
                        if kind.is_drop_eligible(point.value) {
                            context.not_modeled(priority.node, NO_DROP_ELIGIBLE);
                        }
                        rule.entries.insert(Treatment { label, loss }, (point.value, point.line));
                    }
                }
            }
            found.0.insert((kind, name.text), rule);
        }
    }
    found
}
