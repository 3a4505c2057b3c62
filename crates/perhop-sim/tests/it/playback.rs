//! A run in steps has the same results as a run without steps, and a repeated run agrees with the counters of
//! the first one.

use std::path::Path;

use crate::simulation::{ONCE, count, simulate};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::Scenario;
use perhop_sim::playback::{PacketRecord, Playback};
use perhop_sim::stepwise::Stepwise;
use serde_json::{Value, json};

/// Port number of the bottleneck.
const BOTTLENECK: usize = 2;

/// TCP and datagrams through 1 Mb/s with RED, behind a policer, over a wire that loses packets.
fn scenario() -> Value {
    json!({
        "perhop": 1, "name": "again", "duration": "8s", "seed": 1,
        "hosts": {"a": {}, "b": {}}, "routers": {"r": {}, "s": {}},
        "links": [
            {"between": ["a", "r"], "rate": "20Mb/s", "delay": "2ms", "interfaces": {"r": {"input": "in"}}},
            {"between": ["r", "s"], "rate": "1Mb/s", "delay": "9ms", "loss": 0.01, "interfaces": {"r": {"output": "out", "ring": {"packets": 3}}}},
            {"between": ["s", "b"], "rate": "20Mb/s", "delay": "1ms"},
        ],
        "policies": {
            "in": {"conditioners": [{"name": "limit", "match": {"dscp": "ef"}, "meter": {"token-bucket": {"rate": "200kb/s", "burst": "3kB"}}, "red": ["drop"]}]},
            "out": {"queueing": {"scheduler": "priority", "classes": [
                {"name": "voice", "match": {"dscp": "ef"}, "buffer": {"tail-drop": {"limit": "9 packets"}}},
                {"name": "rest", "buffer": {"red": {"precedences": [{"min": "5 packets", "max": "15 packets", "max-probability": 0.1}], "mean-packet-size": "1000B", "limit": "30 packets"}}},
            ]}},
        },
        "traffic": [
            {"name": "voice", "from": "a", "to": "b", "dscp": "ef", "source": {"poisson": {"rate": "300kb/s", "packet": {"ip": "200B"}}}},
            {"name": "bulk", "from": "a", "to": "b", "count": 3, "start-within": "1s", "source": {"bulk": {"tcp": {"profile": "linux-modern"}}}},
        ],
        "measure": {"warmup": "1s", "throughput-every": "500ms", "delay-every": "500ms"},
    })
}

fn read(scenario: &Value) -> Scenario {
    serde_json::from_value(scenario.clone()).unwrap()
}

#[test]
fn a_run_in_steps_has_the_bytes_of_the_run() {
    let scenario = scenario();
    for seed in [1, 7] {
        let whole = simulate(&scenario, perhop_sim::RunOptions { seed, ..ONCE });
        for steps in [1, 3, 977] {
            let every = Time::from_milliseconds(500);
            let mut run = Stepwise::new(&read(&scenario), Path::new("."), seed, every).unwrap();
            for step in 1..=steps {
                run.advance(Time::from_picoseconds(8_000_000_000_000 / steps * step));
            }
            let dropped: u64 = (0..3).flat_map(|class| run.dropped(class).to_vec()).sum();
            let results = run.finish();
            assert_eq!(results.summary.to_json(), whole.summary.to_json(), "seed {seed}, {steps} steps");
            assert_eq!(dropped, count(&whole, "classes", "dropped_packets"), "drops by interval");
        }
    }
}

#[test]
fn replayed_packets_match_the_counters() {
    let scenario = scenario();
    let mut measured = scenario.clone();
    measured["measure"] = json!({});
    let whole = simulate(&measured, ONCE);
    let records = all(&scenario);
    let dropped_by = |cause: DropCause| {
        records.iter().filter(|packet| packet.dropped.is_some_and(|(_, why)| why == cause)).count()
    };
    for (cause, column) in [
        (DropCause::Policed, "dropped_policed"),
        (DropCause::QueueFull, "dropped_queue_full"),
        (DropCause::EarlyRandom, "dropped_early_random"),
        (DropCause::EarlyForced, "dropped_early_forced"),
    ] {
        let elsewhere = 0; // no other port drops anything
        assert_eq!(dropped_by(cause) as u64, count(&whole, "classes", column) - elsewhere, "{column}");
    }
    assert!(
        dropped_by(DropCause::Policed) > 50
            && dropped_by(DropCause::EarlyRandom) + dropped_by(DropCause::EarlyForced) > 5
    );
    assert!(dropped_by(DropCause::Lost) > 0, "losses on the wire are reported for the lost packets");
}

/// All packets at the bottleneck, in one span.
fn all(scenario: &Value) -> Vec<PacketRecord> {
    let mut playback = Playback::new(&read(scenario), Path::new("."), 1, BOTTLENECK).unwrap();
    playback.span(Time::ZERO, Time::from_milliseconds(8000), usize::MAX).unwrap().packets
}

#[test]
fn a_packet_goes_forward_in_time_and_the_wire_is_one_packet_wide() {
    let records = all(&scenario());
    let mut sent: Vec<&PacketRecord> = records.iter().filter(|packet| packet.left.is_some()).collect();
    assert!(sent.len() > 500);
    for packet in &sent {
        let (dequeued, departure) = packet.left.unwrap();
        assert!(
            packet.arrived <= dequeued && dequeued <= departure.starts && departure.starts < departure.ends
        );
        assert_eq!(packet.queue, Some(u32::from(packet.class != Some(0))), "voice waits in its own queue");
    }
    sent.sort_by_key(|packet| packet.left.unwrap().1.starts);
    assert!(sent.windows(2).all(|two| two[0].left.unwrap().1.ends <= two[1].left.unwrap().1.starts));
}

#[test]
fn forward_and_backward_playback_agree() {
    let scenario = read(&scenario());
    let whole = all(&self::scenario());
    let mut playback = Playback::new(&scenario, Path::new("."), 1, BOTTLENECK).unwrap();
    for begin in [5000, 5200, 1000, 6900, 0] {
        let (from, until) = (Time::from_milliseconds(begin), Time::from_milliseconds(begin + 300));
        let span = playback.span(from, until, usize::MAX).unwrap();
        assert_eq!((span.from, span.until), (from, until));
        let there =
            |packet: &&PacketRecord| packet.arrived <= until && packet.ends().is_none_or(|ends| ends >= from);
        let expected: Vec<u32> = whole.iter().filter(there).map(|packet| packet.number).collect();
        let shown: Vec<u32> = span.packets.iter().map(|packet| packet.number).collect();
        assert_eq!(shown, expected, "from {begin} ms");
        let known = |packet: &&PacketRecord| packet.dropped.is_some() || packet.left.is_some();
        for packet in span.packets.iter().filter(known).filter(|packet| packet.dropped.is_none()) {
            let same = whole[whole.binary_search_by_key(&packet.number, |record| record.number).unwrap()];
            assert_eq!(
                PacketRecord { dropped: None, ..same },
                *packet,
                "losses on the wire may be reported later"
            );
        }
    }
    let span = playback.span(Time::from_milliseconds(2000), Time::from_milliseconds(8000), 100).unwrap();
    assert!(span.until < Time::from_milliseconds(4000), "it ends when there is enough");
    assert!(Playback::new(&scenario, Path::new("."), 1, 99).is_err());
}
