//! Behavior aggregate classifiers.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::{ASSURED, BEST_EFFORT, Classes, EXPEDITED, LossPriority, NETWORK_CONTROL};
use super::code_points::{Aliases, CodePoints, NO_DROP_ELIGIBLE};
use crate::context::Context;
use crate::tree::NodeId;

/// The forwarding class and loss priority of a codepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Treatment {
    /// The label of the class.
    pub(crate) label: u8,
    pub(crate) loss: LossPriority,
}

/// A classifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Classifier {
    /// The first line of the classifier; 0 for a built-in classifier.
    pub(crate) line: usize,
    /// The classifier whose codepoints it imports.
    pub(crate) import: Option<String>,
    /// The codepoints that the classifier itself lists.
    pub(crate) entries: BTreeMap<u8, Entry>,
}

/// The treatment of a codepoint with its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) treatment: Treatment,
    pub(crate) line: usize,
}

/// The classifiers by type and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classifiers(BTreeMap<(CodePoints, String), Classifier>);

/// Limit on consecutive imports. A longer chain counts as a circle.
const MOST_IMPORTS: usize = 32;

impl Classifiers {
    pub(crate) fn get(&self, kind: CodePoints, name: &str) -> Option<&Classifier> {
        self.0.get(&(kind, name.to_owned()))
    }

    /// Iterates over the configured classifiers.
    pub(crate) fn names(&self) -> impl Iterator<Item = (CodePoints, &str)> {
        self.0.keys().map(|(kind, name)| (*kind, name.as_str()))
    }

    /// Returns the codepoints that the classifier `name` and its imports list; `None` if they list all
    /// codepoints.
    pub(crate) fn listed(&self, kind: CodePoints, name: &str) -> Option<BTreeSet<u8>> {
        let (mut points, mut name) = (BTreeSet::new(), name);
        for _ in 0..MOST_IMPORTS {
            let classifier = self.get(kind, name)?;
            points.extend(classifier.entries.keys().copied());
            let Some(import) = &classifier.import else { break };
            name = import;
        }
        Some(points)
    }

    /// Whether a classifier exists, including built-in classifiers.
    pub(crate) fn exists(&self, kind: CodePoints, name: &str) -> bool {
        is_built_in(name) || self.get(kind, name).is_some()
    }

    /// Returns the treatment of every codepoint under the classifier `name`.
    ///
    /// Codepoints that neither the classifier nor an import lists get the class of queue 0 and the loss
    /// priority low (Junos CoS User Guide, "Default Forwarding Classes"; the topic
    /// `cos-ipv6-protocols-default-forwarding-jpr-solution`).
    pub(crate) fn table(&self, kind: CodePoints, name: &str, classes: &Classes) -> Vec<Treatment> {
        let count = 1usize << kind.bits().min(6);
        let (mut open, mut lists) = (Some(name.to_owned()), Vec::new());
        let mut base = None;
        while let Some(name) = open.take().filter(|_| lists.len() < MOST_IMPORTS) {
            match self.get(kind, &name) {
                Some(classifier) => {
                    lists.push(classifier);
                    open.clone_from(&classifier.import);
                }
                None => base = built_in(kind, &name, classes),
            }
        }
        let mut table = base.unwrap_or_else(|| vec![Treatment::default(); count]);
        for classifier in lists.into_iter().rev() {
            for (point, entry) in &classifier.entries {
                if let Some(treatment) = table.get_mut(usize::from(*point)) {
                    *treatment = entry.treatment;
                }
            }
        }
        table
    }
}

fn is_built_in(name: &str) -> bool {
    matches!(
        name,
        "default"
            | "dscp-default"
            | "dscp-ipv6-default"
            | "exp-default"
            | "ieee8021p-default"
            | "ipprec-default"
            | "ipprec-compatibility"
            | "dscp-ipv6-compatibility"
    )
}

/// Returns the table of a built-in classifier.
fn built_in(kind: CodePoints, name: &str, classes: &Classes) -> Option<Vec<Treatment>> {
    if !is_built_in(name) {
        return None;
    }
    let is_compatibility = name.ends_with("-compatibility");
    let row = |point: u8| -> (u8, LossPriority) {
        if classes.family().is_switch() {
            return switch_default(point << (6 - kind.bits().min(6)));
        }
        match (kind, is_compatibility) {
            (CodePoints::Dscp | CodePoints::DscpIpv6, true) => compatibility(point >> 3),
            (CodePoints::InetPrecedence, true) => compatibility(point),
            (CodePoints::Dscp | CodePoints::DscpIpv6, false) => dscp_default(point),
            (CodePoints::InetPrecedence, false) => precedence_default(point),
            (CodePoints::Ieee8021 | CodePoints::Exp, _) => link_default(point),
            (CodePoints::Ieee8021ad, _) => link_default(point >> 1),
        }
    };
    let count = 1u8 << kind.bits().min(6);
    let treatment = |point: u8| {
        let (role, loss) = row(point);
        Treatment { label: classes.label_of_role(role).unwrap_or(0), loss }
    };
    Some((0..count).map(treatment).collect())
}

/// `ipprec-compatibility`, the default classifier of units (the topic `default-ip-prec-compatibility`;
/// `show class-of-service classifier` of genieparser and of an MX).
fn compatibility(precedence: u8) -> (u8, LossPriority) {
    match precedence {
        1 | 3 | 5 => (BEST_EFFORT, LossPriority::High),
        6 => (NETWORK_CONTROL, LossPriority::Low),
        7 => (NETWORK_CONTROL, LossPriority::High),
        _ => (BEST_EFFORT, LossPriority::Low),
    }
}

/// `dscp-default` (Junos CoS User Guide, "Default DSCP and DSCP IPv6 Classifiers").
fn dscp_default(point: u8) -> (u8, LossPriority) {
    match point {
        46 => (EXPEDITED, LossPriority::Low),
        10 => (ASSURED, LossPriority::Low),
        12 | 14 => (ASSURED, LossPriority::High),
        48 | 56 => (NETWORK_CONTROL, LossPriority::Low),
        _ => (BEST_EFFORT, LossPriority::Low),
    }
}

/// The default tables of switches: the class of the two highest precedences is network control. An EX2200
/// with 12.3 prints it for DSCP 48 to 63 and for 802.1p 6 and 7. The table of QFX is recalled.
fn switch_default(point: u8) -> (u8, LossPriority) {
    (if point >= 48 { NETWORK_CONTROL } else { BEST_EFFORT }, LossPriority::Low)
}

/// `ipprec-default` (Junos CoS User Guide, "Default IP Precedence Classifier").
fn precedence_default(point: u8) -> (u8, LossPriority) {
    match point {
        1 => (ASSURED, LossPriority::Low),
        5 => (EXPEDITED, LossPriority::Low),
        6 => (NETWORK_CONTROL, LossPriority::Low),
        7 => (NETWORK_CONTROL, LossPriority::High),
        _ => (BEST_EFFORT, LossPriority::Low),
    }
}

/// `exp-default` and `ieee8021p-default` of routers (Junos CoS User Guide, "Default MPLS EXP Classifier").
fn link_default(point: u8) -> (u8, LossPriority) {
    let loss = if point & 1 == 1 { LossPriority::High } else { LossPriority::Low };
    ([BEST_EFFORT, EXPEDITED, ASSURED, NETWORK_CONTROL][usize::from(point >> 1 & 3)], loss)
}

pub(super) fn read(context: &mut Context, cos: NodeId, classes: &Classes, aliases: &Aliases) -> Classifiers {
    let mut found = Classifiers::default();
    let Some(node) = context.tree.child(cos, "classifiers") else { return found };
    context.modeled(node);
    for kind in CodePoints::ALL {
        for name in context.items(node, kind.word()) {
            let import = context.value(name.node, "import").map(|word| word.text);
            let mut classifier = Classifier { line: name.line, import, entries: BTreeMap::new() };
            for class in context.items(name.node, "forwarding-class") {
                let Some(label) = classes.label(&class.text) else {
                    context.undefined_block(class.node, "forwarding class", &class.text);
                    continue;
                };
                entries(context, (kind, aliases), class.node, label, &mut classifier);
            }
            found.0.insert((kind, name.text), classifier);
        }
    }
    for ((kind, _), classifier) in &found.0 {
        let Some(import) = classifier.import.as_ref().filter(|name| !found.exists(*kind, name)) else {
            continue;
        };
        let at = context.tree.at(cos, &["classifiers", kind.word()]).unwrap_or(node);
        context.undefined(at, "classifier", import);
    }
    found
}

fn entries(
    context: &mut Context,
    (kind, aliases): (CodePoints, &Aliases),
    class: NodeId,
    label: u8,
    classifier: &mut Classifier,
) {
    for priority in context.items(class, "loss-priority") {
        let Some(loss) = LossPriority::named(&priority.text) else {
            context.invalid(&priority, "loss-priority");
            continue;
        };
        for point in context.items(priority.node, "code-points") {
            match aliases.parse(kind, &point.text) {
                Some(value) => {
                    if kind.is_drop_eligible(value) {
                        context.not_modeled(point.node, NO_DROP_ELIGIBLE);
                    }
                    let entry = Entry { treatment: Treatment { label, loss }, line: point.line };
                    classifier.entries.insert(value, entry);
                }
                None => context.invalid(&point, "code-points"),
            }
        }
    }
}
