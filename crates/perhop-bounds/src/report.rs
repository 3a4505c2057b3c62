//! [`Report`]: bounds as text and numbers, for display.

use perhop_scenario::Scenario;
use serde::Serialize;

use crate::arrival::Arrival;
use crate::network::{Bounds, QueueRow};
use crate::rule::Rule;
use crate::service::Service;

/// The bounds of a scenario. Times are in seconds, rates in bits per second of IP packets, and sizes in IP
/// bytes.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The bounds of all queues.
    pub queues: Vec<QueueReport>,
    /// The bounds of all classes, from end to end.
    pub classes: Vec<ClassReport>,
}

/// The bounds of one queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueReport {
    /// Name of the port in results.
    pub port: String,
    /// Name of the queue in results.
    pub queue: String,
    /// The classes of traffic that arrive at the queue.
    pub classes: Vec<String>,
    /// The guaranteed rate. It is `None` if the queue has no guarantee.
    pub guaranteed_bps: Option<f64>,
    /// The token buckets of the arrivals, in order of decreasing rate. The list is empty if the arrivals are
    /// unbounded.
    pub arrival: Vec<Bucket>,
    /// The lines of the service curve, in order of increasing rate. The list is empty if nothing is
    /// guaranteed.
    pub service: Vec<Line>,
    /// The time from the arrival of a packet until its last bit is on the wire.
    pub delay_s: Option<f64>,
    /// The backlog, IP bytes.
    pub backlog_bytes: Option<f64>,
    /// The backlog, packets.
    pub backlog_packets: Option<f64>,
    /// The limit of the queue, as text.
    pub limit: Option<String>,
    /// Whether packets may arrive when the queue is full. It is `None` if the queue has no limit.
    pub overflows: Option<bool>,
    /// The reason why the delay is unbounded.
    pub reason: Option<String>,
    /// The rules from which the delay is derived.
    pub rules: Vec<Step>,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bucket {
    /// The IP bytes that may arrive at once.
    pub burst_bytes: f64,
    /// The rate, bits per second.
    pub rate_bps: f64,
}

/// A rate that begins after a latency.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Line {
    /// The rate, bits per second.
    pub rate_bps: f64,
    /// The latency, seconds.
    pub latency_s: f64,
}

/// A rule with its formula and source.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Step {
    /// The name of the rule.
    pub rule: Rule,
    /// The formula.
    pub formula: &'static str,
    /// The source of the formula.
    pub source: &'static str,
}

/// The bounds of one class of traffic from end to end.
#[derive(Clone, Debug, Serialize)]
pub struct ClassReport {
    /// Name of the class in results.
    pub class: String,
    /// The time from the start of sending a packet to the arrival of its last bit at the receiver.
    pub delay_s: Option<f64>,
    /// The number of ports on the path.
    pub hops: usize,
    /// Whether the burst was counted only once for several ports.
    pub pays_bursts_once: bool,
    /// The reason why the delay is unbounded.
    pub reason: Option<String>,
}

impl Report {
    /// Converts `bounds` of `scenario` to a report.
    pub fn from_bounds(scenario: &Scenario, bounds: &Bounds) -> Report {
        let queues = bounds.queues.iter().map(|row| queue_report(scenario, row)).collect();
        let classes = bounds.paths.end_to_end().into_iter().map(|row| ClassReport {
            class: row.class,
            delay_s: row.delay.as_ref().ok().copied(),
            hops: row.hops,
            pays_bursts_once: row.pays_once,
            reason: row.delay.err(),
        });
        Report { queues, classes: classes.collect() }
    }
}

/// Returns the report of one queue.
fn queue_report(scenario: &Scenario, row: &QueueRow) -> QueueReport {
    let bound = &row.bound;
    let mut classes: Vec<String> = Vec::new();
    for (traffic, answers) in &row.traffic {
        let traffic = &scenario.traffic[*traffic];
        let class = traffic.class.as_ref().unwrap_or(&traffic.name);
        let class = if *answers { format!("{class} (back)") } else { class.clone() };
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    let lines = bound.service.iter().flat_map(Service::lines);
    let buckets = bound.arrival.iter().flat_map(Arrival::buckets);
    QueueReport {
        port: row.port.clone(),
        queue: row.queue.clone(),
        classes,
        guaranteed_bps: (bound.rate > 0.0).then_some(bound.rate * 8.0),
        arrival: buckets
            .map(|bucket| Bucket { burst_bytes: bucket.burst, rate_bps: bucket.rate * 8.0 })
            .collect(),
        service: lines.map(|line| Line { rate_bps: line.rate * 8.0, latency_s: line.latency }).collect(),
        delay_s: bound.delay.as_ref().ok().copied(),
        backlog_bytes: bound.backlog_bytes.as_ref().ok().copied(),
        backlog_packets: bound.backlog_packets.as_ref().ok().copied(),
        limit: row.limit.clone(),
        overflows: bound.overflows,
        reason: bound.delay.as_ref().err().cloned(),
        rules: match &bound.delay {
            Ok(_) => bound.rules.iter().map(|rule| step(*rule)).collect(),
            Err(_) => Vec::new(),
        },
    }
}

fn step(rule: Rule) -> Step {
    Step { rule, formula: rule.formula(), source: rule.source() }
}
