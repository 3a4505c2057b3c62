//! The queues of a port, or of a node of its hierarchy, and their scheduler.
//!
//! The scheduler first serves guarantees in the order of priorities, then shares the excess by level and
//! weight.

use perhop_device::intent::At;
use perhop_device::lower::ClassLinks;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{LinkLayerConfig, SchedulerConfig};
use perhop_qos::{ByteSize, Rate};

use super::buffers::{Rest, buffer, queue_bytes};
use super::device::{Device, Findings, links_of};
use super::shared_memory;
use super::shares::{Around, LEAST_BURST, Queue, is_strict, share, weights};
use super::stages::labels;
use crate::cos::{Amount, Buffer, ExcessPriority, Limit, Priority, Scheduler};
use crate::families::{ExcessOrder, MissingRate};
use crate::rules;

/// The queues of a node.
pub(super) struct Queues {
    pub(super) config: QueueingConfig,
    pub(super) links: Vec<ClassLinks>,
}

/// The scheduler node whose queues are built, with its rates.
#[derive(Clone, Copy)]
pub(super) struct QueuesAt<'q> {
    pub(super) name: &'q str,
    pub(super) line: usize,
    pub(super) scheduler_map: Option<&'q At<String>>,
    /// The rate that percentages refer to.
    pub(super) reference: Rate,
    /// The rate that `rate-limit` refers to: the rate of the port's shaper if the port has no inner nodes,
    /// otherwise the rate of the port.
    pub(super) port_rate: Rate,
    /// The rate that buffers refer to.
    pub(super) buffer_rate: Rate,
    pub(super) link_layer: LinkLayerConfig,
    /// Whether the queues are in a node of a hierarchy.
    pub(super) is_in_node: bool,
    /// The path to the enclosing class in the queueing of the port.
    pub(super) place: &'q [usize],
    /// Whether a filter can have marked the labels of packets as accepted.
    pub(super) has_accepted: bool,
}

/// The burst of `rate-limit`, milliseconds of its rate.
const RATE_LIMIT_MS: u64 = 5;

/// Returns the queues of a node.
pub(super) fn queues(device: Device, at: QueuesAt, findings: &mut Findings) -> Queues {
    let mut found = resolved(device, at);
    scale(device, &mut found, at, findings);
    let weights = weights(device, &found, at.reference);
    let rest = unassigned_buffer(&found);
    let around = Around { reference: at.reference, is_in_node: at.is_in_node, link_layer: at.link_layer };
    let mut classes = Vec::new();
    let mut links = Vec::new();
    let mut weighted: Vec<(Queue, f64)> = found.into_iter().zip(weights).collect();
    // The queue of packets without a class is last, because it matches all packets that no other queue
    // matches.
    weighted.sort_by_key(|(queue, _)| queue.number == 0);
    for (queue, weight) in &weighted {
        let rates = (at.buffer_rate, part_of(queue.guarantee, at.reference));
        let bytes = queue_bytes(device.rules, queue.scheduler, rates, queue.guarantee, rest);
        let buffer = match device.rules.chip {
            Some(chip) => Some(shared_memory::buffer(device, chip, queue, findings)),
            None => device.rules.has_known_buffers.then(|| buffer(device, queue.scheduler, bytes)),
        };
        let place: Vec<usize> = at.place.iter().copied().chain([classes.len()]).collect();
        links.push(ClassLinks {
            queue: Some(place.clone()),
            node: Some(place),
            ..links_of(links.len(), &queue.lines, None)
        });
        classes.push(ClassConfig {
            share: share(device, queue, *weight, around),
            buffer,
            ..class(device, queue, at)
        });
    }
    if let Some(last) = classes.last_mut() {
        last.matches = None;
    }
    let scheduler = SchedulerConfig::GuaranteeExcess;
    Queues { config: QueueingConfig { scheduler, classes, ..QueueingConfig::default() }, links }
}

/// Returns a guarantee as a percentage of a rate.
fn part_of(guarantee: u64, reference: Rate) -> f64 {
    100.0 * guarantee as f64 / reference.as_bits_per_second().max(1) as f64
}

/// Returns the class of a queue without its share and buffer.
fn class(device: Device, queue: &Queue, at: QueuesAt) -> ClassConfig {
    let members = device.cos.classes.of_queue(queue.number);
    let label = members.iter().flat_map(|(label, _)| labels(*label, at.has_accepted)).collect();
    ClassConfig {
        name: members.first().map_or("", |(_, class)| class.name.as_str()).to_owned(),
        matches: Some(MatchConfig { label: Some(OneOrMany(label)), ..MatchConfig::default() }),
        police: police(queue, at),
        ..ClassConfig::default()
    }
}

/// Returns the queues by number with the schedulers of the attached map, or of the default map.
fn resolved<'d>(device: Device<'d>, at: QueuesAt) -> Vec<Queue<'d>> {
    let schedulers = &device.cos.schedulers;
    let map = at.scheduler_map.and_then(|name| schedulers.maps.get(&name.value).map(|map| (name.line, map)));
    let rate = at.reference.as_bits_per_second();
    let mut found: Vec<Queue> = Vec::new();
    for number in device.cos.classes.queues() {
        let names = device.cos.classes.of_queue(number);
        let entry = map.and_then(|(line, map)| {
            let own =
                map.entries.iter().find(|(class, _, _)| names.iter().any(|(_, known)| known.name == *class));
            own.map(|(_, scheduler, entry)| (line, scheduler, *entry))
        });
        let scheduler = entry.and_then(|(_, name, _)| schedulers.schedulers.get(name));
        let mut lines: Vec<usize> = names.iter().map(|(_, class)| class.line).collect();
        if let (Some((attached, _, entry)), Some(scheduler)) = (entry, scheduler) {
            lines.splice(0..0, [entry, scheduler.line, attached]);
            lines.extend(scheduler.drops.iter().map(|drop| drop.line));
            let values = [
                scheduler.transmit.map(|at| at.line),
                scheduler.shaping.map(|at| at.line),
                scheduler.buffer.map(|at| at.line),
                scheduler.priority.map(|at| at.line),
                scheduler.excess_priority.map(|at| at.line),
                scheduler.excess_rate.map(|at| at.line),
                scheduler.threshold.map(|at| at.line),
                scheduler.ecn,
            ];
            lines.extend(values.into_iter().flatten());
            if device.rules.chip.is_some() {
                lines.extend(device.cos.shared_buffer.lines());
            }
        }
        let guarantee = match map {
            Some(_) => scheduler.map_or(Some(0), |scheduler| guarantee(scheduler, rate)),
            None => Some(default_percent(device, number) * rate / 100),
        };
        found.push(queue(device, number, scheduler, (guarantee, rate), lines));
    }
    after_shaped(device, &mut found, rate);
    share_rest(device, &mut found, rate);
    found
}

/// Returns the percentage of a queue without a scheduler map (Junos CoS User Guide, "Default Schedulers").
fn default_percent(device: Device, queue: u8) -> u64 {
    let own = device.rules.default_percents.iter().find(|(known, _)| *known == queue);
    own.map_or(0, |(_, percent)| u64::from(*percent))
}

/// Returns the guarantee of a scheduler; `None` for a part of the remainder.
fn guarantee(scheduler: &Scheduler, rate: u64) -> Option<u64> {
    match scheduler.transmit?.value.amount {
        Amount::Rate(bits) => Some(bits.min(rate)),
        Amount::Percent(percent) => Some(part(rate, percent)),
        Amount::Remainder => None,
    }
}

fn part(rate: u64, percent: u8) -> u64 {
    (u128::from(rate) * u128::from(percent) / 100) as u64
}

/// The placeholder for a guarantee that is a part of the remainder.
const OF_REST: u64 = u64::MAX;

fn queue<'d>(
    device: Device,
    number: u8,
    scheduler: Option<&'d Scheduler>,
    (guarantee, rate): (Option<u64>, u64),
    lines: Vec<usize>,
) -> Queue<'d> {
    let priority = scheduler.and_then(|own| own.priority).map(|at| at.value).unwrap_or_default();
    let written = scheduler.and_then(|own| own.excess_priority).map(|at| at.value);
    let default = match priority {
        Priority::LowLatency | Priority::StrictHigh | Priority::High => ExcessPriority::High,
        _ => ExcessPriority::Low,
    };
    let has_rate = scheduler.is_none_or(|own| own.transmit.is_some());
    let is_of_rest = guarantee.is_none()
        && (has_rate || device.rules.missing_rate == MissingRate::EqualPart)
        && !is_strict(device, priority);
    let guarantee = if is_of_rest { OF_REST } else { guarantee.unwrap_or(0) };
    let shaped = scheduler.and_then(|own| own.shaping).map(|at| match at.value {
        Amount::Rate(bits) => bits.min(rate),
        Amount::Percent(percent) => part(rate, percent),
        Amount::Remainder => rate,
    });
    Queue {
        number,
        scheduler,
        lines,
        guarantee,
        maximum: shaped.unwrap_or(rate),
        priority,
        excess: written.unwrap_or(default),
        limit: scheduler.and_then(|own| own.transmit).map(|at| at.value.limit).unwrap_or_default(),
    }
}

/// Adjusts the guarantees on ACX7000: percentages of low queues refer to the rate that the shapers of the
/// other queues leave, and only low queues have transmit rates (Juniper JVD, low latency queueing, table 12).
fn after_shaped(device: Device, queues: &mut [Queue], rate: u64) {
    if device.rules.excess_order != ExcessOrder::Preemptive {
        return;
    }
    let left = rate.saturating_sub(shaped_above(device, queues, rate));
    for queue in queues {
        if is_strict(device, queue.priority) {
            queue.guarantee = 0;
        } else if let Some(Amount::Percent(percent)) =
            queue.scheduler.and_then(|own| own.transmit).map(|at| at.value.amount)
        {
            queue.guarantee = part(left, percent);
        } else if queue.guarantee != OF_REST {
            queue.guarantee = queue.guarantee.min(left);
        }
    }
}

/// Returns the sum of the shapers of priority queues on ACX7000; 0 on other families.
fn shaped_above(device: Device, queues: &[Queue], rate: u64) -> u64 {
    let is_shaped = |queue: &&Queue| {
        let is_preemptive = device.rules.excess_order == ExcessOrder::Preemptive;
        is_preemptive && is_strict(device, queue.priority) && queue.maximum < rate
    };
    queues.iter().filter(is_shaped).map(|queue| queue.maximum).fold(0, u64::saturating_add)
}

/// Gives each queue with `remainder` an equal part of the remaining rate, and applies `exact`.
fn share_rest(device: Device, queues: &mut [Queue], rate: u64) {
    let used: u64 = queues
        .iter()
        .filter(|queue| queue.guarantee != OF_REST)
        .map(|queue| queue.guarantee)
        .fold(0, u64::saturating_add);
    let open = queues.iter().filter(|queue| queue.guarantee == OF_REST).count() as u64;
    let shaped = shaped_above(device, queues, rate);
    let each = rate.saturating_sub(used).saturating_sub(shaped).checked_div(open).unwrap_or(0);
    for queue in queues {
        if queue.guarantee == OF_REST {
            queue.guarantee = each;
        }
        // A strict-high queue has no excess region, so the absence of excess does not limit it.
        let is_without_excess = device.rules.excess_order == ExcessOrder::TwoLevels
            && queue.excess == ExcessPriority::None
            && !is_strict(device, queue.priority);
        // A rate limit of 0 drops all packets.
        let is_closed = queue.limit == Limit::Policed && queue.guarantee == 0;
        if queue.limit == Limit::Exact || is_without_excess || is_closed {
            queue.maximum = queue.maximum.min(queue.guarantee);
        }
        queue.guarantee = queue.guarantee.min(queue.maximum);
    }
}

/// Scales guarantees down if their sum exceeds the rate of the port. Strict-high queues are not counted.
fn scale(device: Device, queues: &mut [Queue], at: QueuesAt, findings: &mut Findings) {
    let rate = at.reference.as_bits_per_second();
    let is_counted = |queue: &&mut Queue| !is_strict(device, queue.priority);
    let sum: u128 = queues.iter_mut().filter(is_counted).map(|queue| u128::from(queue.guarantee)).sum();
    if sum <= u128::from(rate) {
        return;
    }
    let line = at.scheduler_map.map_or(at.line, |map| map.line);
    let message = format!("the transmit rates of {} add up to {sum} b/s of {rate}", at.name);
    findings.found(&rules::JUNOS_RATES_ABOVE_PORT, line, message, "the device scales them down");
    for queue in queues.iter_mut().filter(is_counted) {
        queue.guarantee = (u128::from(queue.guarantee) * u128::from(rate) / sum) as u64;
    }
}

fn unassigned_buffer(queues: &[Queue]) -> Rest {
    let size = |queue: &Queue| queue.scheduler.and_then(|own| own.buffer).map(|at| at.value);
    let used: f64 = queues
        .iter()
        .filter_map(size)
        .map(|buffer| if let Buffer::Percent(percent) = buffer { f64::from(percent) } else { 0.0 })
        .sum();
    let open = queues.iter().filter(|queue| size(queue) == Some(Buffer::Remainder)).count();
    Rest { percent_each: (100.0 - used).max(0.0) / (open.max(1) as f64) }
}

/// Returns the policer of a queue with `rate-limit`.
///
/// In a node, a percentage refers to the port: a queue of 50 % of a node with 5.6 Mb/s passes 3.1 Mb/s
/// without drops (vMX, Juniper techpost "Link Slicing With MPLS and `SRv6` Underlays"; inferred).
fn police(queue: &Queue, at: QueuesAt) -> Option<PoliceConfig> {
    let transmit = queue.scheduler?.transmit?.value;
    if queue.limit != Limit::Policed {
        return None;
    }
    let rate = match transmit.amount {
        Amount::Percent(percent) => part(at.port_rate.as_bits_per_second(), percent),
        Amount::Rate(bits) => bits,
        Amount::Remainder => queue.guarantee,
    };
    (rate > 0).then(|| PoliceConfig {
        rate: Rate::from_bits_per_second(rate),
        burst: ByteSize::from_bytes((rate / 8 * RATE_LIMIT_MS / 1000).max(LEAST_BURST)),
        when: PoliceWhen::Always,
    })
}
