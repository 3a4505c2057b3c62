//! CAKE's ACK filter where acknowledgments have a narrow way back: an upload fills it, a download wants it.

use crate::simulation::{ONCE, mean, simulate};
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

/// A download of 50 Mb/s whose acknowledgments go back by 300 kb/s, with this filter.
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

/// Acknowledgments of 52 bytes: 721 in a second at 300 kb/s. COBALT drops some of what comes beyond that, but
/// only after they have waited; with the filter each says what those before it would have said, and few wait.
#[test]
fn a_download_is_no_longer_held_by_its_acknowledgments() {
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
