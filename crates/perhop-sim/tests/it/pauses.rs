//! Priority flow control: pauses and drops worked out by hand, their spread, and deadlocks.

use crate::simulation::{ONCE, count, numbers, simulate, simulate_observed};
use perhop_measure::Results;
use perhop_measure::results::Table;
use perhop_sim::{EngineChoice, RunOptions, Undivided};
use serde_json::{Value, json};

/// Sufficient headroom, bytes. At 10 Gb/s, 6 872 bytes arrive during 2 us of propagation, the transmission of
/// a pause frame, and the response to it. Three packets are added: one above XOFF, one in front of the pause
/// frame, and one that begins just before the pause.
const ENOUGH: u64 = 12_000;

/// The class of all packets, with `pause` of priority 3 and, if given, the memory of the interface.
fn lossless(buffer: Option<Value>) -> Value {
    let mut pause = json!({"priority": 3});
    if let Some(buffer) = buffer {
        pause["buffer"] = buffer;
    }
    json!({"queueing": {"classes": [{"name": "all", "pause": pause, "buffer": unlimited()}]}})
}

fn unlimited() -> Value {
    json!({"tail-drop": {"limit": "100MB"}})
}

fn memory(xoff: u64, xon: u64, headroom: u64) -> Value {
    json!({"xoff": format!("{xoff}B"), "xon": format!("{xon}B"), "headroom": format!("{headroom}B")})
}

/// A link of 10 Gb/s and 1 us with these output policies.
fn link(a: &str, b: &str, policies: &Value) -> Value {
    let mut link = json!({"between": [a, b], "rate": "10Gb/s", "delay": "1us", "interfaces": {}});
    for (node, policy) in policies.as_object().unwrap() {
        link["interfaces"][node] = json!({"output": policy});
    }
    link
}

/// Packets of 1500 bytes, back to back at 10 Gb/s: one each 1.2 us.
fn flow(name: &str, from: &str, to: &str) -> Value {
    let source = json!({"cbr": {"rate": "10Gb/s", "packet": {"ip": "1500B"}}});
    json!({"name": name, "from": from, "to": to, "source": source})
}

/// Two hosts send to a third through a switch.
fn two_into_one(headroom: u64, duration: &str) -> Value {
    let sender = |host: &str| link(host, "switch", &json!({host: "obeys", "switch": "pauses"}));
    json!({
        "perhop": 1, "name": "two into one", "duration": duration,
        "hosts": {"one": {}, "two": {}, "receiver": {}}, "routers": {"switch": {}},
        "policies": {
            "obeys": lossless(None),
            "pauses": lossless(Some(memory(15_000, 7_500, headroom))),
        },
        "links": [sender("one"), sender("two"), link("switch", "receiver", &json!({"switch": "obeys"}))],
        "traffic": [flow("one", "one", "receiver"), flow("two", "two", "receiver")],
    })
}

fn pauses(results: &Results) -> &Table {
    results.table("pauses").expect("the policies have `pause`")
}

/// A column of seconds, in picoseconds.
fn picoseconds(results: &Results, column: &str) -> Vec<u64> {
    numbers(pauses(results), column).into_iter().map(|seconds| (seconds * 1e12).round() as u64).collect()
}

/// Packet `k` of each sender arrives at a(k) = (k + 1) × 1.2 us + 1 us. At each a(k), one packet leaves, from
/// the first and the second sender in turn. After the arrival of packet `k`, the memory contains ⌈k / 2⌉
/// packets of the first sender and ⌈(k + 1) / 2⌉ packets of the second. XOFF is 10 packets per sender, so the
/// 11th packets, at a(21) and a(20), cause the pauses.
///
/// A pause has an effect after 4497.6 ns: the pause frame has 84 bytes (67.2 ns) and propagates for 1 us, and
/// the response takes 67 quanta (3430.4 ns). Until then, the senders start packets up to k = 26 and k = 25.
/// Then the memory contains 13 packets of each sender, so 3 packets of each use the headroom.
///
/// XON is 5 packets. Packet m of the first sender leaves at a(2m) and packet m of the second at a(2m + 1).
/// Then 26 - m and 25 - m packets remain. The senders therefore resume 4497.6 ns after a(42) and a(41), which
/// is 21 × 1.2 us after their pauses began.
#[test]
fn two_senders_are_paused_for_as_long_as_arithmetic_says() {
    let results = simulate(&two_into_one(4_500, "57200ns"), ONCE);
    assert_eq!(numbers(pauses(&results), "pauses"), [1.0, 1.0]);
    assert_eq!(picoseconds(&results, "paused_s"), [25_200_000, 25_200_000]);
    assert_eq!(picoseconds(&results, "longest_s"), [25_200_000, 25_200_000]);
    assert_eq!(numbers(pauses(&results), "most_bytes"), [19_500.0, 19_500.0]);
    assert_eq!(numbers(pauses(&results), "deepest_links"), [1.0, 1.0]);
    assert_eq!(count(&results, "pauses", "spread_pauses"), 0);
    assert_eq!(count(&results, "ports", "dropped_packets"), 0);
    // In a run of 37 us, the first sender is paused for the last 5 102.4 ns, from a(21) + 4497.6 ns = 31
    // 897.6 ns on.
    let earlier = simulate(&two_into_one(4_500, "37us"), ONCE);
    assert_eq!(picoseconds(&earlier, "paused_s"), [5_102_400, 6_302_400]);
}

/// With one byte less, there is no room for the 13th packet of each sender, which is packet 25 of the second
/// sender and packet 26 of the first.
#[test]
fn a_headroom_of_one_byte_too_few_drops_the_last_packet_of_each_sender() {
    let results = simulate(&two_into_one(4_499, "57200ns"), ONCE);
    assert_eq!(count(&results, "ports", "dropped_headroom"), 2);
    assert_eq!(count(&results, "ports", "dropped_packets"), 2);
    assert_eq!(numbers(pauses(&results), "most_bytes"), [18_000.0, 18_000.0]);
    let classes = results.table("classes").unwrap();
    assert_eq!(numbers(classes, "dropped_headroom"), [1.0, 1.0]);
}

/// A sender without `pause` is not paused, so the switch drops its packets that exceed the headroom.
#[test]
fn a_neighbor_without_flow_control_is_not_paused() {
    let mut scenario = two_into_one(ENOUGH, "200us");
    scenario["links"][1]["interfaces"]["two"] = json!({});
    let results = simulate(&scenario, ONCE);
    let table = pauses(&results);
    assert!(numbers(table, "pauses")[0] > 0.0);
    assert_eq!(numbers(table, "pauses")[1], 0.0);
    assert_eq!(numbers(table, "most_bytes")[1], 27_000.0);
    let dropped = numbers(results.table("classes").unwrap(), "dropped_headroom");
    assert!(dropped[0] == 0.0 && dropped[1] > 0.0, "{dropped:?}");
}

/// `mode: off` at the sender has the same effect as a sender without `pause`.
#[test]
fn an_interface_with_its_mode_off_does_not_obey() {
    let mut scenario = two_into_one(ENOUGH, "200us");
    scenario["policies"]["deaf"] = lossless(None);
    scenario["policies"]["deaf"]["queueing"]["classes"][0]["pause"]["mode"] = json!("off");
    scenario["links"][1]["interfaces"]["two"] = json!({"output": "deaf"});
    assert_eq!(numbers(pauses(&simulate(&scenario, ONCE)), "pauses")[1], 0.0);
}

/// Results have the same bytes for all engines and numbers of threads, and a network with pauses is not
/// divided.
#[test]
fn every_engine_runs_the_same_network() {
    let scenario = two_into_one(4_500, "1ms");
    let by = |engine, threads| simulate(&scenario, RunOptions { engine, threads, ..ONCE });
    let fast = format!("{:?}", by(EngineChoice::Fast, 1).tables);
    assert_eq!(fast, format!("{:?}", by(EngineChoice::Plain, 1).tables));
    assert_eq!(fast, format!("{:?}", by(EngineChoice::Parallel, 2).tables));
    let options = RunOptions { engine: EngineChoice::Parallel, threads: 2, ..ONCE };
    assert_eq!(simulate_observed(&scenario, options).1.division(), Some(Err(Undivided::Pauses)));
}

/// A packet of a class without `pause` passes while the other class is paused.
#[test]
fn a_pause_holds_back_one_priority() {
    let mut scenario = two_into_one(ENOUGH, "1ms");
    let with_rest = |policy: &Value| {
        let mut policy = policy.clone();
        let mut paused = policy["queueing"]["classes"][0].clone();
        paused["match"] = json!({"dscp": ["cs3"]});
        policy["queueing"] = json!({"scheduler": "drr", "classes": [paused, {"name": "rest"}]});
        policy
    };
    for name in ["obeys", "pauses"] {
        scenario["policies"][name] = with_rest(&scenario["policies"][name]);
    }
    for index in [0, 1] {
        scenario["traffic"][index]["dscp"] = json!("cs3");
    }
    let small = json!({"cbr": {"rate": "100Mb/s", "packet": {"ip": "1250B"}}});
    let traffic = json!({"name": "small", "from": "one", "to": "receiver", "source": small});
    scenario["traffic"].as_array_mut().unwrap().push(traffic);
    let results = simulate(&scenario, ONCE);
    assert!(numbers(pauses(&results), "paused_s")[0] > 0.4e-3, "the sender is paused half of the time");
    let classes = results.table("classes").unwrap();
    // At each of two ports, a small packet waits for one large packet (1.2 us) and is then transmitted (1
    // us). The two links add 2 us.
    assert!(numbers(classes, "delay_max_s")[2] < 8e-6, "{:?}", numbers(classes, "delay_max_s"));
    assert_eq!(count(&results, "ports", "dropped_packets"), 0);
}

/// `host - far - near - receiver`: the pause of the port towards `near` fills `far`, which pauses the host.
#[test]
fn a_pause_spreads_upstream() {
    let pausing = |a: &str, b: &str| link(a, b, &json!({a: "pauses", b: "pauses"}));
    let mut last = link("near", "receiver", &json!({"near": "pauses"}));
    last["rate"] = json!("1Gb/s");
    let scenario = json!({
        "perhop": 1, "name": "spread", "duration": "2ms",
        "hosts": {"host": {}, "receiver": {}}, "routers": {"far": {}, "near": {}},
        "policies": {"pauses": lossless(Some(memory(15_000, 7_500, 15_000)))},
        "links": [pausing("host", "far"), pausing("far", "near"), last],
        "traffic": [flow("all", "host", "receiver")],
    });
    let results = simulate(&scenario, ONCE);
    let table = pauses(&results);
    // The ports in the order of links: host->far, far->host, far->near, near->far.
    let (deepest, spread) = (numbers(table, "deepest_links"), numbers(table, "spread_pauses"));
    assert_eq!((deepest[0], deepest[2]), (2.0, 1.0));
    assert_eq!(spread[2], 0.0);
    assert!(spread[0] > 0.0 && spread[0] <= numbers(table, "pauses")[0]);
    assert_eq!(count(&results, "ports", "dropped_packets"), 0);
    assert!(numbers(table, "deadlocked_s").iter().all(|time| time.is_nan()));
}

/// Three routers in a ring. Each host sends over two links of the ring, all in the same direction. The
/// packets that wait at a router for the next link keep the previous link paused, so the pauses form a cycle.
fn ring(routes: &Value) -> Value {
    let (mut links, mut traffic) = (Vec::new(), Vec::new());
    for (router, next, after) in [("A", "B", "C"), ("B", "C", "A"), ("C", "A", "B")] {
        links.push(link(router, next, &json!({router: "pauses", next: "pauses"})));
        let host = router.to_lowercase();
        links.push(link(&host, router, &json!({&host: "pauses", router: "pauses"})));
        traffic.push(flow(&host, &host, &after.to_lowercase()));
    }
    json!({
        "perhop": 1, "name": "ring", "duration": "5ms", "hosts": {"a": {}, "b": {}, "c": {}},
        "routers": routes, "policies": {"pauses": lossless(Some(memory(15_000, 7_500, 15_000)))},
        "links": links, "traffic": traffic,
    })
}

#[test]
fn a_cycle_of_pauses_is_reported_as_a_deadlock() {
    let around = json!({
        "A": {"routes": {"c": "B"}}, "B": {"routes": {"a": "C"}}, "C": {"routes": {"b": "A"}},
    });
    let results = simulate(&ring(&around), ONCE);
    let table = pauses(&results);
    let since = numbers(table, "deadlocked_s");
    let ports: Vec<&str> = (0..table.rows())
        .filter(|row| !since[*row].is_nan())
        .map(|row| table.column("port").unwrap().text(row).unwrap())
        .collect();
    assert_eq!(ports, ["A->B", "B->C", "C->A"]);
    assert!(since.iter().filter(|time| !time.is_nan()).all(|time| *time < 1e-3), "{since:?}");
    // No packet has arrived since the deadlock.
    let delivered = count(&results, "classes", "delivered_packets");
    let mut longer = ring(&json!({
        "A": {"routes": {"c": "B"}}, "B": {"routes": {"a": "C"}}, "C": {"routes": {"b": "A"}},
    }));
    longer["duration"] = json!("10ms");
    assert_eq!(count(&simulate(&longer, ONCE), "classes", "delivered_packets"), delivered);
    assert_eq!(count(&results, "ports", "dropped_packets"), 0);
}

/// On the shortest paths, no packet uses two links of the ring.
#[test]
fn without_a_cycle_nothing_is_a_deadlock() {
    let results = simulate(&ring(&json!({"A": {}, "B": {}, "C": {}})), ONCE);
    assert!(numbers(pauses(&results), "deadlocked_s").iter().all(|time| time.is_nan()));
}
