//! An observer of a run sees its queues and classes, and does not change the results.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::simulation::ONCE;
use perhop_measure::Results;
use perhop_qos::units::Time;
use perhop_scenario::Scenario;
use perhop_sim::run::RunError;
use perhop_sim::snapshot::Snapshot;
use perhop_sim::{Progress, RunOptions, run};
use serde_json::{Value, json};

/// Two sources share a link of 1 Mb/s by weights 3 to 1, behind a shaper of 800 kb/s. A host sends to another
/// host directly.
fn scenario() -> Value {
    let cbr = |rate: &str| json!({"cbr": {"rate": rate, "packet": {"ip": "500B"}}});
    let class = |name: &str, dscp: &str, weight: u32| json!({"name": name, "match": {"dscp": [dscp]}, "share": {"weight": weight}, "buffer": {"tail-drop": {"limit": "20 packets"}}});
    json!({
        "perhop": 1, "name": "watched", "duration": "10s", "replications": 2,
        "hosts": {"a": {}, "b": {}, "sink": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "10Mb/s", "delay": "2ms"},
            {"between": ["r", "sink"], "rate": "1Mb/s", "delay": "9ms", "interfaces": {"r": {"output": "p"}}},
            {"between": ["a", "b"], "rate": "100kb/s", "delay": "1ms"},
        ],
        "policies": {"p": {"queueing": {"scheduler": "wfq", "classes": [
            class("gold", "af11", 3), class("silver", "af21", 1), {"name": "rest", "share": {"weight": 1}},
        ]}}},
        "traffic": [
            {"name": "gold", "from": "a", "to": "sink", "dscp": "af11", "source": cbr("2Mb/s")},
            {"name": "silver", "from": "a", "to": "sink", "dscp": "af21",
             "source": {"poisson": {"rate": "2Mb/s", "packet": {"ip": "500B"}}}},
            {"name": "aside", "from": "a", "to": "b", "source": cbr("200kb/s")},
        ],
        "measure": {"warmup": "1s"},
    })
}

fn simulate(scenario: &Value, progress: &Progress) -> Results {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    let options = RunOptions { seed: 5, replications: 2, ..ONCE };
    run(&scenario, Path::new("."), &options, progress).unwrap()
}

/// Runs the scenario and returns all snapshots.
fn watch(scenario: &Value) -> (Results, Vec<Snapshot>) {
    let (progress, ended) = (Progress::watched(), AtomicBool::new(false));
    thread::scope(|scope| {
        let viewer = scope.spawn(|| {
            let mut seen = Vec::new();
            while !ended.load(Ordering::Acquire) {
                seen.extend(progress.snapshot());
                thread::yield_now();
            }
            seen.extend(progress.snapshot());
            seen
        });
        let results = simulate(scenario, &progress);
        ended.store(true, Ordering::Release);
        (results, viewer.join().unwrap())
    })
}

#[test]
fn snapshots_do_not_change_results() {
    let plain = simulate(&scenario(), &Progress::new());
    let (watched, seen) = watch(&scenario());
    assert!(!seen.is_empty());
    for (table, other) in plain.tables.iter().zip(&watched.tables) {
        assert_eq!(format!("{table:?}"), format!("{other:?}"), "table {}", table.name);
    }
    assert_eq!(plain.summary.to_json(), watched.summary.to_json());
}

#[test]
fn snapshots_match_the_run() {
    let (_, seen) = watch(&scenario());
    let last = seen.last().unwrap();
    let names: Vec<(&str, &str)> = last
        .queues
        .iter()
        .map(|queue| (queue.port.as_str(), queue.queue.as_str()))
        .filter(|(port, _)| *port == "r->sink")
        .collect();
    assert_eq!(names, [("r->sink", "gold"), ("r->sink", "silver"), ("r->sink", "rest")]);
    assert_eq!(
        last.classes.iter().map(|class| class.class.as_str()).collect::<Vec<_>>(),
        ["gold", "silver", "aside"]
    );
    for snapshot in &seen {
        assert_eq!(
            snapshot.queues.iter().map(|queue| queue.packets * 500).sum::<u64>(),
            snapshot.queues.iter().map(|queue| queue.bytes).sum::<u64>()
        );
        let seconds = snapshot.time.as_seconds();
        let expected = |rate: f64| rate / 8.0 * (seconds - 1.0).max(0.0);
        // The direct flow between the hosts has 100 kb/s. Future arrivals must not be included. A packet has
        // 500 bytes.
        let aside = snapshot.classes[2].received_bytes as f64;
        assert!((aside - expected(100e3)).abs() <= 1500.0, "{aside} bytes by {seconds} s");
        let gold = snapshot.classes[0].received_bytes as f64;
        assert!((gold - expected(750e3)).abs() <= 6000.0, "{gold} bytes by {seconds} s");
        if seconds > 1.0 {
            let gold = snapshot.queues.iter().find(|queue| queue.queue == "gold").unwrap();
            assert!((19..=20).contains(&gold.packets), "an overloaded queue is full: {}", gold.packets);
        }
    }
}

#[test]
fn an_unwatched_run_has_no_snapshots() {
    let progress = Progress::new();
    simulate(&scenario(), &progress);
    assert_eq!(progress.snapshot(), None);
}

/// Stops the run at chosen instants, and finally releases it.
#[test]
fn a_paused_run_has_the_same_results() {
    let plain = simulate(&scenario(), &Progress::new());
    let progress = Progress::watched();
    progress.hold_at(Time::ZERO);
    let results = thread::scope(|scope| {
        let run = scope.spawn(|| simulate(&scenario(), &progress));
        for instant in ["1ns", "123456789ps", "3s", "4.567s"] {
            let instant: Time = instant.parse().unwrap();
            progress.hold_at(instant);
            // The first snapshot at the gate shows that the run waits at the gate.
            while progress.snapshot().is_none_or(|snapshot| snapshot.time < instant) {
                assert!(!run.is_finished(), "a run that is held does not end");
                thread::yield_now();
            }
            assert_eq!(progress.snapshot(), None, "and goes no further");
        }
        progress.hold_at(Time::MAX);
        run.join().unwrap()
    });
    assert_eq!(plain.summary.to_json(), results.summary.to_json());
    for (table, other) in plain.tables.iter().zip(&results.tables) {
        assert_eq!(format!("{table:?}"), format!("{other:?}"), "table {}", table.name);
    }
}

#[test]
fn a_paused_run_can_be_stopped() {
    let progress = Progress::watched();
    progress.hold_at(Time::ZERO);
    let scenario: Scenario = serde_json::from_value(scenario()).unwrap();
    let ended = thread::scope(|scope| {
        let held = scope.spawn(|| run(&scenario, Path::new("."), &ONCE, &progress));
        progress.cancel();
        held.join().unwrap()
    });
    assert_eq!(ended.unwrap_err(), RunError::Cancelled);
}

#[test]
fn the_last_snapshot_matches_the_results() {
    let progress = Progress::watched();
    let scenario: Scenario = serde_json::from_value(scenario()).unwrap();
    let results = run(&scenario, Path::new("."), &ONCE, &progress).unwrap();
    let mut last = None;
    while let Some(snapshot) = progress.snapshot() {
        assert_eq!(snapshot.left_out, 0, "there is room for one of each part of the run");
        last = Some(snapshot);
    }
    let summary: Value = serde_json::from_str(&results.summary.to_json()).unwrap();
    let classes = last.unwrap().classes;
    assert_eq!(classes.len(), summary["classes"].as_array().unwrap().len());
    for (class, expected) in classes.iter().zip(summary["classes"].as_array().unwrap()) {
        let is = |column: &str, found: u64| {
            assert_eq!(expected[column]["mean"].as_f64(), Some(found as f64), "{column} of {}", class.class);
        };
        assert_eq!(class.class, expected["class"].as_str().unwrap());
        is("offered_packets", class.offered);
        is("delivered_packets", class.delivered);
        is("dropped_packets", class.dropped.iter().sum());
        is("dropped_queue_full", class.dropped[0]);
        let mean = class.delay_sum as f64 / 1e12 / class.delivered as f64;
        let expected = expected["delay_mean_s"]["mean"].as_f64().unwrap();
        assert!((mean - expected).abs() < 1e-9, "{mean} and {expected}");
    }
}
