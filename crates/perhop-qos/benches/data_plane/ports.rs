//! A whole port: 13 classes by codepoint, each with WRED of three precedences, a scheduler, the ring, and the
//! pace of a wire of 100 Gb/s. Packets arrive in bursts of 32 and leave one by one. At an overloaded port, 40
//! packets arrive while 32 leave.
//!
//! The case `hqf` is the port of a current router for the same packets. A shaper contains all classes. Two
//! classes have priority and a policer, and five classes have a minimum and a share of the excess. The
//! Ethernet header is counted. Only the wire limits the classes, as in the twin, whose subport, pipe and
//! traffic classes also have token buckets.
//!
//! The case `one-queue` is the same port with one queue, for packets of 64 flows. Every second packet has
//! ECT(1). The case measures the time of the buffer manager.

use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::packet::Ecn;
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{Color, Dscp, FlowKey, Packet, Rate, Time};
use serde_json::{Value, json};

use crate::{Bench, Numbers};

/// The number of flows of the packets.
const FLOWS: usize = 64;
/// The number of packets after which the packets repeat.
const PACKETS: usize = 4096;
const CLASSES: u64 = 13;
/// The number of classes with strict priority. The other classes take turns.
const URGENT: u64 = 9;
/// The number of packets that leave between the starts of two bursts.
const BURST: usize = 32;

pub(crate) fn run(bench: &Bench) {
    let counted = |overhead: i32, queueing: Value| json!({"overhead": overhead, "queueing": queueing});
    for (name, policy) in [
        ("scfq", counted(0, scfq())),
        ("priority-drr", counted(0, priority_and_drr())),
        ("hqf", counted(14, hqf())),
    ] {
        bench.case(&format!("port/{name}/light"), || port(&policy, BURST));
        bench.case(&format!("port/{name}/overloaded"), || port(&policy, 40));
    }
    for (name, buffer) in [
        ("tail-drop", json!({"limit": "64 packets"})),
        ("codel", json!({"law": "linux", "limit": "64 packets"})),
        ("fq-codel", json!({"law": "linux", "limit": "65 packets"})),
        ("cake", json!({"memory-limit": "130kB"})),
        ("pie", json!({"limit": "64 packets"})),
        ("fq-pie", json!({"law": "linux", "limit": "64 packets"})),
        ("dualpi2", json!({"law": "linux", "limit": "64 packets"})),
    ] {
        let policy = counted(0, json!({"classes": [{"name": "all", "buffer": {name: buffer}}]}));
        bench.case(&format!("one-queue/{name}/light"), || port(&policy, BURST));
        bench.case(&format!("one-queue/{name}/overloaded"), || port(&policy, 40));
    }
    let policy = counted(0, shared_memory());
    bench.case("one-queue/shared-memory/light", || port(&policy, BURST));
    bench.case("one-queue/shared-memory/overloaded", || port(&policy, 40));
}

/// One queue in a memory, with all limits that a queue may have. A packet of 800 bytes needs four units, so
/// the queue has room for at most 57 of these packets.
fn shared_memory() -> Value {
    let memory = json!({"unit-bytes": 256, "shared": 4096, "port-fall": {"start": 3000, "end": 4000},
                        "pool-fall": {"start": 3000, "end": 4000}});
    let buffer = json!({"reserved": 40, "limit": 2000, "alpha": 8, "port-minimum": 500, "pool-minimum": 500,
                        "thresholds": [230, 204, 183]});
    json!({"memory": memory, "classes": [{"name": "all", "buffer": {"shared-memory": buffer}}]})
}

/// The class of codepoint `index`. It has the thresholds of the twin in DPDK.
fn class(index: u64, share: &Value) -> Value {
    json!({
        "name": format!("class{index}"),
        "match": {"dscp": index},
        "share": share,
        "buffer": {"wred": {
            "precedences": [
                {"min": "48 packets", "max": "64 packets", "max-probability": 0.1},
                {"min": "40 packets", "max": "64 packets", "max-probability": 0.1},
                {"min": "32 packets", "max": "64 packets", "max-probability": 0.1},
            ],
            "averaging": {"exponent": 9},
            "limit": "64 packets",
        }},
    })
}

fn scfq() -> Value {
    let classes: Vec<Value> = (0..CLASSES).map(|index| class(index, &json!({"weight": 1 + index}))).collect();
    json!({"scheduler": "scfq", "classes": classes})
}

fn priority_and_drr() -> Value {
    let mut classes: Vec<Value> = (0..URGENT).map(|index| class(index, &json!({}))).collect();
    let turns: Vec<Value> = (URGENT..CLASSES).map(|index| class(index, &json!({}))).collect();
    classes.push(json!({"name": "turns", "queueing": {"scheduler": "drr", "classes": turns}}));
    json!({"scheduler": "priority", "classes": classes})
}

/// Codepoints 0 and 1 have priority. Each of the five other classes has two or three codepoints.
fn hqf() -> Value {
    let priority = |index: u64| {
        json!({
            "name": format!("priority{index}"),
            "match": {"dscp": index},
            "police": {"rate": "10Gb/s", "burst": "1MB"},
        })
    };
    let bandwidth = |index: u64| {
        let codepoints: Vec<u64> = (2..CLASSES).filter(|codepoint| codepoint % 5 == index).collect();
        let mut class =
            class(index, &json!({"minimum": format!("{}Gb/s", 4 + 4 * index), "weight": 1 + index}));
        class["match"] = json!({"dscp": codepoints});
        class
    };
    let others: Vec<Value> = (0..5).map(bandwidth).collect();
    let others = json!({"name": "others", "queueing": {"scheduler": "three-parameter", "classes": others}});
    let inside = json!({"scheduler": "priority", "classes": [priority(0), priority(1), others]});
    // The rate is above the rate of the wire, because 14 more bytes are counted for each packet than are sent
    // on the wire.
    let shape = json!({"rate": "150Gb/s", "burst": "1MB"});
    json!({"classes": [{"name": "class-default", "shape": shape, "queueing": inside}]})
}

/// Sends packets through the port. The function returns whether each packet joins its queue.
fn port(policy: &Value, burst: usize) -> impl FnMut(usize) -> usize {
    let policy: PolicyConfig =
        serde_json::from_value(policy.clone()).expect("the benchmark's policy is valid");
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(100_000_000_000),
        framing: Framing::default(),
        headers: HeaderStack::EMPTY,
        ring: RingConfig::Packets(BURST as u32),
    };
    let mut port = policy.build_port(&wire, &[], &Streams::new(1, 0)).expect("the benchmark's port is valid");
    let (mut packets, mut leaving) = (packets(), Packet::default());
    let (mut now, mut left) = (Time::ZERO, burst);
    move |n| {
        let joined = port.enqueue(now, &mut packets[n % PACKETS], ());
        left -= 1;
        if left == 0 {
            left = burst;
            for _ in 0..BURST {
                let Some(departure) = port.poll_transmit(now, &mut leaving, ()) else { break };
                now = departure.ends;
            }
        }
        usize::from(joined != perhop_qos::Verdict::Pass)
    }
}

/// Packets of 64 to 1500 bytes. Each class and each color is equally frequent.
fn packets() -> Vec<Packet> {
    let (lengths, colors) = (Numbers::table(1, 1437), Numbers::table(2, 3));
    let classes = Numbers::table(4, CLASSES);
    let key = |row: usize| FlowKey { source_port: (row % FLOWS) as u16, ..FlowKey::default() };
    let packet = |row: usize| Packet {
        dscp: Dscp::new(classes[row] as u8).expect("below 64"),
        color: Color::new(colors[row] as usize),
        // The marks of the packets, for ports that read them.
        marks: if row.is_multiple_of(2) { Ecn::NotCapable } else { Ecn::Capable1 }.into(),
        ..Packet::new(key(row), 64 + lengths[row])
    };
    (0..PACKETS).map(packet).collect()
}
