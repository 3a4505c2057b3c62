//! Labels by which queues know the packets of a policy that rewrites the field it classifies by.
//!
//! With HQF and on the QFP a packet is classified once, by the fields with which it arrived; the class then
//! polices, marks and queues it. perhop's conditioners come before its queues: there each class gives its
//! packets a label, and its queue takes those with the label.

use super::condition::{Condition, looks_at_codepoint, looks_at_label};
use super::resolved::{ResolvedClass, ResolvedPolicy};
use crate::ast::CLASS_DEFAULT;

/// Labels the classes of `policy` where one of them writes a field by which another is told, unless labels
/// are in use already (`match qos-group`).
pub(super) fn assign(policy: &mut ResolvedPolicy) {
    let marks = any(policy, &ResolvedClass::marks_codepoint);
    let looks = any(policy, &|class| matches_config(class, looks_at_codepoint));
    let taken = any(policy, &|class| matches_config(class, looks_at_label));
    let count = leaves(policy);
    if marks && looks && !taken && count < usize::from(u8::MAX) {
        let mut next = 0;
        label(policy, true, &mut next);
    }
}

fn any(policy: &ResolvedPolicy, holds: &dyn Fn(&ResolvedClass) -> bool) -> bool {
    policy
        .classes
        .iter()
        .any(|class| holds(class) || class.policy.as_ref().is_some_and(|inner| any(inner, holds)))
}

fn matches_config(class: &ResolvedClass, holds: fn(&perhop_qos::classifier::MatchConfig) -> bool) -> bool {
    matches!(&class.condition, Condition::When(config) if holds(config))
}

fn leaves(policy: &ResolvedPolicy) -> usize {
    policy.classes.iter().map(|class| class.policy.as_ref().map_or(1, leaves)).sum()
}

/// A label for each class without classes inside. class-default of the top policy needs none: it takes what
/// has none.
fn label(policy: &mut ResolvedPolicy, is_top: bool, next: &mut u8) {
    for class in &mut policy.classes {
        match &mut class.policy {
            Some(inner) => label(inner, false, next),
            None if is_top && class.name == CLASS_DEFAULT => {}
            None => {
                *next += 1;
                class.label = Some(*next);
            }
        }
    }
}
