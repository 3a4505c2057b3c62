//! Tests of a limit on the total backlog of a scheduler's queues.

use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{ConfigError, DropCause, Dscp, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

fn build(queueing: &Value) -> Result<Port, ConfigError> {
    let queueing: QueueingConfig = serde_json::from_value(queueing.clone()).unwrap();
    // At this rate, a byte is sent in one microsecond.
    let rate = Rate::from_bits_per_second(8_000_000);
    let headers = HeaderStack::EMPTY;
    let wire = WireConfig { rate, framing: Framing::Raw, headers, ring: RingConfig::default() };
    Port::build(Some(&queueing), &wire, &[], &Streams::new(1, 0))
}

/// The fate of each packet, with its payload.
#[derive(Debug, Default, PartialEq)]
struct Fates {
    dropped: Vec<(u64, DropCause)>,
    sent: Vec<(u64, Time)>,
}

impl Observer for Fates {
    fn dropped(&mut self, _: Time, _: Option<Place>, packet: &Packet, cause: DropCause) {
        self.dropped.push((packet.payload, cause));
    }
    fn dequeued(&mut self, _: Time, _: Place, packet: &Packet, departure: Departure) {
        self.sent.push((packet.payload, departure.starts));
    }
}

/// Sends `arrivals` through `port`. After each arrival, calls `check` with the port before and after it, the
/// packet, and whether a packet was dropped.
fn drive(
    port: &mut Port,
    arrivals: &[(Time, Packet)],
    mut check: impl FnMut(&Port, &Port, &Packet, bool),
) -> Fates {
    let (mut fates, mut now, mut leaving) = (Fates::default(), Time::ZERO, Packet::default());
    let mut arrivals = arrivals.iter().peekable();
    loop {
        while let Some((_, packet)) = arrivals.next_if(|(at, _)| *at <= now) {
            let (before, dropped) = (port.clone(), fates.dropped.len());
            port.enqueue(now, &mut packet.clone(), &mut fates);
            check(&before, port, packet, fates.dropped.len() > dropped);
        }
        while port.poll_transmit(now, &mut leaving, &mut fates).is_some() {}
        match port.poll_timeout().into_iter().chain(arrivals.peek().map(|(at, _)| *at)).min() {
            Some(next) => now = next,
            None => return fates,
        }
    }
}

fn arrivals() -> impl Strategy<Value = Vec<(Time, Packet)>> {
    let gap = prop_oneof![3 => Just(0u64), 4 => 0..900u64, 1 => 0..9_000u64];
    prop::collection::vec((gap, 0..4u8, 40..1500u32), 1..150).prop_map(|packets| {
        let mut at = Time::ZERO;
        let arrival = |(index, (gap, class, length)): (usize, (u64, u8, u32))| {
            at += Time::from_microseconds(gap);
            let dscp = Dscp::new(8 * class).unwrap();
            (at, Packet { dscp, payload: index as u64, ..Packet::new(FlowKey::default(), length) })
        };
        packets.into_iter().enumerate().map(arrival).collect()
    })
}

fn limits() -> impl Strategy<Value = String> {
    prop_oneof![
        (1..20u64).prop_map(|count| format!("{count} packets")),
        (40..9000u64).prop_map(|count| format!("{count}B"))
    ]
}

/// Four classes by codepoint, each with its own buffer.
fn classes(own: &str) -> Vec<Value> {
    let buffer = json!({"tail-drop": {"limit": own}});
    (0..4)
        .map(|index| json!({"name": index.to_string(), "match": {"dscp": 8 * index}, "buffer": buffer}))
        .collect()
}

/// The number of packets and IP bytes in `queues` of `port`.
fn held(port: &Port, queues: std::ops::Range<usize>) -> (u64, u64) {
    let occupancies = port.queues()[queues].iter().map(|queue| *queue.occupancy());
    occupancies.fold((0, 0), |(packets, bytes), held| (packets + held.packets, bytes + held.bytes))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Queues that share a limit and are served in order of arrival equal one queue with that limit.
    #[test]
    fn a_shared_limit_with_fifo_equals_one_queue(arrivals in arrivals(), limit in limits()) {
        let shared = json!({"limit": limit, "scheduler": "fifo", "classes": classes("1000 packets")});
        let single = json!({"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": limit}}}]});
        let fates = |queueing| drive(&mut build(&queueing).unwrap(), &arrivals, |_, _, _, _| {});
        prop_assert_eq!(fates(shared), fates(single));
    }

    /// Each dropped packet exceeded the limit, and no packet within the limit was dropped. This is true for
    /// all schedulers, and for limits around all queues or around some of them.
    #[test]
    fn only_packets_above_the_limit_are_dropped(
        arrivals in arrivals(), outer in 1..12u64, inner in 300..4000u64,
        scheduler in prop::sample::select(vec!["fifo", "priority", "drr", "scfq", "three-parameter"]),
    ) {
        let mut own = classes("1000 packets");
        let rest = own.split_off(2);
        own.push(json!({"name": "rest", "queueing": {"limit": format!("{inner}B"), "scheduler": scheduler, "classes": rest}}));
        let mut port = build(&json!({"limit": format!("{outer} packets"), "scheduler": scheduler, "classes": own})).unwrap();
        let fates = drive(&mut port, &arrivals, |before, after, packet, dropped| {
            let of_rest = packet.dscp.value() >= 16;
            let fits = held(before, 0..4).0 < outer
                && (!of_rest || held(before, 2..4).1 + u64::from(packet.length) <= inner);
            assert_eq!(dropped, !fits);
            assert!(held(after, 0..4).0 <= outer && held(after, 2..4).1 <= inner);
        });
        prop_assert!(fates.dropped.iter().all(|(_, cause)| *cause == DropCause::QueueFull));
        prop_assert_eq!(fates.dropped.len() + fates.sent.len(), arrivals.len());
    }

    /// If the limits of the queues are always reached first, a shared limit has no effect.
    #[test]
    fn a_limit_that_is_never_reached_changes_nothing(arrivals in arrivals()) {
        let without = json!({"scheduler": "scfq", "classes": classes("3 packets")});
        let mut with = without.clone();
        with["limit"] = json!("12 packets");
        let fates = |queueing| drive(&mut build(&queueing).unwrap(), &arrivals, |_, _, _, _| {});
        prop_assert_eq!(fates(with), fates(without));
    }
}

#[test]
fn a_policer_comes_before_the_limit() {
    let mut classes = classes("1000 packets");
    classes[1]["police"] = json!({"rate": "8kb/s", "burst": "200B", "when": "always"});
    let mut port = build(&json!({"limit": "3 packets", "classes": classes})).unwrap();
    let arrival = |(index, class): (usize, &u8)| {
        let dscp = Dscp::new(8 * class).unwrap();
        (Time::ZERO, Packet { dscp, payload: index as u64, ..Packet::new(FlowKey::default(), 100) })
    };
    // The policer passes two packets of class 1. It drops the third packet itself, and all later packets.
    let arrivals: Vec<(Time, Packet)> = [1, 1, 1, 0, 0, 1].iter().enumerate().map(arrival).collect();
    let fates = drive(&mut port, &arrivals, |_, _, _, _| {});
    assert_eq!(fates.dropped, [(2, DropCause::Policed), (4, DropCause::QueueFull), (5, DropCause::Policed)]);
}

#[test]
fn a_limit_of_zero_is_refused() {
    let inner = json!({"limit": "0 packets", "classes": [{"name": "a"}]});
    let error = build(&json!({"classes": [{"name": "outer", "queueing": inner}]})).unwrap_err();
    assert_eq!(error.path.join("."), "queueing.classes.0.queueing.limit");
    assert!(error.message.contains("limit of 0") && error.help.is_some());
}
