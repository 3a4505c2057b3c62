//! TCP in the fast engine, where it runs ahead of the agenda, has the same results as TCP in the plain
//! engine, where every step is an event.

use crate::simulation::{ONCE, simulate};
use perhop_scenario::tcp::TcpConfig;
use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Profiles, and additional settings for `linux-6`.
const PROFILES: [&str; 17] = [
    "linux-2.0",
    "linux-2.2",
    "linux-modern",
    "rfc5681-reno",
    "ns2-reno-1999",
    "linux-6",
    "linux-6 dctcp",
    "linux-6 prague",
    "linux-6 bbr",
    "linux-6 bbr3",
    "linux-6 ledbat",
    "linux-6 tuned",
    "linux-6 bursts",
    "freebsd",
    "windows-11",
    "quic",
    "quic cubic",
];
/// The number of hosts on each side.
const PAIRS: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Flow {
    application: u8,
    profile: usize,
    from: usize,
    to: usize,
    /// Whether the flow has its own random start instead of the common start.
    spread: bool,
    stops: bool,
    ecn: bool,
    /// Indices of [`options`].
    options: Vec<usize>,
}

pub(crate) fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let options = prop::collection::vec(0..options().len(), 0..6);
    let flow =
        (0u8..12, 0..PROFILES.len(), 0..PAIRS, 0..PAIRS, any::<bool>(), 0u8..4, any::<bool>(), options);
    let flow = flow.prop_map(|(application, profile, from, to, spread, stops, ecn, options)| Flow {
        application,
        profile,
        from,
        to,
        spread,
        stops: stops == 0,
        ecn,
        options,
    });
    prop::collection::vec(flow, 1..7)
}

/// Settings that may be added to a profile. An option that other settings exclude is omitted.
fn options() -> Vec<(&'static str, Value)> {
    let adaptive = json!({"adaptive": {"least": "40ms", "most": "200ms", "quick": 2}});
    vec![
        ("congestion", json!("reno")),
        ("congestion", json!("cubic")),
        ("segmentation-offload", json!({})),
        ("segmentation-offload", json!({"largest": "5kB"})),
        ("segmentation-offload", json!({"deferral": false})),
        ("pacing", json!(true)),
        ("ecn", json!(true)),
        ("ecn-feedback", json!("accurate")),
        ("ecn-feedback", json!("dctcp")),
        ("abe", json!(true)),
        ("virtual-rtt", json!("0s")),
        ("recovery", json!("newreno")),
        ("recovery", json!("sack")),
        ("recovery", json!("rack")),
        ("limited-transmit", json!(false)),
        ("duplicate-threshold", json!(2)),
        ("fast-retransmit", json!("always")),
        ("slow-start-exit", json!("hystart++")),
        ("slow-start-exit", json!("loss")),
        ("window-reduction", json!("at-once")),
        ("tail-loss-probe", json!(false)),
        ("dsack", json!(false)),
        ("undo", json!(false)),
        ("frto", json!(false)),
        ("acknowledgment", json!("every-packet")),
        ("acknowledgment", json!({"delayed": {"timeout": "100ms", "quick": 3}})),
        ("acknowledgment", json!({"estimated": {"first": "50ms"}})),
        ("acknowledgment", adaptive),
        ("ack-compression", json!(false)),
        ("autotuning", json!(true)),
        ("timestamps", json!(false)),
        ("mss", json!("536B")),
        ("window", json!("9 packets")),
        ("initial-window", json!({"segments": 2})),
        ("initial-ssthresh", json!("6 packets")),
        ("idle-restart", json!(false)),
        ("growth", json!("always")),
        ("counting", json!("acknowledgments")),
        ("reduction", json!("window")),
        ("repeated-timeout", json!("reduce")),
        ("timer-restart", json!("before-sample")),
        ("handshake-timing", json!("forgotten")),
        ("fin", json!("alone")),
        ("minimum-rto", json!("1s")),
        ("rto-rule", json!("rfc6298")),
        ("clock", json!("10ms")),
    ]
}

/// The TCP of `flow`.
fn tcp(flow: &Flow) -> Value {
    let mut names = PROFILES[flow.profile].split(' ');
    let mut tcp = json!({"profile": names.next()});
    match names.next() {
        Some("tuned") => tcp["autotuning"] = json!(true),
        Some("bursts") => {
            tcp["segmentation-offload"] = json!({});
            tcp["pacing"] = json!(flow.stops);
        }
        Some(congestion) => tcp["congestion"] = json!(congestion),
        None => {}
    }
    if flow.ecn && !PROFILES[flow.profile].starts_with("ns2") {
        tcp["ecn"] = json!(true);
        if !PROFILES[flow.profile].starts_with("quic") {
            tcp["recovery"] = json!("sack");
        }
    }
    for (key, value) in flow.options.iter().map(|option| options()[*option].clone()) {
        let mut with = tcp.clone();
        with[key] = value;
        if is_accepted(&with) {
            tcp = with;
        }
    }
    tcp
}

fn is_accepted(tcp: &Value) -> bool {
    let config: TcpConfig = serde_json::from_value(tcp.clone()).expect("every option is known");
    config.build().is_ok()
}

fn source(flow: &Flow) -> Value {
    let mut tcp = tcp(flow);
    if flow.application == 8 && tcp["profile"] == "quic" {
        // The page load needs TCP, so QUIC is replaced.
        tcp = json!({"profile": "linux-6"});
    }
    let closes_first = if flow.ecn { "client" } else { "server" };
    match flow.application {
        0..3 => json!({"bulk": {"tcp": tcp}}),
        3 => json!({"request-response": {"tcp": tcp, "request": "3kB", "response": "30kB"}}),
        4 => json!({"request-response": {"tcp": tcp, "request": "40kB", "response": "0B"}}),
        5 => json!({"connect-request-response": {"tcp": tcp, "request": "100B", "response": "9kB",
                    "closes-first": closes_first}}),
        6 => json!({"file-transfer": {"tcp": tcp, "size": "20kB", "connection": "per-file"}}),
        7 => json!({"video": {"tcp": tcp, "segment": "200ms", "starts-with": "200ms", "buffer": "1s"}}),
        8 => {
            json!({"page-load": {"tcp": tcp, "connections": 3, "html": "3kB", "think": "100ms", "parse": "5ms",
                    "scripts": {"count": 5, "size": "4kB"}, "images": {"count": 2, "size": "9kB"}}})
        }
        9 => json!({"speed-test": {"tcp": tcp, "connections": 2}}),
        _ => json!({"web": {"tcp": tcp, "mean-gap": "60ms", "mean-size": "6kB"}}),
    }
}

/// The variable parts of a network.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // drawn one by one
pub(crate) struct Network {
    pub(crate) queueing: usize,
    pub(crate) loss: f64,
    /// Propagation delay of the link in the middle, microseconds, and of the access links.
    pub(crate) delays: [u64; 2],
    pub(crate) udp: bool,
    pub(crate) warmup: bool,
    /// Whether every host has its own router, with a slower link behind it.
    pub(crate) edges: bool,
    /// Whether a host has a second link, to another router, and two hosts are directly connected.
    pub(crate) shortcuts: bool,
    /// MTUs of the first link in the middle and of the first host's link, bytes.
    pub(crate) mtus: [u64; 2],
}

/// The kinds of [`queueing`].
pub(crate) const QUEUEING: usize = 28;

fn queueing(kind: usize) -> Value {
    let tail_drop = json!({"tail-drop": {"limit": "8 packets"}});
    let only = |buffer: Value| json!({"classes": [{"name": "all", "buffer": buffer}]});
    let shape = json!({"rate": "1500kb/s", "burst": "3kB"});
    let red = |scalable: Value, ecn: &str| {
        only(json!({"red": {"ecn": ecn, "scalable": scalable, "averaging": {"weight": 0.1}, "precedences": [
            {"min": "2 packets", "max": "9 packets", "max-probability": 0.3}]}}))
    };
    match kind {
        0 => only(tail_drop),
        1 => json!({"classes": [{"name": "all", "buffer": tail_drop, "shape": shape}]}),
        2 => json!({"scheduler": "priority", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": tail_drop}, {"name": "rest", "buffer": tail_drop},
        ]}),
        3 => only(json!({"codel": {"law": "linux", "target": "4ms", "interval": "40ms", "ecn": "mark"}})),
        4 => only(json!({"fq-codel": {
            "law": "linux", "target": "4ms", "interval": "40ms", "limit": "40 packets", "drop-batch": 9}})),
        5 => only(json!({"dualpi2": {"law": "linux", "target": "4ms"}})),
        6 => only(json!({"dualpi2": {"target": "4ms", "update-interval": "2ms", "alpha": 4, "beta": 16}})),
        7 => only(json!({"pie": {"law": "linux", "target": "3ms", "limit": "40 packets", "ecn": "mark"}})),
        8 => only(json!({"cake": {"bandwidth": "1500kb/s", "rtt": "40ms"}})),
        9 => only(json!({"cake": {"bandwidth": "900kb/s", "rtt": "40ms", "ack-filter": "filter"}})),
        10 => only(json!({"cake": {"rtt": "20ms", "ack-filter": "aggressive", "isolation": "flows"}})),
        11 => only(json!({"cake": {"bandwidth": "1200kb/s", "tins": "diffserv4", "ack-filter": "aggressive",
            "ingress": true, "wash": true, "cells": "atm", "overhead": 18}})),
        12 => only(json!({"cake": {"bandwidth": "1Mb/s", "rtt": "20ms", "memory-limit": "20000B"}})),
        13 => red(Value::Null, "mark"),
        14 => red(json!({"mark": {"step": "3 packets"}}), "mark"),
        15 => red(json!({"mark": {"step": "4500B"}, "ecn": "any-ect"}), "ignore"),
        16 => red(json!({"mark": {"step": "5ms"}, "ecn": "any-ect"}), "mark"),
        17 => red(json!({"mark": {"ramp": {"from": "1 packet", "width": "6 packets"}}}), "mark-all"),
        18 => red(json!({"mark": {"ramp": {"from": "2ms", "width": "9ms"}}, "ecn": "any-ect"}), "mark"),
        19 => only(json!({"wred": {"ecn": "mark", "precedences": [
            {"min": "4 packets", "max": "12 packets", "max-probability": 0.1},
            {"min": "2 packets", "max": "6 packets", "max-probability": 0.5}],
            "scalable": {"mark": {"ramp": {"from": "3kB", "width": "6kB"}}}}})),
        20 => only(json!({"codel": {"target": "4ms", "interval": "40ms", "ecn": "mark",
            "ce-threshold": {"wait": "2ms", "of": "ect1"}}})),
        21 => only(json!({"fq-codel": {"target": "4ms", "interval": "40ms", "flows": 2, "quantum": "300B",
            "ecn": "mark", "ce-threshold": {"wait": "1ms"}}})),
        22 => {
            only(json!({"fq-pie": {"law": "linux", "target": "3ms", "limit": "40 packets", "ecn": "mark"}}))
        }
        23 => only(json!({"pie": {"target": "3ms", "update-interval": "2ms", "burst": "10ms"}})),
        _ => scheduled(kind),
    }
}

/// The kinds that have several classes with buffer managers.
fn scheduled(kind: usize) -> Value {
    let tail_drop = json!({"tail-drop": {"limit": "8 packets"}});
    match kind {
        24 => json!({"scheduler": "drr", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "share": {"quantum": "600B"},
             "buffer": {"red": {"ecn": "mark", "scalable": {"mark": {"step": "2 packets"}, "ecn": "any-ect"},
                "precedences": [{"min": "2 packets", "max": "9 packets", "max-probability": 0.3}]}}},
            {"name": "rest", "share": {"quantum": "1500B"}, "buffer": {"fq-codel": {}}},
        ]}),
        25 => json!({"scheduler": "hfsc", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": tail_drop,
             "share": {"real-time": {"m1": "600kb/s", "d": "9ms", "m2": "200kb/s"},
                       "link-share": {"m2": "200kb/s"}}},
            {"name": "rest", "share": {"link-share": {"m2": "900kb/s"}, "upper-limit": {"m2": "1200kb/s"}},
             "buffer": {"fq-codel": {"law": "linux"}}},
        ]}),
        26 => json!({"scheduler": "wf2q-plus", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "share": {"weight": 3},
             "buffer": {"dualpi2": {"target": "4ms"}}},
            {"name": "rest", "share": {"weight": 1}, "buffer": {"pie": {"law": "linux", "ecn": "mark"}}},
        ]}),
        _ => {
            json!({"scheduler": "htb", "classes": [{
            "name": "link", "share": {"rate": "900kb/s", "burst": "3kB"},
            "queueing": {"scheduler": "htb", "classes": [
                {"name": "ef", "match": {"dscp": ["ef"]}, "share": {"rate": "200kb/s", "ceil": "800kb/s"},
                 "buffer": tail_drop},
                {"name": "rest", "share": {"rate": "300kb/s", "ceil": "1Mb/s", "level": 1},
                 "buffer": {"codel": {"law": "linux"}}},
            ]}}]})
        }
    }
}

/// The scenario's `traffic`: `flows`, and datagrams if the network has them.
fn traffic(flows: &[Flow], network: &Network) -> Vec<Value> {
    let mut traffic: Vec<Value> = flows
        .iter()
        .enumerate()
        .map(|(index, flow)| {
            let mut entry = json!({
                "name": format!("flow{index}"), "from": format!("c{}", flow.from), "to": format!("s{}", flow.to),
                "start-within": if flow.spread { "200ms" } else { "0s" }, "dscp": if index % 2 == 0 { "ef" } else { "default" },
                "class": format!("class{}", index % 2),
                "source": source(flow),
            });
            if flow.stops {
                entry["stop"] = json!("1700ms");
            }
            entry
        })
        .collect();
    if network.udp {
        let source = json!({"poisson": {"rate": "400kb/s", "packet": {"ip": "500B"}}});
        traffic.push(json!({"name": "udp", "from": "c0", "to": "s1", "source": source}));
        traffic.push(json!({"name": "game", "from": "c1", "to": "s0", "source": {"game": {}}}));
        let voice = json!({"talk-spurts": {"talk": "200ms", "silence": "100ms"}});
        traffic.push(json!({"name": "voice", "from": "s1", "to": "c0", "source": {"voice": voice}}));
    }
    traffic
}

/// The tables of a network of two routers and their hosts, without the tables of probes.
pub(crate) fn tables(flows: &[Flow], network: &Network, options: RunOptions) -> Vec<String> {
    let Network { loss, delays: [middle, access], mtus, .. } = network;
    let [mtu, of_host] = mtus.map(|mtu| format!("{mtu}B"));
    let mut hosts = serde_json::Map::new();
    let mut routers = serde_json::Map::new();
    for name in ["left", "middle", "right"] {
        routers.insert(name.to_owned(), json!({}));
    }
    let mut links = vec![
        json!({"between": ["left", "middle"], "rate": "2Mb/s", "delay": format!("{middle}us"), "loss": loss, "mtu": mtu,
               "interfaces": {"left": {"output": "queue"}}}),
        json!({"between": ["middle", "right"], "rate": "3Mb/s", "delay": format!("{middle}us")}),
    ];
    for host in 0..PAIRS {
        for (name, router) in [(format!("c{host}"), "left"), (format!("s{host}"), "right")] {
            let delay = format!("{}us", access * (1 + host as u64));
            let edge = format!("edge-{name}");
            let near = if network.edges { edge.as_str() } else { router };
            let mtu = if name == "c0" { of_host.as_str() } else { "65535B" };
            links.push(
                json!({"between": [name, near], "rate": "4Mb/s", "delay": delay, "loss": loss, "mtu": mtu}),
            );
            if network.edges {
                links.push(json!({"between": [edge, router], "rate": "1500kb/s", "delay": delay,
                    "interfaces": {near: {"input": "mark"}}}));
                routers.insert(edge, json!({}));
            }
            hosts.insert(name, json!({}));
        }
    }
    if network.shortcuts {
        links.push(json!({"between": ["c0", "middle"], "rate": "4Mb/s", "delay": "1ms"}));
        links.push(json!({"between": ["c3", "s3"], "rate": "1Mb/s", "delay": format!("{access}us")}));
    }
    let scenario = json!({
        "perhop": 1, "name": "shortcuts", "duration": "3s", "hosts": hosts,
        "routers": routers,
        "links": links, "traffic": traffic(flows, network), "policies": {
            "queue": {"queueing": queueing(network.queueing)},
            "mark": {"conditioners": [{"meter": {"token-bucket": {"rate": "600kb/s", "burst": "6kB"}}, "red": [{"mark": "default"}]}]},
        },
        "measure": {"warmup": if network.warmup { "600ms" } else { "0s" },
                    "throughput-every": "100ms", "delay-every": "100ms", "packets": ["flow0"]},
    });
    let results = simulate(&scenario, options);
    results.tables.iter().map(|table| format!("{table:?}")).collect()
}

/// The first difference between the tables of the two engines, if there is one.
fn difference(flows: &[Flow], network: &Network, seed: u64) -> Option<String> {
    let [fast, plain] = [EngineChoice::Fast, EngineChoice::Plain]
        .map(|engine| tables(flows, network, RunOptions { seed, engine, ..ONCE }));
    first_difference(&fast, &plain)
}

/// The first difference between two lists of tables, if there is one.
pub(crate) fn first_difference(fast: &[String], plain: &[String]) -> Option<String> {
    let (fast, plain) = fast.iter().zip(plain).find(|(fast, plain)| fast != plain)?;
    let alike = fast.bytes().zip(plain.bytes()).take_while(|(a, b)| a == b).count();
    let rest = |table: &str| table[alike.saturating_sub(60)..].chars().take(200).collect::<String>();
    Some(format!("{}: {} and not {}", &fast[..30], rest(fast), rest(plain)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn engines_agree(
        flows in flows(),
        queueing in 0..QUEUEING,
        loss in prop::sample::select(vec![0.0, 0.0, 0.02]),
        delays in prop::sample::select(vec![[20_000, 1_000], [0, 0], [0, 3_000], [500, 40_000]]),
        udp in any::<bool>(),
        warmup in any::<bool>(),
        edges in any::<bool>(),
        mtus in prop::sample::select(vec![[65_535, 65_535], [300, 65_535], [400, 1000], [1500, 300]]),
        shortcuts in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let network = Network { queueing, loss, delays, udp, warmup, edges, shortcuts, mtus };
        prop_assert_eq!(difference(&flows, &network, seed), None);
    }
}

/// A burst waits for acknowledgments only for a limited time, and leaves when the connection is polled a
/// millisecond later. The wake-up of a timer that has moved in the meantime must not poll the connection,
/// because an end that is ahead of the agenda does not see this wake-up.
#[test]
fn a_burst_does_not_leave_at_the_wake_up_of_a_timer_that_has_moved() {
    let profile = PROFILES.iter().position(|profile| *profile == "windows-11").unwrap();
    let offload = options().iter().position(|(key, _)| *key == "segmentation-offload").unwrap();
    let flow = Flow {
        application: 0,
        profile,
        from: 0,
        to: 1,
        spread: false,
        stops: true,
        ecn: false,
        options: vec![offload],
    };
    let network = Network {
        queueing: 0,
        loss: 0.0,
        delays: [0, 3000],
        udp: false,
        warmup: false,
        edges: false,
        shortcuts: true,
        mtus: [65_535, 65_535],
    };
    assert_eq!(difference(&[flow], &network, 0), None);
}
