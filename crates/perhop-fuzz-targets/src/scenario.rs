//! Reads arbitrary bytes as a scenario. A valid scenario must run, count every packet, and have the same
//! results in both engines.

use std::path::Path;

use perhop_measure::Results;
use perhop_measure::budget::{self, Budget};
use perhop_measure::results::Values;
use perhop_qos::units::Time;
use perhop_scenario::{Document, Loader, Scenario, SourceConfig, TrafficConfig};
use perhop_sim::{EngineChoice, Progress, RunOptions, run};

use crate::outcome::Outcome;

/// The longest simulated duration, and the numbers of packets, flows and result bytes above which a scenario
/// is rejected.
const DURATION: Time = Time::from_milliseconds(200);
const MOST_PACKETS: f64 = 20_000.0;
const MOST_FLOWS: u32 = 50;
const MOST_BYTES: f64 = 50e6;

/// Loads `bytes` as a scenario and runs it in both engines. The results must be equal, and every packet must
/// be counted.
pub fn scenario(bytes: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(bytes) else { return Outcome::Refused };
    let Ok(document) = Document::parse(text, "fuzz.yaml") else { return Outcome::Kept };
    let Ok(loaded) = Loader::default().load_document(&document, "/nowhere") else { return Outcome::Kept };
    let mut scenario = loaded.resolved;
    scenario.duration = scenario.duration.min(DURATION);
    scenario.measure.warmup = Time::ZERO;
    let is_small = packets(&scenario) < MOST_PACKETS && Budget::estimate(&scenario, 1).bytes() < MOST_BYTES;
    if !is_small {
        return Outcome::Refused;
    }
    let run_by = |engine| {
        let options = RunOptions { seed: 1, replications: 1, threads: 1, engine };
        run(&scenario, Path::new("/nowhere"), &options, &Progress::new())
    };
    match (run_by(EngineChoice::Fast), run_by(EngineChoice::Plain)) {
        (Ok(fast), Ok(plain)) => {
            conserved(&fast);
            // The table `queues` may differ: samples of the fast engine show the state before departures that
            // it has precomputed. All other tables are equal.
            for (by_fast, by_plain) in
                fast.tables.iter().zip(&plain.tables).filter(|(table, _)| table.name != "queues")
            {
                assert_eq!(format!("{by_fast:?}"), format!("{by_plain:?}"));
            }
        }
        (Err(_), Err(_)) => {}
        (fast, plain) => panic!("only one of the engines fails: {:?}, {:?}", fast.err(), plain.err()),
    }
    Outcome::Kept
}

/// The approximate number of packets of `scenario`. It is infinite if the scenario has many flows or reads
/// packets from files.
fn packets(scenario: &Scenario) -> f64 {
    let packets = |traffic: &TrafficConfig| match &traffic.source {
        SourceConfig::Trace(_) | SourceConfig::Pcap(_) => f64::INFINITY,
        _ if traffic.count > MOST_FLOWS => f64::INFINITY,
        _ => budget::packets(scenario, traffic),
    };
    scenario.traffic.iter().map(packets).sum()
}

/// Checks that offered = delivered + dropped + in the network for every class.
fn conserved(results: &Results) {
    let table = results.table("classes").expect("a table of classes");
    let column = |name: &str| match table.column(name) {
        Some(Values::Count(counts)) => counts.clone(),
        other => panic!("{name} is {other:?}"),
    };
    let [offered, delivered, dropped, inside] =
        ["offered_packets", "delivered_packets", "dropped_packets", "in_network_packets"].map(column);
    for row in 0..offered.len() {
        assert_eq!(offered[row], delivered[row] + dropped[row] + inside[row], "class {row}");
    }
}
