//! Measurements in addition to the counters: connections over time, colors at receivers, delay per flow, and
//! fairness. Also tests of meters per flow.

use crate::simulation::{ONCE, numbers, simulate};
use perhop_measure::Results;
use perhop_measure::results::Table;
use perhop_sim::RunOptions;
use serde_json::{Value, json};

fn results(scenario: &Value) -> Results {
    simulate(scenario, RunOptions { seed: 5, ..ONCE })
}

fn texts<'t>(table: &'t Table, column: &str) -> Vec<&'t str> {
    let values = table.column(column).unwrap();
    (0..table.rows()).map(|row| values.text(row).unwrap()).collect()
}

/// By hand: slow start over 50 ms each way at 8 Mb/s, where a packet of 1000 bytes takes 1 ms. A policer
/// passes only 15 packets. The fifth window is therefore lost completely, and only a timeout can repair it.
#[test]
fn a_connection_is_sampled_over_time() {
    let tcp =
        json!({"profile": "ns2-reno-1999", "window": "64 packets", "minimum-rto": "1s", "clock": "1ms"});
    let results = results(&json!({
        "perhop": 1, "name": "script", "duration": "4s", "hosts": {"client": {}, "server": {}},
        "links": [{"between": ["client", "server"], "rate": "8Mb/s", "delay": "50ms",
                   "interfaces": {"server": {"input": "police"}}}],
        "policies": {"police": {"conditioners": [
            {"meter": {"token-bucket": {"rate": "1b/s", "burst": "15000B"}}, "red": ["drop"]}]}},
        "traffic": [{"name": "bulk", "from": "client", "to": "server", "source": {"bulk": {"tcp": tcp}}}],
        "measure": {"connections": [{"traffic": "bulk", "every": "50ms"}]},
    }));
    let table = results.table("connections").unwrap();
    let time = numbers(table, "time_s");
    let columns = ["cwnd_segments", "ssthresh_segments", "in_flight_bytes", "rto_s"];
    let columns = columns.map(|column| numbers(table, column));
    // Time, and window, threshold, bytes in flight and timeout at that time.
    for (at, expected) in [
        (0.05, [1.0, 64.0, 1_000.0, 6.0]),
        (0.15, [2.0, 64.0, 2_000.0, 1.0]),
        (0.25, [4.0, 64.0, 4_000.0, 1.0]),
        (0.35, [8.0, 64.0, 8_000.0, 1.0]),
        (0.45, [16.0, 64.0, 16_000.0, 1.0]),
        // The last acknowledgment arrived at 0.411 s.
        (1.40, [16.0, 64.0, 16_000.0, 1.0]),
        (1.45, [1.0, 8.0, 16_000.0, 2.0]),
        (3.40, [1.0, 8.0, 16_000.0, 2.0]),
        // ns-2 reduces the threshold again.
        (3.45, [1.0, 2.0, 16_000.0, 4.0]),
    ] {
        let row = time.iter().position(|time| (time - at).abs() < 1e-9).unwrap();
        assert_eq!(columns.each_ref().map(|column| column[row]), expected, "at {at} s");
        let round_trip = numbers(table, "srtt_s")[row];
        let known = if at < 0.1 { round_trip.is_nan() } else { (round_trip - 0.101).abs() < 0.0015 };
        assert!(known, "at {at} s: {round_trip}");
    }
    assert!(texts(table, "flow").iter().all(|flow| *flow == "bulk"));
    assert!(texts(table, "end").iter().all(|end| *end == "client"));
}

/// A flow has one connection per file. Each connection has its own number and is sampled only while it is
/// open.
#[test]
fn connections_of_a_flow_have_numbers() {
    let file = json!({"file-transfer": {"tcp": {"profile": "rfc5681-reno"}, "size": "1000B", "connection": "per-file"}});
    let traffic = |name: &str| {
        json!({"name": name, "count": 2, "from": "client", "to": "server", "source": file,
               "source-port": if name == "files" { 50000 } else { 60000 }})
    };
    let results = results(&json!({
        "perhop": 1, "name": "files", "duration": "2s", "hosts": {"client": {}, "server": {}},
        "links": [{"between": ["client", "server"], "rate": "10Mb/s", "delay": "50ms"}],
        "traffic": [traffic("others"), traffic("files")],
        "measure": {"connections": [{"traffic": "files", "flow": 1, "end": "server", "every": "10ms"}]},
    }));
    let table = results.table("connections").unwrap();
    assert!(texts(table, "flow").iter().all(|flow| *flow == "files#1"));
    assert!(texts(table, "end").iter().all(|end| *end == "server"));
    let numbered = numbers(table, "connection");
    // When a connection begins, the server of the previous connection still waits for its last
    // acknowledgment.
    let rows: Vec<(f64, f64)> = numbers(table, "time_s").into_iter().zip(numbered.iter().copied()).collect();
    assert!(rows.is_sorted(), "in the order of time, and of connections at one time");
    // Each connection takes three round trips of 0.1 s.
    let last = numbered.last().copied().unwrap();
    assert!((5.0..=6.0).contains(&last), "{last}");
    assert_eq!(numbered.iter().filter(|number| **number == 1.0).count() / 10, 3);
}

/// Datagrams of 3 Mb/s in each direction, with profiles of 1 Mb/s: one profile per flow, one profile for all
/// flows together, and in the other direction one profile per flow.
#[test]
fn a_profile_per_flow_applies_to_each_flow() {
    let marker = |per: &str| {
        json!({"conditioners": [{"meter": {"token-bucket": {"rate": "1Mb/s", "burst": "10kB", "excess": "yellow"}},
                                 "per": per, "green": [{"mark": "af11"}], "yellow": [{"mark": "af12"}]}]})
    };
    let flow = |name: &str, from: &str, to: &str| {
        json!({"name": name, "class": name, "count": 4, "from": from, "to": to,
               "source": {"cbr": {"rate": "3Mb/s", "packet": {"ip": "1000B"}}}})
    };
    let results = results(&json!({
        "perhop": 1, "name": "per flow", "duration": "21s", "routers": {"edge": {}},
        "hosts": {"each": {}, "all": {}, "server": {}},
        "links": [
            {"between": ["each", "edge"], "rate": "100Mb/s", "interfaces": {"edge": {"input": "each", "output": "each"}}},
            {"between": ["all", "edge"], "rate": "100Mb/s", "interfaces": {"edge": {"input": "all"}}},
            {"between": ["edge", "server"], "rate": "100Mb/s"},
        ],
        "policies": {"each": marker("flow"), "all": marker("aggregate")},
        "traffic": [flow("each", "each", "server"), flow("all", "all", "server"), flow("back", "server", "each")],
        "measure": {"warmup": "1s"},
    }));
    let table = results.table("colors").unwrap();
    let rate = |class: &str, color: &str| {
        let row = (0..table.rows())
            .find(|row| texts(table, "class")[*row] == class && texts(table, "color")[*row] == color);
        numbers(table, "throughput_bps")[row.unwrap_or_else(|| panic!("{class} {color}"))] / 1e6
    };
    for (class, green) in [("each", 4.0), ("all", 1.0), ("back", 4.0)] {
        assert!((rate(class, "green") - green).abs() < 0.01, "{class}: {} Mb/s", rate(class, "green"));
        assert!((rate(class, "green") + rate(class, "yellow") - 12.0).abs() < 0.01, "{class}");
    }
    // There is one row per conditioner and color, for any number of flows.
    let conditioners = results.table("conditioners").unwrap();
    assert_eq!(conditioners.rows(), 6, "{:?}", texts(conditioners, "side"));
    // Each flow has 3 Mb/s, so packets wait only for packets of other flows. A packet takes 80 µs on each of
    // two links.
    assert!(numbers(table, "delay_mean_s").iter().all(|delay| (1.6e-4..1e-3).contains(delay)));
    let delivered: f64 = numbers(table, "delivered_packets").iter().sum();
    let classes: f64 = numbers(results.table("classes").unwrap(), "delivered_packets").iter().sum();
    assert_eq!(delivered, classes);
}

/// Two flows of one class on idle paths of 10 and 30 ms: the delay of each flow is constant, although the
/// delays of the class differ.
#[test]
fn delay_variation_is_computed_per_flow() {
    let scenario = |delays: Option<&str>| {
        let flow = |name: &str, rate: &str| {
            json!({"name": name, "class": "both", "from": name, "to": "server",
                   "source": {"cbr": {"rate": rate, "packet": {"ip": "1000B"}}}})
        };
        let measure = delays.map_or(json!({}), |delays| json!({"delays": delays}));
        results(&json!({
            "perhop": 1, "name": "two paths", "duration": "5s", "routers": {"edge": {}},
            "hosts": {"near": {}, "far": {}, "server": {}},
            "links": [
                {"between": ["near", "edge"], "rate": "1Gb/s", "delay": "9ms"},
                {"between": ["far", "edge"], "rate": "1Gb/s", "delay": "29ms"},
                {"between": ["edge", "server"], "rate": "1Gb/s", "delay": "1ms"},
            ],
            "traffic": [flow("near", "1Mb/s"), flow("far", "3Mb/s")],
            "measure": measure,
        }))
    };
    let per_flow = scenario(Some("per-flow"));
    let (classes, flows) = (per_flow.table("classes").unwrap(), per_flow.table("flows").unwrap());
    // The two streams occasionally meet in the router, which adds 8 µs.
    assert!(numbers(classes, "pdv_p99_s")[0] < 1e-4);
    assert!((numbers(classes, "delay_p50_s")[0] - 0.030).abs() < 1e-4);
    for (row, delay) in [(0, 0.010), (1, 0.030)] {
        assert!((numbers(flows, "delay_p50_s")[row] - delay).abs() < 1e-4);
        assert!(numbers(flows, "pdv_p99_s")[row] < 1e-4);
    }
    // The shares are 1 and 3, so the fairness is 4² / (2 · 10), except for packets in the network at the end.
    assert!((numbers(classes, "fairness")[0] - 0.8).abs() < 2e-3);
    assert_eq!(numbers(classes, "fairness"), numbers(per_flow.table("runs").unwrap(), "fairness"));

    let per_class = scenario(None);
    let plain = per_class.table("classes").unwrap();
    for column in ["delay_p50_s", "delay_p99_s", "ipdv_abs_p99_s"] {
        assert_eq!(numbers(plain, column), numbers(classes, column), "{column}");
    }
    assert!(numbers(plain, "pdv_p50_s")[0].is_nan());
    assert!(numbers(per_class.table("flows").unwrap(), "delay_p50_s")[0].is_nan());
}

/// Retransmissions and timeouts of a class are the sums of its flows. The percentiles of completion times are
/// those of all its transactions.
#[test]
fn transactions_of_a_class_sum_up_its_flows() {
    let file = json!({"file-transfer": {"tcp": {"profile": "linux-2.0"}, "size": "20kB"}});
    let results = results(&json!({
        "perhop": 1, "name": "sums", "duration": "30s", "hosts": {"client": {}, "server": {}},
        "links": [{"between": ["client", "server"], "rate": "10Mb/s", "delay": "5ms", "loss": 0.02}],
        "traffic": [{"name": "files", "count": 3, "from": "client", "to": "server", "source": file}],
    }));
    let (flows, class) = (results.table("tcp").unwrap(), results.table("transactions").unwrap());
    for column in ["transactions", "retransmissions", "timeouts", "segments", "goodput_bps"] {
        let sum: f64 = numbers(flows, column).iter().sum();
        assert!(sum > 0.0 && (numbers(class, column)[0] / sum - 1.0).abs() < 1e-12, "{column}");
    }
    let histogram = results.table("histogram").unwrap();
    let rows = texts(histogram, "quantity").into_iter().zip(numbers(histogram, "packets"));
    let completed: f64 = rows.filter(|(quantity, _)| *quantity == "completion").map(|(_, count)| count).sum();
    assert_eq!(completed, numbers(class, "transactions")[0]);
}
