//! `Port::send` is `enqueue` followed by `poll_transmit`: the way around the queue shows nowhere.

mod log;

use log::Log;
use perhop_qos::framing::Framing;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::{Port, Sent};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use perhop_qos::{FlowKey, Packet};
use proptest::prelude::*;
use serde_json::json;

#[derive(Clone, Copy)]
enum Way {
    Plain,
    Straight,
}

/// Sends `arrivals` (gap in microseconds, length) through a port of 8 Mb/s; what the port told, and its
/// averages. An even and an odd length are two flows.
fn replay(queueing: &QueueingConfig, ring: RingConfig, arrivals: &[(u64, u32)], way: Way) -> (Log, Vec<f64>) {
    let wire = WireConfig { rate: Rate::from_bits_per_second(8_000_000), framing: Framing::Raw, ring };
    let mut port = Port::build(Some(queueing), &wire, &[], &Streams::new(3, 0)).unwrap();
    let mut log = Log::default();
    let mut now = Time::ZERO;
    for &(gap, length) in arrivals {
        let arrival = now + Time::from_microseconds(gap);
        while let Some(wake) = port.poll_timeout().filter(|wake| *wake < arrival) {
            while port.poll_transmit(wake, &mut Packet::default(), &mut log).is_some() {}
        }
        now = arrival;
        let mut packet =
            Packet::new(FlowKey { source_port: length as u16 % 2, ..FlowKey::default() }, length);
        match way {
            Way::Plain => {
                port.enqueue(now, &mut packet, &mut log);
                while port.poll_transmit(now, &mut Packet::default(), &mut log).is_some() {}
            }
            Way::Straight => {
                // What stood before a packet that was dropped may leave at this very instant.
                if !matches!(port.send(now, &mut packet, &mut log), Sent::Transmitted(_)) {
                    while port.poll_transmit(now, &mut Packet::default(), &mut log).is_some() {}
                }
            }
        }
    }
    let averages = port.buffers()[0].averages();
    (log, averages)
}

fn policies() -> Vec<QueueingConfig> {
    let red = json!({"red": {
        "precedences": [{"min": "2 packets", "max": "6 packets", "max-probability": 0.3}],
        "averaging": {"weight": 0.2}, "update": "arrivals-and-departures", "limit": "8 packets",
    }});
    let class = |name: &str, buffer: &serde_json::Value| json!({"name": name, "buffer": buffer});
    let tail_drop = json!({"tail-drop": {"limit": "4 packets"}});
    let values = [
        json!({"classes": [class("all", &tail_drop)]}),
        json!({"classes": [class("all", &red)]}),
        json!({"scheduler": "scfq", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": tail_drop}, class("rest", &red),
        ]}),
        json!({"classes": [{"name": "all", "buffer": tail_drop, "shape": {"rate": "4Mb/s", "burst": "3kB"}}]}),
        json!({"classes": [{"name": "all", "fair-queueing": {"limit": "4 packets", "flow-limit": "3 packets"}}]}),
        json!({"classes": [{"name": "all", "buffer": tail_drop, "police": {"rate": "4Mb/s", "burst": "3kB"}}]}),
        json!({"classes": [class("all", &json!({"tail-drop": {"limit": "1200B"}}))]}),
        json!({"classes": [{"name": "ef", "match": {"dscp": ["ef"]}, "buffer": tail_drop}]}),
    ];
    values.into_iter().map(|value| serde_json::from_value(value).unwrap()).collect()
}

proptest! {
    #[test]
    fn straight_through_is_the_plain_way(
        policy in 0usize..8,
        ring in 1u32..4,
        arrivals in prop::collection::vec((0u64..3000, 40u32..1500), 1..200),
    ) {
        let queueing = &policies()[policy];
        let plain = replay(queueing, RingConfig::Packets(ring), &arrivals, Way::Plain);
        prop_assert_eq!(replay(queueing, RingConfig::Packets(ring), &arrivals, Way::Straight), plain);
    }
}
