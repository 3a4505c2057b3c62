//! The simulator compared with queueing theory: the port of a host is the queue, and its link is the server.
//!
//! Tolerances are about three standard errors of these runs. Seeds are fixed, so a failure means that the
//! results have changed.

use crate::simulation::{ONCE, mean, simulate};
use perhop_measure::Results;
use perhop_sim::RunOptions;
use serde_json::{Value, json};

/// Service rate in packets per second: packets of 1000 IP bytes on average at 10 Mb/s.
const MU: f64 = 1250.0;

/// Poisson arrivals at a load of `rho` on a link with the given queueing.
fn single_server(rho: f64, sizes: &str, queueing: &Value) -> Results {
    let source = |load: f64| json!({"poisson": {"rate": format!("{}b/s", (load * 10e6) as u64), "packet": {"ip": "1000B"}, "sizes": sizes}});
    let traffic = json!([{"name": "all", "from": "a", "to": "b", "source": source(rho)}]);
    run_on_one_link(&traffic, queueing)
}

fn run_on_one_link(traffic: &Value, queueing: &Value) -> Results {
    let scenario = json!({
        "perhop": 1, "name": "single server", "duration": "420s",
        "hosts": {"a": {}, "b": {}},
        "links": [{"between": ["a", "b"], "rate": "10Mb/s", "interfaces": {"a": {"output": "queue"}}}],
        "policies": {"queue": {"queueing": queueing}},
        "traffic": traffic,
        "measure": {"warmup": "20s"},
    });
    simulate(&scenario, RunOptions { seed: 11, replications: 8, threads: 2, ..ONCE })
}

fn fifo(limit: u64) -> Value {
    json!({"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": format!("{limit} packets")}}}]})
}

#[track_caller]
fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    let error = (measured - expected).abs() / expected;
    assert!(error <= tolerance, "measured {measured}, expected {expected}: off by {:.2} %", error * 100.0);
}

#[test]
fn mm1_sojourn_time() {
    // W = 1 / (mu - lambda).
    for (rho, tolerance) in [(0.5, 0.01), (0.8, 0.03)] {
        let results = single_server(rho, "exponential", &fifo(1_000_000));
        assert_near(mean(&results, "all", "delay_mean_s"), 1.0 / (MU * (1.0 - rho)), tolerance);
    }
}

#[test]
fn mm1_sojourn_time_is_exponential() {
    // P(W > t) = exp(-(mu - lambda) t): the 99th percentile is ln(100) times the mean.
    let results = single_server(0.5, "exponential", &fifo(1_000_000));
    assert_near(mean(&results, "all", "delay_p99_s"), 100f64.ln() / (MU * 0.5), 0.02);
}

#[test]
fn md1_waiting_time() {
    // Pollaczek-Khinchine with constant service: Wq = rho / (2 mu (1 - rho)).
    for (rho, tolerance) in [(0.5, 0.01), (0.9, 0.05)] {
        let results = single_server(rho, "fixed", &fifo(1_000_000));
        assert_near(
            mean(&results, "all", "delay_mean_s") - 1.0 / MU,
            rho / (2.0 * MU * (1.0 - rho)),
            tolerance,
        );
    }
}

#[test]
fn mm1k_loss() {
    // P(loss) = (1 - rho) rho^K / (1 - rho^(K+1)). K includes the packet in service, but the limit of the
    // queue does not.
    for (rho, k) in [(0.8, 5), (1.2, 10)] {
        let results = single_server(rho, "exponential", &fifo(k - 1));
        let rho_k = libm::pow(rho, k as f64);
        let loss = (1.0 - rho) * rho_k / (1.0 - rho * rho_k);
        assert_near(mean(&results, "all", "dropped_percent") / 100.0, loss, 0.02);
    }
}

#[test]
fn non_preemptive_priority_waiting_times() {
    // Cobham: Wq_k = (sum of lambda E[S²] / 2) / ((1 - sigma_(k-1)) (1 - sigma_k)), with E[S²] = 2/mu² for
    // exponential sizes.
    let loads = [0.3, 0.3, 0.2];
    let names = ["first", "second", "third"];
    let dscps = ["ef", "af11", "default"];
    let traffic: Vec<Value> = (0..3)
        .map(|class| {
            let rate = format!("{}b/s", (loads[class] * 10e6) as u64);
            let source =
                json!({"poisson": {"rate": rate, "packet": {"ip": "1000B"}, "sizes": "exponential"}});
            json!({"name": names[class], "from": "a", "to": "b", "dscp": dscps[class], "source": source})
        })
        .collect();
    let class = |index: usize| {
        json!({
            "name": names[index],
            "match": {"dscp": [dscps[index]]},
            "share": {"level": index},
            "buffer": {"tail-drop": {"limit": "1000000 packets"}},
        })
    };
    let queueing = json!({"scheduler": "priority", "classes": [class(0), class(1), class(2)]});
    let results = run_on_one_link(&json!(traffic), &queueing);
    let residual = loads.iter().sum::<f64>() / MU;
    let mut sigma_before = 0.0;
    for index in 0..3 {
        let sigma = sigma_before + loads[index];
        let waiting = residual / ((1.0 - sigma_before) * (1.0 - sigma));
        assert_near(mean(&results, names[index], "delay_mean_s") - 1.0 / MU, waiting, 0.03);
        sigma_before = sigma;
    }
}
