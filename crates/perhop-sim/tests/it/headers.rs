//! Headers of links: the capacity of a wire of given rate, and equal byte counts in both engines.

use crate::simulation::{ONCE, count, numbers, simulate};
use perhop_measure::Results;
use perhop_measure::results::Values;
use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A flow from host to host over two routers. It sends twice the capacity of the link between the routers,
/// which has `rate` and these headers.
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

/// Checks the number of packets in 10 s on a wire with `rate` bits per second. The last packet may be in
/// transit at the end.
fn assert_carries(rate: u64, framing: &str, headers: &Value, size: u64, wire_bytes: u64) {
    let scenario = overload(&format!("{rate}b/s"), framing, headers, size);
    let delivered = count(&simulate(&scenario, ONCE), "flows", "delivered_packets");
    let capacity = 10 * rate / (8 * wire_bytes);
    assert!((capacity - 2..=capacity).contains(&delivered), "{headers}: {delivered} of {capacity}");
}

#[test]
fn headers_reduce_the_rate_of_a_wire() {
    let dmvpn = json!([{"gre": {"key": true}},
        {"esp": {"cipher": "aes-cbc", "integrity": "sha1", "mode": "transport"}}]);
    // As in vectors/framing, a packet has 168 bytes, and 182 bytes with the Ethernet header.
    assert_carries(1_456_000, "ethernet-header", &dmvpn, 100, 182);
    assert_carries(2_000_000, "raw", &dmvpn, 100, 168);
    // At this rate, the time of a byte is not a whole number of picoseconds.
    assert_carries(1_700_000, "ppp", &json!(["mlppp"]), 100, 113);
    assert_carries(2_000_000, "aal5-snap", &json!(["pppoe", "bridged"]), 1500, 33 * 53);
    assert_carries(2_000_000, "ethernet-wire", &json!([{"mpls": {"labels": 2}}, "vlan"]), 1000, 1050);
    // An acknowledgment of TCP is sent in the smallest frame, with or without a tag.
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

/// Four routers between hosts. The second and third link have labels, and the third also has a tag.
/// Conditioners count packets by the marks of arriving and leaving packets.
fn marked() -> Value {
    let counts = |key: &str, mark: u8| json!({"name": format!("{key} {mark}"), "match": {key: mark}, "actions": ["continue"]});
    let counting = |key: &str, marks: &[u8]| marks.iter().map(|mark| counts(key, *mark)).collect::<Vec<_>>();
    let both = |cos: &[u8], exp: &[u8]| [counting("cos", cos), counting("mpls-exp", exp)].concat();
    let exp_to_cos = json!({"copy": {"from": "mpls-exp", "to": "cos", "map": {"5": 6}, "default": "copy"}});
    let flow = |name: &str, dscp: &str| {
        json!({"name": name, "from": "a", "to": "b", "dscp": dscp,
               "source": {"cbr": {"rate": "80kb/s", "packet": {"ip": "100B"}}}})
    };
    let link = |a: &str, b: &str, headers: Value, interfaces: Value| json!({"between": [a, b], "rate": "10Mb/s", "framing": "ethernet-frame", "headers": headers, "interfaces": interfaces});
    json!({
        "perhop": 1, "name": "marks", "duration": "1s",
        "hosts": {"a": {}, "b": {}}, "routers": {"p": {}, "q": {}, "r": {}, "s": {}},
        "links": [
            link("a", "p", json!([]), json!({})),
            link("p", "q", json!(["mpls"]), json!({"p": {"output": "impose"}, "q": {"input": "imposed"}})),
            link("q", "r", json!(["mpls", "vlan"]), json!({"q": {"output": "tag"}, "r": {"input": "tagged"}})),
            link("r", "s", json!(["vlan"]), json!({"s": {"input": "popped"}})),
            link("s", "b", json!([]), json!({"s": {"output": "bare"}})),
        ],
        "policies": {
            "impose": {"conditioners": [{"match": {"dscp": "af21"}, "actions": [{"mark-exp": 4}]}]},
            "imposed": {"conditioners": counting("mpls-exp", &[0, 2, 4, 5])},
            "tag": {"conditioners": [{"actions": [exp_to_cos]}]},
            "tagged": {"conditioners": both(&[0, 4, 5, 6], &[5])},
            "popped": {"conditioners": both(&[0, 4, 6], &[0, 4, 5])},
            "bare": {"conditioners": both(&[0, 4, 6], &[0, 4, 5])},
        },
        "traffic": [flow("voice", "ef"), flow("data", "af21"), flow("rest", "default"), flow("control", "cs5")],
    })
}

/// The count of the conditioner called `stage` on a `side` of the interface of `node` to `neighbor`.
fn counted(results: &Results, [node, neighbor, side]: [&str; 3], stage: &str) -> u64 {
    let table = results.table("conditioners").unwrap();
    let texts = |column: &str| match table.column(column).unwrap() {
        Values::Text { codes, names } => {
            codes.iter().map(|code| names[*code as usize].clone()).collect::<Vec<_>>()
        }
        _ => panic!("{column} is no text"),
    };
    let keys = ["node", "neighbor", "side", "stage"].map(texts);
    let is_row = |row: usize| {
        keys.iter().zip([node, neighbor, side, stage]).all(|(column, wanted)| column[row] == wanted)
    };
    let packets = numbers(table, "packets").into_iter().enumerate();
    packets.filter(|(row, _)| is_row(*row)).map(|(_, packets)| packets as u64).sum()
}

#[test]
fn marks_cross_links_with_their_headers() {
    let results = simulate(&marked(), ONCE);
    // In the second of the run, 80 kb/s are 100 packets of 100 bytes.
    for (interface, name, packets) in [
        (["q", "p", "input"], "mpls-exp 0", 100), // the other packets, with the precedence of their codepoint
        (["q", "p", "input"], "mpls-exp 2", 0),   // data, with the mark of the output, not of AF21
        (["q", "p", "input"], "mpls-exp 4", 100),
        (["q", "p", "input"], "mpls-exp 5", 200), // EF and CS5
        (["r", "q", "input"], "cos 0", 100),
        (["r", "q", "input"], "cos 4", 100),
        (["r", "q", "input"], "cos 5", 0),
        (["r", "q", "input"], "cos 6", 200),
        (["r", "q", "input"], "mpls-exp 5", 200), // swapped
        (["s", "r", "input"], "cos 0", 100),
        (["s", "r", "input"], "cos 6", 200),
        (["s", "r", "input"], "mpls-exp 0", 0), // popped
        (["s", "r", "input"], "mpls-exp 5", 0),
        (["s", "b", "output"], "cos 0", 0),
        (["s", "b", "output"], "cos 6", 0),
        (["s", "b", "output"], "mpls-exp 5", 0),
    ] {
        assert_eq!(counted(&results, interface, name), packets, "{interface:?} {name}");
    }
}

#[test]
fn both_engines_carry_the_same_marks() {
    let tables = |engine| format!("{:?}", simulate(&marked(), RunOptions { engine, ..ONCE }).tables);
    assert_eq!(tables(EngineChoice::Fast), tables(EngineChoice::Plain));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Packets with headers of variable length take the general path through the fast engine.
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
