//! The limits of the simulated time: the longest run, the longest delays and the slowest links of a scenario.
//!
//! Tests are built with overflow checks, so a test fails if the clock overflows.

use crate::simulation::{ONCE, mean, numbers, simulate};
use perhop_scenario::Scenario;
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

/// A run of 50 days over a link of 1 b/s with a delay of `delay`. A packet of 1500 bytes takes 3.3 hours.
fn slow(delay: &str, source: &Value) -> Value {
    json!({
        "perhop": 1, "name": "slow", "duration": "50d",
        "hosts": {"a": {}, "b": {}},
        "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "1Mb/s", "delay": delay},
            {"between": ["r", "b"], "rate": "1b/s", "delay": delay},
        ],
        "traffic": [{"name": "only", "from": "a", "to": "b", "start-within": "50d", "count": 3,
                     "source": source}],
    })
}

fn accounted(scenario: &Value, engine: EngineChoice) -> Vec<f64> {
    let results = simulate(scenario, RunOptions { engine, ..ONCE });
    let metrics = ["offered_packets", "delivered_packets", "dropped_packets", "in_network_packets"];
    metrics.map(|metric| mean(&results, "only", metric)).to_vec()
}

#[test]
fn the_longest_run_over_the_slowest_link_does_not_wrap() {
    let cbr = json!({"cbr": {"rate": "1b/s", "packet": {"ip": "1500B"}, "jitter": 0.9}});
    let on_off = json!({"on-off": {"rate": "1b/s", "packet": {"ip": "65000B"}, "on-time": "50d",
                                   "off-time": "50d", "law": {"pareto": {"shape": 1.1}}}});
    let poisson = json!({"poisson": {"rate": "1b/s", "packet": {"ip": "65000B"}}});
    let bulk = json!({"bulk": {"tcp": {"profile": "rfc5681-reno"}}});
    for (source, most) in [(cbr, 1e3), (on_off, 100.0), (poisson, 100.0), (bulk, 2e5)] {
        for delay in ["0s", "1d", "50d"] {
            let scenario = slow(delay, &source);
            let fast = accounted(&scenario, EngineChoice::Fast);
            assert_eq!(fast, accounted(&scenario, EngineChoice::Plain), "{source} at {delay}");
            assert!(fast[0] < most, "{source} at {delay}: {fast:?}");
        }
    }
}

/// 8 times a round-trip time of 30 days, as estimators store it, exceeds 64 bits.
#[test]
fn round_trips_of_a_month_are_estimated() {
    for profile in ["rfc5681-reno", "linux-6", "quic"] {
        let mut scenario = slow("5d", &json!({"bulk": {"tcp": {"profile": profile}}}));
        scenario["links"][1]["rate"] = json!("1Mb/s");
        scenario["traffic"][0]["start-within"] = json!("0s");
        let fast = accounted(&scenario, EngineChoice::Fast);
        assert_eq!(fast, accounted(&scenario, EngineChoice::Plain), "{profile}");
    }
}

#[test]
fn a_packet_per_day_is_delivered_for_fifty_days() {
    let mut scenario = slow("1d", &json!({"cbr": {"rate": "1b/s", "packet": {"ip": "10800B"}}}));
    scenario["links"][1]["rate"] = json!("1Mb/s");
    scenario["traffic"][0]["start-within"] = json!("0s");
    scenario["traffic"][0]["count"] = json!(1);
    scenario["measure"] = json!({"throughput-every": "1d"});
    let results = simulate(&scenario, ONCE);
    assert_eq!(mean(&results, "only", "offered_packets"), 51.0);
    assert_eq!(mean(&results, "only", "delivered_packets"), 48.0);
    assert_eq!(numbers(results.table("throughput").unwrap(), "time_s").len(), 50);
}

#[test]
fn a_longer_run_is_refused() {
    let mut scenario = slow("0s", &json!({"bulk": {"tcp": {"profile": "rfc5681-reno"}}}));
    for duration in ["5124h", "50.000001d", "18446744s"] {
        scenario["duration"] = json!(duration);
        let error = serde_json::from_value::<Scenario>(scenario.clone()).unwrap_err().to_string();
        assert!(error.contains("too large") && error.contains("at most"), "{error}");
    }
}
