//! The packet logs of live hosts are converted to the tables of a run.

use perhop_measure::counters::PortTally;
use perhop_measure::downsample::envelope;
use perhop_measure::{Measurements, Replication, Results};
use perhop_qos::units::Time;
use perhop_qos::{Color, Dscp};
use perhop_scenario::Scenario;
use serde_json::json;

const MS: fn(u64) -> Time = Time::from_milliseconds;

/// Returns two flows from a to b that last one second. The first 100 ms are the warm-up.
fn scenario() -> Scenario {
    let source = json!({"cbr": {"rate": "80kb/s", "packet": {"ip": "100B"}}});
    let flow = |name: &str| json!({"name": name, "from": "a", "to": "b", "source": source});
    let text = json!({
        "perhop": 1, "name": "recorded", "duration": "1s",
        "hosts": {"a": {}, "b": {}},
        "links": [{"between": ["a", "b"], "rate": "1Mb/s"}],
        "traffic": [flow("first"), flow("second")],
        "measure": {
            "warmup": "100ms", "throughput-every": "300ms", "delay-every": "300ms", "packets": ["second"],
        },
    });
    perhop_scenario::load_json(text, ".").unwrap().scenario
}

fn column(results: &Results, table: &str, name: &str) -> Vec<f64> {
    let values = results.table(table).unwrap().column(name).unwrap();
    (0..values.len()).map(|row| values.number(row).unwrap()).collect()
}

#[test]
fn packets_of_live_hosts_are_counted_by_when_they_were_sent_and_arrived() {
    let scenario = scenario();
    let mut measurements = Measurements::for_scenario(&scenario).unwrap();
    // Packets are sent during the warm-up, at its end, at the end of the run, and after the run.
    for sent in [99, 100, 500, 1000, 1001] {
        measurements.record_sent(0, MS(sent), 100);
    }
    let mut arrived = |number, sent, at| {
        measurements.record_arrived(0, number, 100, MS(sent), MS(at), Dscp::EF);
    };
    arrived(0, 99, 109);
    arrived(1, 100, 120);
    arrived(2, 500, 540);
    // A packet that arrives after the end of the run is counted as in the network.
    arrived(3, 1000, 1001);
    assert_eq!(measurements.unaccounted(), [1, 0]);
    measurements.in_network = measurements.unaccounted();
    measurements.assert_conservation();
    let results = Results::new(&scenario, 1, vec![Replication::new(&scenario, &measurements, 0)]);
    assert_eq!(column(&results, "flows", "offered_packets"), [3.0, 0.0]);
    assert_eq!(column(&results, "flows", "delivered_packets"), [2.0, 0.0]);
    assert_eq!(column(&results, "flows", "delay_mean_s")[0], 0.030);
    assert_eq!(column(&results, "flows", "delay_min_s")[0], 0.020);
    assert_eq!(column(&results, "flows", "delay_max_s")[0], 0.040);
}

#[test]
fn samples_over_time_and_packets_one_by_one() {
    let scenario = scenario();
    let mut measurements = Measurements::for_scenario(&scenario).unwrap();
    for (flow, number, sent, at) in [(0, 0, 150, 160), (1, 0, 390, 410), (1, 1, 450, 480)] {
        measurements.record_sent(flow, MS(sent), 100);
        measurements.record_arrived(flow, number, 100, MS(sent), MS(at), Dscp::EF);
    }
    measurements.in_network = measurements.unaccounted();
    let results = Results::new(&scenario, 1, vec![Replication::new(&scenario, &measurements, 0)]);
    // Both classes have a row for the first interval, and then both have a row for the next interval.
    assert_eq!(column(&results, "throughput", "received_packets"), [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
    assert_eq!(column(&results, "delays", "packets"), [1.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
    assert_eq!(column(&results, "packets", "sent_s"), [0.390, 0.450]);
    assert_eq!(column(&results, "packets", "delay_s"), [0.020, 0.030]);
}

#[test]
fn counters_belong_to_their_queue_and_precedence() {
    let mut tally = PortTally::new(2);
    tally.tally_mut(1, 2).arrived.add(100);
    tally.tally_mut(0, 1).arrived.add(200);
    tally.pass(Color::GREEN, 300);
    let found: Vec<_> =
        tally.iter().map(|(queue, precedence, tally)| (queue, precedence, tally.arrived.bytes)).collect();
    assert_eq!(found, [(0, 0, 300), (0, 1, 200), (1, 2, 100)]);
}

/// For a small drawing, an envelope of four points for each bucket contains all points.
#[test]
fn points_up_to_the_size_of_an_envelope_stay() {
    let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    assert_eq!(envelope(&values, 2), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(envelope(&[values.as_slice(), &[8.0]].concat(), 2), [0, 3, 4, 8]);
}
