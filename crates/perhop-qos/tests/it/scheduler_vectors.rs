//! Runs all cases of `vectors/scheduler/*.toml` through the scheduler tree.

use std::path::Path;

use crate::vectors::cases;
use crate::wire::{Arrival, Departure, send};
use perhop_qos::policy::QueueingConfig;
use perhop_qos::units::{Rate, Time};
use serde::Deserialize;

/// At this rate, a byte is sent in one microsecond.
const RATE: Rate = Rate::from_bits_per_second(8_000_000);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    queueing: QueueingConfig,
    arrivals: Vec<Packets>,
    /// The class and the number of each packet, in order of departure.
    order: String,
    /// The times at which transmissions end. Not checked if absent.
    #[serde(default)]
    ends: Vec<Time>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Packets {
    at: Time,
    class: String,
    length: u32,
    #[serde(default = "default_count")]
    count: usize,
}

fn default_count() -> usize {
    1
}

fn run(case: &Case) {
    let paths = case.queueing.queue_names();
    let names: Vec<&str> = paths.iter().filter_map(|path| path.rsplit('/').next()).collect();
    let queue = |class: &str| names.iter().position(|name| *name == class).expect("a class of the case");
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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/scheduler");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for case in &cases::<Case>(&path) {
            eprintln!("{}: {}", path.display(), case.name); // the output of a failed test shows this line
            run(case);
            checked += 1;
        }
    }
    assert!(checked >= 20, "only {checked} cases were found");
}
