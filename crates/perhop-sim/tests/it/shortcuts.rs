//! The fast engine has the same results as the plain engine, in which every step is an event.
//!
//! In the fast engine, sources send ahead of the agenda, packets are delivered inline, and departures are
//! precomputed. If a probe observes the queues of a port, sources do not send ahead of the agenda through
//! this port, and no packet is delivered to it inline. A probe reads the same values with and without
//! precomputed departures.

use crate::simulation::{ONCE, mean, simulate, simulate_observed};
use perhop_measure::results::Table;
use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

fn source(kind: u8, rate: u64, size: u64) -> Value {
    let (rate, packet) = (format!("{rate}b/s"), json!({"ip": format!("{size}B")}));
    match kind {
        0 => json!({"cbr": {"rate": rate, "packet": packet}}),
        1 => json!({"poisson": {"rate": rate, "packet": packet, "sizes": "exponential"}}),
        _ => {
            json!({"on-off": {"rate": rate, "packet": packet, "on-time": "30ms", "off-time": "20ms", "law": "exponential"}})
        }
    }
}

/// The way in which a network is run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Fast,
    /// The fast engine, with queue probes at some ports.
    FastProbed,
    Plain,
    /// The plain engine, with the probes.
    PlainProbed,
    /// The fast engine in parts, with this number of threads.
    Parallel(usize),
    /// The fast engine in parts, with this number of threads and the probes.
    ParallelProbed(usize),
}

impl Way {
    fn probes(self) -> bool {
        matches!(self, Way::FastProbed | Way::PlainProbed | Way::ParallelProbed(_))
    }
}

/// The tables of a run as text.
#[derive(Debug, PartialEq)]
pub(crate) struct Tables {
    /// The samples of the probes.
    probed: Vec<String>,
    others: Vec<String>,
}

pub(crate) const POLICIES: usize = 17;

/// `CoDel` that soon declares packets late.
fn codel(law: &str) -> Value {
    json!({"codel": {"law": law, "target": "2ms", "interval": "15ms", "mtu": "200B", "limit": "40 packets"}})
}

/// FQ-CoDel that soon declares packets late, or is full.
fn fq_codel(law: &str) -> Value {
    json!({"fq-codel": {"law": law, "target": "2ms", "interval": "15ms", "mtu": "200B", "limit": "12 packets",
                        "drop-batch": 3, "quantum": "600B", "flows": 16}})
}

fn run_with(scenario: &Value, way: Way, seed: u64) -> Tables {
    let (engine, threads) = match way {
        Way::Fast | Way::FastProbed => (EngineChoice::Fast, 1),
        Way::Plain | Way::PlainProbed => (EngineChoice::Plain, 1),
        Way::Parallel(threads) | Way::ParallelProbed(threads) => (EngineChoice::Parallel, threads),
    };
    let (results, progress) = simulate_observed(scenario, RunOptions { seed, engine, threads, ..ONCE });
    assert_eq!(engine == EngineChoice::Parallel, matches!(progress.division(), Some(Ok(_))));
    let (probed, others): (Vec<_>, Vec<_>) = results.tables.iter().partition(|table| table.name == "queues");
    let written = |tables: Vec<&Table>| tables.iter().map(|table| format!("{table:?}")).collect();
    Tables { probed: written(probed), others: written(others) }
}

/// Checks that the fast engine agrees with the plain engine, with and without probes, and that probes do not
/// change results.
fn assert_engines_agree(tables: impl Fn(Way) -> Tables) -> Result<(), TestCaseError> {
    let (fast, probed) = (tables(Way::Fast), tables(Way::FastProbed));
    prop_assert_eq!(&fast.others, &probed.others);
    prop_assert_eq!(&fast.others, &tables(Way::Plain).others);
    prop_assert_eq!(probed, tables(Way::PlainProbed));
    Ok(())
}

/// Two hosts with sources that start within `start` overload one bottleneck: a port with the given queueing,
/// and a wire that may lose packets.
fn tables(
    sources: &[(u8, u64, u64)],
    start: &str,
    queueing: &Value,
    loss: f64,
    way: Way,
    seed: u64,
) -> Tables {
    let traffic: Vec<Value> = sources
        .iter()
        .enumerate()
        .map(|(index, &(kind, rate, size))| {
            let from = if index % 2 == 0 { "a" } else { "b" };
            json!({"name": format!("flow{index}"), "from": from, "to": "sink", "start-within": start,
                   "dscp": if index % 3 == 0 { "ef" } else { "default" }, "source": source(kind, rate, size)})
        })
        .collect();
    let probe = |from: &str| json!({"from": from, "to": "r", "every": "7ms"});
    let probes = if way.probes() { vec![probe("a"), probe("b")] } else { Vec::new() };
    let access = |host: &str| {
        let mut link = json!({"between": [host, "r"], "rate": "2Mb/s", "delay": "3ms", "loss": loss});
        link["interfaces"] = json!({host: {"output": "host"}});
        link
    };
    let scenario = json!({
        "perhop": 1, "name": "shortcuts", "duration": "3s", "hosts": {"a": {}, "b": {}, "sink": {}}, "routers": {"r": {}},
        "links": [access("a"), access("b"), {"between": ["r", "sink"], "rate": "1Mb/s", "delay": "5ms"}],
        "policies": {"host": {"queueing": queueing}},
        "traffic": traffic,
        "measure": {"warmup": "200ms", "queues": probes, "throughput-every": "100ms"},
    });
    run_with(&scenario, way, seed)
}

/// Policies with tail drop, a shaper, priorities, RED, and buffer managers that drop at the head: each alone,
/// with a shaper, or with other classes.
pub(crate) fn policies_of_a_port() -> [Value; POLICIES] {
    let tail_drop = json!({"tail-drop": {"limit": "6 packets"}});
    [
        json!({"classes": [{"name": "all", "buffer": tail_drop}]}),
        json!({"classes": [{"name": "all", "buffer": tail_drop, "shape": {"rate": "700kb/s", "burst": "3kB"}}]}),
        json!({"scheduler": "priority", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": tail_drop}, {"name": "rest", "buffer": tail_drop},
        ]}),
        json!({"classes": [{"name": "all", "buffer": {"red": {"precedences": [
            {"min": "1 packets", "max": "5 packets", "max-probability": 0.5}], "averaging": {"weight": 0.1}}}}]}),
        json!({"classes": [{"name": "all", "buffer": {"pie": {"target": "2ms", "update-interval": "1ms", "burst": "3ms", "alpha": 2, "beta": 2}}}]}),
        json!({"classes": [{"name": "all", "buffer": {"pie": {"law": "linux", "target": "2ms", "limit": "40 packets"}}}]}),
        json!({"classes": [{"name": "all", "buffer": {"dualpi2": {"target": "2ms", "update-interval": "1ms", "alpha": 9, "beta": 32}}}]}),
        json!({"classes": [{"name": "all", "buffer": codel("rfc")}]}),
        json!({"classes": [{"name": "all", "buffer": codel("linux"), "shape": {"rate": "700kb/s", "burst": "3kB"}}]}),
        json!({"scheduler": "scfq", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": codel("linux")}, {"name": "rest", "buffer": codel("rfc")},
        ]}),
        json!({"classes": [{"name": "all", "buffer": fq_codel("linux")}]}),
        json!({"classes": [{"name": "all", "buffer": {"fq-pie": {"target": "2ms", "update-interval": "1ms", "burst": "3ms", "alpha": 2, "beta": 2, "quantum": "300B"}}}]}),
        json!({"scheduler": "wrr", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": fq_codel("rfc")}, {"name": "rest", "buffer": fq_codel("linux")},
        ]}),
        json!({"scheduler": "htb", "classes": [{"name": "link", "share": {"rate": "900kb/s", "burst": "3kB"},
        "queueing": {"scheduler": "htb", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "share": {"rate": "200kb/s", "ceil": "800kb/s"}, "buffer": tail_drop},
            {"name": "rest", "share": {"rate": "300kb/s", "ceil": "1Mb/s", "level": 1}, "buffer": codel("linux")},
        ]}}]}),
        json!({"memory": {"unit-bytes": 256, "shared": 40, "port-fall": {"start": 10, "end": 30}},
        "scheduler": "priority", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": {"shared-memory": {"reserved": 4, "alpha": 0.5}}},
            {"name": "rest", "buffer": {"shared-memory": {"limit": 30, "port-minimum": 12, "thresholds": [28, 20]}}},
        ]}),
        json!({"classes": [{"name": "all", "buffer": {"cake": {"rtt": "20ms", "memory-limit": "20000B"}}}]}),
        json!({"classes": [{"name": "all", "buffer": {"cake": {"bandwidth": "700kb/s", "tins": "diffserv4", "wash": true}}}]}),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn running_ahead_changes_nothing(
        sources in prop::collection::vec((0u8..3, 100_000u64..1_500_000, 100u64..1500), 1..7),
        policy in 0..POLICIES,
        loss in prop::sample::select(vec![0.0, 0.03]),
        seed in any::<u64>(),
    ) {
        let policies = policies_of_a_port();
        assert_engines_agree(|way| tables(&sources, "50ms", &policies[policy], loss, way, seed))?;
    }
}

/// A source sends each second, also at the instant at which a run of three seconds ends.
#[test]
fn packets_announced_for_the_end_are_sent() {
    let policies = policies_of_a_port();
    let by = |way| tables(&[(0, 8_000, 1_000)], "0s", &policies[0], 0.0, way, 1);
    assert_engines_agree(by).unwrap();
}

/// Three routers in a row, with all events that can happen to a packet on its path. Three hosts are at the
/// first router, one of them behind its own router. Two sinks are at the last router, and one is at the
/// second. The links from the first host and from the first two routers have these MTUs.
pub(crate) fn chain(
    sources: &[(u8, u64, u64)],
    queueing: [&Value; 2],
    loss: f64,
    mtus: [u64; 3],
    way: Way,
    seed: u64,
) -> Tables {
    let traffic: Vec<Value> = sources
        .iter()
        .enumerate()
        .map(|(index, &(kind, rate, size))| {
            let (from, to) = (["a", "b", "c"][index % 3], ["s", "t", "u"][index / 2 % 3]);
            let dscp = if index % 2 == 0 { "af11" } else { "default" };
            // The first sources start at the same time, so that simultaneous events occur.
            let within = if index < 2 { "0s" } else { "50ms" };
            json!({"name": format!("flow{index}"), "from": from, "to": to, "dscp": dscp,
                   "dont-fragment": index == 3,
                   "start-within": within, "source": source(kind, rate, size)})
        })
        .collect();
    let [by_host, by_first, by_second] = mtus.map(|mtu| format!("{mtu}B"));
    let links = [
        // One host has its own router.
        ("a", "edge"),
        ("edge", "r1"),
        ("b", "r1"),
        ("c", "r1"),
        ("r1", "r2"),
        ("r2", "r3"),
        ("r3", "s"),
        ("r3", "t"),
        ("r2", "u"),
    ];
    let probed = links.iter().filter(|(from, _)| way.probes() && !["a", "b", "c"].contains(from));
    let probes: Vec<Value> =
        probed.map(|(from, to)| json!({"from": from, "to": to, "every": "7ms"})).collect();
    let links: Vec<Value> = links
        .iter()
        .map(|&(from, to)| match (from, to) {
            ("r1", _) => {
                json!({"between": [from, to], "rate": "2Mb/s", "delay": "9ms", "loss": loss, "mtu": by_first,
                "interfaces": {"r1": {"output": "first"}, "r2": {"input": "police"}}})
            }
            ("r2", "r3") => json!({"between": [from, to], "rate": "1Mb/s", "delay": "3ms", "mtu": by_second,
                "interfaces": {"r2": {"output": "second"}}}),
            ("edge", _) => json!({"between": [from, to], "rate": "1Mb/s", "delay": "2ms", "loss": loss,
                "interfaces": {"edge": {"output": "second"}, "r1": {"input": "police"}}}),
            ("r3", "s") => json!({"between": [from, to], "rate": "600kb/s", "delay": "1ms", "loss": loss}),
            ("a", _) => json!({"between": [from, to], "rate": "3Mb/s", "delay": "2ms", "mtu": by_host}),
            _ => json!({"between": [from, to], "rate": "3Mb/s", "delay": "2ms"}),
        })
        .collect();
    let scenario = json!({
        "perhop": 1, "name": "chain", "duration": "3s",
        "hosts": {"a": {}, "b": {}, "c": {}, "s": {}, "t": {}, "u": {}}, "routers": {"edge": {}, "r1": {}, "r2": {}, "r3": {}},
        "links": links, "traffic": traffic,
        "policies": {
            "first": {"queueing": queueing[0]}, "second": {"queueing": queueing[1]},
            "police": {"conditioners": [{
                "match": {"dscp": "af11"}, "meter": {"token-bucket": {"rate": "500kb/s", "burst": "4kB"}},
                "red": ["drop"],
            }]},
        },
        "measure": {"warmup": "200ms", "queues": probes, "throughput-every": "100ms"},
    });
    run_with(&scenario, way, seed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn settling_changes_nothing(
        sources in prop::collection::vec((0u8..3, 100_000u64..1_500_000, 100u64..1500), 1..9),
        policies in [0..POLICIES, 0..POLICIES],
        loss in prop::sample::select(vec![0.0, 0.03]),
        seed in any::<u64>(),
    ) {
        let all = policies_of_a_port();
        let queueing = policies.map(|policy| &all[policy]);
        let mtus = [65_535; 3];
        assert_engines_agree(|way| chain(&sources, queueing, loss, mtus, way, seed))?;
    }

    #[test]
    fn fragments_take_the_paths_of_packets(
        sources in prop::collection::vec((0u8..3, 100_000u64..1_500_000, 100u64..3000), 1..9),
        policies in [0..POLICIES, 0..POLICIES],
        loss in prop::sample::select(vec![0.0, 0.03]),
        mtus in (prop::sample::select(vec![576, 1500, 65_535]), 300u64..1500, 200u64..1500),
        seed in any::<u64>(),
    ) {
        let all = policies_of_a_port();
        let queueing = policies.map(|policy| &all[policy]);
        let mtus = [mtus.0, mtus.1, mtus.2];
        assert_engines_agree(|way| chain(&sources, queueing, loss, mtus, way, seed))?;
    }
}

/// A shaper must schedule its own wake-up, because after all packets have arrived, no other event occurs at
/// the link between two routers.
#[test]
fn a_shaper_between_routers_sends_packets_one_by_one() {
    let scenario = json!({
        "perhop": 1, "name": "shaped core", "duration": "3s",
        "hosts": {"source": {}, "sink": {}}, "routers": {"r1": {}, "r2": {}},
        "links": [
            {"between": ["source", "r1"], "rate": "100Mb/s", "delay": "0s"},
            {"between": ["r1", "r2"], "rate": "100Mb/s", "delay": "0s", "interfaces": {"r1": {"output": "shaped"}}},
            {"between": ["r2", "sink"], "rate": "100Mb/s", "delay": "0s"},
        ],
        "policies": {"shaped": {"queueing": {"classes": [
            {"name": "all", "shape": {"rate": "100kb/s", "burst": "1250B"}},
        ]}}},
        "traffic": [{"name": "burst", "from": "source", "to": "sink", "stop": "2ms",
                     "source": {"cbr": {"rate": "100Mb/s", "packet": {"ip": "1250B"}}}}],
    });
    let results = simulate(&scenario, ONCE);
    let burst_mean = |metric: &str| mean(&results, "burst", metric);
    // A packet takes 0.1 ms on each wire, and its tokens take 100 ms.
    assert_eq!((burst_mean("offered_packets"), burst_mean("delivered_packets")), (20.0, 20.0));
    // Packet k of 20 is sent at 0.1 k ms, and its tokens are available 100 k ms after the first packet
    // reached the shaper.
    for (metric, last) in [("delay_min_s", 0.0), ("delay_max_s", 19.0)] {
        let expected = 0.0003 + last * (0.1 - 0.0001);
        assert!(
            (burst_mean(metric) - expected).abs() < 1e-9,
            "{metric}: {} and not {expected}",
            burst_mean(metric)
        );
    }
}

/// A packet every millisecond crosses wires that take one or two milliseconds for it. Arrivals, departures
/// and samples are therefore at the same instants.
#[test]
fn a_probe_may_sample_during_arrivals_and_departures() {
    let by = |way: Way| {
        let probes =
            [("r1", "r2"), ("r2", "sink")].map(|(from, to)| json!({"from": from, "to": to, "every": "1ms"}));
        let probes = if way.probes() { probes.to_vec() } else { Vec::new() };
        let scenario = json!({
            "perhop": 1, "name": "in step", "duration": "100ms",
            "hosts": {"source": {}, "sink": {}}, "routers": {"r1": {}, "r2": {}},
            "links": [
                {"between": ["source", "r1"], "rate": "8Mb/s", "delay": "1ms", "framing": "raw"},
                {"between": ["r1", "r2"], "rate": "4Mb/s", "delay": "0s", "framing": "raw", "interfaces": {"r1": {"output": "red"}}},
                {"between": ["r2", "sink"], "rate": "4Mb/s", "delay": "0s", "framing": "raw", "interfaces": {"r2": {"output": "red"}}},
            ],
            "policies": {"red": {"queueing": policies_of_a_port()[3]}},
            "traffic": [{"name": "cbr", "from": "source", "to": "sink", "start-within": "0s",
                         "source": {"cbr": {"rate": "8Mb/s", "packet": {"ip": "1000B"}}}}],
            "measure": {"queues": probes},
        });
        run_with(&scenario, way, 1)
    };
    assert_engines_agree(by).unwrap();
}

/// On a wire of one bit per second, the last packets of the queue would leave after the largest representable
/// time.
#[test]
fn a_queue_may_drain_after_the_largest_time() {
    let scenario = json!({
        "perhop": 1, "name": "slow", "duration": "40000s", "hosts": {"source": {}, "sink": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["source", "r"], "rate": "100Mb/s", "delay": "1ms"},
            {"between": ["r", "sink"], "rate": "1b/s", "delay": "1s", "interfaces": {"r": {"output": "deep"}}},
        ],
        "policies": {"deep": {"queueing": {"classes": [
            {"name": "all", "buffer": {"tail-drop": {"limit": "10000 packets"}}},
        ]}}},
        "traffic": [{"name": "burst", "from": "source", "to": "sink", "stop": "1s",
                     "source": {"cbr": {"rate": "24Mb/s", "packet": {"ip": "1500B"}}}}],
    });
    assert_eq!(run_with(&scenario, Way::Fast, 1), run_with(&scenario, Way::Plain, 1));
}
