//! TCP traffic in scenarios: applications, counters, and theory on links that lose packets.

use crate::simulation::{ONCE, numbers, simulate};
use perhop_measure::Results;
use perhop_sim::RunOptions;
use serde_json::{Value, json};

/// Client and server around a bottleneck of 10 Mb/s, with a round trip of 60 ms and the given loss. Debug
/// builds assert conservation at the end of each run.
fn results(traffic: &Value, seconds: u64, loss: f64, queueing: Option<Value>) -> Results {
    let mut bottleneck = json!({"between": ["r", "s"], "rate": "10Mb/s", "delay": "28ms"});
    let mut policies = json!({});
    if let Some(queueing) = queueing {
        bottleneck["interfaces"] = json!({"r": {"output": "queue"}});
        policies = json!({"queue": {"queueing": queueing}});
    }
    let scenario = json!({
        "perhop": 1, "name": "tcp", "duration": format!("{seconds}s"),
        "hosts": {"client": {}, "server": {}}, "routers": {"r": {}, "s": {}},
        "links": [
            {"between": ["client", "r"], "rate": "100Mb/s", "delay": "1ms"},
            bottleneck,
            {"between": ["s", "server"], "rate": "100Mb/s", "delay": "1ms", "loss": loss},
        ],
        "policies": policies,
        "traffic": traffic,
        "measure": {"warmup": "1s"},
    });
    simulate(&scenario, RunOptions { seed: 3, ..ONCE })
}

fn flow(name: &str, source: &Value) -> Value {
    json!({"name": name, "from": "client", "to": "server", "source": source})
}

fn number(results: &Results, table: &str, column: &str, row: usize) -> f64 {
    numbers(results.table(table).unwrap(), column)[row]
}

#[test]
fn a_bulk_transfer_fills_the_bottleneck() {
    let tcp = json!({"profile": "linux-modern"});
    let results = results(&json!([flow("bulk", &json!({"bulk": {"tcp": tcp}}))]), 60, 0.0, None);
    // 1448 of 1500 bytes of each packet are payload.
    let goodput = number(&results, "tcp", "goodput_bps", 0);
    assert!(goodput > 0.97 * 10e6 * 1448.0 / 1500.0, "{goodput}");
    assert!(goodput <= 10e6 * 1448.0 / 1500.0 * 1.0001, "{goodput}");
    // Both directions are present, as two flows and two classes.
    assert_eq!(results.table("flows").unwrap().rows(), 2);
    assert_eq!(results.table("classes").unwrap().rows(), 2);
}

/// A window smaller than the bandwidth-delay product limits the rate to the window divided by the round-trip
/// time.
#[test]
fn a_small_window_limits_the_rate() {
    let tcp = json!({"profile": "rfc5681-reno", "window": "10 packets", "acknowledgment": "every-packet"});
    let results = results(&json!([flow("bulk", &json!({"bulk": {"tcp": tcp}}))]), 60, 0.0, None);
    // The round trip has 60 ms of propagation, and a data packet and an acknowledgment on three links.
    let round_trip = 0.06 + (1500.0 + 40.0) * 8.0 * (1.0 / 10e6 + 2.0 / 100e6);
    let expected = 10.0 * 1460.0 * 8.0 / round_trip;
    let goodput = number(&results, "tcp", "goodput_bps", 0);
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput}, expected {expected}");
}

/// One transaction of `TCP_CRR` takes a round trip for the handshake and one for request and response. If the
/// client closes first, closing both directions takes one more.
#[test]
fn transactions_take_as_many_round_trips_as_they_need() {
    let tcp = json!({"profile": "rfc5681-reno"});
    let sizes = json!({"tcp": tcp, "request": "100B", "response": "1000B"});
    let mut client_first = sizes.clone();
    client_first["closes-first"] = json!("client");
    let traffic = json!([
        flow("rr", &json!({"request-response": sizes})),
        flow("crr", &json!({"connect-request-response": client_first})),
        flow("file", &json!({"file-transfer": {"tcp": tcp, "size": "1000B", "connection": "per-file"}})),
        flow("persistent", &json!({"file-transfer": {"tcp": tcp, "size": "1000B"}})),
        flow("crr-server", &json!({"connect-request-response": sizes})),
    ]);
    let results = results(&traffic, 60, 0.0, None);
    for (row, round_trips) in [(0, 1.0), (1, 3.0), (2, 3.0), (3, 1.0), (4, 2.0)] {
        let time = number(&results, "tcp", "completion_mean_s", row);
        let counted = time / 0.06;
        assert!((round_trips..round_trips + 0.12).contains(&counted), "row {row}: {counted} round trips");
        let transactions = number(&results, "tcp", "transactions", row);
        assert!((transactions * time - 59.0).abs() < 2.0 * time, "row {row}: {transactions} of {time} s");
        let connections = number(&results, "tcp", "connections", row);
        assert!(if round_trips >= 2.0 {
            (connections - transactions).abs() <= 1.0
        } else {
            connections <= 1.0
        });
    }
    let median = number(&results, "transactions", "completion_p50_s", 1);
    assert!((median / number(&results, "transactions", "completion_mean_s", 1) - 1.0).abs() < 0.01);
}

/// Web transfers begin at the given rate and have the given mean, for any network.
#[test]
fn web_transfers_begin_at_random() {
    let web =
        json!({"tcp": {"profile": "linux-modern"}, "mean-gap": "50ms", "mean-size": "5kB", "shape": 2.5});
    let results = results(&json!([flow("web", &json!({"web": web}))]), 401, 0.01, None);
    // Poisson: 8000 ± 4 · 90.
    let transactions = number(&results, "tcp", "transactions", 0);
    assert!((transactions - 8000.0).abs() < 360.0, "{transactions}");
    let mean = number(&results, "tcp", "received_bytes", 0) / transactions;
    assert!((mean / 5000.0 - 1.0).abs() < 0.05, "{mean}");
}

/// After `stop`, no new data are sent, but data that were already sent arrive.
#[test]
fn traffic_stops() {
    let mut bulk = flow("bulk", &json!({"bulk": {"tcp": {"profile": "linux-2.2"}}}));
    bulk["stop"] = json!("10s");
    let results = results(&json!([bulk]), 30, 0.0, None);
    assert_eq!(number(&results, "flows", "in_network_packets", 0), 0.0);
    let carried = number(&results, "tcp", "received_bytes", 0);
    assert!(carried > 0.0 && carried < 10e6 / 8.0 * 9.5, "{carried} bytes in nine seconds");
}

/// Mathis et al. 1997 and Padhye et al. 1998 on a link with Bernoulli loss, through the whole simulator.
#[test]
fn throughput_under_loss_is_as_published() {
    for (recovery, limited) in [("reno", false), ("newreno", true), ("sack", true)] {
        for loss in [0.002f64, 0.005, 0.02] {
            let tcp = json!({
                "profile": "rfc5681-reno", "recovery": recovery, "limited-transmit": limited, "mss": "500B",
                "acknowledgment": "every-packet", "minimum-rto": "200ms",
            });
            let seconds = (60.0 / loss.sqrt()) as u64;
            let results =
                results(&json!([flow("bulk", &json!({"bulk": {"tcp": tcp}}))]), seconds, loss, None);
            let rate = number(&results, "tcp", "goodput_bps", 0) / (8.0 * 500.0);
            // Acknowledgments are lost on the same link, which reduces growth. Lost data and the round-trip
            // time have their usual effect.
            let round_trip = 0.06 + (540.0 + 40.0) * 8.0 * (1.0 / 10e6 + 2.0 / 100e6);
            let mathis = 1.5f64.sqrt() / (round_trip * loss.sqrt());
            let timeouts = 0.2 * (3.0 * (3.0 * loss / 8.0).sqrt()) * loss * (1.0 + 32.0 * loss * loss);
            let padhye = 1.0 / (round_trip * (2.0 * loss / 3.0).sqrt() + timeouts);
            let expected = if recovery == "reno" { padhye } else { mathis };
            let ratio = rate / expected;
            assert!(
                (0.75..=1.25).contains(&ratio),
                "{recovery} at {loss}: {rate} packets/s, {ratio} of expected"
            );
        }
    }
}

/// ECN: a queue that marks controls the flow without a loss.
#[test]
fn marks_replace_losses() {
    let red = json!({"precedences": [{"min": "5 packets", "max": "60 packets", "max-probability": 0.1}],
                     "averaging": {"weight": 0.01}, "ecn": "mark"});
    let queueing = json!({"classes": [{"name": "all", "buffer": {"red": red}}]});
    let tcp = json!({"profile": "rfc5681-reno", "recovery": "sack", "window": "200 packets", "initial-ssthresh": "50 packets", "ecn": true});
    let results = results(&json!([flow("bulk", &json!({"bulk": {"tcp": tcp}}))]), 60, 0.0, Some(queueing));
    assert!(number(&results, "tcp", "congestion_marks", 0) > 5.0);
    assert_eq!(number(&results, "tcp", "retransmissions", 0), 0.0);
    assert!(number(&results, "tcp", "goodput_bps", 0) > 8e6);
}

/// Many flows of every application, with loss and a short queue. All segments and packets are accounted for.
#[test]
fn all_kinds_of_traffic_together_are_conserved() {
    let tcp = |profile: &str| json!({"profile": profile});
    let mut traffic = vec![
        flow("bulk", &json!({"bulk": {"tcp": tcp("linux-2.0")}})),
        flow("ns", &json!({"bulk": {"tcp": tcp("ns2-reno-1999")}})),
        flow(
            "rr",
            &json!({"request-response": {"tcp": tcp("linux-2.2"), "request": "64KiB", "response": "0B"}}),
        ),
        flow(
            "crr",
            &json!({"connect-request-response": {"tcp": tcp("linux-modern"), "request": "1B", "response": "9kB"}}),
        ),
        flow("file", &json!({"file-transfer": {"tcp": tcp("rfc5681-reno"), "connection": "per-file"}})),
        flow("web", &json!({"web": {"tcp": tcp("linux-modern"), "mean-gap": "100ms", "mean-size": "10kB"}})),
        flow("udp", &json!({"cbr": {"rate": "2Mb/s", "packet": {"ip": "1000B"}}})),
    ];
    for flow in &mut traffic {
        flow["count"] = json!(5);
        flow["start-within"] = json!("1s");
    }
    let queueing = json!({"classes": [{"name": "all", "buffer": {"tail-drop": {"limit": "10 packets"}}}]});
    let results = results(&json!(traffic), 30, 0.01, Some(queueing));
    for application in 0..6 {
        let sum =
            |column| (0..5).map(|flow| number(&results, "tcp", column, application * 5 + flow)).sum::<f64>();
        assert!(sum("received_bytes") > 0.0, "application {application}");
        assert!(sum("retransmissions") > 0.0, "application {application}");
    }
}
