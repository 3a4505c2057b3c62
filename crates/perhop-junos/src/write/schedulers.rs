//! Queues as schedulers of a scheduler map, and their drop profiles.

use perhop_device::{Notes, NotesAt};
use perhop_qos::buffer::{EcnConfig, FillStep};
use perhop_qos::policer::PoliceWhen;

use super::drops::{Drops, PACKET, limit_bytes, limit_packets};
use super::queues::{Priority, Queue, Queues};
use crate::cos::LossPriority;

/// The difference of shares, as a fraction of the whole, from which excess rates are written.
const SIGNIFICANT: f64 = 0.01;
/// The largest `excess-rate proportion`.
const MOST_PROPORTION: f64 = 1000.0;
/// The number of units of weight on MX: weights are multiples of 1/125.
const PARTS: f64 = 125.0;

/// The queues of a policy, and the names of their classes and drop precedences.
pub(super) struct Schedulers<'s> {
    /// A name that no other policy has.
    pub(super) name: &'s str,
    pub(super) place: &'s str,
    pub(super) queues: &'s Queues,
    pub(super) classes: &'s [String],
    pub(super) drops: &'s [Drops],
    /// Bits per second.
    pub(super) rate: u64,
}

impl Schedulers<'_> {
    /// Returns the commands below `[edit class-of-service]`.
    pub(super) fn write(&self, notes: &mut Notes) -> Vec<String> {
        let mut lines = Vec::new();
        let excess = self.excess();
        for (number, (queue, class)) in self.queues.all.iter().zip(self.classes).enumerate() {
            let scheduler = format!("{}-{class}", self.name);
            let head = format!("schedulers {scheduler}");
            let mut notes = notes.at(&format!("{}, class {}", self.place, queue.path));
            let mut words = rates(queue, &mut notes);
            words.extend(priority(queue, &mut notes));
            words.extend(
                excess
                    .as_ref()
                    .and_then(|all| all[number])
                    .map(|part| format!("excess-rate proportion {part}")),
            );
            words.extend(buffer(queue, &mut notes));
            if queue.class.fair_queueing.is_some() {
                notes.report("fair queueing of flows", "a queue of Junos is first in, first out");
            }
            if queue.class.pause.is_some() {
                notes.report("pause", "perhop writes no congestion notification profiles");
            }
            if words.is_empty() {
                words.push("priority low".to_owned());
            }
            lines.extend(words.into_iter().map(|word| format!("{head} {word}")));
            lines.extend(self.profiles(number, &scheduler));
            let map = format!("scheduler-maps {} forwarding-class {class}", self.name);
            lines.push(format!("{map} scheduler {scheduler}"));
        }
        lines
    }

    /// Returns the excess rates of queues; `None` if the transmit rates have the same ratio.
    fn excess(&self) -> Option<Vec<Option<u64>>> {
        let is_weighted = |queue: &&Queue| !matches!(queue.priority, Priority::Strict(_));
        let weighted = || self.queues.all.iter().filter(is_weighted);
        let most = weighted().map(|queue| queue.excess).fold(0.0, f64::max);
        let sum: f64 = weighted().map(|queue| queue.excess).sum();
        let least = self.rate as f64 / PARTS;
        let guaranteed = |queue: &Queue| queue.guarantee.max(least);
        let all: f64 = weighted().map(guaranteed).sum();
        if most <= 0.0
            || weighted().all(|queue| (queue.excess / sum - guaranteed(queue) / all).abs() < SIGNIFICANT)
        {
            return None;
        }
        let part = |queue: &Queue| (queue.excess / most * MOST_PROPORTION).round().max(1.0) as u64;
        Some(self.queues.all.iter().map(|queue| Some(queue).filter(is_weighted).map(part)).collect())
    }

    /// Returns the drop profiles of a queue, and their loss priorities.
    fn profiles(&self, number: usize, scheduler: &str) -> Vec<String> {
        let Some(drops) = self.drops.get(number) else { return Vec::new() };
        let Some(last) = drops.rows.len().checked_sub(1) else { return Vec::new() };
        let mut lines = Vec::new();
        for (row, steps) in drops.rows.iter().enumerate().filter(|(_, steps)| is_early(steps)) {
            let profile = format!("{scheduler}-drops-{row}");
            lines.extend(steps.iter().map(|step| profile_step(&profile, *step)));
            // Loss priorities above those of the queue get its last profile.
            let own = LossPriority::ALL.into_iter().filter(|loss| (*loss as usize).min(last) == row);
            let words: Vec<&str> =
                if last == 0 { vec!["any"] } else { own.map(LossPriority::name).collect() };
            lines.extend(words.into_iter().map(|word| {
                format!(
                    "schedulers {scheduler} drop-profile-map loss-priority {word} protocol any drop-profile {profile}"
                )
            }));
        }
        if !lines.is_empty() && drops.ecn != EcnConfig::Ignore {
            lines.push(format!("schedulers {scheduler} explicit-congestion-notification"));
        }
        lines
    }
}

fn buffer(queue: &Queue, notes: &mut NotesAt) -> Option<String> {
    let bytes = limit_bytes(queue.class.buffer.as_ref())?;
    if let Some(packets) = limit_packets(queue.class.buffer.as_ref()) {
        let reason = format!("a buffer of Junos counts bytes: {bytes}, for packets of {PACKET} bytes");
        notes.report(format!("limit of {packets} packets"), reason);
    }
    let rate = match queue.priority {
        Priority::Strict(_) => queue.policer.or(queue.shaper.map(|(rate, _)| rate)).unwrap_or(0),
        _ => queue.guarantee as u64,
    };
    if rate == 0 {
        let reason = "a buffer of Junos is a time at the transmit rate, which the queue does not have";
        notes.report(format!("limit of {bytes} bytes"), reason);
        return None;
    }
    let microseconds = (u128::from(bytes) * 8_000_000).div_ceil(u128::from(rate)).max(1);
    Some(format!("buffer-size temporal {microseconds}"))
}

/// Whether a profile drops packets before the queue is full.
fn is_early(steps: &[FillStep]) -> bool {
    steps.iter().any(|step| step.fill < 100)
}

fn profile_step(profile: &str, step: FillStep) -> String {
    format!("drop-profiles {profile} fill-level {} drop-probability {}", step.fill, step.drop)
}

fn rates(queue: &Queue, notes: &mut NotesAt) -> Vec<String> {
    let mut words = Vec::new();
    match (queue.priority, queue.policer) {
        (_, Some(rate)) => {
            words.push(format!("transmit-rate {rate} rate-limit"));
            let burst = queue.class.police.map_or(0, |police| police.burst.as_bytes());
            notes.report(format!("burst of {burst} bytes"), "`rate-limit` has a fixed burst");
            if queue.class.police.is_some_and(|police| police.when == PoliceWhen::Congested) {
                let reason = "`rate-limit` drops packets above the rate even without congestion";
                notes.report(format!("policer of {rate} b/s under congestion"), reason);
            }
        }
        (Priority::Strict(_), None) => match queue.shaper {
            Some((rate, _)) => words.push(format!("transmit-rate {rate}")),
            None => notes.report("strict priority without a limit", "other queues can get nothing"),
        },
        // A queue without a guarantee gets only a part of the excess.
        _ if queue.guarantee < 1.0 => {}
        _ => words.push(format!("transmit-rate {}", queue.guarantee as u64)),
    }
    if let Some((rate, burst)) = queue.shaper {
        let burst = burst.filter(|burst| *burst > 0).map(|burst| format!(" burst-size {burst}"));
        words.push(format!("shaping-rate {rate}{}", burst.unwrap_or_default()));
    }
    words
}

fn priority(queue: &Queue, notes: &mut NotesAt) -> Vec<String> {
    let (word, excess) = match queue.priority {
        Priority::None => return Vec::new(),
        Priority::Strict(0) => ("strict-high", None),
        Priority::Strict(level) => {
            let reason = "MX serves strict-high and high queues alternately";
            notes.report(format!("priority level {}", level + 1), reason);
            (if level == 1 { "high" } else { "medium-high" }, None)
        }
        Priority::Levels(level, excess) => {
            let word = match level {
                0 | 1 => "high",
                2 => "medium-high",
                _ => "low",
            };
            (word, Some(if excess == 0 { "high" } else { "low" }))
        }
    };
    let mut words = Vec::new();
    words.extend((word != "low").then(|| format!("priority {word}")));
    // Junos CoS User Guide, "excess-priority": the default is high for high queues and low for other queues.
    let default = if word == "high" { "high" } else { "low" };
    words
        .extend(excess.filter(|excess| *excess != default).map(|excess| format!("excess-priority {excess}")));
    words
}
