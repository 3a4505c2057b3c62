//! Schedulers and scheduler maps.

use std::collections::BTreeMap;

use perhop_device::intent::At;

use super::classes::{Classes, LossPriority};
use super::drop_profiles::DropProfile;
use super::shared_buffer::threshold;
use crate::context::{Context, Word};
use crate::tree::NodeId;
use crate::values::{number, percent};

/// A rate or a size: absolute or relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Bits per second.
    Rate(u64),
    /// Percent of the reference rate.
    Percent(u8),
    /// An equal part of the remainder.
    Remainder,
}

/// The limit of a transmit rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Limit {
    #[default]
    None,
    /// The queue is shaped to its rate.
    Exact,
    /// A policer in front of the queue drops packets above its rate.
    Policed,
}

/// A transmit rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmit {
    pub(crate) amount: Amount,
    pub(crate) limit: Limit,
}

/// A buffer size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buffer {
    /// Percent of the delay buffer of the port.
    Percent(u8),
    /// Microseconds at the transmit rate.
    Temporal(u64),
    Remainder,
}

/// The priority of a queue within its guarantee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    /// Only ACX7000 has the priorities `low-latency`, `low-high` and `low-medium`.
    LowLatency,
    StrictHigh,
    High,
    MediumHigh,
    MediumLow,
    LowHigh,
    LowMedium,
    #[default]
    Low,
}

/// The priority of a queue above its guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExcessPriority {
    High,
    Low,
    /// The queue gets no more than its guarantee.
    None,
}

/// The weight of a queue above its guarantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExcessRate {
    Percent(u8),
    Proportion(u64),
}

/// A drop profile for some loss priorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DropMap {
    pub(crate) node: NodeId,
    pub(crate) line: usize,
    pub(crate) losses: Vec<LossPriority>,
    pub(crate) profile: String,
}

/// A scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scheduler {
    pub(crate) line: usize,
    pub(crate) transmit: Option<At<Transmit>>,
    pub(crate) shaping: Option<At<Amount>>,
    /// Bytes.
    pub(crate) shaping_burst: Option<At<u64>>,
    pub(crate) buffer: Option<At<Buffer>>,
    pub(crate) priority: Option<At<Priority>>,
    pub(crate) excess_priority: Option<At<ExcessPriority>>,
    pub(crate) excess_rate: Option<At<ExcessRate>>,
    /// The index of the dynamic threshold in the shared memory of a switch.
    pub(crate) threshold: Option<At<u8>>,
    pub(crate) drops: Vec<DropMap>,
    /// The line that marks ECN-capable packets instead of dropping them by a drop profile.
    pub(crate) ecn: Option<usize>,
}

/// A scheduler map: a scheduler for each class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchedulerMap {
    pub(crate) line: usize,
    /// Class, scheduler and line.
    pub(crate) entries: Vec<(String, String, usize)>,
}

/// The schedulers and maps of a device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedulers {
    pub(crate) schedulers: BTreeMap<String, Scheduler>,
    pub(crate) maps: BTreeMap<String, SchedulerMap>,
}

pub(super) fn read(
    context: &mut Context,
    cos: NodeId,
    classes: &Classes,
    profiles: &BTreeMap<String, DropProfile>,
) -> Schedulers {
    let mut found = Schedulers::default();
    for name in context.items(cos, "schedulers") {
        let scheduler = scheduler(context, &name, classes, profiles);
        found.schedulers.insert(name.text, scheduler);
    }
    for name in context.items(cos, "scheduler-maps") {
        let mut map = SchedulerMap { line: name.line, entries: Vec::new() };
        for class in context.items(name.node, "forwarding-class") {
            if classes.label(&class.text).is_none() {
                context.undefined_block(class.node, "forwarding class", &class.text);
                continue;
            }
            let Some(word) = context.value(class.node, "scheduler") else { continue };
            if found.schedulers.contains_key(&word.text) {
                map.entries.push((class.text, word.text, class.line));
            } else {
                context.undefined(word.node, "scheduler", &word.text);
            }
        }
        found.maps.insert(name.text, map);
    }
    found
}

fn scheduler(
    context: &mut Context,
    name: &Word,
    classes: &Classes,
    profiles: &BTreeMap<String, DropProfile>,
) -> Scheduler {
    let node = name.node;
    let mut found = Scheduler { line: name.line, ..Scheduler::default() };
    if let Some(statement) = context.tree.child(node, "transmit-rate") {
        found.transmit = transmit(context, statement);
    }
    if let Some(statement) = context.tree.child(node, "shaping-rate") {
        let written = amount(context, statement, "shaping-rate");
        found.shaping_burst = written.as_ref().and_then(|written| written.burst);
        found.shaping = written.map(|written| written.amount);
    }
    if let Some(statement) = context.tree.child(node, "buffer-size") {
        found.buffer = buffer(context, statement);
    }
    found.priority = context.parsed(node, "priority", priority);
    found.excess_priority = context.parsed(node, "excess-priority", excess_priority);
    if let Some(statement) = context.tree.child(node, "excess-rate") {
        found.excess_rate = excess_rate(context, statement);
    }
    drop_maps(context, node, profiles, &mut found);
    if let Some(ecn) = context.tree.child(node, "explicit-congestion-notification") {
        context.modeled(ecn);
        found.ecn = Some(context.tree.line(ecn));
    }
    for word in context.keywords(node) {
        match word.text.as_str() {
            "adjust-minimum" | "adjust-percent" | "excess-weight" => {
                context.not_modeled(word.node, "dynamic bandwidth adjustment");
            }
            "buffer-dynamic-threshold" if classes.family().rules().chip.is_some() => {
                found.threshold = context.parsed(node, &word.text, threshold);
            }
            "buffer-dynamic-threshold" => context.not_modeled(word.node, "shared memory of switches"),
            "latency-ecn" => context.not_modeled(word.node, "ECN marks by the delay of a packet"),
            "queue-depth-monitoring" => context.irrelevant(word.node, "monitoring"),
            _ => {}
        }
    }
    found
}

/// The options of `transmit-rate` that limit the queue to the rate, by a shaper or by a policer.
const OPTIONS: [&str; 2] = ["exact", "rate-limit"];

/// A rate with its options.
pub(super) struct Written {
    pub(super) amount: At<Amount>,
    /// Bytes.
    pub(super) burst: Option<At<u64>>,
    others: Vec<Word>,
}

/// Reads a rate with its options: `percent 20`, `remainder`, `50m burst-size 64k`.
pub(super) fn amount(context: &mut Context, statement: NodeId, key: &str) -> Option<Written> {
    context.modeled(statement);
    let words = context.flat(statement);
    for word in &words {
        context.modeled(word.node);
    }
    let (mut found, mut others) = (None, Vec::new());
    let (mut is_percent, mut is_burst, mut burst) = (false, false, None);
    for word in words {
        let line = word.line;
        let value = match word.text.as_str() {
            "percent" => {
                is_percent = true;
                continue;
            }
            "burst-size" => {
                is_burst = true;
                continue;
            }
            text if std::mem::take(&mut is_burst) => {
                burst = number(text).filter(|bytes| *bytes > 0).map(|bytes| At::new(line, bytes));
                if burst.is_none() {
                    context.invalid(&word, &format!("{key} burst-size"));
                }
                continue;
            }
            "remainder" => Some(Amount::Remainder),
            text if std::mem::take(&mut is_percent) => {
                let part = percent(text).map(Amount::Percent);
                if part.is_none() {
                    context.invalid(&word, &format!("{key} percent"));
                    return None;
                }
                part
            }
            text => number(text).map(Amount::Rate),
        };
        match (value, found) {
            (Some(_), Some(At { value: Amount::Remainder, .. })) => {
                context.not_modeled(word.node, "a percentage of the remainder: perhop gives equal parts");
            }
            (Some(value), _) => found = Some(At::new(line, value)),
            (None, _) if key == "transmit-rate" && OPTIONS.contains(&word.text.as_str()) => others.push(word),
            (None, _) => {
                context.invalid(&word, key);
                return None;
            }
        }
    }
    if found.is_none() && others.is_empty() {
        let message = format!("`{key}` has no value");
        context.found(&crate::rules::JUNOS_VALUE_INVALID, statement, message, "the commit fails");
    }
    found.map(|amount| Written { amount, burst, others })
}

fn transmit(context: &mut Context, statement: NodeId) -> Option<At<Transmit>> {
    let Written { amount: at, others, .. } = amount(context, statement, "transmit-rate")?;
    let limit = |word: &Word| if word.text == OPTIONS[0] { Limit::Exact } else { Limit::Policed };
    let mut limit = others.last().map_or(Limit::None, limit);
    if at.value == Amount::Remainder && limit == Limit::Exact {
        // Junos CoS User Guide, "transmit-rate": `remainder` and `exact` exclude each other.
        let message = "`remainder` and `exact` exclude each other";
        context.found(&crate::rules::JUNOS_VALUE_INVALID, statement, message, "the commit fails");
        limit = Limit::None;
    }
    Some(At::new(at.line, Transmit { amount: at.value, limit }))
}

fn buffer(context: &mut Context, statement: NodeId) -> Option<At<Buffer>> {
    context.modeled(statement);
    let words = context.flat(statement);
    let (mut found, mut key) = (None, "");
    for word in &words {
        context.modeled(word.node);
        let line = word.line;
        match word.text.as_str() {
            "percent" => key = "percent",
            "temporal" => key = "temporal",
            "remainder" => found = Some(At::new(line, Buffer::Remainder)),
            "exact" | "shared" => context.not_modeled(word.node, "shared memory"),
            text => {
                let value = match key {
                    "temporal" => number(text).map(Buffer::Temporal),
                    _ => percent(text).map(Buffer::Percent),
                };
                match value {
                    Some(value) => found = Some(At::new(line, value)),
                    None => context.invalid(word, "buffer-size"),
                }
            }
        }
    }
    found
}

pub(super) fn excess_rate(context: &mut Context, statement: NodeId) -> Option<At<ExcessRate>> {
    context.modeled(statement);
    let words = context.flat(statement);
    let mut found = None;
    let mut is_proportion = false;
    for word in &words {
        context.modeled(word.node);
        match word.text.as_str() {
            "percent" => is_proportion = false,
            "proportion" => is_proportion = true,
            text => {
                let value = if is_proportion {
                    number(text).filter(|number| *number <= 1000).map(ExcessRate::Proportion)
                } else {
                    percent(text).map(ExcessRate::Percent)
                };
                match value {
                    Some(value) => found = Some(At::new(word.line, value)),
                    None => context.invalid(word, "excess-rate"),
                }
            }
        }
    }
    found
}

fn priority(text: &str) -> Option<Priority> {
    Some(match text {
        "low-latency" => Priority::LowLatency,
        "strict-high" => Priority::StrictHigh,
        "high" => Priority::High,
        "medium-high" => Priority::MediumHigh,
        "medium-low" => Priority::MediumLow,
        "low-high" => Priority::LowHigh,
        "low-medium" => Priority::LowMedium,
        "low" => Priority::Low,
        _ => return None,
    })
}

fn excess_priority(text: &str) -> Option<ExcessPriority> {
    Some(match text {
        "high" | "medium-high" => ExcessPriority::High,
        "low" | "medium-low" => ExcessPriority::Low,
        "none" => ExcessPriority::None,
        _ => return None,
    })
}

fn drop_maps(
    context: &mut Context,
    node: NodeId,
    profiles: &BTreeMap<String, DropProfile>,
    found: &mut Scheduler,
) {
    for priority in
        context.items(node, "drop-profile-map").into_iter().filter(|word| word.text == "loss-priority")
    {
        for loss in context.names(priority.node) {
            let losses = match loss.text.as_str() {
                "any" => LossPriority::ALL.to_vec(),
                text => LossPriority::named(text).into_iter().collect(),
            };
            if losses.is_empty() {
                context.invalid(&loss, "loss-priority");
            }
            for protocol in context.items(loss.node, "protocol") {
                // MX and SRX apply a profile to all protocols (Junos CoS User Guide, "drop-profile-map").
                if protocol.text != "any" {
                    context
                        .not_modeled(protocol.node, "profiles of TCP alone, which only M and T series have");
                    continue;
                }
                let Some(profile) = context.value(protocol.node, "drop-profile") else { continue };
                if !profiles.contains_key(&profile.text) {
                    context.undefined(profile.node, "drop profile", &profile.text);
                    continue;
                }
                found.drops.push(DropMap {
                    node: profile.node,
                    line: profile.line,
                    losses: losses.clone(),
                    profile: profile.text,
                });
            }
        }
    }
    // A profile for a specific loss priority precedes a profile for `any`.
    found.drops.sort_by_key(|map| std::cmp::Reverse(map.losses.len()));
}
