//! Runs the shared meter vectors of `vectors/meter/`: cases that a person can check by hand.

use crate::vectors::cases;
use perhop_qos::classifier::OneOrMany;
use perhop_qos::meter::{Meter, MeterConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, FlowKey, Packet, Time};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    meter: MeterConfig,
    packets: Vec<Arrival>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arrival {
    at: Time,
    length: u32,
    #[serde(default)]
    color: Color,
    #[serde(default)]
    label: u8,
    expect: OneOrMany<Color>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    meter: MeterConfig,
    path: String,
    found: String,
}

#[test]
fn every_vector_holds() {
    let markers = ["single-rate-tcm", "two-rate-tcm", "rfc4115", "tsw", "rate-based", "early-tcm"];
    let policers = ["token-bucket", "packet-rate", "token-bucket-with-debt", "hierarchical"];
    for file in policers.into_iter().chain(markers) {
        cases(format!("meter/{file}.toml")).iter().for_each(run);
    }
}

fn run(case: &Case) {
    let mut meter = case.meter.build(&Streams::new(1, 0)).expect(&case.name);
    for (index, arrival) in case.packets.iter().enumerate() {
        let mut packet = Packet::new(FlowKey::default(), arrival.length);
        (packet.color, packet.label) = (arrival.color, arrival.label);
        let color = meter.measure(arrival.at, &packet);
        let OneOrMany(expected) = &arrival.expect;
        assert!(
            expected.contains(&color),
            "\"{}\", packet {index} at {}: {color}, expected {expected:?}",
            case.name,
            arrival.at
        );
    }
}

#[test]
fn refused() {
    for case in cases::<Refused>("meter/refused.toml") {
        let error = case.meter.build(&Streams::new(1, 0)).expect_err(&case.found);
        assert_eq!(error.path.join("."), case.path, "{error}");
        assert!(error.message.contains(&case.found), "{error}\nexpected: {}", case.found);
        assert!(error.help.is_some(), "{error} says nothing about what would be right");
    }
}
