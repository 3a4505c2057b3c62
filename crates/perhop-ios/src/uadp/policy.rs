//! The classes of a policy that have their own queue, with the properties that determine the memory of a
//! port.

use perhop_device::{Basis, LineLeftOut, MarkedField, MarkedPackets};
use perhop_lint::{Line, LineState};

use crate::ast::{CLASS_DEFAULT, Configuration, Field, PartialLimit, PolicyClass, PolicyMap};

/// A class with a queue.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueueClass {
    /// The name of the class.
    pub(super) name: String,
    /// The line that opens the class.
    pub(super) line: usize,
    /// The priority level.
    pub(super) level: Option<u8>,
    /// `queue-buffers ratio`.
    pub(super) ratio: Option<u64>,
    /// `queue-limit … percent`.
    pub(super) limits: Vec<PercentLimit>,
    /// The line of the first `random-detect`.
    pub(super) random_detect: Option<usize>,
}

/// A threshold for packets with some values of a field, percent of the memory of the class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PercentLimit {
    /// The number of the line in the file.
    pub(super) line: usize,
    /// The packets to which the threshold applies.
    pub(super) packets: Vec<MarkedPackets>,
    /// The threshold, percent.
    pub(super) percent: u64,
}

/// Returns the classes of `policy` with a queue, in the order of service: priority levels first,
/// class-default last. Adds the ignored lines that would change the memory.
pub(super) fn queueing_classes(
    configuration: &Configuration,
    policy: &PolicyMap,
    not_modeled: &mut Vec<LineLeftOut>,
) -> Vec<QueueClass> {
    // If the parent only shapes class-default, the classes of the child have the queues. A switch has no
    // third level.
    let child = match policy.classes.as_slice() {
        [parent] if parent.name == CLASS_DEFAULT && parent.shape.is_some() => parent.service_policy.as_ref(),
        _ => None,
    };
    let policy = child.and_then(|child| configuration.policy_maps.get(&child.value)).unwrap_or(policy);
    let has_queue = |class: &&PolicyClass| class.has_switch_queue();
    if policy.classes.iter().filter(has_queue).count() == 0 {
        return Vec::new();
    }
    let mut classes: Vec<QueueClass> = policy
        .classes
        .iter()
        .filter(|class| has_queue(class) || class.name == CLASS_DEFAULT)
        .map(|class| {
            not_modeled.extend(unread_lines(configuration, class));
            queue_class(class, not_modeled)
        })
        .collect();
    if !classes.iter().any(|class| class.name == CLASS_DEFAULT) {
        classes.push(QueueClass {
            name: CLASS_DEFAULT.to_owned(),
            line: policy.line,
            level: None,
            ratio: None,
            limits: Vec::new(),
            random_detect: None,
        });
    }
    classes.sort_by_key(|class| (class.level.unwrap_or(u8::MAX), class.name == CLASS_DEFAULT));
    classes
}

/// Returns the lines of a class that the front end does not read.
fn unread_lines(configuration: &Configuration, class: &PolicyClass) -> impl Iterator<Item = LineLeftOut> {
    let is_unread = |line: &&Line| {
        line.block == Some(class.line)
            && matches!(line.state, LineState::NotRecognized | LineState::Suspicious)
    };
    configuration.lines.iter().filter(is_unread).map(|line| LineLeftOut {
        line: line.number,
        text: format!("class {}: `{}`", class.name, line.text.trim()),
    })
}

fn queue_class(class: &PolicyClass, not_modeled: &mut Vec<LineLeftOut>) -> QueueClass {
    let mut leave_out = |line: usize, what: &str| {
        not_modeled.push(LineLeftOut { line, text: format!("class {}: {what}", class.name) });
    };
    if let Some(limit) = &class.queue_limit {
        leave_out(limit.line, "queue-limit in packets, bytes or time: the switch accepts only percent");
    }
    if let Some(child) = &class.service_policy {
        leave_out(
            child.line,
            "service-policy: perhop does not divide the memory among the queues of a child policy",
        );
    }
    let mut limits = Vec::new();
    for limit in &class.value_limits {
        match limit.value.limit {
            PartialLimit::Percent(percent) => {
                let Some(field) = marked_field(limit.value.field) else {
                    leave_out(limit.line, "queue-limit by a field that perhop does not know");
                    continue;
                };
                if field == MarkedField::Group {
                    leave_out(
                        limit.line,
                        "queue-limit qos-group: in a run these packets have the last threshold",
                    );
                }
                let values = limit.value.values.iter();
                let packets = values.map(|value| MarkedPackets { field, value: *value }).collect();
                limits.push(PercentLimit { line: limit.line, packets, percent });
            }
            PartialLimit::Limit(_) => leave_out(limit.line, "queue-limit without percent"),
        }
    }
    QueueClass {
        name: class.name.clone(),
        line: class.line,
        level: class.priority.as_ref().map(|priority| priority.value.level),
        ratio: class.buffers_percent.as_ref().map(|ratio| ratio.value),
        limits,
        random_detect: class.random_detect.as_ref().map(|detect| detect.line),
    }
}

/// Returns the field as a field by which thresholds can differ; `None` for other fields.
fn marked_field(field: Field) -> Option<MarkedField> {
    match field {
        Field::Dscp => Some(MarkedField::Mark(Basis::Dscp)),
        Field::Cos => Some(MarkedField::Mark(Basis::Cos)),
        Field::Precedence => Some(MarkedField::Mark(Basis::Precedence)),
        Field::DiscardClass => Some(MarkedField::Mark(Basis::DiscardClass)),
        Field::QosGroup => Some(MarkedField::Group),
        _ => None,
    }
}
