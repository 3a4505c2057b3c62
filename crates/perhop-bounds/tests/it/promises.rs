//! Tests that the long-term rate that network calculus guarantees is not lower than the rate that
//! `perhop_analysis::rates` guarantees.

use std::collections::BTreeMap;
use std::path::Path;

use perhop_analysis::rates::{Given, rates};
use perhop_bounds::network::bounds;
use serde_json::{Value, json};

use crate::conforming::{CODEPOINTS, Dice, RATE, flat};

/// Returns a bottleneck with classes under one scheduler, possibly with an additional policed class that has
/// priority. Each class has traffic.
fn scenario(seed: u64) -> Value {
    const SCHEDULERS: [&str; 5] = ["drr", "scfq", "wfq", "wf2q-plus", "three-parameter"];
    let mut dice = Dice::from_seed(seed);
    let count = dice.number(2, 4) as usize;
    let scheduler = dice.one_of(&SCHEDULERS);
    let mut queueing = flat(&mut dice, scheduler, count);
    if !scheduler.starts_with('w') && dice.chance(40) {
        let mut voice = queueing["classes"].as_array_mut().unwrap().remove(0);
        voice["share"] = json!({});
        voice["police"] = json!({"rate": "500kb/s", "burst": "3000B", "when": "always"});
        let rest = json!({"name": "rest", "queueing": queueing});
        queueing = json!({"scheduler": "priority", "classes": [voice, rest]});
    }
    // For the other schedulers under a shaper, network calculus proves a weaker bound or none.
    if ["drr", "scfq"].contains(&scheduler) && dice.chance(50) {
        let around = json!({"name": "all", "shape": shape(&mut dice), "queueing": queueing});
        queueing = json!({"scheduler": "fifo", "classes": [around]});
    }
    let traffic = CODEPOINTS.iter().take(count).map(|codepoint| {
        let source = json!({"cbr": {"rate": "100kb/s", "packet": {"ip": "500B"}}});
        json!({"name": codepoint, "from": "a", "to": "b", "dscp": codepoint, "source": source})
    });
    json!({
        "perhop": 1, "name": "promises", "duration": "1s", "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "1Gb/s"},
            {"between": ["r", "b"], "rate": format!("{RATE}b/s"), "interfaces": {"r": {"output": "policy"}}},
        ],
        "traffic": traffic.collect::<Vec<_>>(),
        "policies": {"policy": {"queueing": queueing}},
    })
}

fn shape(dice: &mut Dice) -> Value {
    let rate = format!("{}kb/s", dice.number(300, 1500));
    match dice.number(0, 1) {
        0 => json!({"rate": rate, "burst": "3000B"}),
        _ => json!({"rate": rate, "burst": "3000B", "excess": "1500B", "form": "peak"}),
    }
}

#[test]
fn service_curves_match_promised_rates() {
    let (none, mut compared) = (BTreeMap::new(), 0);
    for seed in 0..100 {
        let loaded = perhop_scenario::load_json(scenario(seed), ".").unwrap().resolved;
        let found = bounds(&loaded, Path::new(".")).unwrap();
        let policy = &loaded.policies["policy"];
        let line = perhop_qos::Rate::from_bits_per_second(RATE);
        let level = rates(policy, Given { line: Some(line), limits: &none }).unwrap();
        for promise in level.leaves() {
            let row =
                found.queues.iter().find(|row| row.port == "r->b" && row.queue == promise.path).unwrap();
            let (sure, promised) = (8.0 * row.bound.rate, promise.promised.unwrap_or(0.0));
            // Rates are rounded to bits and times to picoseconds, so a small difference remains.
            assert!(sure >= promised * (1.0 - 1e-6), "seed {seed}: {} {sure} {promise:?}", row.queue);
            // A policer drops packets before the queue and does not limit the service of the queue.
            let most = promise.service.unwrap_or(0.0).max(promise.maximum.unwrap_or(0.0));
            let is_alone = promise.class.police.is_none() && policy.queueing.is_some();
            if is_alone && !promise.has_priority {
                assert!(sure <= most * (1.0 + 1e-6), "seed {seed}: {} {sure} {promise:?}", row.queue);
            }
            compared += usize::from(promised > 0.0);
        }
    }
    assert!(compared > 200, "{compared}");
}
