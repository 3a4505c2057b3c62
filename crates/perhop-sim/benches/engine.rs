//! Speed of the whole engine, from the scenario to its results, on one core: packet-hops per second.
//!
//! `cargo bench -p perhop-sim --bench engine [-- SCENARIO [DURATION [plain]]]` runs all scenarios, or the
//! given one, for 100 simulated seconds or the given duration, in the fast or the plain engine. `make bench`
//! alternates these runs with equivalent runs of other simulators; `make bench-instructions` counts
//! instructions. A packet-hop is the entry of one packet into a wire. Machines differ and have other load, so
//! compare medians of alternating runs instead of single numbers.

use std::path::Path;
use std::time::Instant;

use perhop_scenario::Scenario;
use perhop_sim::{EngineChoice, Progress, RunOptions, run};
use serde_json::{Value, json};

/// Creates a scenario with the given number of pairs of hosts.
type Make = fn(u32) -> Value;

fn main() {
    // Cargo adds `--bench` to the arguments.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let only = arguments.next();
    let duration = arguments.next().unwrap_or_else(|| "100s".to_owned());
    let is_plain = arguments.next().is_some_and(|engine| engine == "plain");
    let engine = if is_plain { EngineChoice::Plain } else { EngineChoice::Fast };
    let scenarios: [(&str, Make, u32); 4] =
        [("udp-50", udp, 50), ("udp-500", udp, 500), ("tcp-50", tcp, 50), ("tcp-500", tcp, 500)];
    for (name, make, pairs) in scenarios {
        if only.as_ref().is_none_or(|only| only == name) {
            let mut scenario = make(pairs);
            scenario["duration"] = json!(duration);
            let (seconds, packet_hops) = time(scenario, engine);
            let rate = packet_hops as f64 / seconds / 1e6;
            println!("{name} {packet_hops} packet-hops {seconds:.4} s {rate:.2} million packet-hops/s");
        }
    }
}

/// The wall time from the scenario's text to the results, and the number of simulated packet-hops.
#[allow(clippy::disallowed_methods)] // a benchmark is about wall time
fn time(scenario: Value, engine: EngineChoice) -> (f64, u64) {
    let options = RunOptions { seed: 1, replications: 1, threads: 1, engine };
    let progress = Progress::new();
    let start = Instant::now();
    let scenario: Scenario = serde_json::from_value(scenario).expect("the benchmark's scenario is valid");
    run(&scenario, Path::new("."), &options, &progress).expect("the benchmark's scenario runs");
    (start.elapsed().as_secs_f64(), progress.packet_hops())
}

/// `pairs` CBR sources with 120 Mb/s in total, on 1 Gb/s access links. A token bucket marks each source. The
/// bottleneck of 100 Mb/s has RIO-C with two precedences.
fn udp(pairs: u32) -> Value {
    let mut hosts = serde_json::Map::new();
    let (mut links, mut traffic) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let (source, sink) = (format!("source{pair}"), format!("sink{pair}"));
        let rate = format!("{}b/s", 120_000_000 / pairs);
        hosts.insert(source.clone(), json!({}));
        hosts.insert(sink.clone(), json!({}));
        links.push(json!({"between": [source, "r1"], "rate": "1Gb/s", "delay": "1ms", "interfaces": {"r1": {"input": "marker"}}}));
        links.push(json!({"between": ["r2", sink], "rate": "1Gb/s", "delay": "1ms"}));
        traffic.push(json!({
            "name": format!("flow{pair}"), "class": "udp", "from": source, "to": sink, "start-within": "10ms",
            "source": {"cbr": {"rate": rate, "packet": {"ip": "1000B"}}},
        }));
    }
    links.push(json!({"between": ["r1", "r2"], "rate": "100Mb/s", "delay": "20ms", "interfaces": {"r1": {"output": "rio"}}}));
    json!({
        "perhop": 1, "name": "udp", "hosts": hosts, "routers": {"r1": {}, "r2": {}},
        "links": links, "traffic": traffic,
        "policies": {
            "marker": {"conditioners": [{
                "meter": {"token-bucket": {"rate": format!("{}b/s", 60_000_000 / pairs), "burst": "10kB"}},
                "green": [{"mark": "af11"}], "red": [{"mark": "af12"}],
            }]},
            "rio": {"queueing": {"classes": [{"name": "af1", "buffer": {"rio-c": {
                "precedences": [
                    {"min": "40 packets", "max": "70 packets", "max-probability": 0.02},
                    {"min": "10 packets", "max": "40 packets", "max-probability": 0.1},
                ],
                "limit": "200 packets",
            }}}]}},
        },
    })
}

/// The network of [`udp`] with `pairs` bulk transfers of `NewReno` instead of its traffic. Packets have 1000
/// bytes, and each is acknowledged.
fn tcp(pairs: u32) -> Value {
    let mut scenario = udp(pairs);
    for flow in scenario["traffic"].as_array_mut().into_iter().flatten() {
        flow["source"] = json!({"bulk": {"tcp": {
            "profile": "rfc5681-reno", "recovery": "newreno", "mss": "960B", "acknowledgment": "every-packet",
        }}});
    }
    scenario
}
