//! No packet disappears or is duplicated, and the same seed gives the same results on any number of threads.

use std::path::Path;

use crate::simulation::{ONCE, mean, simulate};
use perhop_measure::Results;
use perhop_sim::{Progress, RunOptions, run};
use serde_json::{Value, json};

/// Two senders overload a bottleneck of 1 Mb/s by half. One of them is bursty and random.
fn overload() -> Value {
    json!({
        "perhop": 1, "name": "overload", "duration": "20s",
        "hosts": {"a": {}, "b": {}, "sink": {}},
        "routers": {"r1": {}, "r2": {}},
        "links": [
            {"between": ["a", "r1"], "rate": "10Mb/s", "delay": "1ms"},
            {"between": ["b", "r1"], "rate": "10Mb/s", "delay": "1ms"},
            {"between": ["r1", "r2"], "rate": "1Mb/s", "delay": "10ms"},
            {"between": ["r2", "sink"], "rate": "10Mb/s", "delay": "1ms"},
        ],
        "traffic": [
            {"name": "steady", "from": "a", "to": "sink", "start-within": "10ms",
             "source": {"cbr": {"rate": "800kb/s", "packet": {"ip": "1000B"}}}},
            {"name": "bursty", "from": "b", "to": "sink", "count": 3, "start-within": "1s",
             "source": {"on-off": {"rate": "1Mb/s", "packet": {"ip": "500B"}, "on-time": "100ms", "off-time": "200ms", "law": "exponential"}}},
        ],
        "measure": {"warmup": "2s", "queues": [{"from": "r1", "to": "r2", "every": "100ms"}], "throughput-every": "1s"},
    })
}

fn results(threads: usize) -> Results {
    simulate(&overload(), RunOptions { seed: 5, replications: 4, threads, ..ONCE })
}

#[test]
fn offered_is_delivered_dropped_or_in_the_network() {
    let results = results(1);
    for class in ["steady", "bursty"] {
        let class_mean = |metric: &str| mean(&results, class, metric);
        assert!(class_mean("dropped_packets") > 0.0, "{class} meets congestion");
        let accounted = class_mean("delivered_packets")
            + class_mean("dropped_packets")
            + class_mean("in_network_packets");
        assert!((class_mean("offered_packets") - accounted).abs() < 1e-9);
    }
}

#[test]
fn the_bottleneck_is_exactly_saturated() {
    let results = results(1);
    let throughput = mean(&results, "steady", "throughput_bps") + mean(&results, "bursty", "throughput_bps");
    assert!((0.99e6..=1.0005e6).contains(&throughput), "{throughput}");
    // At most 64 packets of 8 ms each wait. Propagation takes 12 ms, and transmission 0.8 + 8 + 0.8 ms.
    assert!(mean(&results, "steady", "delay_max_s") <= 0.012 + 0.0096 + 64.0 * 0.008 + 1e-9);
    assert!(mean(&results, "steady", "delay_min_s") >= 0.012 + 0.0096 - 1e-9);
}

#[test]
fn same_seed_same_results_on_any_number_of_threads() {
    let text = |results: &Results| format!("{}{:?}", results.summary.to_json(), results.tables);
    let one = text(&results(1));
    assert_eq!(one, text(&results(1)));
    assert_eq!(one, text(&results(2)));
}

#[test]
fn other_replications_differ() {
    let results = results(2);
    let summary = serde_json::to_value(&results.summary).unwrap();
    let interval = &summary["classes"][1]["offered_packets"]["ci95"];
    assert!(interval[0].as_f64().unwrap() < interval[1].as_f64().unwrap());
}

#[test]
fn a_cancelled_run_gives_no_results() {
    let progress = Progress::new();
    progress.cancel();
    let scenario = serde_json::from_value(overload()).unwrap();
    assert!(run(&scenario, Path::new("."), &ONCE, &progress).is_err());
}

#[test]
fn policers_account_for_every_packet_by_color() {
    let value = json!({
        "perhop": 1, "name": "policed", "duration": "11s", "hosts": {"a": {}, "sink": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "10Mb/s", "interfaces": {"r": {"input": "police"}}},
            {"between": ["r", "sink"], "rate": "10Mb/s"},
        ],
        "policies": {"police": {"conditioners": [{
            "name": "edge", "meter": {"token-bucket": {"rate": "1Mb/s", "burst": "10kB"}}, "red": ["drop"],
        }]}},
        "traffic": [{"name": "all", "from": "a", "to": "sink", "source": {"cbr": {"rate": "2Mb/s", "packet": {"ip": "1000B"}}}}],
        "measure": {"warmup": "1s"},
    });
    let results = simulate(&value, ONCE);
    let summary = serde_json::to_value(&results.summary).unwrap();
    let rows = summary["conditioners"].as_array().unwrap();
    let taken = |color: &str| {
        rows.iter().find(|row| row["color"] == color).unwrap()["packets"]["mean"].as_f64().unwrap()
    };
    // There are 2500 packets in ten seconds, and every second packet is within the profile.
    assert_eq!((taken("green"), taken("red")), (1250.0, 1250.0));
    let port = summary["ports"].as_array().unwrap().iter().find(|row| row["queue"] == "(beyond)").unwrap();
    assert_eq!(port["dropped_policed"]["mean"].as_f64().unwrap(), 1250.0);
    assert_eq!(mean(&results, "all", "dropped_policed"), 1250.0);
    assert_eq!(mean(&results, "all", "pdv_p99_s"), 0.0, "constant delay has no variation");
}
