//! Captures agree with the counters for every shortcut of the simulator, and do not change results.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::simulation::{ONCE, count};
use perhop_capture::SnapLength;
use perhop_capture::reader::{Capture, read};
use perhop_measure::results::Results;
use perhop_qos::packet::Ecn;
use perhop_qos::units::ByteSize;
use perhop_scenario::Scenario;
use perhop_sim::capture::{Captured, Captures, MOST_PACKETS};
use perhop_sim::{Progress, RunOptions, run, run_captured};
use proptest::prelude::*;
use serde_json::{Value, json};

const OPTIONS: RunOptions = RunOptions { seed: 3, ..ONCE };

/// Files in memory.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

struct Book {
    shelf: Shelf,
    name: String,
}

impl Write for Book {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shelf.0.lock().unwrap().entry(self.name.clone()).or_default().extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn scenario(value: Value) -> Scenario {
    serde_json::from_value(value).unwrap()
}

fn capture(scenario: &Scenario, most_packets: u64) -> (Results, Vec<Captured>, BTreeMap<String, Vec<u8>>) {
    let shelf = Shelf::default();
    let create = |name: &str| -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(Book { shelf: shelf.clone(), name: name.to_owned() }))
    };
    let captures = Captures { create: &create, snap_length: SnapLength::Headers, most_packets };
    let (results, captured) =
        run_captured(scenario, Path::new("."), &OPTIONS, &Progress::new(), Some(&captures)).unwrap();
    let files = shelf.0.lock().unwrap().clone();
    (results, captured, files)
}

/// A scenario with all events that can happen to a packet: sources that look ahead, precomputed departures, a
/// policer behind a wire that loses packets, WRED at the bottleneck, and TCP if `tcp` requests it.
fn everything(watched: bool, tcp: bool, rate: u64) -> Scenario {
    let cbr =
        |rate: u64| json!({"cbr": {"rate": format!("{rate}b/s"), "packet": {"ip": "700B"}, "jitter": 0.3}});
    let mut traffic = vec![
        json!({"name": "video", "from": "a", "to": "sink", "dscp": "af11", "source": cbr(rate)}),
        json!({"name": "voice", "from": "a", "to": "sink", "dscp": "ef", "source": cbr(rate / 4)}),
        json!({"name": "data", "from": "b", "to": "sink", "dscp": "af12", "source": cbr(rate)}),
    ];
    if tcp {
        let bulk = json!({"bulk": {"tcp": {"profile": "linux-modern", "ecn": true}}});
        traffic.push(
            json!({"name": "bulk", "from": "b", "to": "sink", "count": 2, "dscp": "af11", "source": bulk}),
        );
    }
    let probe = |from: &str, to: &str| json!({"from": from, "to": to, "every": "7ms"});
    let queues = if watched {
        vec![probe("a", "r"), probe("b", "r"), probe("r", "s"), probe("s", "sink")]
    } else {
        vec![]
    };
    let wred = json!({"wred": {"ecn": "mark", "precedences": [
        {"min": "4 packets", "max": "12 packets", "max-probability": 0.1},
        {"min": "2 packets", "max": "8 packets", "max-probability": 0.2},
    ], "averaging": {"weight": 0.02}}});
    scenario(json!({
        "perhop": 1, "name": "everything", "duration": "3s",
        "hosts": {"a": {}, "b": {}, "sink": {}}, "routers": {"r": {}, "s": {}},
        "links": [
            {"between": ["a", "r"], "rate": "3Mb/s", "delay": "3ms", "loss": 0.01, "framing": "ethernet-frame",
             "interfaces": {"r": {"input": "police"}, "a": {"output": "host"}}},
            {"between": ["b", "r"], "rate": "10Mb/s", "delay": "2ms"},
            {"between": ["r", "s"], "rate": "2Mb/s", "delay": "5ms", "framing": "ppp",
             "interfaces": {"r": {"output": "core", "ring": {"packets": 3}}}},
            {"between": ["s", "sink"], "rate": "2Mb/s", "delay": "1ms", "interfaces": {"s": {"output": "host"}}},
        ],
        "policies": {
            "police": {"conditioners": [{"match": {"dscp": "ef"},
                "meter": {"token-bucket": {"rate": "200kb/s", "burst": "1500B"}}, "red": ["drop"]}]},
            "host": {"queueing": {"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": "8 packets"}}}]}},
            "core": {"queueing": {"classes": [{"name": "af1", "buffer": wred}]}},
        },
        "traffic": traffic,
        "measure": {"queues": queues, "captures": [
            {"from": "a", "to": "r"}, {"from": "r", "to": "a"}, {"from": "b", "to": "r"}, {"from": "r", "to": "b"},
            {"from": "r", "to": "s"}, {"from": "s", "to": "r"}, {"from": "s", "to": "sink"}]},
    }))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn shortcuts_give_the_identical_capture(
        rate in 200_000u64..3_000_000,
        tcp in any::<bool>(),
        mtu in prop::sample::select(vec![1500, 300]),
    ) {
        let [mut plain, mut watched] = [false, true].map(|is_watched| everything(is_watched, tcp, rate));
        for scenario in [&mut plain, &mut watched] {
            scenario.links[2].mtu = Some(ByteSize::from_bytes(mtu));
        }
        let (_, captured, files) = capture(&plain, MOST_PACKETS);
        let (_, watched_captured, watched_files) = capture(&watched, MOST_PACKETS);
        prop_assert_eq!(captured, watched_captured);
        for (name, bytes) in &files {
            prop_assert!(bytes == &watched_files[name], "{} differs", name);
        }
        prop_assert_eq!(files.len(), 4);
    }

    #[test]
    fn a_capture_changes_no_result(rate in 200_000u64..3_000_000, tcp in any::<bool>()) {
        let scenario = everything(false, tcp, rate);
        let plain = run(&scenario, Path::new("."), &OPTIONS, &Progress::new()).unwrap();
        let (results, ..) = capture(&scenario, MOST_PACKETS);
        prop_assert_eq!(format!("{:?}", plain.tables), format!("{:?}", results.tables));
    }
}

#[test]
fn a_capture_counts_what_the_port_counts() {
    let (results, captured, files) = capture(&everything(false, true, 1_500_000), MOST_PACKETS);
    let core = captured.iter().find(|file| file.name == "r--s.pcapng").unwrap();
    assert_eq!(core.interfaces, ["r->s", "s->r"]);
    let Capture { packets, others, .. } = read(&files["r--s.pcapng"]).unwrap();
    assert_eq!((packets.len() as u64, others), (core.packets, 0));
    assert!(packets.is_sorted_by_key(|observed| observed.time));
    // The files contain the drops of all ports, and the drops on and after the wires.
    let dropped: u64 = captured.iter().map(|file| file.dropped).sum();
    assert!(dropped > 100);
    assert_eq!(dropped, count(&results, "flows", "dropped_packets"));
    // Packets leave the hosts with ECT(0). Packets that the core marks leave the core with CE.
    let marked = |name: &str| {
        let Capture { packets, .. } = read(&files[name]).unwrap();
        packets.iter().filter(|observed| observed.packet.marks.ecn() == Ecn::CongestionExperienced).count()
            as u64
    };
    assert!(marked("r--s.pcapng") > 10);
    assert_eq!(
        (marked("b--r.pcapng"), marked("r--s.pcapng")),
        (0, count(&results, "ports", "marked_packets"))
    );
}

#[test]
fn a_full_file_is_reported() {
    let (_, captured, files) = capture(&everything(false, false, 1_000_000), 50);
    for file in captured {
        assert_eq!(read(&files[&file.name]).unwrap().packets.len() as u64, file.packets);
        assert!(file.packets == 50 && file.full_at.is_some(), "{file:?}");
    }
}

#[test]
fn by_default_the_links_with_a_policy_are_captured() {
    let mut scenario = everything(false, false, 1_000_000);
    scenario.measure.captures.clear();
    let (_, captured, _) = capture(&scenario, MOST_PACKETS);
    let names: Vec<&str> = captured.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["a--r.pcapng", "r--s.pcapng", "s--sink.pcapng"]);
    for link in &mut scenario.links {
        link.interfaces.clear();
    }
    assert_eq!(capture(&scenario, MOST_PACKETS).1.len(), 4, "without a policy, all links");
}

/// Traffic of one host over a policed and a congested link. The capture of the host's own link is sufficient
/// to reproduce the traffic.
fn replayable(traffic: &Value) -> Scenario {
    scenario(json!({
        "perhop": 1, "name": "replayed", "duration": "2s",
        "hosts": {"a": {}, "sink": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "3Mb/s", "delay": "3ms", "framing": "ethernet-frame",
             "interfaces": {"r": {"input": "police"}}},
            {"between": ["r", "sink"], "rate": "1Mb/s", "delay": "5ms",
             "interfaces": {"r": {"output": "core"}}},
        ],
        "policies": {
            "police": {"conditioners": [{"match": {"dscp": "ef"},
                "meter": {"token-bucket": {"rate": "200kb/s", "burst": "1500B"}}, "red": ["drop"]}]},
            "core": {"queueing": {"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": "10 packets"}}}]}},
        },
        "traffic": traffic,
    }))
}

fn replay(file: &str, bytes: &[u8], more: &Value) -> Value {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    std::fs::write(&path, bytes).unwrap();
    let mut pcap = json!({"file": path});
    pcap.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([{"name": "again", "from": "a", "to": "sink", "source": {"pcap": pcap}}])
}

#[test]
fn a_capture_as_a_source_gives_the_same_arrivals() {
    let source = |rate: &str, size: &str| json!({"poisson": {"rate": rate, "packet": {"ip": size}}});
    let traffic = json!([
        {"name": "clock", "from": "a", "to": "sink", "source-port": 40000,
         "source": {"cbr": {"rate": "64kb/s", "packet": {"ip": "200B"}}}},
        {"name": "voice", "from": "a", "to": "sink", "dscp": "ef", "count": 3, "source": source("300kb/s", "300B")},
        {"name": "data", "from": "a", "to": "sink", "source-port": 41000, "dscp": "af12",
         "source": source("900kb/s", "900B")},
    ]);
    let (before, _, files) = capture(&replayable(&traffic), MOST_PACKETS);
    let again = replay("again.pcapng", &files["a--r.pcapng"], &json!({}));
    let (after, _, files_again) = capture(&replayable(&again), MOST_PACKETS);
    // The two files have the same bytes, so these fields are equal: addresses, ports, codepoints, times to
    // the nanosecond, and the places and causes of drops.
    assert!(files["a--r.pcapng"] == files_again["a--r.pcapng"]);
    assert_eq!(count(&before, "flows", "dropped_packets"), count(&after, "flows", "dropped_packets"));
    assert!(count(&before, "flows", "dropped_packets") > 50);
    assert_eq!(after.table("flows").unwrap().columns[0].values.len(), 5, "a flow for each five-tuple");
    // Replayed as one flow, the packets have the addresses of the two hosts. The other fields are unchanged.
    let one_flow =
        replay("one.pcapng", &files["a--r.pcapng"], &json!({"flows": "one", "match": {"dscp": "af12"}}));
    let (one_flow, _, files_one) = capture(&replayable(&one_flow), MOST_PACKETS);
    assert_eq!(one_flow.table("flows").unwrap().columns[0].values.len(), 1);
    let only_data = |file: &[u8]| {
        let packets = read(file).unwrap().packets.into_iter();
        let data = packets.filter(|seen| seen.packet.dscp.to_string() == "af12");
        data.map(|seen| (seen.time, seen.packet.length)).collect::<Vec<_>>()
    };
    let times: Vec<(u64, u32)> = only_data(&files_one["a--r.pcapng"]);
    assert_eq!(times, only_data(&files["a--r.pcapng"]));
}

#[test]
fn tcp_is_replayed_regardless_of_losses() {
    let bulk = json!([{"name": "bulk", "from": "a", "to": "sink", "count": 2,
        "source": {"bulk": {"tcp": {"profile": "linux-modern", "mss": "1000B"}}}}]);
    let (_, captured, files) = capture(&replayable(&bulk), MOST_PACKETS);
    let again = replay("tcp.pcapng", &files["a--r.pcapng"], &json!({"interface": "a->r"}));
    let (results, captured_again, files_again) = capture(&replayable(&again), MOST_PACKETS);
    let sent = |file: &[u8]| {
        let packets = read(file).unwrap().packets.into_iter().filter(|seen| seen.interface == 0);
        packets.map(|seen| (seen.time, seen.packet, seen.tcp)).collect::<Vec<_>>()
    };
    assert!(sent(&files["a--r.pcapng"]).len() > 200);
    assert_eq!(sent(&files["a--r.pcapng"]), sent(&files_again["a--r.pcapng"]));
    assert_eq!(captured[1].dropped, captured_again[1].dropped, "the same drops at the bottleneck");
    assert_eq!(count(&results, "flows", "dropped_packets"), captured_again[1].dropped);
}
