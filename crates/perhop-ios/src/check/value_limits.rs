//! Reports queue limits by field value that have no effect because of other lines in their class.

use perhop_lint::Diagnostic;

use crate::ast::{Configuration, Field, PolicyClass};
use crate::rules;

/// Whether queue limits can depend on `field`.
pub(crate) fn limits_queues(field: Field) -> bool {
    matches!(field, Field::Dscp | Field::Precedence | Field::Cos | Field::DiscardClass)
}

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let classes = configuration.policy_maps.iter().flat_map(|policy| &policy.classes);
    classes.for_each(|class| of_class(class, found));
}

fn of_class(class: &PolicyClass, found: &mut Vec<Diagnostic>) {
    let lines = || class.value_limits.iter().filter(|line| limits_queues(line.value.field));
    let Some(first) = lines().next() else { return };
    for line in lines() {
        let field = line.value.field;
        let other = if class.random_detect.is_some() {
            "random-detect"
        } else if class.fair_queue.is_some() {
            "fair-queue"
        } else if field != first.value.field {
            "a queue limit by another field"
        } else {
            continue;
        };
        found.push(Diagnostic::new(
            &rules::VALUE_LIMIT_IGNORED,
            line.line,
            format!("a queue limit by {field} is combined with {other} in class {}", class.name),
            "no documentation states which of the two the router uses; in perhop the line has no effect",
        ));
    }
}
