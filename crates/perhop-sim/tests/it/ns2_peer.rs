//! Comparison with ns-2. Ten Reno flows through a RED bottleneck are statistically the same in both
//! simulators.
//!
//! Needs the program `ns` (Debian's package `ns2`). Without the program, the test prints that it is missing
//! and passes.

use std::process::Command;

use crate::simulation::{ONCE, numbers, simulate};
use perhop_measure::Results;
use perhop_measure::statistics::confidence_95;
use perhop_sim::RunOptions;
use serde_json::json;

const REPLICATIONS: u32 = 10;
const SECONDS: u32 = 200;
const WARMUP: u32 = 20;

/// One row per replication: delivered packets per second, drops in percent, mean queue in packets.
type Rows = Vec<[f64; 3]>;

fn by_ns2() -> Option<Rows> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/ns2/red.tcl");
    let run = |seed: u32| {
        let arguments = [seed, SECONDS, WARMUP].map(|number| number.to_string());
        let output = Command::new("ns").arg(script).args(arguments).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        Some(numbers.try_into().unwrap_or_else(|_| panic!("unexpected output of ns: {text}")))
    };
    (0..REPLICATIONS).map(run).collect()
}

fn by_perhop() -> Rows {
    let (mut hosts, mut links, mut traffic) = (json!({}), Vec::new(), Vec::new());
    for flow in 0..10 {
        let (source, sink) = (format!("source{flow}"), format!("sink{flow}"));
        hosts[&source] = json!({});
        hosts[&sink] = json!({});
        links.push(json!({"between": [source, "r1"], "rate": "100Mb/s", "delay": format!("{}ms", flow + 1)}));
        links.push(json!({"between": ["r2", sink], "rate": "100Mb/s", "delay": "1ms"}));
        traffic.push(json!({
            "name": source, "class": "tcp", "from": source, "to": sink, "start-within": "1s",
            "source": {"bulk": {"tcp": {"profile": "ns2-reno-1999", "window": "64 packets"}}},
        }));
    }
    links.push(json!({"between": ["r1", "r2"], "rate": "5Mb/s", "delay": "20ms", "interfaces": {"r1": {"output": "red"}}}));
    let red = json!({
        "precedences": [{"min": "5 packets", "max": "15 packets", "max-probability": 0.1}],
        "law": "ns-2.35", "above-max": "drop", "probability": "per-packet", "mean-packet-size": "1000B",
        "limit": "60 packets",
    });
    let scenario = json!({
        "perhop": 1, "name": "ns-2", "duration": format!("{SECONDS}s"), "hosts": hosts, "routers": {"r1": {}, "r2": {}},
        "links": links, "traffic": traffic,
        "policies": {"red": {"queueing": {"classes": [{"name": "all", "buffer": {"red": red}}]}}},
        "measure": {"warmup": format!("{WARMUP}s"), "queues": [{"from": "r1", "to": "r2", "every": "5ms"}]},
    });
    let results = simulate(&scenario, RunOptions { replications: REPLICATIONS, threads: 2, ..ONCE });
    (0..REPLICATIONS).map(|replication| row(&results, replication)).collect()
}

fn row(results: &Results, replication: u32) -> [f64; 3] {
    let sum = |table: &str, column: &str, only: &dyn Fn(usize) -> bool| -> (f64, f64) {
        let table = results.table(table).unwrap();
        let (of, values) = (numbers(table, "replication"), numbers(table, column));
        let rows = (0..values.len()).filter(|row| of[*row] == f64::from(replication) && only(*row));
        rows.fold((0.0, 0.0), |(sum, count), row| (sum + values[row], count + 1.0))
    };
    let ports = results.table("ports").unwrap().column("port").unwrap();
    let bottleneck = |row: usize| ports.text(row) == Some("r1->r2");
    let (arrived, _) = sum("ports", "arrived_packets", &bottleneck);
    let (sent, _) = sum("ports", "sent_packets", &bottleneck);
    let (dropped, _) = sum("ports", "dropped_packets", &bottleneck);
    let (queue, samples) = sum("queues", "packets", &|_| true);
    [sent / f64::from(SECONDS - WARMUP), 100.0 * dropped / arrived, queue / samples]
}

#[test]
fn reno_through_red_agrees_with_ns2() {
    let Some(peer) = by_ns2() else {
        eprintln!("skipped: there is no program `ns` here (Debian's package ns2)");
        return;
    };
    let own = by_perhop();
    let mut apart = Vec::new();
    // The tolerance is the random variation plus one percent, the smallest difference that matters for a
    // network.
    let known = 0.01;
    for (index, quantity) in ["packets per second", "drops, %", "mean queue, packets"].into_iter().enumerate()
    {
        let column = |rows: &Rows| -> Vec<f64> { rows.iter().map(|row| row[index]).collect() };
        let (own, peer) = (column(&own), column(&peer));
        let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
        let half = |samples: &[f64]| {
            confidence_95(samples).map_or(f64::NAN, |interval| (interval.high - interval.low) / 2.0)
        };
        let (difference, noise) = ((mean(&own) - mean(&peer)).abs(), half(&own).hypot(half(&peer)));
        println!(
            "{quantity}: {:.3} ± {:.3}, ns-2 {:.3} ± {:.3}",
            mean(&own),
            half(&own),
            mean(&peer),
            half(&peer)
        );
        if difference > noise + known * mean(&peer) {
            apart.push(quantity);
        }
    }
    assert!(apart.is_empty(), "more apart than chance and one in a hundred: {apart:?}");
}
