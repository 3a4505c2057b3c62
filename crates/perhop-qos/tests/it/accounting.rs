//! The effect of a policy's overhead: rates and shares count IP bytes plus the overhead, and counters count
//! only IP bytes.

use crate::wire;
use crate::wire::{Arrival, send, send_counted};
use perhop_qos::accounting::Accounting;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::policy::{PolicyConfig, QueueingConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{Color, Dscp, FlowKey, Packet, Port, Rate, Time, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

/// At this rate, a byte is sent in one microsecond.
const RATE: Rate = Rate::from_bits_per_second(8_000_000);

fn policy(value: Value) -> PolicyConfig {
    serde_json::from_value(value).unwrap()
}

fn port(policy: &PolicyConfig) -> Port {
    let wire = WireConfig {
        rate: RATE,
        framing: Framing::Raw,
        headers: HeaderStack::EMPTY,
        ring: RingConfig::default(),
    };
    policy.build_port(&wire, &[], &Streams::new(1, 0)).unwrap()
}

fn packet(dscp: u8, length: u32) -> Packet {
    Packet { dscp: Dscp::new(dscp).unwrap(), ..Packet::new(FlowKey::default(), length) }
}

/// Returns the packets that leave `port` before `until`, as codepoint, length and start. The packets have the
/// `kinds` (codepoint, length), and packets of each kind are always queued.
fn saturate(port: &mut Port, kinds: &[(u8, u32)], until: Time) -> Vec<(u8, u32, Time)> {
    let (mut sent, mut leaving) = (Vec::new(), Packet::default());
    for (dscp, length) in kinds {
        for _ in 0..8 {
            port.enqueue(Time::ZERO, &mut packet(*dscp, *length), ());
        }
    }
    let mut now = Time::ZERO;
    while now < until {
        while let Some(departure) = port.poll_transmit(now, &mut leaving, ()) {
            sent.push((leaving.dscp.value(), leaving.length, departure.starts));
            port.enqueue(now, &mut packet(leaving.dscp.value(), leaving.length), ());
        }
        now = port.poll_timeout().expect("packets always wait");
    }
    sent
}

#[test]
fn a_shaper_passes_the_ip_share_of_its_rate() {
    for (overhead, length) in [(18_i32, 100_u32), (18, 1500), (-20, 100)] {
        let shape = json!({"rate": "1Mb/s", "burst": "2kB"});
        let policy =
            policy(json!({"overhead": overhead, "queueing": {"classes": [{"name": "all", "shape": shape}]}}));
        let sent = saturate(&mut port(&policy), &[(0, length)], Time::from_seconds(2));
        // With an empty bucket, the time between packets is their length with the overhead divided by the
        // rate.
        let every = u64::from(length.checked_add_signed(overhead).unwrap()) * 8 * 1_000_000;
        let late: Vec<&(u8, u32, Time)> =
            sent.iter().filter(|(_, _, at)| *at > Time::from_seconds(1)).collect();
        assert!(late.len() > 50);
        for pair in late.windows(2) {
            assert_eq!(pair[1].2 - pair[0].2, Time::from_picoseconds(every));
        }
    }
}

#[test]
fn a_meter_passes_the_ip_share_of_its_rate() {
    for (overhead, per) in [(18, "aggregate"), (18, "flow"), (-20, "aggregate")] {
        let meter = json!({"token-bucket": {"rate": "1Mb/s", "burst": "2kB"}});
        let stage = json!({"meter": meter, "per": per, "red": ["drop"]});
        let policy = policy(json!({"overhead": overhead, "conditioners": [stage]}));
        let mut conditioner = policy.build_conditioner(&[], &Streams::new(1, 0)).unwrap();
        conditioner.announce(&FlowKey::default());
        // The load is 100 bytes every 400 us, twice the rate, for 10 s.
        let mut passed = 0_u64;
        for index in 0..25_000 {
            let mut packet = packet(0, 100);
            let verdict = conditioner.condition(Time::from_microseconds(400 * index), &mut packet);
            passed += u64::from(verdict == Verdict::Pass);
            assert_eq!(packet.length, 100);
        }
        // The bytes that arrive up to the last packet. The bucket is never full, so all of them are added to
        // it.
        let earned = 2000 + 24_999 * 50;
        assert_eq!(passed, earned / (100 + overhead) as u64, "overhead {overhead}");
        let counted = conditioner.counted().next().unwrap().1[Color::GREEN.index()];
        assert_eq!((counted.packets, counted.bytes), (passed, 100 * passed), "counters count IP bytes");
    }
}

#[test]
fn a_class_policer_counts_the_overhead() {
    let police = json!({"rate": "1Mb/s", "burst": "1180B", "when": "always"});
    let policy =
        policy(json!({"overhead": 18, "queueing": {"classes": [{"name": "all", "police": police}]}}));
    let mut port = port(&policy);
    let joined = (0..20).filter(|_| port.enqueue(Time::ZERO, &mut packet(0, 100), ()) == Verdict::Pass);
    assert_eq!(joined.count(), 10);
    assert_eq!(port.queues()[0].occupancy().bytes, 1000, "queues count IP bytes");
}

#[test]
fn shares_are_shares_of_counted_bytes() {
    let class = |dscp: u8| json!({"name": dscp.to_string(), "match": {"dscp": dscp}});
    let flows = json!({"name": "all", "fair-queueing": {"weights": "equal"}});
    for (queueing, second) in [
        (json!({"scheduler": "scfq", "classes": [class(1), class(2)]}), 2),
        // The cases cover every path through the tree: a scheduler alone, inside another scheduler, and next
        // to a shaper.
        (
            json!({"classes": [{"name": "in", "queueing": {"scheduler": "drr", "classes": [class(1), class(2)]}}]}),
            2,
        ),
        (
            json!({"classes": [{"name": "in", "shape": {"rate": "4Mb/s", "burst": "2kB"},
            "queueing": {"scheduler": "wf2q-plus", "classes": [class(1), class(2)]}}]}),
            2,
        ),
        (json!({"scheduler": "three-parameter", "classes": [class(1), class(2)]}), 2),
        // The IP precedence distinguishes the flows.
        (json!({"classes": [flows]}), 8),
    ] {
        let policy = policy(json!({"overhead": 38, "queueing": queueing}));
        let sent = saturate(&mut port(&policy), &[(1, 62), (second, 1462)], Time::from_seconds(4));
        // The expected ratio of packets of 62 + 38 bytes to packets of 1462 + 38 bytes, if both kinds have
        // equal bytes, is 15.
        let count = |length| sent.iter().filter(|(_, sent_length, _)| *sent_length == length).count() as f64;
        let ratio = count(62) / count(1462);
        assert!((ratio - 15.0).abs() < 0.1, "{ratio} short packets for a long one: {:?}", policy.queueing);
    }
}

#[test]
fn an_overhead_out_of_range_is_refused_on_either_side() {
    let policy = policy(json!({"overhead": 300}));
    let wire = WireConfig {
        rate: RATE,
        framing: Framing::Raw,
        headers: HeaderStack::EMPTY,
        ring: RingConfig::default(),
    };
    let streams = Streams::new(1, 0);
    for error in [
        policy.build_conditioner(&[], &streams).unwrap_err(),
        policy.build_port(&wire, &[], &streams).unwrap_err(),
    ] {
        assert_eq!(error.path, ["overhead"]);
        assert!(error.message.contains("300 bytes") && error.help.unwrap().contains("-64 to 255"));
    }
}

/// Up to 80 packets for five queues. The gaps between them fill and empty the queues.
fn traces() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 1..1_000_000u64, 1 => 1_000_000..6_000_000u64];
    prop::collection::vec((gap, 0..5usize, 70..1500u32), 1..80).prop_map(|packets| {
        let mut at = Time::ZERO;
        let arrival = |(gap, queue, length)| {
            at += Time::from_nanoseconds(gap);
            Arrival { at, queue, length }
        };
        packets.into_iter().map(arrival).collect()
    })
}

const SCHEDULERS: [&str; 8] =
    ["fifo", "priority", "wrr", "drr", "scfq", "wfq", "wf2q-plus", "three-parameter"];

/// The configuration of `classes` under `scheduler`, with unequal shares if the scheduler has shares.
fn queueing(scheduler: &str, mut classes: Vec<Value>) -> Value {
    for (index, class) in classes.iter_mut().enumerate() {
        let part = index + 1;
        class["name"] = json!(index.to_string());
        class["share"] = match scheduler {
            "priority" if index == 0 => json!({"cap": {"rate": "2Mb/s", "burst": "3kB"}}),
            "fifo" | "priority" => json!({}),
            "drr" => json!({"quantum": format!("{}B", 400 * part)}),
            "three-parameter" if index != 1 => json!({"minimum": format!("{part}Mb/s"), "weight": part}),
            _ => json!({"weight": part}),
        };
    }
    json!({"scheduler": scheduler, "classes": classes})
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    /// For queues that are alone, nested or shaped, an overhead has the same effect as longer packets.
    #[test]
    fn an_overhead_equals_a_longer_packet(
        arrivals in traces(),
        outer in prop::sample::select(SCHEDULERS.to_vec()),
        inner in prop::sample::select(SCHEDULERS.to_vec()),
        overhead in -64..=255i32,
        is_nested in any::<bool>(),
        is_shaped in any::<bool>(),
    ) {
        let mut classes = vec![json!({}); 5];
        if is_nested {
            classes = vec![json!({}); 3];
            classes[1]["queueing"] = queueing(inner, vec![json!({}); 3]);
        }
        if is_shaped && outer != "wfq" {
            classes[1]["shape"] = json!({"rate": "3Mb/s", "burst": "1kB", "excess": "500B"});
        }
        let config: QueueingConfig = serde_json::from_value(queueing(outer, classes)).unwrap();
        let accounting = Accounting::new(overhead).unwrap();
        let longer: Vec<Arrival> =
            arrivals.iter().map(|arrival| Arrival { length: accounting.counted(arrival.length), ..*arrival }).collect();
        let times = |departures: Vec<wire::Departure>| -> Vec<(usize, Time)> {
            departures.iter().map(|departure| (departure.arrival, departure.starts)).collect()
        };
        let counted = send_counted(&config, RATE, &arrivals, accounting);
        prop_assert_eq!(times(counted), times(send(&config, RATE, &longer)));
    }
}
