//! Interfaces with an MTU: fragmented datagrams, dropped datagrams, and the length of TCP's segments.

use crate::simulation::{ONCE, count, mean, numbers, simulate};
use perhop_measure::Results;
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

/// A flow from host to host over two routers. `middle` and `flow` have further keys of the link between the
/// routers and of the flow.
fn network(address: [&str; 2], middle: &Value, flow: &Value) -> Value {
    let mut link = json!({"between": ["r", "s"], "rate": "8Mb/s", "framing": "raw"});
    let mut traffic = json!({"name": "flow", "from": "a", "to": "b", "stop": "9.95s"});
    for (whole, part) in [(&mut link, middle), (&mut traffic, flow)] {
        whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
    }
    json!({
        "perhop": 1, "name": "lengths", "duration": "10s",
        "hosts": {"a": {"address": address[0]}, "b": {"address": address[1]}}, "routers": {"r": {}, "s": {}},
        "links": [
            {"between": ["a", "r"], "rate": "80Mb/s", "framing": "raw"}, link,
            {"between": ["s", "b"], "rate": "80Mb/s", "framing": "raw"},
        ],
        "traffic": [traffic],
    })
}

const IPV4: [&str; 2] = ["10.0.0.1", "10.0.0.2"];

/// Ten datagrams of `size` IP bytes per second.
fn datagrams(size: u64) -> Value {
    json!({"cbr": {"rate": format!("{}b/s", size * 80), "packet": {"ip": format!("{size}B")}}})
}

/// Runs both engines and checks that they agree.
fn run(scenario: &Value) -> Results {
    let by = |engine| simulate(scenario, RunOptions { engine, ..ONCE });
    let (fast, plain) = (by(EngineChoice::Fast), by(EngineChoice::Plain));
    assert_eq!(format!("{:?}", fast.tables), format!("{:?}", plain.tables));
    fast
}

/// The rows of ports add up. Each datagram crosses three ports, and has three fragments after the first port.
#[test]
fn a_datagram_arrives_with_its_last_fragment() {
    let scenario = network(IPV4, &json!({"mtu": "1500B"}), &json!({"source": datagrams(4000)}));
    let results = run(&scenario);
    let flow_counter = |column: &str| count(&results, "flows", column);
    assert_eq!(
        (flow_counter("offered_packets"), flow_counter("delivered_packets"), flow_counter("dropped_packets")),
        (100, 100, 0)
    );
    assert_eq!(flow_counter("delivered_bytes"), 400_000);
    assert_eq!(count(&results, "ports", "sent_packets"), 100 + 300 + 300);
    // The fragments on the link in the middle have 1500, 1500 and 1040 bytes. By RFC 791, they carry 1480,
    // 1480 and 1020 of the 3980 bytes of payload.
    assert_eq!(count(&results, "ports", "sent_bytes"), 400_000 + 2 * 404_000);
    let expected = 4000.0 * 8.0 / 80e6 + 4040.0 * 8.0 / 8e6 + 1040.0 * 8.0 / 80e6;
    let found = mean(&results, "flow", "delay_mean_s");
    assert!((found - expected).abs() < 1e-12, "{found} and not {expected}");
}

#[test]
fn packets_with_df_are_dropped() {
    let mtu = json!({"mtu": "1500B"});
    let ipv6 = ["2001:db8::1", "2001:db8::2"];
    for (addresses, size, is_forbidden, dropped) in
        [(IPV4, 1500, true, 0), (IPV4, 1501, true, 100), (ipv6, 1500, false, 0), (ipv6, 1501, false, 100)]
    {
        let flow = json!({"source": datagrams(size), "dont-fragment": is_forbidden});
        let results = run(&network(addresses, &mtu, &flow));
        let counter = |table: &str, column: &str| count(&results, table, column);
        assert_eq!(counter("flows", "dropped_too_big"), dropped, "{addresses:?} {size}");
        assert_eq!(counter("ports", "dropped_too_big"), dropped);
        assert_eq!(counter("flows", "delivered_packets"), 100 - dropped);
    }
}

/// On a wire that loses a fifth of the fragments, all three fragments of a datagram arrive with probability
/// 0.8³ = 0.512. The port behind the wire receives four fifths of the fragments.
#[test]
fn a_lost_fragment_loses_its_datagram() {
    let flow = json!({"source": {"cbr": {"rate": "6Mb/s", "packet": {"ip": "4000B"}}}});
    let results = run(&network(IPV4, &json!({"mtu": "1500B", "loss": 0.2}), &flow));
    let flow_counter = |column: &str| count(&results, "flows", column);
    let (offered, delivered, lost) =
        (flow_counter("offered_packets"), flow_counter("delivered_packets"), flow_counter("dropped_lost"));
    assert_eq!(offered, delivered + lost + flow_counter("in_network_packets"));
    let share = delivered as f64 / offered as f64;
    // Three standard deviations of 1875 datagrams.
    assert!((share - 0.512).abs() < 0.035, "{share} of {offered}");
}

/// Only the first fragment of a datagram has port numbers.
#[test]
fn classes_by_port_see_first_fragments() {
    let mut scenario = network(
        IPV4,
        &json!({"mtu": "1500B", "interfaces": {"s": {"input": "ports"}}}),
        &json!({"source": datagrams(4000), "destination-port": 5060}),
    );
    scenario["policies"] = json!({"ports": {"conditioners": [
        {"name": "signalling", "match": {"destination-port": 5060}, "actions": ["continue"]},
        {"name": "others", "match": {"destination-port": 0}, "actions": ["continue"]},
    ]}});
    let results = run(&scenario);
    let mut taken = numbers(results.table("conditioners").unwrap(), "packets");
    taken.sort_by(f64::total_cmp);
    assert_eq!(taken, [100.0, 200.0]);
}

/// The mean length of the client's packets in a long transfer, and the number of packets dropped because of
/// their length.
fn bulk(middle: &Value, addresses: [&str; 2]) -> (f64, u64) {
    let flow = json!({"source": {"bulk": {"tcp": {"profile": "linux-modern", "timestamps": false}}}});
    let results = run(&network(addresses, middle, &flow));
    let bytes = mean(&results, "flow", "delivered_bytes");
    (bytes / mean(&results, "flow", "delivered_packets"), count(&results, "flows", "dropped_too_big"))
}

#[test]
fn segments_fit_the_smallest_mtu() {
    let ipv6 = ["2001:db8::1", "2001:db8::2"];
    for (middle, addresses, longest) in [
        (json!({}), IPV4, 1500.0),
        (json!({"mtu": "1400B"}), IPV4, 1400.0),
        // A limit in the reverse direction applies too, because both directions of a connection use one
        // segment size.
        (json!({"interfaces": {"s": {"mtu": "1300B"}}}), IPV4, 1300.0),
        (json!({"interfaces": {"r": {"adjust-mss": "1200B"}}}), IPV4, 1240.0),
        (json!({"interfaces": {"s": {"adjust-mss": "1200B"}}}), ipv6, 1260.0),
        (json!({"mtu": "1000B", "interfaces": {"s": {"adjust-mss": "1200B"}}}), IPV4, 1000.0),
    ] {
        let (mean, too_big) = bulk(&middle, addresses);
        // All packets except the handshake are full.
        assert!(mean <= longest && mean > longest - 3.0, "{middle}: {mean}");
        assert_eq!(too_big, 0);
    }
}
