//! Labels for policies that rewrite the fields that they match. Stages and queues select packets by the
//! label.
//!
//! A device classifies a packet once, by the fields with which it arrived. The class then polices, marks and
//! queues the packet. In perhop, conditioners precede queues, and the conditioners of a nested class precede
//! the conditioners of the enclosing class. Therefore each class labels its packets. The queue and the stage
//! of the class select packets by the label. A class whose nested policy has no queue uses one label for all
//! its packets.

use perhop_qos::classifier::{MatchConfig, OneOrMany};

use super::resolved::{ResolvedClass, ResolvedPolicy};
use crate::intent::{Condition, Fields, matched_fields};

/// The first label of a class. It is above the forwarding classes (0 to 99) if packets can have a forwarding
/// class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    /// No policy sets a forwarding class.
    FromOne = 1,
    /// A policy for arriving packets can have set a forwarding class.
    AboveGroups = 100,
}

/// The classes whose marks require labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Markers {
    /// The classes of all policies, for HQF and the QFP.
    All,
    /// The classes of inner policies, for releases before HQF. For these releases, the rule
    /// `marked-then-classified` reports the outer classes.
    Inside,
}

/// Labels the classes of `policy` if one of the `markers` writes a field that a class matches.
pub(super) fn assign(policy: &mut ResolvedPolicy, labels: Labels, markers: Markers) {
    let inside = policy.classes.iter().filter_map(|class| class.policy.as_ref());
    let written: Fields = match markers {
        Markers::All => collect(policy, &ResolvedClass::written),
        Markers::Inside => inside.map(|inner| collect(inner, &ResolvedClass::written)).collect(),
    };
    let first = labels as u8;
    let fit = leaves(policy) < usize::from(u8::MAX - first);
    if fit
        && collect(policy, &|class| matched_fields(&class.condition))
            .intersects(written.without(Fields::LABEL))
    {
        let mut next = first;
        label(policy, true, &mut next);
    }
}

/// Whether a later policy reads the forwarding classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Groups {
    /// Output policies match the forwarding classes.
    Kept,
    /// No policy reads the forwarding classes, because packets leave the device.
    Forgotten,
}

/// Assigns labels, from `first`, to the classes of `policy` that mark or police after their nested policy, if
/// the nested policy writes a field that such a class or the nested policy matches. Returns the line and the
/// name of each class without a label. A class gets no label if all labels are used, or if the label would
/// replace a forwarding class that is [`Groups::Kept`].
pub(super) fn assign_around(
    policy: &mut ResolvedPolicy,
    first: Option<Labels>,
    groups: Groups,
) -> Vec<(usize, String)> {
    let greatest = policy.classes.iter().flat_map(labels_of_class).max();
    let mut next = first.and_then(|first| greatest.map_or(Some(first as u8), |label| label.checked_add(1)));
    let mut refused = Vec::new();
    label_around(policy, groups, &mut next, &mut refused);
    refused
}

fn label_around(
    policy: &mut ResolvedPolicy,
    groups: Groups,
    next: &mut Option<u8>,
    refused: &mut Vec<(usize, String)>,
) {
    for class in &mut policy.classes {
        let is_labeled = !labels_of_class(class).is_empty();
        let matched = matched_fields(&class.condition);
        let Some(inner) = &mut class.policy else { continue };
        label_around(inner, groups, next, refused);
        let written = collect(inner, &ResolvedClass::written);
        let looked_at: Fields =
            [matched, collect(inner, &|class| matched_fields(&class.condition))].into_iter().collect();
        if is_labeled || !class.acts() || !looked_at.intersects(written) {
            continue;
        }
        let is_lost = groups == Groups::Kept && written.intersects(Fields::LABEL);
        match next.filter(|_| !is_lost) {
            Some(label) => {
                class.label = Some(label);
                *next = label.checked_add(1);
            }
            None => refused.push((class.line, class.name.clone())),
        }
    }
}

/// Returns the labels of the packets of `class`: its own label, or the labels of its inner classes.
pub(super) fn labels_of_class(class: &ResolvedClass) -> Vec<u8> {
    match (class.label, &class.policy) {
        (Some(label), _) => vec![label],
        (None, Some(inner)) => inner.classes.iter().flat_map(labels_of_class).collect(),
        (None, None) => Vec::new(),
    }
}

/// Returns the condition for the labels of `class`; `None` if the class has no label.
pub(super) fn condition_of(class: &ResolvedClass) -> Option<Condition> {
    let labels = labels_of_class(class);
    let config = || MatchConfig { label: Some(OneOrMany(labels.clone())), ..MatchConfig::default() };
    (!labels.is_empty()).then(|| Condition::when(config()))
}

/// Returns the union of the fields that `of` returns for each class, including inner classes.
fn collect(policy: &ResolvedPolicy, of: &dyn Fn(&ResolvedClass) -> Fields) -> Fields {
    let inside = |class: &ResolvedClass| class.policy.as_ref().map(|inner| collect(inner, of));
    policy.classes.iter().flat_map(|class| std::iter::once(of(class)).chain(inside(class))).collect()
}

/// Returns the nested policy of `class` if the classes of this policy have their own queues and labels.
fn queueing_inside(class: &ResolvedClass) -> Option<&ResolvedPolicy> {
    class.policy.as_ref().filter(|inner| inner.contains_queue())
}

fn leaves(policy: &ResolvedPolicy) -> usize {
    policy.classes.iter().map(|class| queueing_inside(class).map_or(1, leaves)).sum()
}

/// Assigns a label to each class without inner queues. class-default of the top policy needs no label: it
/// matches the packets without these labels.
fn label(policy: &mut ResolvedPolicy, is_top: bool, next: &mut u8) {
    for class in &mut policy.classes {
        match class.policy.as_mut().filter(|inner| inner.contains_queue()) {
            Some(inner) => label(inner, false, next),
            None if is_top && class.takes_rest => {}
            None => {
                class.label = Some(*next);
                *next += 1;
            }
        }
    }
}
