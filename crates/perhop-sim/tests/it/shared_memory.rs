//! Bursts from several hosts into one port whose queues share memory: drops by their cause.

use crate::simulation::{ONCE, count, simulate};
use perhop_measure::Results;
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

const SENDERS: u64 = 4;

/// Each sender sends a burst of `packets` frames of 1518 bytes, one frame time apart. Senders and the common
/// port have 1 Gb/s.
fn bursts(packets: u64, queueing: &Value) -> Value {
    let gigabit = |a: &str, b: &str| json!({"between": [a, b], "rate": "1Gb/s", "framing": "ethernet-wire"});
    let names: Vec<String> = (0..SENDERS).map(|number| format!("s{number}")).collect();
    let mut links: Vec<Value> = names.iter().map(|name| gigabit(name, "switch")).collect();
    let mut last = gigabit("switch", "server");
    last["interfaces"] = json!({"switch": {"output": "port"}});
    links.push(last);
    let mut hosts = json!({"server": {}});
    for name in &names {
        hosts[name] = json!({});
    }
    // One packet of 1500 bytes every 12.5 us is slightly slower than the wire, on which it has 1538 bytes.
    let source = json!({"cbr": {"rate": "960Mb/s", "packet": {"ip": "1500B"}}});
    let stop = format!("{}ns", packets * 12_500 - 6_000);
    let traffic: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "from": name, "to": "server", "stop": stop, "source": source}))
        .collect();
    json!({
        "perhop": 1, "name": "bursts", "duration": "100ms", "hosts": hosts, "routers": {"switch": {}},
        "policies": {"port": {"queueing": queueing}}, "links": links, "traffic": traffic,
    })
}

fn memory(shared: u32, limit: Option<u32>, buffer: &Value) -> Value {
    let mut memory = json!({"unit-bytes": 256, "shared": shared});
    if let Some(limit) = limit {
        memory["limit"] = json!(limit);
    }
    json!({"memory": memory, "classes": [{"name": "all", "buffer": {"shared-memory": buffer}}]})
}

/// Runs both engines and checks that they agree.
fn run(scenario: &Value) -> Results {
    let by = |engine| simulate(scenario, RunOptions { engine, ..ONCE });
    let (fast, plain) = (by(EngineChoice::Fast), by(EngineChoice::Plain));
    assert_eq!(format!("{:?}", fast.tables), format!("{:?}", plain.tables));
    fast
}

/// The drops of a burst at a queue with room for `frames` frames, counted frame by frame. The ring has room
/// for `ring` frames. A frame takes 1538 × 8 ns on the wire, and the frames of each sender arrive 12.5 us
/// apart.
fn expected_drops(packets: u64, frames: usize, ring: usize) -> u64 {
    let mut free_at = std::collections::VecDeque::new();
    let (mut dropped, mut wire_free_at) = (0, 0_u64);
    let mut starts: std::collections::VecDeque<u64> = std::collections::VecDeque::new();
    for packet in 0..packets {
        // All senders are synchronized. The first frame arrives after its own transmission.
        let now = 12_304 + packet * 12_500;
        for _ in 0..SENDERS {
            // Frames leave the queue when the ring has room, which is when an earlier frame has left the
            // wire.
            while starts.front().is_some_and(|start| *start <= now) {
                starts.pop_front();
            }
            if starts.len() >= frames {
                dropped += 1;
                continue;
            }
            let begins = wire_free_at.max(now);
            wire_free_at = begins + 12_304;
            free_at.push_back(wire_free_at);
            let enters = if free_at.len() > ring { free_at[free_at.len() - 1 - ring].max(now) } else { now };
            if enters > now {
                starts.push_back(enters);
            }
        }
    }
    dropped
}

#[test]
fn a_burst_that_fits_loses_nothing_and_a_longer_one_the_rest() {
    for (frames, limit, reserved, thresholds) in
        [(120, Some(720), 0, vec![]), (60, None, 0, vec![365]), (25, Some(30), 120, vec![])]
    {
        for packets in [8, 20, 40, 60, 100] {
            let mut buffer = json!({"reserved": reserved, "thresholds": thresholds});
            if let Some(limit) = limit {
                buffer["limit"] = json!(limit);
            }
            let results = run(&bursts(packets, &memory(5000, None, &buffer)));
            let port_counter = |column: &str| count(&results, "ports", column);
            let cause = if thresholds.is_empty() { "dropped_shared_memory" } else { "dropped_queue_full" };
            let expected = expected_drops(packets, frames, 1);
            assert_eq!(
                (port_counter(cause), port_counter("dropped_packets")),
                (expected, expected),
                "{frames} {packets}"
            );
            let flow_counter = |column: &str| count(&results, "flows", column);
            assert_eq!(flow_counter("offered_packets"), SENDERS * packets);
            assert_eq!(
                flow_counter("delivered_packets") + flow_counter("dropped_packets"),
                SENDERS * packets
            );
        }
    }
}

#[test]
fn the_pool_and_the_port_have_causes_of_their_own() {
    let pool = run(&bursts(60, &memory(362, None, &json!({}))));
    let port = run(&bursts(60, &memory(5000, Some(362), &json!({}))));
    let expected = expected_drops(60, 60, 1);
    assert_eq!(count(&pool, "ports", "dropped_shared_memory"), expected);
    assert_eq!(count(&port, "ports", "dropped_port_memory"), expected);
    assert_eq!(count(&port, "classes", "dropped_port_memory"), expected);
}

/// Results of scenarios without a shared memory do not have the columns of shared memory.
#[test]
fn other_scenarios_have_no_such_columns() {
    let named = |results: &Results| format!("{:?}", results.tables).contains("dropped_shared_memory");
    let plain = json!({"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": "120 packets"}}}]});
    let results = run(&bursts(60, &plain));
    assert!(!named(&results));
    // Tail drop with a limit of the same number of packets drops the same number of packets.
    assert_eq!(count(&results, "ports", "dropped_queue_full"), expected_drops(60, 120, 1));
    assert!(named(&run(&bursts(8, &memory(5000, None, &json!({}))))));
}
