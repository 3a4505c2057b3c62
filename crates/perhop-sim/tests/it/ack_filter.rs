//! CAKE's ACK filter on a slow return path: an upload fills the path, and a download needs it.

use crate::simulation::{ONCE, mean, simulate};
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

/// A download of 50 Mb/s whose acknowledgments return at 300 kb/s, with this filter.
fn scenario(filter: &str) -> Value {
    let cake = json!({"cake": {"bandwidth": "300kb/s", "tins": "besteffort", "ack-filter": filter}});
    json!({
        "perhop": 1, "name": "asymmetric", "duration": "30s", "hosts": {"server": {}, "home": {}},
        "routers": {"edge": {}},
        "links": [
            {"between": ["server", "edge"], "rate": "50Mb/s", "delay": "10ms",
             "interfaces": {"server": {"output": "down"}}},
            {"between": ["edge", "home"], "rate": "100Mb/s", "delay": "1ms",
             "interfaces": {"home": {"output": "up"}}},
        ],
        "policies": {
            "down": {"queueing": {"classes": [{"name": "all", "buffer": {"codel": {"law": "linux"}}}]}},
            "up": {"queueing": {"classes": [{"name": "all", "buffer": cake}]}},
        },
        "traffic": [{"name": "download", "from": "server", "to": "home",
                     "source": {"bulk": {"tcp": {"profile": "linux-6"}}}}],
        "measure": {"warmup": "10s"},
    })
}

/// A link of 300 kb/s carries 721 acknowledgments of 52 bytes per second. COBALT drops a part of the excess,
/// but only after the excess has waited. With the filter, each acknowledgment replaces earlier
/// acknowledgments, so few wait.
#[test]
fn filtered_acknowledgments_do_not_limit_a_download() {
    let rates = ["none", "filter", "aggressive"].map(|filter| {
        let scenario =
            serde_json::to_value(perhop_scenario::load_json(scenario(filter), ".").unwrap().resolved);
        let scenario = scenario.unwrap();
        let fast = simulate(&scenario, ONCE);
        let plain = simulate(&scenario, RunOptions { engine: EngineChoice::Plain, ..ONCE });
        assert_eq!(
            serde_json::to_value(&fast.summary).unwrap(),
            serde_json::to_value(&plain.summary).unwrap(),
            "{filter}"
        );
        mean(&fast, "download", "throughput_bps")
    });
    assert!(rates[0] < 30e6, "{rates:?}");
    assert!(rates[1..].iter().all(|rate| *rate > 0.97 * 50e6), "{rates:?}");
}
