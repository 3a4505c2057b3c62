//! Links with `rate-changes`: their throughput, and the fast engine compared with the plain engine.

use crate::simulation::{ONCE, count, simulate};
use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A packet of 1250 bytes has 10 kb. The link carries 1000 packets in the first second, 100 in the second, 0
/// in the first half of the third second, and 500 in the other half.
#[test]
fn a_link_carries_the_sum_of_its_rates() {
    let scenario = json!({
        "perhop": 1, "name": "rates", "duration": "3s", "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "100Gb/s"},
            {"between": ["r", "b"], "rate": "10Mb/s", "rate-changes": [
                {"at": "1s", "rate": "1Mb/s"}, {"at": "2s", "rate": "0b/s"}, {"at": "2500ms", "rate": "10Mb/s"},
            ]},
        ],
        "traffic": [{"name": "flow", "from": "a", "to": "b",
                     "source": {"cbr": {"rate": "12Mb/s", "packet": {"ip": "1250B"}}}}],
    });
    for engine in [EngineChoice::Fast, EngineChoice::Plain] {
        let results = simulate(&scenario, RunOptions { seed: 1, engine, ..ONCE });
        let delivered = count(&results, "flows", "delivered_packets");
        assert!((1598..=1600).contains(&delivered), "{delivered} delivered");
        let offered = count(&results, "flows", "offered_packets");
        let inside = count(&results, "flows", "in_network_packets");
        assert_eq!(offered, delivered + inside + count(&results, "flows", "dropped_packets"));
    }
}

/// Datagrams and TCP over two links whose rates change, the second with a queue.
fn tables(
    queueing: usize,
    changes: [&[(u64, u64)]; 2],
    ring: u32,
    engine: EngineChoice,
    seed: u64,
) -> Vec<String> {
    let in_json = |changes: &[(u64, u64)]| -> Vec<Value> {
        let mut at = 0;
        let change = |&(after, rate): &(u64, u64)| {
            at += after;
            json!({"at": format!("{at}us"), "rate": format!("{rate}b/s")})
        };
        changes.iter().map(change).collect()
    };
    let tail_drop = json!({"tail-drop": {"limit": "12 packets"}});
    let buffer = match queueing {
        0 => tail_drop,
        1 => json!({"codel": {"law": "linux", "target": "4ms", "interval": "40ms"}}),
        2 => json!({"fq-codel": {"target": "4ms", "interval": "40ms", "limit": "40 packets"}}),
        3 => json!({"pie": {"target": "4ms"}}),
        4 => json!({"dualpi2": {"target": "4ms"}}),
        _ => {
            json!({"red": {"precedences": [{"min": "2 packets", "max": "9 packets", "max-probability": 0.3}],
                            "averaging": {"weight": 0.1}}})
        }
    };
    let [first, second] = changes.map(in_json);
    let tcp =
        json!({"profile": "linux-6", "congestion": if seed.is_multiple_of(2) { "ledbat" } else { "cubic" }});
    let scenario = json!({
        "perhop": 1, "name": "rates", "duration": "3s", "hosts": {"a": {}, "b": {}, "s": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "3Mb/s", "delay": "1ms", "rate-changes": first},
            {"between": ["b", "r"], "rate": "4Mb/s", "delay": "7ms"},
            {"between": ["r", "s"], "rate": "2Mb/s", "delay": "5ms", "rate-changes": second,
             "interfaces": {"r": {"output": "queue", "ring": {"packets": ring}}}},
        ],
        "policies": {"queue": {"queueing": {"classes": [{"name": "all", "buffer": buffer}]}}},
        "traffic": [
            {"name": "udp", "from": "a", "to": "s", "start-within": "20ms",
             "source": {"poisson": {"rate": "900kb/s", "packet": {"ip": "400B"}, "sizes": "exponential"}}},
            {"name": "tcp", "from": "b", "to": "s", "count": 2, "start-within": "20ms", "source": {"bulk": {"tcp": tcp}}},
        ],
        "measure": {"throughput-every": "100ms", "delay-every": "100ms"},
    });
    let results = simulate(&scenario, RunOptions { seed, engine, ..ONCE });
    results.tables.iter().map(|table| format!("{table:?}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn engines_agree(
        queueing in 0usize..6,
        first in prop::collection::vec((1u64..400_000, 0u64..4_000_000), 0..8),
        second in prop::collection::vec((1u64..400_000, 0u64..4_000_000), 0..8),
        ring in 1u32..4,
        seed in any::<u64>(),
    ) {
        let ended = |changes: Vec<(u64, u64)>| [changes, vec![(1, 1_500_000)]].concat();
        let changes = [ended(first), ended(second)];
        let by = |engine| tables(queueing, [&changes[0], &changes[1]], ring, engine, seed);
        prop_assert_eq!(by(EngineChoice::Fast), by(EngineChoice::Plain));
    }
}
