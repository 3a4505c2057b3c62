//! [`Queues`]: the queues of a policy in one list, with their guaranteed rates, and the shaper around them.

use std::collections::BTreeMap;

use perhop_analysis::rates::{ClassRates, Given, Level, rates};
use perhop_device::NotesAt;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::{Cells, SchedulerConfig, ShapeForm};
use perhop_qos::{ByteSize, Rate};

/// The queues of a port.
#[derive(Clone, Debug, Default)]
pub(super) struct Queues {
    /// The shaper of all packets: bits per second, and the burst in bytes.
    pub(super) shaper: Option<(u64, u64)>,
    /// Bytes that rates count for a packet in addition to its IP bytes.
    pub(super) overhead: i32,
    /// Whether rates count ATM cells.
    pub(super) has_cells: bool,
    pub(super) all: Vec<Queue>,
}

/// A queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// The names of its enclosing classes and its own name, the outermost first.
    pub(super) path: String,
    pub(super) class: ClassConfig,
    pub(super) priority: Priority,
    /// The guaranteed rate, bits per second.
    pub(super) guarantee: f64,
    /// The share of the remaining rate, 0 to 1.
    pub(super) excess: f64,
    /// The maximum rate, bits per second, and the burst, bytes, if the queue delays packets above that rate.
    pub(super) shaper: Option<(u64, Option<u64>)>,
    /// The rate above which packets are dropped, bits per second.
    pub(super) policer: Option<u64>,
}

/// The order in which the scheduler serves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// The queue precedes all others at any rate up to its limit; the level is its order among such queues.
    Strict(usize),
    /// The levels of the queue within its guarantee and above it; 0 is served first.
    Levels(u16, u16),
    None,
}

/// Returns the queues of a policy on a line of `rate`.
pub(super) fn queues(policy: &PolicyConfig, rate: Rate, notes: &mut NotesAt) -> Queues {
    let mut found = Queues { overhead: policy.overhead, ..Queues::default() };
    let Some(outermost) = &policy.queueing else { return found };
    let inner = around(outermost, &mut found);
    if let Some(limit) = inner.limit {
        notes.report(format!("limit {limit} of all queues together"), "Junos limits each queue");
    }
    if inner.scheduler != SchedulerConfig::GuaranteeExcess && inner.classes.len() > 1 {
        let name = serde_json::to_value(inner.scheduler).unwrap_or_default();
        let construct = format!("scheduler {}", name.as_str().unwrap_or_default());
        let reason = "an MX serves guarantees in the order of priorities, then the rest by weight";
        notes.report(construct, reason);
    }
    let limits = BTreeMap::new();
    let Some(level) = rates(policy, Given { line: Some(rate), limits: &limits }) else { return found };
    collect(&level, (1.0, None), &mut found.all, notes);
    for queue in &found.all {
        let layer = queue.class.share.link_layer.unwrap_or_default();
        found.overhead = policy.overhead + i32::from(layer.overhead);
        found.has_cells = layer.cells == Cells::Atm;
        if found.all.iter().any(|other| other.class.share.link_layer.unwrap_or_default() != layer) {
            notes.report(
                "bytes that single classes count",
                "a port of Junos counts one overhead for all queues",
            );
            break;
        }
    }
    found
}

/// Returns the innermost scheduler that contains all packets. The shaper of its enclosing classes becomes the
/// shaper of the port.
fn around<'q>(queueing: &'q QueueingConfig, found: &mut Queues) -> &'q QueueingConfig {
    let [only] = queueing.classes.as_slice() else { return queueing };
    let Some(inner) = only.queueing.as_ref().filter(|_| only.matches.is_none()) else { return queueing };
    if let Some(shape) = &only.shape {
        let most = match shape.form {
            ShapeForm::Average => shape.rate.as_bits_per_second(),
            ShapeForm::Peak => perhop_analysis::rates::shaped_rate(shape) as u64,
        };
        found.shaper = Some((most, shape.burst.as_bytes() + shape.excess.as_bytes()));
    } else if let Some(ceil) = only.share.ceil {
        let burst = only.share.ceil_burst.map_or(0, ByteSize::as_bytes);
        found.shaper = Some((ceil.as_bits_per_second(), burst));
    }
    around(inner, found)
}

/// Adds the queues of a level. `around` has the part of the remaining rate that the classes share, and the
/// priority level of the enclosing class.
fn collect(level: &Level, around: (f64, Option<usize>), found: &mut Vec<Queue>, notes: &mut NotesAt) {
    let is_priority = level.queueing.scheduler == SchedulerConfig::Priority;
    let last = level.classes.len().saturating_sub(1);
    for (number, class) in level.classes.iter().enumerate() {
        let own = around.1.or((is_priority && number < last).then_some(number));
        let scale = around.0 * if is_priority { 1.0 } else { class.excess.unwrap_or(0.0) };
        if let Some(inner) = &class.inner {
            note_around(level, class, notes);
            collect(inner, (scale, own), found, notes);
        } else {
            found.push(queue(level, class, own, scale, notes));
        }
    }
}

/// Notes an enclosing class of some queues, because its own limit is lost.
fn note_around(level: &Level, class: &ClassRates, notes: &mut NotesAt) {
    let is_all = level.classes.len() == 1 && class.class.matches.is_none();
    let is_limited =
        class.class.shape.is_some() || class.class.police.is_some() || class.class.share.ceil.is_some();
    if is_limited && !is_all {
        let reason = "a port of Junos has one level of queues: the limit of the enclosing class is lost";
        notes.report(format!("class {} around others", class.path), reason);
    }
}

fn queue(
    level: &Level,
    class: &ClassRates,
    strict: Option<usize>,
    excess: f64,
    notes: &mut NotesAt,
) -> Queue {
    let config = class.class;
    let share = &config.share;
    let is_limited = share.rate.zip(share.ceil).is_some_and(|(rate, ceil)| rate >= ceil);
    let priority = match (strict, level.queueing.scheduler) {
        // A class has priority up to its cap. Above the cap, it is served last.
        (Some(_), _) if share.cap.is_some() => Priority::Levels(0, 1),
        (Some(number), _) => Priority::Strict(number),
        (None, SchedulerConfig::GuaranteeExcess) if is_limited && share.level.unwrap_or(0) == 0 => {
            Priority::Strict(0)
        }
        (None, SchedulerConfig::GuaranteeExcess) => {
            Priority::Levels(share.level.unwrap_or(0), share.excess_level.unwrap_or(0))
        }
        (None, SchedulerConfig::Htb) if has_levels(level) => {
            notes.report("prio of HTB", "an excess priority of Junos has two levels");
            Priority::Levels(LOW, u16::from(share.level.unwrap_or(0) > 0))
        }
        _ => Priority::None,
    };
    let bits = Rate::as_bits_per_second;
    let shaper = config.shape.map(|shape| (bits(shape.rate), Some(shape.burst.as_bytes())));
    let ceiling = share.ceil.map(|ceil| (bits(ceil), share.ceil_burst.map(ByteSize::as_bytes)));
    let cap = share.cap.map(|cap| bits(cap.rate) as f64);
    Queue {
        path: class.path.clone(),
        class: config.clone(),
        priority,
        guarantee: cap.or(class.promised).or(class.written).unwrap_or(0.0),
        excess,
        shaper: shaper.or(ceiling),
        policer: config.police.map(|police| bits(police.rate)),
    }
}

/// The level of low queues within their guarantees.
const LOW: u16 = 3;

/// Whether HTB classes borrow in the order of priorities.
fn has_levels(level: &Level) -> bool {
    level.classes.iter().any(|class| class.class.share.level.is_some_and(|own| own > 0))
}

/// The bytes that MX counts for an untagged packet in addition to its IP bytes.
pub(super) const COUNTED: i32 = 38;

/// Returns the words of `overhead-accounting` for a port that counts `overhead` bytes; `None` if MX counts
/// these bytes by default.
pub(super) fn overhead_accounting(queues: &Queues, notes: &mut NotesAt) -> Option<String> {
    let more = queues.overhead - COUNTED;
    if more == 0 && !queues.has_cells {
        return None;
    }
    let rounded = (more + 3).div_euclid(4) * 4;
    if rounded != more {
        let reason = format!("`overhead-accounting` of Junos has steps of 4 bytes: {}", COUNTED + rounded);
        notes.report(format!("rates that count {} bytes beyond IP", queues.overhead), reason);
    }
    let mode = if queues.has_cells { "cell-mode" } else { "frame-mode" };
    Some(format!("overhead-accounting {mode} bytes {}", rounded.clamp(-120, 124)))
}
