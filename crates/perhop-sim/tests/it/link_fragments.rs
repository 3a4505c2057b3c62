//! Links that send packets in fragments: delays, rates and losses as calculated by hand, in both engines.

use crate::simulation::{ONCE, count, mean, simulate};
use perhop_measure::results::Results;
use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Transmission time of a byte at 64 kb/s, seconds.
const BYTE: f64 = 8.0 / 64e3;
/// Bytes of framing `ppp`, and of the multilink header.
const PPP: f64 = 7.0;
const MULTILINK: f64 = 4.0;
/// The PPP protocol number inside a bundle, bytes.
const PROTOCOL: f64 = 2.0;

/// `traffic` over a link of 64 kb/s between two routers, which has these headers and a class with priority.
fn network(headers: &Value, link: &Value, traffic: &[Value]) -> Value {
    let mut slow = json!({"between": ["r", "s"], "rate": "64kb/s", "framing": "ppp", "headers": headers,
                          "interfaces": {"r": {"output": "llq"}}});
    slow.as_object_mut().unwrap().extend(link.as_object().unwrap().clone());
    json!({
        "perhop": 1, "name": "link fragments", "duration": "200s",
        "hosts": {"a": {}, "b": {}}, "routers": {"r": {}, "s": {}},
        "links": [{"between": ["a", "r"], "rate": "100Gb/s"}, slow, {"between": ["s", "b"], "rate": "100Gb/s"}],
        "policies": {"llq": {"queueing": {"scheduler": "priority", "classes": [
            {"name": "voice", "match": {"dscp": "ef"}}, {"name": "rest"},
        ]}}},
        "traffic": traffic,
    })
}

fn cut(interleave: bool) -> Value {
    json!([{"mlppp": {"fragment": "72B", "interleave": interleave}}])
}

/// A packet of `size` IP bytes at regular intervals, with its own phase.
fn cbr(name: &str, dscp: &str, rate: u64, size: u64) -> Value {
    json!({"name": name, "from": "a", "to": "b", "dscp": dscp,
           "source": {"cbr": {"rate": format!("{rate}b/s"), "packet": {"ip": format!("{size}B")}, "jitter": 0.3}}})
}

/// Runs both engines and checks that they agree.
fn run(scenario: &Value) -> Results {
    let by = |engine| simulate(scenario, RunOptions { engine, ..ONCE });
    let (fast, plain) = (by(EngineChoice::Fast), by(EngineChoice::Plain));
    assert_eq!(format!("{:?}", fast.tables), format!("{:?}", plain.tables));
    fast
}

/// The longest delay of a voice packet of 60 bytes, while packets of 1500 bytes keep the wire busy.
fn longest_delay(headers: &Value, link: &Value) -> f64 {
    let traffic = [cbr("voice", "ef", 2_400, 60), cbr("bulk", "default", 96_000, 1500)];
    mean(&run(&network(headers, link, &traffic)), "voice", "delay_max_s")
}

/// The delay is the packet's own transmission time and the rest of the packet on the wire. The rest is at
/// most the whole packet. The longest rest of 1000 packets is near this limit.
#[test]
fn a_voice_packet_waits_for_one_fragment() {
    let of_voice = (60.0 + PPP) * BYTE;
    let with_header = (60.0 + PROTOCOL + MULTILINK + PPP) * BYTE;
    let whole = (1500.0 + PROTOCOL + MULTILINK + PPP) * BYTE;
    let fragment = (72.0 + MULTILINK + PPP) * BYTE;
    let one = json!({});
    let two = json!({"interfaces": {"r": {"output": "llq", "ring": {"packets": 2}}}});
    for (headers, link, expected) in [
        (json!([]), &one, (1500.0 + PPP) * BYTE + of_voice),
        (json!(["mlppp"]), &one, whole + with_header),
        (cut(true), &one, fragment + of_voice),
        // A transmit ring of two packets contains two fragments.
        (cut(true), &two, 2.0 * fragment + of_voice),
        // The 21 fragments of a packet are sent without a packet in between. The last fragment carries 62
        // bytes, and each of the others 72 bytes.
        (cut(false), &one, 21.0 * (MULTILINK + PPP) * BYTE + (1500.0 + PROTOCOL) * BYTE + with_header),
    ] {
        let found = longest_delay(&headers, link);
        // A voice packet takes 10 ns on the links of hosts.
        let is_near = found <= expected + 20e-9 && found > 0.97 * expected;
        assert!(is_near, "{headers} {link}: {found} s and not {expected} s");
    }
}

/// Checks the number of packets in 200 s. The last packet may be in transit at the end.
#[test]
fn headers_of_fragments_take_the_wire() {
    for (size, fragments) in [(1500, 21), (70, 1), (71, 2), (142, 2), (143, 3)] {
        let wire_bytes = size + 2 + fragments * (4 + 7);
        let results = run(&network(&cut(true), &json!({}), &[cbr("bulk", "default", 100_000, size)]));
        let (delivered, capacity) = (count(&results, "flows", "delivered_packets"), 200 * 8000 / wire_bytes);
        assert!((capacity - 1..=capacity).contains(&delivered), "{size} B: {delivered} of {capacity}");
    }
}

/// An interleaved packet of any length is not fragmented and has no multilink header. A short packet that is
/// not interleaved has a multilink header.
#[test]
fn interleaved_packets_are_not_fragmented() {
    for (dscp, bytes) in [("ef", 500 + 7), ("default", 500 + 2 + 7 * (4 + 7))] {
        let results = run(&network(&cut(true), &json!({}), &[cbr("flow", dscp, 8_000, 500)]));
        let found = mean(&results, "flow", "delay_min_s");
        let expected = f64::from(bytes) * BYTE + 2.0 * 500.0 * 8.0 / 100e9;
        assert!((found - expected).abs() < 1e-12, "{dscp}: {found} s and not {expected} s");
    }
}

/// On a wire that loses a hundredth of the fragments, all 21 fragments of a packet arrive with probability
/// 0.99²¹ = 0.81.
#[test]
fn a_lost_fragment_loses_its_packet() {
    let lossy = json!({"rate": "6400kb/s", "loss": 0.01});
    let results = run(&network(&cut(true), &lossy, &[cbr("bulk", "default", 1_200_000, 1500)]));
    let flow_counter = |column: &str| count(&results, "flows", column);
    let (offered, delivered, lost) =
        (flow_counter("offered_packets"), flow_counter("delivered_packets"), flow_counter("dropped_lost"));
    assert_eq!(offered, delivered + lost + flow_counter("in_network_packets"));
    let share = delivered as f64 / (delivered + lost) as f64;
    // Three standard deviations of 20 000 packets.
    assert!((share - 0.99f64.powi(21)).abs() < 0.0085, "{share} of {offered}");
}

/// A network with one of five schedulers, the fragmentation of the wire, and the length of its ring.
fn mixed(way: (usize, u64, bool, u64), loss: f64, sources: &[(bool, u64, u64)], tcp: bool) -> Value {
    let (policy, fragment, interleave, ring) = way;
    let limit = json!({"tail-drop": {"limit": "9 packets"}});
    let voice = json!({"name": "voice", "match": {"dscp": "ef"}, "buffer": limit});
    let rest = json!({"name": "rest", "buffer": limit});
    let shares = json!({"scheduler": "wf2q-plus", "classes": [
        {"name": "one", "match": {"dscp": "af11"}, "buffer": limit}, {"name": "two", "buffer": limit}]});
    let llq = json!({"scheduler": "priority", "classes": [voice, {"name": "rest", "queueing": shares}]});
    let queueing = [
        json!({"classes": [rest]}),
        json!({"scheduler": "priority", "classes": [voice, rest]}),
        llq.clone(),
        json!({"classes": [{"name": "all", "shape": {"rate": "200kb/s", "burst": "3kB"}, "queueing": llq}]}),
        json!({"scheduler": "priority", "classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "buffer": limit,
             "share": {"cap": {"rate": "50kb/s", "burst": "500B"}}},
            {"name": "rest", "buffer": limit}]}),
    ];
    let sources = sources.iter().enumerate().map(|(index, (is_voice, rate, size))| {
        let mut source = cbr(&format!("flow{index}"), if *is_voice { "ef" } else { "af11" }, *rate, *size);
        source["from"] = json!(["a", "c"][index % 2]);
        source
    });
    let mut traffic: Vec<Value> = sources.collect();
    if tcp {
        traffic.push(json!({"name": "bulk", "from": "a", "to": "b",
                            "source": {"bulk": {"tcp": {"profile": "linux-modern"}}}}));
    }
    let headers = json!([{"mlppp": {"fragment": format!("{fragment}B"), "interleave": interleave}}]);
    let mut scenario = network(
        &headers,
        &json!({"rate": "256kb/s", "loss": loss, "delay": "3ms",
                "interfaces": {"r": {"output": "llq", "ring": {"packets": ring}}}}),
        &traffic,
    );
    scenario["duration"] = json!("3s");
    scenario["hosts"]["c"] = json!({});
    scenario["policies"]["llq"] = json!({"queueing": queueing[policy]});
    // The link of one host is fragmented, too.
    scenario["links"].as_array_mut().unwrap().push(json!({"between": ["c", "r"], "rate": "300kb/s",
        "framing": "ppp", "headers": headers, "interfaces": {"c": {"output": "llq"}}}));
    scenario
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn engines_agree(
        way in (0usize..5, 20u64..700, any::<bool>(), 1u64..4),
        loss in prop::sample::select(vec![0.0, 0.02]),
        sources in prop::collection::vec((any::<bool>(), 10_000u64..200_000, 40u64..1500), 1..6),
        tcp in any::<bool>(),
    ) {
        run(&mixed(way, loss, &sources, tcp));
    }
}

/// A dropped packet is also an arrival, so the port is polled. The poll may find an eligible head other than
/// the one for which the shaper waits.
#[test]
fn engines_agree_on_a_poll_after_a_drop() {
    run(&mixed((3, 533, false, 2), 0.0, &[(false, 42_089, 998), (false, 77_440, 46)], true));
}
