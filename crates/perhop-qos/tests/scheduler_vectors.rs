//! Runs every case of `vectors/scheduler/*.toml` through the scheduler tree.

mod wire;

use std::path::Path;

use perhop_qos::policy::QueueingConfig;
use perhop_qos::units::{Rate, Time};
use serde::Deserialize;
use wire::{Arrival, Departure, leaf_names, send};

/// One byte takes one microsecond.
const RATE: Rate = Rate::from_bits_per_second(8_000_000);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    queueing: QueueingConfig,
    arrivals: Vec<Packets>,
    /// Class and number of each packet, as they leave.
    order: String,
    /// When each has left; not checked where absent.
    #[serde(default)]
    ends: Vec<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Packets {
    at: Time,
    class: String,
    length: u32,
    #[serde(default = "one")]
    count: usize,
}

fn one() -> usize {
    1
}

fn run(case: &Case) {
    let names = leaf_names(&case.queueing);
    let queue = |class: &str| names.iter().position(|name| name == class).expect("a class of the case");
    let expand = |packets: &Packets| {
        let arrival = Arrival { at: packets.at, queue: queue(&packets.class), length: packets.length };
        std::iter::repeat_n(arrival, packets.count)
    };
    let arrivals: Vec<Arrival> = case.arrivals.iter().flat_map(expand).collect();
    let departures = send(&case.queueing, RATE, &arrivals);
    let mut counts = vec![0; names.len()];
    let label = |departure: &Departure| {
        counts[departure.queue] += 1;
        format!("{}{}", names[departure.queue], counts[departure.queue])
    };
    let order: Vec<String> = departures.iter().map(label).collect();
    assert_eq!(order.join(" "), case.order);
    if !case.ends.is_empty() {
        assert_eq!(departures.iter().map(|departure| departure.ends).collect::<Vec<_>>(), case.ends);
    }
}

#[test]
fn every_vector_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/scheduler");
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let vectors: Vectors = toml::from_str(&std::fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &vectors.case {
            eprintln!("{}: {}", path.display(), case.name); // shown where the test fails
            run(case);
            cases += 1;
        }
    }
    assert!(cases >= 20, "only {cases} cases were found");
}
