//! Ordering of classes such that the first matching class is the class of the packet.

use std::collections::BTreeMap;

use perhop_device::same_packets;
use perhop_qos::classifier::MatchConfig;

use super::class::{CLASS_DEFAULT, Class};
use super::criteria::{Key, but_not, keys};

/// The conditions of the stages that set labels for queues, by label.
pub(super) type Labels = BTreeMap<u8, Option<MatchConfig>>;

/// Returns the labels of a condition that reads only the label; an empty list for other conditions.
pub(super) fn labels(condition: Option<&MatchConfig>) -> &[u8] {
    match condition {
        Some(condition) if keys(condition) == [Key::Label] => {
            condition.label.as_ref().map_or(&[], |labels| labels.0.as_slice())
        }
        _ => &[],
    }
}

/// Returns a condition without the part that the condition of the enclosing class already requires; `None` if
/// no part remains.
pub(super) fn within(condition: Option<&MatchConfig>, outer: Option<&MatchConfig>) -> Option<MatchConfig> {
    let own = condition?;
    if Some(own) == outer {
        return None;
    }
    if let Some([first, second]) = own.all.as_deref()
        && keys(own) == [Key::All]
    {
        if Some(first) == outer {
            return within(Some(second), None);
        }
        if keys(second) == [Key::Not] {
            return within(Some(first), outer);
        }
    }
    Some(own.clone())
}

/// Moves classes of nested policies out of their class: `outer.inner` precedes `outer`.
pub(super) fn nested(classes: Vec<Class>) -> Vec<Class> {
    let mut found: Vec<Class> = Vec::new();
    for mut class in classes {
        let is_inside =
            |other: &Class| other.name.rsplit_once('.').map_or("", |(outer, _)| outer) == class.name;
        let (inside, others): (Vec<Class>, Vec<Class>) = found.into_iter().partition(is_inside);
        found = others;
        let mut rest = Vec::new();
        for mut inner in inside {
            let own = inner.name.rfind('.').map_or(0, |point| point + 1);
            inner.name.drain(..own);
            inner.matches = within(inner.matches.as_ref(), class.matches.as_ref());
            if inner.matches.is_some() {
                class.inside.push(inner);
            } else {
                rest.push(Class { name: CLASS_DEFAULT.to_owned(), lines: inner.lines, ..Class::default() });
            }
        }
        class.inside.extend(rest);
        found.push(class);
    }
    found
}

/// Merges the classes of stages and of queues.
pub(super) fn merged(stages: Vec<Class>, queues: Vec<Class>, by_label: &Labels) -> Vec<Class> {
    if stages.is_empty() {
        return ordered(queues);
    }
    let mut found = stages;
    for mut queue in queues {
        if let Some(known) = found.iter_mut().find(|class| class.name == queue.name && class.queue.is_none())
        {
            (known.queue, known.level) = (queue.queue, queue.level);
            continue;
        }
        let own = labels(queue.matches.as_ref()).iter().filter_map(|label| by_label.get(label));
        let own: Vec<Option<MatchConfig>> = own.cloned().collect();
        if let Some(condition) = either(own) {
            queue.matches = condition;
        } else {
            let without_queues: Vec<&Class> = found.iter().filter(|class| class.queue.is_none()).collect();
            let all: Vec<&Class> = found.iter().collect();
            if excludes(&queue, &all) || excludes(&queue, &without_queues) {
                drop_exclusion(&mut queue);
            }
        }
        found.push(queue);
    }
    let (others, last): (Vec<Class>, Vec<Class>) =
        found.into_iter().partition(|class| class.matches.is_some());
    [others, last].concat()
}

/// Returns the disjunction of several conditions; `None` if there are none.
#[allow(clippy::option_option)] // "no condition" and "no class" are different results
fn either(mut conditions: Vec<Option<MatchConfig>>) -> Option<Option<MatchConfig>> {
    if conditions.len() < 2 {
        return conditions.pop();
    }
    let any: Option<Vec<MatchConfig>> = conditions.into_iter().collect();
    Some(any.map(|any| MatchConfig { any: Some(any), ..MatchConfig::default() }))
}

fn drop_exclusion(class: &mut Class) {
    let kept = class.matches.as_ref().and_then(but_not).map(|(kept, _)| kept.clone());
    class.matches = kept.or(class.matches.take());
}

/// Moves each class that excludes other classes behind the excluded classes, and removes the exclusion.
fn ordered(classes: Vec<Class>) -> Vec<Class> {
    let (conditional, last): (Vec<Class>, Vec<Class>) =
        classes.into_iter().partition(|class| class.matches.is_some());
    let (mut ordered, priorities): (Vec<Class>, Vec<Class>) =
        conditional.into_iter().partition(|class| class.level.is_none());
    for mut class in priorities {
        let behind = |at: &usize| excludes(&class, &ordered[..*at].iter().collect::<Vec<_>>());
        let mut at = (1..=ordered.len()).rev().find(behind).unwrap_or(0);
        if at > 0 {
            drop_exclusion(&mut class);
        }
        // Priority classes keep their relative order, and precede all classes that they do not exclude.
        while ordered.get(at).is_some_and(|class| class.level.is_some()) {
            at += 1;
        }
        ordered.insert(at, class);
    }
    ordered.extend(last);
    ordered
}

/// Whether the condition of a class excludes the packets of some other classes.
fn excludes(class: &Class, others: &[&Class]) -> bool {
    let Some((_, refused)) = class.matches.as_ref().and_then(but_not) else { return false };
    let shared: Vec<&Class> = others.iter().filter(|other| other.level.is_none()).copied().collect();
    let conditions: Option<Vec<MatchConfig>> = shared.iter().map(|class| class.matches.clone()).collect();
    match conditions {
        None => same_packets(Some(refused), None),
        Some(conditions) if conditions.is_empty() => false,
        Some(any) => {
            let any = MatchConfig { any: Some(any), ..MatchConfig::default() };
            same_packets(Some(refused), Some(&any))
        }
    }
}
