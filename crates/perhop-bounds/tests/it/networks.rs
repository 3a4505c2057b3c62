//! Bounds of small networks, calculated by hand. Wires without framing have 8 Mb/s and send one byte per
//! microsecond.

use std::path::Path;

use perhop_bounds::network::{Bounds, QueueRow, bounds};
use perhop_bounds::paths::EndToEnd;
use serde_json::{Value, json};

/// Returns the bounds of a network with `traffic` and `policies` from host `a` via the routers r1 and r2 to
/// host `b`.
fn bounds_of(traffic: &Value, policies: &Value, interfaces: &Value) -> Bounds {
    let scenario = json!({
        "perhop": 1, "name": "hops", "duration": "1s", "hosts": {"a": {}, "b": {}},
        "routers": {"r1": {}, "r2": {}}, "policies": policies, "traffic": traffic,
        "links": [
            {"between": ["a", "r1"], "rate": "80Mb/s"},
            {"between": ["r1", "r2"], "rate": "8Mb/s", "delay": "1ms", "interfaces": interfaces},
            {"between": ["r2", "b"], "rate": "8Mb/s"},
        ],
    });
    let loaded = perhop_scenario::load_json(scenario, ".").unwrap();
    bounds(&loaded.resolved, Path::new(".")).unwrap()
}

fn cbr(name: &str, rate: &str) -> Value {
    json!({"name": name, "from": "a", "to": "b", "source": {"cbr": {"rate": rate, "packet": {"ip": "1000B"}}}})
}

fn at<'a>(bounds: &'a Bounds, port: &str) -> &'a QueueRow {
    bounds.queues.iter().find(|row| row.port == port).unwrap()
}

fn class(bounds: &Bounds, name: &str) -> EndToEnd {
    bounds.paths.end_to_end().into_iter().find(|row| row.class == name).unwrap()
}

#[track_caller]
fn assert_time(seconds: f64, microseconds: f64) {
    assert!((seconds * 1e6 / microseconds - 1.0).abs() < 1e-5, "{} µs", seconds * 1e6);
}

#[test]
fn a_link_smooths_simultaneous_arrivals() {
    // Each of three flows sends one packet every 10 ms. At the host, the three packets can arrive at once:
    // 3000 bytes. At r1, they arrive at the rate of the host's link.
    let traffic = json!([cbr("x", "800kb/s"), cbr("y", "800kb/s"), cbr("z", "800kb/s")]);
    let bounds = bounds_of(&traffic, &json!({}), &json!({}));
    assert_time(at(&bounds, "a->r1").bound.delay.clone().unwrap(), 300.0);
    let late = at(&bounds, "r1->r2").bound.delay.clone().unwrap();
    // The third packet arrives 200 µs after the first. It departs when all three have been sent.
    assert_time(late, 3000.0 - 200.0);
    // The same streams cross both routers. Their packets arrive at r2 one after another, so the burst is not
    // counted again.
    let end = class(&bounds, "x");
    assert!(end.pays_once && end.hops == 3);
    // After r1, the arrivals are 1000 + t. At r2, each packet departs before the next one arrives.
    assert_time(at(&bounds, "r2->b").bound.delay.clone().unwrap(), 1000.0);
}

#[test]
fn bursts_are_paid_once() {
    // The source has no profile. A policer limits it to 5000 bytes at once and a tenth of a byte per
    // microsecond. Both routers serve its class with half of the wire. Other traffic may use the other half.
    let halves = json!({"queueing": {"scheduler": "scfq", "classes": [
        {"name": "x", "match": {"dscp": "ef"}}, {"name": "rest"},
    ]}});
    let poisson = |name: &str, dscp: &str| {
        json!({
            "name": name, "from": "a", "to": "b", "dscp": dscp,
            "source": {"poisson": {"rate": "100kb/s", "packet": {"ip": "1000B"}}},
        })
    };
    let edge = json!({"conditioners": [{
        "match": {"dscp": "ef"}, "green": ["transmit"], "red": ["drop"],
        "meter": {"token-bucket": {"rate": "800kb/s", "burst": "5000B"}},
    }]});
    let scenario = json!({
        "perhop": 1, "name": "once", "duration": "1s", "hosts": {"a": {}, "b": {}},
        "routers": {"r1": {}, "r2": {}, "r3": {}}, "policies": {"halves": halves, "edge": edge},
        "traffic": [poisson("x", "ef"), poisson("y", "default")],
        "links": [
            {"between": ["a", "r1"], "rate": "80Mb/s", "interfaces": {"r1": {"input": "edge"}}},
            {"between": ["r1", "r2"], "rate": "8Mb/s", "interfaces": {"r1": {"output": "halves"}}},
            {"between": ["r2", "r3"], "rate": "8Mb/s", "interfaces": {"r2": {"output": "halves"}}},
            {"between": ["r3", "b"], "rate": "80Mb/s"},
        ],
    });
    let loaded = perhop_scenario::load_json(scenario, ".").unwrap();
    let bounds = bounds(&loaded.resolved, Path::new(".")).unwrap();
    let x = class(&bounds, "x");
    let sum: f64 = bounds
        .queues
        .iter()
        .filter(|row| row.queue != "rest")
        .map(|row| row.bound.delay.clone().unwrap())
        .sum();
    let (end, pays_once) = (x.delay.unwrap(), x.pays_once);
    assert!(pays_once && end < sum, "{end} {sum}");
    // At r1, the fifth packet arrives 400 µs after the first. It waits for its class, which is served with
    // half a byte per microsecond, and for one packet of the other class.
    let first = 2.0 * 5000.0 + 1000.0 - 400.0;
    let at_first = bounds.queues.iter().find(|row| row.port == "r1->r2" && row.queue == "x").unwrap();
    assert_time(at_first.bound.delay.clone().unwrap(), first);
    // Over both routers, the burst is counted once. Each router adds its latency, and the second router adds
    // one packet at its rate.
    let hosts: f64 =
        ["a->r1", "r3->b"].iter().map(|port| at(&bounds, port).bound.delay.clone().unwrap()).sum();
    assert_time(end - hosts, first + 1000.0 + 2000.0);
}

#[test]
fn shapers_and_policers_bound_the_traffic_behind_them() {
    // The arrivals of TCP are unbounded. A shaper of 2 Mb/s limits them.
    let tcp = json!([{"name": "x", "from": "a", "to": "b", "source": {"bulk": {"tcp": {"profile": "linux-modern"}}}}]);
    let shape = json!({"shaped": {"queueing": {"classes": [{"name": "all", "shape": {"rate": "2Mb/s", "burst": "3000B"}}]}}});
    let shaped = bounds_of(&tcp, &shape, &json!({"r1": {"output": "shaped"}}));
    let behind = &at(&shaped, "r2->b").bound;
    let arrival = behind.arrival.as_ref().unwrap();
    assert!((arrival.rate() - 2.5e5).abs() < 1.0 && (arrival.burst() - 1500.0).abs() < 1.0, "{arrival:?}");
    assert_eq!(behind.overflows, Some(false));
    let police = json!({"rate": "2Mb/s", "burst": "3000B", "when": "always"});
    let policed = json!({"policed": {"queueing": {"classes": [{"name": "all", "police": police}]}}});
    let policed = bounds_of(&tcp, &policed, &json!({"r1": {"output": "policed"}}));
    assert!((at(&policed, "r2->b").bound.arrival.as_ref().unwrap().rate() - 2.5e5).abs() < 1.0);
    assert!(class(&policed, "x (back)").delay.is_ok());
}

#[test]
fn cyclic_paths_have_no_bound() {
    // Five routers form a ring, and each flow crosses two links. Every port therefore depends on the previous
    // port.
    const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    let (mut hosts, mut routers) = (json!({}), json!({}));
    let (mut links, mut traffic) = (Vec::new(), Vec::new());
    for (number, name) in NAMES.iter().enumerate() {
        let router = |number: usize| format!("r{}", NAMES[number % 5]);
        hosts[name] = json!({});
        routers[router(number)] = json!({});
        links.push(json!({"between": [name, router(number)], "rate": "8Mb/s"}));
        links.push(json!({"between": [router(number), router(number + 1)], "rate": "8Mb/s"}));
        traffic.push(json!({
            "name": name, "from": name, "to": NAMES[(number + 2) % 5],
            "source": {"cbr": {"rate": "100kb/s", "packet": {"ip": "1000B"}}},
        }));
    }
    let scenario = json!({
        "perhop": 1, "name": "ring", "duration": "1s", "hosts": hosts, "routers": routers, "links": links,
        "traffic": traffic,
    });
    let loaded = perhop_scenario::load_json(scenario, ".").unwrap();
    let bounds = bounds(&loaded.resolved, Path::new(".")).unwrap();
    let (outside, inside): (Vec<_>, Vec<_>) = bounds
        .queues
        .iter()
        .partition(|row| NAMES.iter().any(|name| row.port.starts_with(&format!("{name}->"))));
    assert!(outside.iter().all(|row| row.bound.overflows == Some(false)) && outside.len() == 5);
    // The arrivals are unbounded, but the backlog of a queue with a limit of 64 packets is bounded.
    assert!(inside.iter().all(|row| row.bound.arrival.is_none() && row.bound.overflows == Some(true)));
    assert_time(at(&bounds, "ra->rb").bound.delay.clone().unwrap(), 64_000.0 + 1000.0);
}
