//! A port that precomputes departures does what it does where it is polled for each of them.

mod log;

use log::Log;
use perhop_qos::framing::Framing;
use perhop_qos::packet::{Dscp, Ecn, FlowKey};
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Port;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{Rate, Time};
use perhop_qos::{Color, Packet};
use proptest::prelude::*;
use serde_json::{Value, json};

fn port(queueing: Option<&Value>, rate: u64, ring: RingConfig) -> Port {
    let wire = WireConfig { rate: Rate::from_bits_per_second(rate), framing: Framing::Raw, ring };
    let queueing: Option<QueueingConfig> =
        queueing.map(|value| serde_json::from_value(value.clone()).unwrap());
    Port::build(queueing.as_ref(), &wire, &[], &Streams::new(3, 0)).unwrap()
}

/// One FIFO before a ring of one packet, with every buffer manager, and drop precedences by color and by
/// codepoint.
fn fifos() -> Vec<Option<Value>> {
    let class = |class: Value| Some(json!({"classes": [class]}));
    let precedences = json!([
        {"min": "2 packets", "max": "6 packets", "max-probability": 0.3},
        {"min": "1 packets", "max": "4 packets", "max-probability": 0.6},
    ]);
    let of = |kind: &str, update: &str| {
        let settings = json!({"precedences": precedences, "averaging": {"weight": 0.2}, "update": update,
            "limit": "8 packets", "ecn": "mark"});
        json!({"name": "all", "buffer": {kind: settings}})
    };
    let mut by_precedence = of("wred", "arrivals-and-departures");
    by_precedence["precedence"] = json!("ip-precedence");
    vec![
        None,
        class(json!({"name": "all", "buffer": {"tail-drop": {"limit": "3 packets"}}})),
        class(json!({"name": "all", "buffer": {"tail-drop": {"limit": "2500B"}}})),
        class(of("wred", "arrivals")),
        class(by_precedence),
        class(of("rio-c", "arrivals")),
        class(of("rio-dc", "arrivals-and-departures")),
    ]
}

/// So long after the packet before.
type Arrival = (Time, Packet);

/// Bursts, packets that find the port as the one before leaves, and silence.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![3 => Just(0u64), 2 => Just(1000), 4 => 0..900u64, 1 => 0..9_000u64];
    let length = prop_oneof![2 => Just(1000u32), 3 => 40..1500u32];
    let packet = (gap, length, 0..4u8, 0..3usize, any::<bool>());
    let packet = packet.prop_map(|(gap, length, class, color, capable)| {
        let packet = Packet {
            dscp: Dscp::new(8 * class).unwrap(),
            color: Color::new(color),
            ecn: if capable { Ecn::Capable0 } else { Ecn::NotCapable },
            ..Packet::new(FlowKey::default(), length)
        };
        (Time::from_microseconds(gap), packet)
    });
    prop::collection::vec(packet, 1..150)
}

/// What `port` told, packet by packet, and the averages that it keeps in the end, when each departure came
/// before an arrival at the same instant.
fn replay(mut port: Port, arrivals: &[Arrival], precomputes: bool) -> (Vec<String>, Vec<f64>) {
    let (mut log, mut now) = (Log::default(), Time::ZERO);
    // The last finds that all have left.
    let last = (Time::from_seconds(10), Packet::new(FlowKey::default(), 500));
    for (number, (gap, packet)) in arrivals.iter().chain([&last]).enumerate() {
        now += *gap;
        let mut packet = Packet { payload: number as u64, ..*packet };
        if precomputes {
            // As the simulator does: what finds an open port idle passes straight.
            match port.cut_through_departure(now, packet.length).filter(|_| port.allows_cut_through()) {
                Some(departure) => port.cut_through(&packet, departure, &mut log),
                None => _ = port.precompute_departure(now, &mut packet, &mut log),
            }
            continue;
        }
        while let Some(wake) = port.poll_timeout().filter(|wake| *wake <= now) {
            port.poll_transmit(wake, &mut Packet::default(), &mut log);
        }
        port.enqueue(now, &mut packet, &mut log);
        port.poll_transmit(now, &mut Packet::default(), &mut log);
    }
    let averages = port.buffers()[0].averages();
    let Log(mut told) = log;
    told.sort_by_key(|line| number_in(line));
    (told, averages)
}

/// The number of the packet that a line of a log tells of.
fn number_in(line: &str) -> u64 {
    let (_, from) = line.split_once("payload: ").unwrap();
    from.split_once(',').unwrap().0.parse().unwrap()
}

proptest! {
    #[test]
    fn what_is_precomputed_is_what_polling_finds(
        fifo in 0..fifos().len(),
        // Of 1.7 Mb/s a byte takes no whole number of picoseconds.
        rate in prop::sample::select(vec![8_000_000, 1_700_000]),
        arrivals in arrivals(),
    ) {
        let port = port(fifos()[fifo].as_ref(), rate, RingConfig::default());
        prop_assert!(port.precomputes_departures());
        prop_assert_eq!(replay(port.clone(), &arrivals, true), replay(port, &arrivals, false));
    }
}

#[test]
fn a_departure_that_depends_on_what_comes_is_not_precomputed() {
    let tail_drop = json!({"tail-drop": {"limit": "4 packets"}});
    let all = |more: Value| {
        let mut class = json!({"name": "all"});
        class.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"classes": [class]})
    };
    let others = [
        all(json!({"buffer": tail_drop, "shape": {"rate": "4Mb/s", "burst": "3kB"}})),
        all(json!({"fair-queueing": {"limit": "4 packets", "flow-limit": "3 packets"}})),
        all(json!({"buffer": tail_drop, "police": {"rate": "4Mb/s", "burst": "3kB"}})),
        all(json!({"buffer": tail_drop, "match": {"dscp": ["ef"]}})),
        json!({"scheduler": "scfq", "classes": [
            {"name": "ef", "match": {"dscp": ["ef"]}, "buffer": tail_drop}, {"name": "rest", "buffer": tail_drop},
        ]}),
    ];
    for queueing in &others {
        assert!(
            !port(Some(queueing), 8_000_000, RingConfig::default()).precomputes_departures(),
            "{queueing}"
        );
    }
    assert!(
        !port(None, 8_000_000, RingConfig::Packets(2)).precomputes_departures(),
        "packets leave the queue for the ring before the wire is free"
    );
}
