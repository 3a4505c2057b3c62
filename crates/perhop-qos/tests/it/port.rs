//! Tests of the port from the perspective of a driver: no packet is lost, the transmit ring, the pace of the
//! wire, and the times of polls.

use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::Streams;
use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
use perhop_qos::{ByteSize, DropCause, Dscp, FlowKey, Observer, Packet, Port, Rate, Time, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Counts the events that are reported.
#[derive(Default)]
struct Counts {
    enqueued: u64,
    dequeued: u64,
    dropped: u64,
}

impl Observer for Counts {
    fn enqueued(&mut self, _: Time, _: Place, _: &Packet) {
        self.enqueued += 1;
    }
    fn dequeued(&mut self, _: Time, _: Place, _: &Packet, _: Departure) {
        self.dequeued += 1;
    }
    fn dropped(&mut self, _: Time, _: Option<Place>, _: &Packet, cause: DropCause) {
        assert_eq!(cause, DropCause::QueueFull);
        self.dropped += 1;
    }
}

const ONE_PACKET: RingConfig = RingConfig::Packets(1);
/// A ring of five particles of 576 bytes, which has room for two packets of 1028 bytes.
const FIVE_PARTICLES: RingConfig = RingConfig::Particles {
    count: 5,
    size: ByteSize::from_bytes(576),
    admission: RingAdmission::Strict,
    release: RingRelease::LastBit,
};

fn wire(rate: u64, framing: Framing, ring: RingConfig) -> WireConfig {
    WireConfig { rate: Rate::from_bits_per_second(rate), framing, headers: HeaderStack::EMPTY, ring }
}

fn port(queueing: &Value, wire: &WireConfig) -> Port {
    let policy: PolicyConfig = serde_json::from_value(json!({ "queueing": queueing })).unwrap();
    policy.build_port(wire, &[], &Streams::new(1, 0)).unwrap()
}

/// Four classes by DSCP with these shares. The queue of each class has room for ten packets.
fn classes(scheduler: &str, shares: [Value; 4]) -> Value {
    let class = |(index, share): (usize, Value)| {
        json!({
            "name": index.to_string(),
            "match": { "dscp": index * 8 },
            "share": share,
            "buffer": { "tail-drop": { "limit": "10 packets" } },
        })
    };
    let classes: Vec<Value> = shares.into_iter().enumerate().map(class).collect();
    json!({ "scheduler": scheduler, "classes": classes })
}

fn packet(class: u8, length: u32) -> Packet {
    Packet { dscp: Dscp::new(class * 8).unwrap(), ..Packet::new(FlowKey::default(), length) }
}

/// A packet, and the times at which it is sent.
#[derive(Debug, PartialEq)]
struct Transmission {
    packet: Packet,
    starts: Time,
    ends: Time,
}

/// Returns the packet that leaves `port` at `now`, if there is one.
fn poll(port: &mut Port, now: Time, observer: impl Observer) -> Option<Transmission> {
    let mut packet = Packet::default();
    let Departure { starts, ends } = port.poll_transmit(now, &mut packet, observer)?;
    Some(Transmission { packet, starts, ends })
}

/// Drives `port` like the simulator until all packets are sent: sleeps until [`Port::poll_timeout`] or the
/// next arrival. Checks after each step that no packet is lost, and checks the ring.
fn drive(port: &mut Port, arrivals: &[(Time, Packet)], counts: &mut Counts) -> Vec<Transmission> {
    let mut sent: Vec<Transmission> = Vec::new();
    let (mut now, mut next) = (Time::ZERO, 0);
    loop {
        while next < arrivals.len() && arrivals[next].0 <= now {
            let before = port.backlog();
            let verdict = port.enqueue(now, &mut arrivals[next].1.clone(), &mut *counts);
            assert_eq!(port.backlog() - before, u64::from(verdict == Verdict::Pass));
            next += 1;
        }
        while let Some(transmission) = poll(port, now, &mut *counts) {
            let free_at = sent.last().map_or(Time::ZERO, |before| before.ends);
            assert_eq!(transmission.starts, free_at.max(now), "the ring is a FIFO without gaps");
            sent.push(transmission);
        }
        assert_eq!(next as u64, sent.len() as u64 + counts.dropped + port.backlog());
        assert_eq!((counts.enqueued - counts.dequeued, counts.dequeued), (port.backlog(), sent.len() as u64));
        let waiting: u64 = port.queues().iter().map(|queue| queue.occupancy().packets).sum();
        assert_eq!(waiting, port.backlog());
        let timeout = port.poll_timeout();
        assert_eq!(timeout.is_none(), port.backlog() == 0, "a timeout while, and only while, packets wait");
        assert!(timeout.is_none_or(|timeout| timeout > now), "a timeout in the past: {timeout:?} at {now}");
        let arrival = arrivals.get(next).map(|(at, _)| *at);
        match timeout.into_iter().chain(arrival).min() {
            Some(at) => now = at,
            None => return sent,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn every_scheduler_conserves_packets(
        packets in proptest::collection::vec((0..1_500_000u64, 0..4u8, 40..=1500u32), 1..150),
        ring in prop_oneof![Just(ONE_PACKET), Just(RingConfig::Packets(4)), Just(FIVE_PARTICLES)],
    ) {
        let mut at = Time::ZERO;
        let mut arrive = |(gap, class, length)| {
            at += Time::from_nanoseconds(gap);
            (at, packet(class, length))
        };
        let arrivals: Vec<(Time, Packet)> = packets.into_iter().map(&mut arrive).collect();
        let weights = || [1, 2, 3, 4].map(|weight| json!({ "weight": weight }));
        let quanta = [300, 600, 900, 1200].map(|quantum| json!({ "quantum": format!("{quantum}B") }));
        let minima = || [3, 0, 9, 1].map(|part| match part {
            0 => json!({}),
            part => json!({ "minimum": format!("{part}Mb/s") }),
        });
        let nothing = || std::array::from_fn(|_| json!({}));
        let mut shaped = classes("wf2q-plus", weights());
        shaped["classes"][2]["shape"] = json!({ "rate": "1Mb/s", "burst": "2kB" });
        for queueing in [
            classes("fifo", nothing()),
            classes("priority", nothing()),
            classes("wrr", weights()),
            classes("drr", quanta),
            classes("scfq", weights()),
            classes("wfq", weights()),
            classes("wf2q-plus", weights()),
            classes("three-parameter", minima()),
            shaped,
        ] {
            let mut port = port(&queueing, &wire(8_000_000, Framing::Ppp, ring));
            let mut counts = Counts::default();
            let sent = drive(&mut port, &arrivals, &mut counts);
            prop_assert_eq!(arrivals.len() as u64, sent.len() as u64 + counts.dropped);
        }
    }
}

#[test]
fn packets_back_to_back_take_exactly_their_wire_times() {
    for (rate, framing, length, picoseconds) in [
        (10_000_000_000, Framing::EthernetWire, 1500, 1_230_400),
        (2_000_000, Framing::Aal5Mux, 1028, 4_664_000_000),
        // The time of 1066 wire bytes at 1.7 Mb/s is not a whole number of picoseconds. It is rounded down
        // once for each packet.
        (1_700_000, Framing::EthernetHeader, 1052, 5_016_470_588),
    ] {
        for ring in [ONE_PACKET, RingConfig::Packets(16)] {
            let mut port = port(&json!({ "classes": [{ "name": "all" }] }), &wire(rate, framing, ring));
            let arrivals = vec![(Time::ZERO, packet(0, length)); 64];
            let sent = drive(&mut port, &arrivals, &mut Counts::default());
            assert_eq!(sent.len(), 64);
            assert_eq!(sent[63].ends, Time::from_picoseconds(64 * picoseconds));
        }
    }
}

#[test]
fn two_long_packets_in_the_ring_precede_the_first_of_higher_priority() {
    // Two best-effort packets of 1028 bytes use four particles. The fifth particle is too small for a third
    // packet. The EF packet is sent after both packets, whose cells take 4.664 ms each.
    let queueing = json!({ "scheduler": "priority", "classes": [
        { "name": "ef", "match": { "dscp": 8 } },
        { "name": "best-effort" },
    ] });
    for (ring, before_ef) in [(ONE_PACKET, 1), (FIVE_PARTICLES, 2)] {
        let mut port = port(&queueing, &wire(2_000_000, Framing::Aal5Mux, ring));
        let mut arrivals = vec![(Time::ZERO, packet(0, 1028)); 10];
        arrivals.push((Time::from_microseconds(1), packet(1, 40)));
        let sent = drive(&mut port, &arrivals, &mut Counts::default());
        let place = sent.iter().position(|transmission| transmission.packet.length == 40).unwrap();
        assert_eq!(place, before_ef);
        let ends = Time::from_picoseconds(before_ef as u64 * 4_664_000_000 + 212_000_000);
        assert_eq!(sent[place].ends, ends);
    }
}

/// Returns the number of packets that are sent, and the number that the policer drops. `packets` packets of
/// 1000 bytes arrive, one every `gap` milliseconds. The wire sends a packet in 1 ms, and the policer of the
/// class permits half of this rate.
fn policed(when: &str, gap: u64, packets: u64) -> (usize, u64) {
    struct Policed(u64);
    impl Observer for Policed {
        fn dropped(&mut self, _: Time, _: Option<Place>, _: &Packet, cause: DropCause) {
            assert_eq!(cause, DropCause::Policed);
            self.0 += 1;
        }
    }
    let queueing = json!({ "scheduler": "priority", "classes": [
        { "name": "ef", "match": { "dscp": 8 }, "police": { "rate": "4Mb/s", "burst": "2kB", "when": when } },
        { "name": "rest" },
    ] });
    let mut port = port(&queueing, &wire(8_000_000, Framing::Raw, ONE_PACKET));
    let (mut sent, mut policed) = (0, Policed(0));
    for number in 0..packets {
        let now = Time::from_milliseconds(gap * number);
        while poll(&mut port, now, &mut policed).is_some() {
            sent += 1;
        }
        port.enqueue(now, &mut packet(1, 1000), &mut policed);
        sent += usize::from(poll(&mut port, now, &mut policed).is_some());
    }
    while let Some(now) = port.poll_timeout() {
        sent += usize::from(poll(&mut port, now, &mut policed).is_some());
    }
    (sent, policed.0)
}

#[test]
fn a_policer_acts_always_or_only_when_the_port_is_congested() {
    // Packets of 1000 bytes at 8 Mb/s fill the wire, but no queue builds up. The tokens, 2000 bytes and 4
    // Mb/s, suffice for the packets at 0, 1 and 2 ms (2000, 1500, 1000 bytes), and then for every second
    // packet. The wire is free at each arrival.
    assert_eq!(policed("always", 1, 20), (11, 9));
    assert_eq!(policed("congested", 1, 20), (20, 0));
    // At half of that rate, both policers pass all packets.
    assert_eq!(policed("always", 2, 20), (20, 0));
    assert_eq!(policed("congested", 2, 20), (20, 0));
    // All packets arrive at once. The tokens suffice for two packets. For the third packet, there are no
    // tokens and the wire is busy.
    assert_eq!(policed("congested", 0, 20), (2, 18));
}

#[test]
fn a_port_reports_its_next_poll() {
    let queueing = json!({ "classes": [{ "name": "all", "shape": { "rate": "4Mb/s", "burst": "500B" } }] });
    let mut port = port(&queueing, &wire(8_000_000, Framing::Raw, ONE_PACKET));
    let at = Time::from_microseconds;
    assert_eq!(port.poll_timeout(), None, "an empty port");
    for _ in 0..3 {
        port.enqueue(at(0), &mut packet(0, 500), ());
    }
    let first = poll(&mut port, at(0), ()).unwrap();
    assert_eq!((first.starts, first.ends), (at(0), at(500)));
    assert_eq!(poll(&mut port, at(0), ()), None);
    assert_eq!(port.poll_timeout(), Some(at(500)), "the ring is full: when it has room");
    assert_eq!(poll(&mut port, at(500), ()), None);
    assert_eq!(port.poll_timeout(), Some(at(1000)), "the shaper holds back: when it lets go");
    assert_eq!(poll(&mut port, at(700), ()), None, "an early poll changes nothing");
    assert_eq!(poll(&mut port, at(1000), ()).unwrap().starts, at(1000));
    assert_eq!(poll(&mut port, at(1000), ()), None);
    assert_eq!(port.poll_timeout(), Some(at(1500)), "not in the past");
    assert_eq!(
        poll(&mut port, at(3000), ()).unwrap().starts,
        at(3000),
        "after a late poll, the packet starts late"
    );
    assert_eq!(port.poll_timeout(), None, "nothing waits; packets in the ring need no poll");
}

#[test]
fn wfq_counts_what_the_wire_takes_not_seconds() {
    // With cells, packets of 40 bytes are sent at 75 % of the rate in IP bytes, and packets of 49 bytes at
    // less than half. If the virtual time counted seconds, the fluid server would be empty between arrivals,
    // at 60 % of the pace of the wire, and the port would serve in order of arrival.
    let queueing = json!({ "scheduler": "wfq", "classes": [
        { "name": "light", "match": { "dscp": 8 }, "share": { "weight": 1 } },
        { "name": "heavy", "share": { "weight": 4 } },
    ] });
    let mut port = port(&queueing, &wire(2_000_000, Framing::Aal5Mux, ONE_PACKET));
    // A packet of 49 bytes needs two cells, 424 us. Each class offers a packet every 500 us. Together they
    // offer 1.7 times the rate of the wire, but only 0.78 times this rate in IP bytes.
    let arrivals: Vec<(Time, Packet)> = (0..4000u64)
        .map(|index| (Time::from_microseconds(250 * index), packet((index % 2) as u8, 49)))
        .collect();
    let sent = drive(&mut port, &arrivals, &mut Counts::default());
    let in_time = sent.iter().take_while(|transmission| transmission.ends < Time::from_milliseconds(900));
    let (mut light, mut heavy) = (0, 0);
    for transmission in in_time.skip(200) {
        if transmission.packet.dscp == Dscp::DEFAULT { heavy += 1 } else { light += 1 }
    }
    // Class `heavy` demands 2000 packets/s and receives its share of 4/5 of 2358, which is 1887. Class
    // `light` receives the remaining rate.
    let ratio = f64::from(heavy) / f64::from(light);
    assert!((3.7..4.3).contains(&ratio), "{heavy} of the heavy class, {light} of the light one");
}
