//! Tests of values at the limits of their ranges, and of functions that only read configurations.

use perhop_qos::buffer::BufferConfig;
use perhop_qos::conditioner::Count;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::WireConfig;
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::scheduler::ShapeConfig;
use perhop_qos::{Color, Rate};
use serde_json::{Value, json};

fn buffer(value: Value) -> BufferConfig {
    serde_json::from_value(value).unwrap()
}

fn is_built(config: &BufferConfig) -> bool {
    config.build(Rate::from_bits_per_second(1_000_000), &Streams::new(1, 0)).is_ok()
}

fn red(max_probability: f64) -> Value {
    json!({"red": {"precedences": [
        {"min": "10 packets", "max": "30 packets", "max-probability": max_probability},
    ]}})
}

#[test]
fn a_probability_is_above_0_and_at_most_1() {
    let built = [0.0, 1e-9, 1.0, 1.000_001].map(|probability| is_built(&buffer(red(probability))));
    assert_eq!(built, [false, true, true, false]);
}

#[test]
fn an_excess_burst_is_below_4_gib() {
    let is_built = |excess: u64| {
        let config = json!({"rate": "1Mb/s", "burst": "1500B", "excess": format!("{excess}B")});
        serde_json::from_value::<ShapeConfig>(config).unwrap().build().is_ok()
    };
    let most = u64::from(u32::MAX);
    assert_eq!([most - 1, most, most + 1, most + 2].map(is_built), [true, true, false, false]);
}

/// The marker has one bucket for each drop precedence except the last one.
#[test]
fn a_rate_based_marker_has_up_to_seven_buckets() {
    let is_built = |count: usize| {
        let bucket = json!({"rate": "1Mb/s", "burst": "5kB"});
        let config = json!({"rate-based": {"buckets": vec![bucket; count]}});
        serde_json::from_value::<MeterConfig>(config).unwrap().build(&Streams::new(1, 0)).is_ok()
    };
    assert_eq!([0, 1, Color::COUNT - 1, Color::COUNT].map(is_built), [false, true, true, false]);
}

#[test]
fn only_the_red_family_has_thresholds_and_averages() {
    let rate = Rate::from_bits_per_second(1_000_000);
    let queue = Occupancy { packets: 12, packets_of: [12, 0, 0, 0, 0, 0, 0, 0], ..Occupancy::default() };
    let tail_drop = buffer(json!({"tail-drop": {"limit": "20 packets"}}));
    assert!(tail_drop.mred().is_none());
    let built = tail_drop.build(rate, &Streams::new(1, 0)).unwrap();
    assert_eq!((built.averages(), built.deciding_average(Color::GREEN, &queue)), (Vec::new(), None));
    let red = buffer(red(0.1));
    assert_eq!(red.mred().map(|config| config.precedences.len()), Some(1));
    let built = red.build(rate, &Streams::new(1, 0)).unwrap();
    assert_eq!((built.averages(), built.deciding_average(Color::GREEN, &queue)), (vec![0.0], Some(0.0)));
}

#[test]
fn counts_add_up() {
    let mut count = Count { packets: 2, bytes: 300 };
    count.merge(Count { packets: 3, bytes: 500 });
    assert_eq!((count.packets, count.bytes), (5, 800));
}

/// An Ethernet frame has a header of 14 bytes, at least 46 bytes of payload, and a check sequence of 4 bytes
/// (IEEE 802.3-2018, 3.1.1).
#[test]
fn bytes_on_a_wire() {
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(1_000_000),
        framing: Framing::EthernetFrame,
        headers: HeaderStack::EMPTY,
        ring: RingConfig::default(),
    };
    assert_eq!([20, 46, 1500].map(|ip| wire.bytes(ip)), [64, 64, 1518]);
    assert_eq!([20, 46, 1500].map(|ip| wire.last_bytes(ip)), [64, 64, 1518]);
}
