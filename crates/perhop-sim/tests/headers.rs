//! Headers of links: what a wire of given rate carries, and that both engines count the same bytes.

mod simulation;

use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};
use simulation::{ONCE, count, simulate};

/// Twice what `rate` can carry from host to host over two routers, the link between them with these headers.
fn overload(rate: &str, framing: &str, headers: &Value, size: u64) -> Value {
    json!({
        "perhop": 1, "name": "headers", "duration": "10s", "hosts": {"a": {}, "b": {}}, "routers": {"r": {}, "s": {}},
        "links": [
            {"between": ["a", "r"], "rate": "100Mb/s"},
            {"between": ["r", "s"], "rate": rate, "framing": framing, "headers": headers},
            {"between": ["s", "b"], "rate": "100Mb/s"},
        ],
        "traffic": [{"name": "flow", "from": "a", "to": "b",
            "source": {"cbr": {"rate": "4Mb/s", "packet": {"ip": format!("{size}B")}}}}],
    })
}

/// Packets in 10 s of a wire with `rate` bits per second: the last may be on the way at the end.
fn assert_carries(rate: u64, framing: &str, headers: &Value, size: u64, wire_bytes: u64) {
    let scenario = overload(&format!("{rate}b/s"), framing, headers, size);
    let delivered = count(&simulate(&scenario, ONCE), "flows", "delivered_packets");
    let capacity = 10 * rate / (8 * wire_bytes);
    assert!((capacity - 2..=capacity).contains(&delivered), "{headers}: {delivered} of {capacity}");
}

#[test]
fn a_wire_carries_what_its_headers_leave() {
    let dmvpn = json!([{"gre": {"key": true}},
        {"esp": {"cipher": "aes-cbc", "integrity": "sha1", "mode": "transport"}}]);
    // 168 bytes as in vectors/framing; with the Ethernet header 182.
    assert_carries(1_456_000, "ethernet-header", &dmvpn, 100, 182);
    assert_carries(2_000_000, "raw", &dmvpn, 100, 168);
    // A rate that no picosecond divides.
    assert_carries(1_700_000, "ppp", &json!(["mlppp"]), 100, 113);
    assert_carries(2_000_000, "aal5-snap", &json!(["pppoe", "bridged"]), 1500, 33 * 53);
    assert_carries(2_000_000, "ethernet-wire", &json!([{"mpls": {"labels": 2}}, "vlan"]), 1000, 1050);
    // A TCP acknowledgment fills the least frame, tag or not.
    assert_carries(2_000_000, "ethernet-wire", &json!(["vlan"]), 40, 84);
}

fn stacks() -> Vec<(&'static str, Value)> {
    let esp = |mode: &str| json!({"esp": {"cipher": "aes-cbc", "integrity": "sha256", "mode": mode}});
    vec![
        ("raw", json!([])),
        ("ethernet-frame", json!(["mpls", "vlan"])),
        ("ethernet-wire", json!(["gre", esp("transport"), "vlan"])),
        ("ppp", json!([esp("tunnel"), "mlppp"])),
        ("aal5-mux", json!(["ppp"])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Headers whose bytes depend on the packet take the long way through the fast engine.
    #[test]
    fn both_engines_count_the_same_bytes(
        stacks in prop::collection::vec(prop::sample::select(stacks()), 3),
        size in 40u64..1500,
        rate in prop::sample::select(vec!["2Mb/s", "1.7Mb/s", "8Mb/s"]),
        seed in any::<u64>(),
    ) {
        let mut scenario = overload(rate, "raw", &json!([]), size);
        for (link, (framing, headers)) in scenario["links"].as_array_mut().unwrap().iter_mut().zip(&stacks) {
            link["framing"] = json!(framing);
            link["headers"] = headers.clone();
        }
        scenario["duration"] = json!("2s");
        let poisson = json!({"poisson": {"rate": "1Mb/s", "packet": {"ip": "400B"}, "sizes": "exponential"}});
        let bulk = json!({"bulk": {"tcp": {"profile": "linux-modern"}}});
        for (name, source) in [("poisson", poisson), ("bulk", bulk)] {
            let flow = json!({"name": name, "from": "a", "to": "b", "source": source});
            scenario["traffic"].as_array_mut().unwrap().push(flow);
        }
        let tables = |engine| format!("{:?}", simulate(&scenario, RunOptions { seed, engine, ..ONCE }).tables);
        prop_assert_eq!(tables(EngineChoice::Fast), tables(EngineChoice::Plain));
    }
}
