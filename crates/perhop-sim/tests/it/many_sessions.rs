//! From 2000 TCP sessions on, the fast engine prefetches state. Its results must equal the results of the
//! plain engine.

use perhop_sim::{EngineChoice, RunOptions};
use serde_json::{Value, json};

use crate::shortcuts_tcp::first_difference;
use crate::simulation::{ONCE, simulate};

/// Sessions of hosts that share access links, and of hosts with links of their own; datagrams in fragments,
/// and a queue that drops.
fn scenario() -> Value {
    let bulk = json!({"bulk": {"tcp": {"profile": "linux-modern"}}});
    let poisson = json!({"poisson": {"rate": "10Mb/s", "packet": {"ip": "1200B"}}});
    let mut hosts = serde_json::Map::new();
    let mut links = vec![json!({
        "between": ["left", "right"], "rate": "100Mb/s", "delay": "5ms", "mtu": "600B", "interfaces": {"left": {
            "output": "queue"}}})];
    let mut traffic = vec![
        json!({"name": "many", "from": "c0", "to": "s0", "count": 2000, "start-within": "100ms", "source": bulk}),
        json!({"name": "datagrams", "from": "c1", "to": "s1", "source": poisson}),
    ];
    for host in 0..40 {
        for (name, router) in [(format!("c{host}"), "left"), (format!("s{host}"), "right")] {
            links.push(json!({"between": [name, router], "rate": "40Mb/s", "delay": "1ms", "loss": 0.001}));
            hosts.insert(name, json!({}));
        }
        let [from, to] = ["c", "s"].map(|side| format!("{side}{host}"));
        traffic.push(json!({"name": format!("own{host}"), "from": from, "to": to, "source": bulk}));
    }
    json!({
        "perhop": 1, "name": "many-sessions", "duration": "250ms", "hosts": hosts,
        "routers": {"left": {}, "right": {}}, "links": links, "traffic": traffic,
        "policies": {"queue": {"queueing": {"classes": [
            {"name": "all", "buffer": {"tail-drop": {"limit": "200 packets"}}}]}}},
        "measure": {"throughput-every": "50ms"},
    })
}

#[test]
fn engines_agree_about_thousands_of_sessions() {
    let engines = [EngineChoice::Fast, EngineChoice::Plain, EngineChoice::Parallel];
    let [fast, plain, parallel] = engines.map(|engine| {
        let results = simulate(&scenario(), RunOptions { engine, threads: 2, ..ONCE });
        results.tables.iter().map(|table| format!("{table:?}")).collect::<Vec<_>>()
    });
    assert_eq!(first_difference(&fast, &plain), None);
    assert_eq!(first_difference(&parallel, &plain), None);
}
