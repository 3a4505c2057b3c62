//! Tests of guarantees by level and of the excess by level and weight: the documented shares, and the
//! ceilings of nodes.
//!
//! The wire runs at 8 Mb/s, one byte per microsecond.

use crate::wire::{Arrival, send};
use perhop_qos::policy::{ClassConfig, QueueingConfig};
use perhop_qos::scheduler::{SchedulerConfig, ShareConfig};
use perhop_qos::units::{Rate, Time};

const RATE: Rate = Rate::from_bits_per_second(8_000_000);
const SECONDS: u64 = 4;

fn kilobits(kilobits: u64) -> Rate {
    Rate::from_bits_per_second(1000 * kilobits)
}

/// A class with a guaranteed rate, the level of its guarantee and the level of its excess. Its weight is in
/// proportion to the guaranteed rate.
fn class(rate: u64, level: u16, excess_level: u16) -> ClassConfig {
    let share = ShareConfig {
        rate: Some(kilobits(rate)),
        weight: Some(rate as f64),
        level: Some(level),
        excess_level: Some(excess_level),
        ..ShareConfig::default()
    };
    ClassConfig { share, ..ClassConfig::default() }
}

fn queueing(classes: Vec<ClassConfig>) -> QueueingConfig {
    QueueingConfig { scheduler: SchedulerConfig::GuaranteeExcess, classes, ..QueueingConfig::default() }
}

fn node(share: ShareConfig, classes: Vec<ClassConfig>) -> ClassConfig {
    ClassConfig { share, queueing: Some(queueing(classes)), ..ClassConfig::default() }
}

/// Returns the kilobits per second that each queue sends. `offered` has the kilobits per second that arrive
/// at each queue.
fn sent(config: &QueueingConfig, offered: &[u64]) -> Vec<f64> {
    let mut arrivals = Vec::new();
    for (queue, kilobits) in offered.iter().enumerate().filter(|(_, offered)| **offered > 0) {
        let every = Time::from_seconds_f64(8.0 * 500.0 / (1000.0 * *kilobits as f64));
        let count = SECONDS * 1000 * kilobits / (8 * 500);
        arrivals.extend((0..count).map(|index| Arrival { at: every * index, queue, length: 500 }));
    }
    arrivals.sort_by_key(|arrival| arrival.at);
    let end = Time::from_seconds_f64(SECONDS as f64);
    let departures = send(config, RATE, &arrivals);
    let bits = |queue| {
        let of_queue =
            departures.iter().filter(|departure| departure.queue == queue && departure.starts < end);
        of_queue.map(|departure| f64::from(departure.length) * 8.0).sum::<f64>()
    };
    (0..offered.len()).map(|queue| bits(queue) / 1000.0 / SECONDS as f64).collect()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 0.01 * expected + 5.0;
    assert!(found.iter().zip(expected).all(is_near), "{found:?}, expected {expected:?}");
}

/// Juniper's topic `bw-sharing-excess-examples-cos-config-guide`, tables 1 and 2, at 8 instead of
/// 1000 Mb/s.
#[test]
fn the_excess_follows_its_levels_and_weights() {
    let two_levels = queueing(vec![class(1600, 0, 0), class(800, 0, 0), class(800, 2, 1), class(400, 2, 1)]);
    assert_near(&sent(&two_levels, &[4800, 4000, 4000, 4000]), &[4533.3, 2266.7, 800.0, 400.0]);
    let one_level = queueing([1600, 800, 800, 400].map(|rate| class(rate, 0, 0)).to_vec());
    assert_near(&sent(&one_level, &[4000; 4]), &[3555.6, 1777.8, 1777.8, 888.9]);
}

/// A class that is always within its guarantee uses the full rate of its node, and the other classes wait.
#[test]
fn a_node_keeps_its_ceiling() {
    let always =
        ShareConfig { rate: Some(kilobits(4000)), ceil: Some(kilobits(4000)), ..ShareConfig::default() };
    let always = ClassConfig { share: always, ..ClassConfig::default() };
    let ceil = ShareConfig { ceil: Some(kilobits(4000)), ..ShareConfig::default() };
    let shaped = queueing(vec![node(ceil, vec![always, class(2000, 2, 1)])]);
    assert_near(&sent(&shaped, &[3000, 3000]), &[3000.0, 1000.0]);
    assert_near(&sent(&shaped, &[6000, 3000]), &[4000.0, 0.0]);
}

/// Nodes receive their guaranteed rates and share the excess by their own weights, regardless of which of
/// their queues send.
#[test]
fn nodes_share_by_their_own_weights() {
    let share = |rate, weight| ShareConfig {
        rate: Some(kilobits(rate)),
        weight: Some(weight),
        ..ShareConfig::default()
    };
    let first = vec![class(1000, 2, 0), class(1000, 2, 0)];
    let nodes =
        queueing(vec![node(share(1000, 3.0), first), node(share(3000, 1.0), vec![class(8000, 2, 1)])]);
    // The excess is 4 Mb/s, shared 3 : 1.
    assert_near(&sent(&nodes, &[8000, 0, 8000]), &[4000.0, 0.0, 4000.0]);
    assert_near(&sent(&nodes, &[8000, 8000, 8000]), &[2000.0, 2000.0, 4000.0]);
}
