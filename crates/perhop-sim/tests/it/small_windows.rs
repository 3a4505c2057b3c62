//! DCTCP with a window of a few segments, with `CoDel` that marks packets after a wait of a millisecond. At
//! 10 Mb/s a packet takes longer than this, so the second of two packets that leave together is marked.

use crate::simulation::{ONCE, numbers, simulate};
use serde_json::json;

/// Linux's receiver acknowledges data with CWR at once (`tcp_ecn_accept_cwr`). Without that rule, the window
/// remains 6 segments for the whole run.
#[test]
fn dctcp_shrinks_to_a_window_that_leaves_no_pairs() {
    let scenario = json!({
        "perhop": 1, "name": "small", "duration": "30s",
        "hosts": {"client": {}, "server": {}}, "routers": {"router": {}},
        "links": [
            {"between": ["client", "router"], "rate": "100Gb/s"},
            {"between": ["router", "server"], "rate": "100Gb/s", "delay": "10ms",
             "interfaces": {"router": {"output": "queue"}}},
        ],
        "policies": {"queue": {"queueing": {"classes": [{"name": "all",
            "shape": {"rate": "9904300b/s", "burst": "1500B"},
            "buffer": {"codel": {"ce-threshold": {"wait": "1ms"}}}}]}}},
        "traffic": [{"name": "flow", "from": "client", "to": "server", "start": "100ms",
            "source": {"bulk": {"tcp": {"profile": "linux-6", "congestion": "dctcp"}}}}],
        "measure": {"warmup": "5s", "connections": [{"traffic": "flow", "every": "10ms"}]},
    });
    let results = simulate(&scenario, ONCE);
    let windows = numbers(results.table("connections").unwrap(), "cwnd_segments");
    let goodput = numbers(results.table("tcp").unwrap(), "goodput_bps")[0];
    assert!(windows.iter().all(|window| (2.0..=5.0).contains(window)), "{windows:?}");
    // A window of 4 segments of 1448 bytes per round trip, which is 20 ms plus the transmission time of a few
    // packets.
    assert!((1.9e6..2.4e6).contains(&goodput), "{goodput}");
}
