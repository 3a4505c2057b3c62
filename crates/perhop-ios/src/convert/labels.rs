//! Labels by which queues know the packets of a policy that rewrites the field it classifies by.
//!
//! With HQF and on the QFP a packet is classified once, by the fields with which it arrived; the class then
//! polices, marks and queues it. perhop's conditioners come before its queues: there each class gives its
//! packets a label, and its queue takes those with the label.

use super::condition::{Condition, looks_at};
use super::fields::Fields;
use super::resolved::{ResolvedClass, ResolvedPolicy};
use crate::ast::CLASS_DEFAULT;

/// The first label of a class: above the router's groups (0 to 99) where packets may have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Labels {
    /// Nothing sets a group.
    FromOne = 1,
    /// An input policy may have set one.
    AboveGroups = 100,
}

/// Labels the classes of `policy` where one of them writes a field by which another is told. Not where
/// classes inside classes are told by groups: what one class labels, the others would no longer know.
pub(super) fn assign(policy: &mut ResolvedPolicy, labels: Labels) {
    let written = collect(policy, &ResolvedClass::written).without(Fields::LABEL);
    let looked_at = collect(policy, &told_by);
    let is_nested = policy.classes.iter().any(|class| class.policy.is_some());
    let first = labels as u8;
    let fit = leaves(policy) < usize::from(u8::MAX - first);
    if looked_at.contain(written) && fit && !(is_nested && looked_at.contain(Fields::LABEL)) {
        let mut next = first;
        label(policy, true, &mut next);
    }
}

/// `of` of all classes.
fn collect(policy: &ResolvedPolicy, of: &dyn Fn(&ResolvedClass) -> Fields) -> Fields {
    let inside = |class: &ResolvedClass| class.policy.as_ref().map(|inner| collect(inner, of));
    policy.classes.iter().flat_map(|class| std::iter::once(of(class)).chain(inside(class))).collect()
}

/// What tells the packets of a class.
fn told_by(class: &ResolvedClass) -> Fields {
    match &class.condition {
        Condition::When(config) => looks_at(config),
        Condition::Always | Condition::Never => Fields::default(),
    }
}

fn leaves(policy: &ResolvedPolicy) -> usize {
    policy.classes.iter().map(|class| class.policy.as_ref().map_or(1, leaves)).sum()
}

/// A label for each class without classes inside. class-default of the top policy needs none: it takes what
/// has none of these.
fn label(policy: &mut ResolvedPolicy, is_top: bool, next: &mut u8) {
    for class in &mut policy.classes {
        match &mut class.policy {
            Some(inner) => label(inner, false, next),
            None if is_top && class.name == CLASS_DEFAULT => {}
            None => {
                class.label = Some(*next);
                *next += 1;
            }
        }
    }
}
