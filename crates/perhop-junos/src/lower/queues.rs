//! The queues of a port and their scheduler.
//!
//! Guarantees in the order of priorities, then the excess by weight: the scheduler is HTB, whose classes have
//! a rate, a ceiling, a priority and a quantum. It has one priority for guarantee and excess. Rates are those
//! of the documents as long as the guarantees fit into the port; the order of packets within the guarantees
//! can differ ([`JUNOS_GUARANTEE_ORDER`](crate::rules::JUNOS_GUARANTEE_ORDER)).

use perhop_device::lower::ClassLinks;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::policer::{PoliceConfig, PoliceWhen};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{LinkLayerConfig, SchedulerConfig, ShareConfig};
use perhop_qos::{ByteSize, Rate};

use super::buffers::{Rest, buffer, queue_bytes};
use super::device::{Device, Findings, links_of};
use super::stages::labels;
use crate::cos::{Amount, Attached, Buffer, ExcessPriority, ExcessRate, Limit, Priority, Scheduler};
use crate::families::{ExcessOrder, MissingRate};
use crate::rules;

/// The queues of a port.
pub(super) struct Queues {
    pub(super) config: QueueingConfig,
    pub(super) links: Vec<ClassLinks>,
}

/// The port of the queues.
#[derive(Clone, Copy)]
pub(super) struct QueuesAt<'q> {
    pub(super) name: &'q str,
    pub(super) line: usize,
    /// The rate of the line.
    pub(super) line_rate: Rate,
    /// The tags of a packet.
    pub(super) tags: u16,
    pub(super) attached: &'q Attached,
    /// Whether labels can be marked as accepted by a filter.
    pub(super) has_accepted: bool,
}

/// One queue with its resolved numbers.
struct Queue<'d> {
    number: u8,
    scheduler: Option<&'d Scheduler>,
    lines: Vec<usize>,
    /// Bits per second.
    guarantee: u64,
    maximum: u64,
    priority: Priority,
    excess: ExcessPriority,
    limit: Limit,
}

/// The bytes of a VLAN tag.
const TAG: u16 = 4;
/// The name of the class around all queues.
const PORT: &str = "port";
/// The rate of a queue without guarantee, which HTB needs, bits per second.
const LEAST_RATE: u64 = 8;
/// A quantum of one long packet.
const PACKET: f64 = 1600.0;
/// The longest quantum of HTB.
const LONGEST_QUANTUM: f64 = 200_000.0;
/// Weights in hardware are parts of 125, and at least 1 (`show cos scheduler-map` of an MX960, 23.2R2).
const HARDWARE_WEIGHT: f64 = 125.0;
/// Milliseconds of the rate of `rate-limit` that pass at once, and the least burst, bytes.
const RATE_LIMIT_MS: u64 = 5;
const LEAST_BURST: u64 = 15_000;

/// Returns the queues of a port.
pub(super) fn queues(device: Device, at: QueuesAt, findings: &mut Findings) -> Queues {
    let shaped = at.attached.shaping_rate.map(|rate| Rate::from_bits_per_second(rate.value));
    let reference = shaped.map_or(at.line_rate, |rate| rate.min(at.line_rate));
    let mut found = resolved(device, at, reference);
    scale(&mut found, reference, at, findings);
    note_order(device, &found, at, findings);
    let weights = weights(device, &found, reference);
    let rest = rest(&found);
    let overhead = device.rules.overhead + TAG * at.tags;
    let link_layer = LinkLayerConfig { overhead, ..LinkLayerConfig::default() };
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let mut classes = Vec::new();
    let mut links = Vec::new();
    // The queue of packets without class comes last: it takes all that the others do not.
    found.sort_by_key(|queue| queue.number == 0);
    let by_number = |number: u8| device.cos.classes.queues().iter().position(|known| *known == number);
    for queue in &found {
        let weight = by_number(queue.number).and_then(|index| weights.get(index)).copied().unwrap_or(1.0);
        let quantum = (PACKET * weight / least).clamp(PACKET, LONGEST_QUANTUM);
        let bytes = queue_bytes(device.rules, queue.scheduler, (reference, queue.guarantee), rest);
        links.push(ClassLinks {
            queue: Some(vec![0, classes.len()]),
            node: Some(vec![0, classes.len()]),
            ..links_of(links.len(), &queue.lines, None)
        });
        classes.push(ClassConfig {
            share: share(device, queue, quantum as u64, link_layer),
            buffer: Some(buffer(device, queue.scheduler, bytes, findings)),
            ..class(device, queue, at.has_accepted)
        });
    }
    if let Some(last) = classes.last_mut() {
        last.matches = None;
    }
    let config = QueueingConfig { scheduler: SchedulerConfig::Htb, classes, ..QueueingConfig::default() };
    let port = root(device, at, (shaped, reference), link_layer, config);
    Queues {
        config: QueueingConfig {
            scheduler: SchedulerConfig::Htb,
            classes: vec![port],
            ..QueueingConfig::default()
        },
        links,
    }
}

/// Returns the class of a queue without its share and buffer.
fn class(device: Device, queue: &Queue, has_accepted: bool) -> ClassConfig {
    let members = device.cos.classes.of_queue(queue.number);
    let label = members.iter().flat_map(|(label, _)| labels(*label, has_accepted)).collect();
    ClassConfig {
        name: members.first().map_or("", |(_, class)| class.name.as_str()).to_owned(),
        matches: Some(MatchConfig { label: Some(OneOrMany(label)), ..MatchConfig::default() }),
        police: police(queue),
        ..ClassConfig::default()
    }
}

fn share(device: Device, queue: &Queue, quantum: u64, link_layer: LinkLayerConfig) -> ShareConfig {
    // Strict-high has no excess region: it is within its guarantee at any rate that its policer passes.
    let is_policed = queue.limit == Limit::Policed && queue.guarantee > 0;
    let is_unlimited = queue.priority == Priority::StrictHigh && !is_policed;
    let rate = if is_unlimited { queue.maximum } else { queue.guarantee };
    ShareConfig {
        rate: Some(Rate::from_bits_per_second(rate.max(LEAST_RATE))),
        ceil: Some(Rate::from_bits_per_second(queue.maximum.max(LEAST_RATE))),
        level: Some(level(device, queue)),
        quantum: Some(ByteSize::from_bytes(quantum)),
        link_layer: Some(link_layer),
        ..ShareConfig::default()
    }
}

/// Returns the class around the queues, which shapes to the port's rate.
fn root(
    device: Device,
    at: QueuesAt,
    (shaped, reference): (Option<Rate>, Rate),
    link_layer: LinkLayerConfig,
    inner: QueueingConfig,
) -> ClassConfig {
    let default_burst = reference.as_bits_per_second() / 8 * device.rules.shaper_burst_ms / 1000;
    let configured = at.attached.shaping_burst.map(|burst| burst.value);
    // The line itself has no burst: HTB needs room for a few packets.
    let burst = if shaped.is_some() { configured.unwrap_or(default_burst) } else { LEAST_BURST };
    let burst = Some(ByteSize::from_bytes(burst.max(LEAST_BURST)));
    let share = ShareConfig {
        rate: Some(reference),
        ceil: Some(reference),
        burst,
        ceil_burst: burst,
        link_layer: Some(link_layer),
        ..ShareConfig::default()
    };
    ClassConfig { name: PORT.to_owned(), share, queueing: Some(inner), ..ClassConfig::default() }
}

/// Returns the queues by number with the schedulers of the attached map, or of the default map.
fn resolved<'d>(device: Device<'d>, at: QueuesAt<'d>, reference: Rate) -> Vec<Queue<'d>> {
    let schedulers = &device.cos.schedulers;
    let map = at
        .attached
        .scheduler_map
        .as_ref()
        .and_then(|name| schedulers.maps.get(&name.value).map(|map| (name.line, map)));
    let rate = reference.as_bits_per_second();
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
            ];
            lines.extend(values.into_iter().flatten());
        }
        let guarantee = match map {
            Some(_) => scheduler.map_or(Some(0), |scheduler| guarantee(scheduler, rate)),
            None => Some(default_percent(device, number) * rate / 100),
        };
        found.push(queue(device, number, scheduler, (guarantee, rate), lines));
    }
    share_rest(device, &mut found, rate);
    found
}

/// The default scheduler map: 95 % for queue 0 and 5 % for the queue of network control (Junos CoS User
/// Guide, "Default Schedulers").
fn default_percent(device: Device, queue: u8) -> u64 {
    let last = device.rules.classes.last().map_or(3, |(_, queue)| *queue);
    match queue {
        0 => 95,
        number if number == last => 5,
        _ => 0,
    }
}

/// Returns the guarantee of a scheduler; `None` for a part of the rest.
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

/// The mark of a guarantee that is a part of the rest.
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
        Priority::StrictHigh | Priority::High => ExcessPriority::High,
        _ => ExcessPriority::Low,
    };
    let has_rate = scheduler.is_none_or(|own| own.transmit.is_some());
    let is_of_rest = guarantee.is_none()
        && (has_rate || device.rules.missing_rate == MissingRate::EqualPart)
        && priority != Priority::StrictHigh;
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

/// Gives each queue with `remainder` an equal part of the rest, and applies `exact`.
fn share_rest(device: Device, queues: &mut [Queue], rate: u64) {
    let used: u64 = queues
        .iter()
        .filter(|queue| queue.guarantee != OF_REST)
        .map(|queue| queue.guarantee)
        .fold(0, u64::saturating_add);
    let open = queues.iter().filter(|queue| queue.guarantee == OF_REST).count() as u64;
    let each = rate.saturating_sub(used).checked_div(open).unwrap_or(0);
    for queue in queues {
        if queue.guarantee == OF_REST {
            queue.guarantee = each;
        }
        // Strict-high has no excess region.
        let is_without_excess = device.rules.excess_order == ExcessOrder::TwoLevels
            && queue.excess == ExcessPriority::None
            && queue.priority != Priority::StrictHigh;
        if queue.limit == Limit::Exact || is_without_excess {
            queue.maximum = queue.maximum.min(queue.guarantee);
        }
        queue.guarantee = queue.guarantee.min(queue.maximum);
    }
}

/// Scales guarantees down that exceed the port. Strict-high is not counted.
fn scale(queues: &mut [Queue], reference: Rate, at: QueuesAt, findings: &mut Findings) {
    let rate = reference.as_bits_per_second();
    let is_counted = |queue: &&mut Queue| queue.priority != Priority::StrictHigh;
    let sum: u128 = queues.iter_mut().filter(is_counted).map(|queue| u128::from(queue.guarantee)).sum();
    if sum <= u128::from(rate) {
        return;
    }
    let line = at.attached.scheduler_map.as_ref().map_or(at.line, |map| map.line);
    let message = format!("the transmit rates of {} add up to {sum} b/s of {rate}", at.name);
    findings.found(&rules::JUNOS_RATES_ABOVE_PORT, line, message, "the device scales them down");
    for queue in queues.iter_mut().filter(is_counted) {
        queue.guarantee = (u128::from(queue.guarantee) * u128::from(rate) / sum) as u64;
    }
}

/// Reports queues that share an excess level and have different priorities within their guarantees.
fn note_order(device: Device, queues: &[Queue], at: QueuesAt, findings: &mut Findings) {
    if device.rules.excess_order == ExcessOrder::Priority {
        return;
    }
    let differs = |a: &Queue, b: &Queue| {
        let rank = |queue: &Queue| match queue.priority {
            Priority::StrictHigh | Priority::High => 0,
            Priority::MediumHigh | Priority::MediumLow => 1,
            Priority::Low => 2,
        };
        let (guaranteed_a, guaranteed_b) = (a.guarantee > 0, b.guarantee > 0);
        guaranteed_a && guaranteed_b && level(device, a) == level(device, b) && rank(a) != rank(b)
    };
    let Some(map) = &at.attached.scheduler_map else { return };
    if queues.iter().enumerate().any(|(index, a)| queues[..index].iter().any(|b| differs(a, b))) {
        let message = format!("queues of {} differ in priority and share an excess level", at.name);
        let router = "the device serves the higher priority first within guarantees; perhop serves both \
                      in turns there";
        findings.found(&rules::JUNOS_GUARANTEE_ORDER, map.line, message, router);
    }
}

/// Returns the HTB priority of a queue.
fn level(device: Device, queue: &Queue) -> u16 {
    // TechLibrary cos-transmission-scheduling-security-overview.
    if device.rules.excess_order == ExcessOrder::Priority {
        return queue.priority as u16;
    }
    // TechLibrary hw-cos-trio-scheduling-hierarchical: a queue without excess has only its own priority.
    if queue.maximum <= queue.guarantee && queue.priority != Priority::StrictHigh {
        return match queue.priority {
            Priority::StrictHigh | Priority::High => 0,
            Priority::MediumHigh | Priority::MediumLow => 1,
            Priority::Low => 2,
        };
    }
    match (queue.priority, queue.excess) {
        (Priority::StrictHigh, _) | (_, ExcessPriority::High) => 0,
        (_, ExcessPriority::Low | ExcessPriority::None) => 2,
    }
}

/// Returns the weights beyond the guarantees, by queue.
///
/// If a queue has an excess rate, those without count 1 percent; else transmit rates count (Juniper techpost,
/// "Wholistic Design Approach for MPLS Backbone CoS"). Hardware gives every queue at least a part of 125.
fn weights(device: Device, queues: &[Queue], reference: Rate) -> Vec<f64> {
    let is_two_level = device.rules.excess_order == ExcessOrder::TwoLevels;
    let written = |queue: &Queue| queue.scheduler.and_then(|own| own.excess_rate).map(|at| at.value);
    let has_excess_rate = is_two_level && queues.iter().any(|queue| written(queue).is_some());
    let rate = reference.as_bits_per_second().max(1) as f64;
    let has_rates = queues.iter().any(|queue| queue.guarantee > 0);
    let weight = |queue: &Queue| match written(queue) {
        Some(ExcessRate::Percent(percent)) if is_two_level => f64::from(percent).max(0.1),
        Some(ExcessRate::Proportion(number)) if is_two_level => (number as f64 / 10.0).max(0.1),
        _ if has_excess_rate || !has_rates => 1.0,
        _ => (queue.guarantee as f64 / rate).max(1.0 / HARDWARE_WEIGHT),
    };
    queues.iter().map(weight).collect()
}

fn rest(queues: &[Queue]) -> Rest {
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
fn police(queue: &Queue) -> Option<PoliceConfig> {
    let is_limited = queue.limit == Limit::Policed && queue.guarantee > 0;
    is_limited.then(|| PoliceConfig {
        rate: Rate::from_bits_per_second(queue.guarantee),
        burst: ByteSize::from_bytes((queue.guarantee / 8 * RATE_LIMIT_MS / 1000).max(LEAST_BURST)),
        when: PoliceWhen::Always,
    })
}
