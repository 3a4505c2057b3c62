//! Fair queueing of flows: the vectors of `vectors/queue/fair-queueing.toml`, and properties for arbitrary
//! arrivals.

use std::net::{IpAddr, Ipv6Addr};

use crate::vectors::cases;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::packet::{IpPrecedence, Protocol};
use perhop_qos::policy::{ClassConfig, QueueingConfig, WireConfig};
use perhop_qos::queue::{FairQueueingConfig, Queue};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{DropCause, Dscp, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// At this rate, a byte is sent in one microsecond.
const WIRE: WireConfig = WireConfig {
    rate: Rate::from_bits_per_second(8_000_000),
    framing: Framing::Raw,
    headers: HeaderStack::EMPTY,
    ring: RingConfig::Packets(1),
};

/// The payloads of the packets that were dropped.
#[derive(Default)]
struct Dropped(Vec<u64>);

impl Observer for Dropped {
    fn dropped(&mut self, _: Time, _: Option<Place>, packet: &Packet, cause: DropCause) {
        assert_eq!(cause, DropCause::QueueFull);
        self.0.push(packet.payload);
    }
}

fn port(queueing: Value) -> Port {
    let queueing: QueueingConfig = serde_json::from_value(queueing).unwrap();
    Port::build(Some(&queueing), &WIRE, &[], &Streams::new(1, 0)).unwrap()
}

/// Sends `arrivals` through `port`. At one instant, arrivals precede departures. Returns the packets that
/// have left and the payloads of dropped packets.
fn drive(port: &mut Port, arrivals: &[(Time, Packet)]) -> (Vec<Packet>, Vec<u64>) {
    let (mut sent, mut dropped, mut next, mut now) = (Vec::new(), Dropped::default(), 0, Time::ZERO);
    loop {
        while let Some((_, packet)) = arrivals.get(next).filter(|(at, _)| *at <= now) {
            port.enqueue(now, &mut packet.clone(), &mut dropped);
            next += 1;
        }
        let mut packet = Packet::default();
        while port.poll_transmit(now, &mut packet, &mut dropped).is_some() {
            sent.push(packet);
        }
        let held: u64 = port.queues().iter().map(|queue| queue.occupancy().packets).sum();
        assert_eq!(held, port.backlog());
        assert_eq!(held, port.queues().iter().flat_map(Queue::iter).count() as u64);
        assert_eq!(next as u64, sent.len() as u64 + dropped.0.len() as u64 + held, "conservation");
        let arrival = arrivals.get(next).map(|(at, _)| *at);
        match port.poll_timeout().into_iter().chain(arrival).min() {
            Some(at) => now = at,
            None => return (sent, dropped.0),
        }
    }
}

fn packet(flow: u16, precedence: u8, length: u32, payload: u64) -> Packet {
    let key = FlowKey { source_port: flow, ..FlowKey::default() };
    let dscp: Dscp = IpPrecedence::new(precedence).unwrap().class_selector();
    Packet { dscp, payload, ..Packet::new(key, length) }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    fair_queueing: FairQueueingConfig,
    arrivals: Vec<Packets>,
    order: String,
    #[serde(default)]
    dropped: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Packets {
    at: Time,
    flow: char,
    #[serde(default)]
    precedence: u8,
    length: u32,
    #[serde(default = "default_count")]
    count: usize,
}

fn default_count() -> usize {
    1
}

#[test]
fn every_vector_holds() {
    for case in &cases::<Case>("queue/fair-queueing.toml") {
        let mut labels: Vec<String> = Vec::new();
        let mut arrivals = Vec::new();
        for packets in &case.arrivals {
            for _ in 0..packets.count {
                let number = 1 + labels.iter().filter(|label| label.starts_with(packets.flow)).count();
                let payload = labels.len() as u64;
                labels.push(format!("{}{number}", packets.flow));
                arrivals.push((
                    packets.at,
                    packet(packets.flow as u16, packets.precedence, packets.length, payload),
                ));
            }
        }
        let class = ClassConfig {
            name: "all".into(),
            fair_queueing: Some(case.fair_queueing.clone()),
            ..Default::default()
        };
        let queueing = QueueingConfig { classes: vec![class], ..Default::default() };
        let mut port = Port::build(Some(&queueing), &WIRE, &[], &Streams::new(1, 0)).unwrap();
        let (sent, dropped) = drive(&mut port, &arrivals);
        let names = |payloads: Vec<u64>| {
            payloads.iter().map(|payload| labels[*payload as usize].as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(sent.iter().map(|packet| packet.payload).collect()), case.order, "{}", case.name);
        assert_eq!(names(dropped), case.dropped, "{}", case.name);
    }
}

#[test]
fn invalid_configurations_are_refused() {
    let refused = |fair: Value, scheduler: &str| {
        let classes = json!([{"name": "a", "match": {"dscp": 8}}, {"name": "b", "fair-queueing": fair}]);
        let queueing: QueueingConfig =
            serde_json::from_value(json!({"scheduler": scheduler, "classes": classes})).unwrap();
        Port::build(Some(&queueing), &WIRE, &[], &Streams::new(1, 0)).unwrap_err().to_string()
    };
    for (fair, scheduler, found) in [
        (json!({"queues": 0}), "scfq", "queueing.classes.1.fair-queueing.queues: 0 queues"),
        (json!({"limit": "0 packets"}), "scfq", "queueing.classes.1.fair-queueing.limit: a limit of 0"),
        (
            json!({"flow-limit": "10kB"}),
            "scfq",
            "queueing.classes.1.fair-queueing.flow-limit: the limit of fair queueing",
        ),
        (json!({}), "wfq", "queueing.classes.1: wfq contains fair-queueing"),
    ] {
        let error = refused(fair, scheduler);
        assert!(error.starts_with(found), "{error}");
    }
}

/// Arrivals of up to 40 flows. Each has a time, a flow, an IP precedence and a length.
fn arrivals() -> impl Strategy<Value = Vec<(Time, Packet)>> {
    prop::collection::vec((0_u64..1500, 0_u16..40, 0_u8..8, 40_u32..1500), 1..200).prop_map(|steps| {
        let mut now = Time::ZERO;
        let arrival = |(index, (gap, flow, precedence, length)): (usize, _)| {
            now += Time::from_microseconds(gap);
            (now, packet(flow, precedence, length, index as u64))
        };
        steps.into_iter().enumerate().map(arrival).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// No packet is lost or duplicated, and flows with their own queue remain in order. The class is alone or
    /// next to another class, and has few or many queues.
    #[test]
    fn every_packet_is_accounted_for(
        arrivals in arrivals(), queues in prop_oneof![Just(1), Just(3), Just(256)], limit in 1_u64..40,
        flow_limit in 1_u64..10, hashed in any::<bool>(), scheduler in prop_oneof![
            Just("fifo"), Just("priority"), Just("wrr"), Just("drr"), Just("scfq"), Just("wf2q-plus"),
            Just("three-parameter")],
    ) {
        let fair = json!({
            "queues": queues, "limit": format!("{limit} packets"), "flow-limit": format!("{flow_limit} packets"),
            "flows": if hashed { "hashed" } else { "exact" },
        });
        let rest = json!({"name": "rest", "fair-queueing": fair});
        for classes in [json!([rest]), json!([{"name": "seven", "match": {"precedence": 7},
            "buffer": {"tail-drop": {"limit": "5 packets"}}}, rest])] {
            let mut port = port(json!({"scheduler": scheduler, "classes": classes}));
            let (sent, dropped) = drive(&mut port, &arrivals);
            prop_assert_eq!(sent.len() + dropped.len(), arrivals.len());
            if queues == 1 || (queues == 256 && !hashed) {
                for flow in 0..40 {
                    for precedence in 0..8 {
                        let is_of_flow = |packet: &&Packet| packet.source_port == flow
                            && packet.dscp.precedence().value() == precedence;
                        let order: Vec<u64> = sent.iter().filter(is_of_flow).map(|packet| packet.payload).collect();
                        prop_assert!(order.is_sorted());
                    }
                }
            }
        }
    }

    /// Golestani 1994, theorem 1: while two flows are backlogged, their bytes divided by their weights differ
    /// by at most one longest packet of each flow, also divided by its weight. The weights in this test are 1
    /// / 32384·(precedence + 1).
    #[test]
    fn flows_share_by_precedence(
        lengths in prop::collection::vec(40_u32..1500, 60), precedences in prop::collection::vec(0_u8..8, 3),
    ) {
        let packets = |flow: usize| lengths.iter().skip(flow * 20).take(20);
        let arrivals: Vec<(Time, Packet)> = (0..3)
            .flat_map(|flow| packets(flow).map(move |length| (flow, *length)))
            .map(|(flow, length)| (Time::ZERO, packet(flow as u16, precedences[flow], length, flow as u64)))
            .collect();
        let mut port = port(json!({"classes": [{"name": "all", "fair-queueing": {}}]}));
        let (sent, dropped) = drive(&mut port, &arrivals);
        prop_assert!(dropped.is_empty());
        let weight = |flow: usize| u64::from(32384 / (u32::from(precedences[flow]) + 1));
        let longest = |flow: usize| packets(flow).copied().max().map_or(0, u64::from) * weight(flow);
        let (mut served, mut left) = ([0_u64; 3], [20; 3]);
        for packet in &sent {
            let flow = packet.payload as usize;
            served[flow] += u64::from(packet.length) * weight(flow);
            left[flow] -= 1;
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                if left[i] > 0 && left[j] > 0 {
                    prop_assert!(served[i].abs_diff(served[j]) <= longest(i) + longest(j));
                }
            }
        }
    }
}

/// The number of `packets` that have their own queue. Each queue admits one packet, and all packets arrive at
/// once.
fn alone(packets: impl Iterator<Item = Packet>) -> usize {
    let hashed = json!({"queues": 4096, "flow-limit": "1 packets", "flows": "hashed"});
    let mut port = port(json!({"classes": [{"name": "all", "fair-queueing": hashed}]}));
    let mut dropped = Dropped::default();
    // The first packet is sent at once and uses no queue.
    for mut packet in std::iter::once(Packet::default()).chain(packets) {
        port.enqueue(Time::ZERO, &mut packet, &mut dropped);
        port.poll_transmit(Time::ZERO, &mut Packet::default(), ());
    }
    port.backlog() as usize
}

/// A flow has one set of addresses, protocol, ports and precedence (docs/algorithms/fair-queueing.md). Flows
/// that differ only in low or high bits of one of these fields share a queue only by chance. For 64 flows in
/// 4096 queues, 0.5 such pairs are expected.
#[test]
fn a_hash_includes_every_field_of_a_flow() {
    let address = |bits: u128| IpAddr::V6(Ipv6Addr::from(bits)).into();
    let keys: [(&str, &dyn Fn(u16) -> FlowKey); 8] = [
        ("source port", &|n| FlowKey { source_port: n, ..FlowKey::default() }),
        ("source port, high bits", &|n| FlowKey { source_port: n << 10, ..FlowKey::default() }),
        ("destination port", &|n| FlowKey { destination_port: n, ..FlowKey::default() }),
        ("destination port, high bits", &|n| FlowKey { destination_port: n << 10, ..FlowKey::default() }),
        ("protocol", &|n| FlowKey { protocol: Protocol(n as u8), ..FlowKey::default() }),
        ("source", &|n| FlowKey { source: address(n.into()), ..FlowKey::default() }),
        ("source, high bits", &|n| FlowKey { source: address(u128::from(n) << 120), ..FlowKey::default() }),
        ("destination", &|n| FlowKey { destination: address(u128::from(n) << 60), ..FlowKey::default() }),
    ];
    for (field, key) in keys {
        let queues = alone((0..64).map(|number| Packet::new(key(number), 100)));
        assert!(queues >= 60, "{field}: {queues} queues for 64 flows");
    }
    // Differences in two fields must not cancel each other, as they would in a sum or a difference of the
    // fields.
    let swapped = alone((0..64).map(|number| {
        Packet::new(FlowKey { source_port: number, destination_port: 63 - number, ..FlowKey::default() }, 100)
    }));
    assert!(swapped >= 60, "{swapped} queues");
    let precedences = alone((0..8).map(|precedence| packet(0, precedence, 100, 0)));
    assert!(precedences >= 7, "{precedences} queues");
}
