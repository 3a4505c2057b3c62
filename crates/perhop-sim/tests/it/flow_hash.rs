//! Queue managers that select the queue of a flow by the hash of the sender's socket. The hash changes with
//! each timeout.

use crate::simulation::{ONCE, count, simulate};
use perhop_measure::Results;
use perhop_sim::{EngineChoice, RunOptions};
use serde_json::json;

/// Runs four flows of Reno with this `recovery` through a queue at 10 Mb/s for 20 s. The link before the
/// queue loses the fraction `loss` of the packets.
fn results(buffer: &str, flow_hash: &str, recovery: &str, loss: f64, engine: EngineChoice) -> Results {
    let options = match buffer {
        "cake" => json!({"tins": "besteffort", "flow-hash": flow_hash}),
        _ => json!({"law": "linux", "flow-hash": flow_hash}),
    };
    let scenario = json!({
        "perhop": 1, "name": "hash", "duration": "20s", "hosts": {"a": {}, "b": {}}, "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "1Gb/s", "loss": loss},
            {"between": ["r", "b"], "rate": "10Mb/s", "delay": "10ms",
             "interfaces": {"r": {"output": "queue"}}},
        ],
        "policies": {"queue": {"queueing": {"classes": [{"name": "all", "buffer": {buffer: options}}]}}},
        "traffic": [{"name": "flow", "from": "a", "to": "b", "count": 4, "start-within": "1s", "source":
            {"bulk": {"tcp": {"profile": "linux-6", "congestion": "reno", "recovery": recovery}}}}],
    });
    simulate(&scenario, RunOptions { seed: 7, engine, ..ONCE })
}

/// The numbers of sent packets, dropped packets and timeouts.
fn outcome(results: &Results) -> [u64; 3] {
    let counter = |table, column| count(results, table, column);
    [
        counter("flows", "offered_packets"),
        counter("flows", "dropped_early_forced"),
        counter("tcp", "timeouts"),
    ]
}

/// Both engines use the same hashes.
#[test]
fn timeouts_move_flows_to_other_queues() {
    for buffer in ["cake", "fq-codel", "fq-pie"] {
        let run = |flow_hash, engine| outcome(&results(buffer, flow_hash, "newreno", 0.03, engine));
        let (headers, socket) = (run("headers", EngineChoice::Fast), run("socket", EngineChoice::Fast));
        assert!(headers[2] > 20 && socket[2] > 20, "{buffer}: {headers:?}, {socket:?}");
        assert_ne!(headers, socket, "{buffer}");
        assert_eq!(socket, run("socket", EngineChoice::Plain), "{buffer}");
    }
}

/// With SACK, drops in the queue do not cause a timeout if no other packets are lost.
#[test]
fn without_timeouts_flows_keep_their_queues() {
    let run = |flow_hash| outcome(&results("fq-codel", flow_hash, "rack", 0.0, EngineChoice::Fast));
    let (headers, socket) = (run("headers"), run("socket"));
    assert_eq!(headers[2], 0, "{headers:?}");
    assert_eq!(headers, socket);
}
