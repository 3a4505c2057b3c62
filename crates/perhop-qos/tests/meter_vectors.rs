//! Runs the shared meter vectors of `vectors/meter/`: cases that a person can check by hand.

use std::fs;
use std::path::Path;

use perhop_qos::classifier::OneOrMany;
use perhop_qos::meter::{Meter, MeterConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Color, FlowKey, Packet, Time};
use serde::Deserialize;
use serde::de::DeserializeOwned;

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
    expect: OneOrMany<Color>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    meter: MeterConfig,
    path: String,
    found: String,
}

fn cases<T: DeserializeOwned>(file: &str) -> Vec<T> {
    #[derive(Deserialize)]
    struct File<T> {
        case: Vec<T>,
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/meter").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let File { case } = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!case.is_empty(), "{file} has no case");
    case
}

fn run(file: &str) {
    for case in cases::<Case>(file) {
        let mut meter = case.meter.build(&Streams::new(1, 0)).expect(&case.name);
        for (index, arrival) in case.packets.iter().enumerate() {
            let mut packet = Packet::new(FlowKey::default(), arrival.length);
            packet.color = arrival.color;
            let color = meter.measure(arrival.at, &packet);
            let OneOrMany(expected) = &arrival.expect;
            assert!(
                expected.contains(&color),
                "{file}, \"{}\", packet {index} at {}: {color}, expected {expected:?}",
                case.name,
                arrival.at
            );
        }
    }
}

#[test]
fn token_bucket() {
    run("token-bucket.toml");
}
#[test]
fn token_bucket_with_debt() {
    run("token-bucket-with-debt.toml");
}
#[test]
fn single_rate_tcm() {
    run("single-rate-tcm.toml");
}
#[test]
fn two_rate_tcm() {
    run("two-rate-tcm.toml");
}
#[test]
fn rfc4115() {
    run("rfc4115.toml");
}
#[test]
fn tsw() {
    run("tsw.toml");
}
#[test]
fn rate_based() {
    run("rate-based.toml");
}
#[test]
fn early_tcm() {
    run("early-tcm.toml");
}

#[test]
fn refused() {
    for case in cases::<Refused>("refused.toml") {
        let error = case.meter.build(&Streams::new(1, 0)).expect_err(&case.found);
        assert_eq!(error.path.join("."), case.path, "{error}");
        assert!(error.message.contains(&case.found), "{error}\nexpected: {}", case.found);
        assert!(error.help.is_some(), "{error} says nothing about what would be right");
    }
}
