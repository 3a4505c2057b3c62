//! Reports groups, traffic classes and discard classes that a class matches but no policy sets. A link does
//! not transmit these labels, so a policy of the same router must set them.

use std::collections::BTreeSet;

use perhop_lint::Diagnostic;

use super::class_maps::used;
use super::marks::markings;
use super::unused::attached;
use crate::ast::{Configuration, Criterion, Field, Marking, Polarity, Statement};
use crate::rules;

/// A router-internal label, with the values that a class matches.
struct Label {
    field: Field,
    name: &'static str,
    values: Vec<u32>,
}

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    let attached = attached(configuration);
    // A fragment without interfaces is not checked, because the missing lines may set the label.
    if attached.is_empty() {
        return;
    }
    let set = Set::new(configuration, &attached);
    let used = used(configuration);
    let maps = configuration.class_maps.iter().filter(|map| used.contains(map.name.as_str()));
    for map in maps {
        for statement in map.statements.iter().filter(|statement| statement.polarity == Polarity::Is) {
            found.extend(label(statement).and_then(|label| set.missing(&map.name, statement.line, &label)));
        }
    }
}

fn label(statement: &Statement) -> Option<Label> {
    let numbers = |values: &[u8]| values.iter().map(|value| u32::from(*value)).collect();
    let (field, name, values) = match &statement.criterion {
        Criterion::QosGroup(group) => (Field::QosGroup, "qos-group", vec![*group]),
        Criterion::TrafficClass(values) => (Field::TrafficClass, "traffic-class", numbers(values)),
        Criterion::DiscardClass(values) => (Field::DiscardClass, "discard-class", numbers(values)),
        _ => return None,
    };
    Some(Label { field, name, values })
}

/// The labels that attached policies and rate limits set.
struct Set {
    /// Fields whose values are unknown, because a mark copies them from another field or through a table.
    copied: BTreeSet<Field>,
    values: BTreeSet<(Field, u32)>,
}

impl Set {
    fn new(configuration: &Configuration, attached: &BTreeSet<&str>) -> Set {
        let policies = configuration.policy_maps.iter();
        let in_use = policies.filter(|policy| attached.contains(policy.name.as_str()));
        let by_classes = in_use.flat_map(|policy| &policy.classes).flat_map(markings);
        let limits = configuration.interfaces.iter().flat_map(|interface| &interface.rate_limits);
        let actions = limits.flat_map(|limit| [&limit.conform, &limit.exceed]);
        let by_limits = actions.filter_map(|action| action.marking.as_ref());
        let mut set = Set { copied: BTreeSet::new(), values: BTreeSet::new() };
        for marking in by_classes.chain(by_limits) {
            match marking {
                Marking::QosGroup(group) => {
                    set.values.insert((Field::QosGroup, *group));
                }
                Marking::Number(field, value) => {
                    set.values.insert((*field, u32::from(*value)));
                }
                marking => set.copied.extend(marking.field()),
            }
        }
        set
    }

    /// Reports a label that no attached policy sets. Unlabeled packets have the value 0, so a class with this
    /// value is reported only if no policy sets the field.
    fn missing(&self, map: &str, line: usize, label: &Label) -> Option<Diagnostic> {
        let Label { field, name, values } = label;
        let is_set = |value: &u32| self.values.contains(&(*field, *value));
        if self.copied.contains(field) || values.iter().any(is_set) {
            return None;
        }
        let (message, router) = if values.contains(&0) {
            if self.values.iter().any(|(other, _)| other == field) {
                return None;
            }
            (
                format!("class-map {map}: no attached policy sets a {name}, so all packets have {name} 0"),
                "every packet matches this value: attach the input policy that sets the field, or match \
                 another field",
            )
        } else {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            (
                format!("class-map {map}: no attached policy sets {name} {}", values.join(" or ")),
                "no packet matches: attach the input policy that sets this value, or match another field",
            )
        };
        Some(Diagnostic::new(&rules::LABEL_NEVER_SET, line, message, router))
    }
}
