//! Ports of a switch that share packet memory: drops of bursts by cause, compared with a count frame by
//! frame, and the fast engine compared with the plain engine.

use std::path::Path;

use crate::simulation::{ONCE, numbers, simulate};
use perhop_measure::Results;
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;
use perhop_scenario::Scenario;
use perhop_sim::playback::{MemoryLayout, Playback};
use perhop_sim::{EngineChoice, RunOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The number of units of 256 bytes for a frame of 1518 bytes.
const FRAME_UNITS: u64 = 6;
/// The time of a frame with preamble and gap on the wire, and the time between two frames of a sender, ns.
const WIRE_NS: u64 = 1538 * 8;
const INTERVAL_NS: u64 = 12_500;

/// A port of the switch: the name of its pool, and its limits in units.
#[derive(Clone, Copy)]
struct HotPort {
    pool: &'static str,
    pool_units: u64,
    threshold: u64,
    port_limit: u64,
}

impl HotPort {
    fn new(pool: &'static str, pool_units: u64) -> HotPort {
        HotPort { pool, pool_units, threshold: 1 << 20, port_limit: 1 << 20 }
    }
    fn queueing(self) -> Value {
        json!({
            "memory": {"unit-bytes": 256, "shared": self.pool_units, "pool": self.pool, "limit": self.port_limit},
            "classes": [{"name": "all", "buffer": {"shared-memory": {"thresholds": [self.threshold]}}}],
        })
    }
}

/// Drops of a port by cause: threshold, pool, port.
type Drops = [u64; 3];

/// All senders send a burst of `packets` frames at 1 Gb/s at the same time. `targets` has the port to which
/// each sender sends.
fn bursts(ports: &[HotPort], targets: &[usize], packets: u64) -> Value {
    let gigabit = |a: &str, b: &str| json!({"between": [a, b], "rate": "1Gb/s", "framing": "ethernet-wire"});
    let sender = |number: usize| format!("s{number}");
    let receiver = |number: usize| format!("r{number}");
    let mut links: Vec<Value> = (0..targets.len()).map(|number| gigabit(&sender(number), "switch")).collect();
    let mut policies = json!({});
    let mut hosts = json!({});
    for (number, port) in ports.iter().enumerate() {
        let mut link = gigabit("switch", &receiver(number));
        link["interfaces"] = json!({"switch": {"output": format!("port{number}")}});
        links.push(link);
        policies[format!("port{number}")] = json!({"queueing": port.queueing()});
        hosts[receiver(number)] = json!({});
    }
    let stop = format!("{}ns", packets * INTERVAL_NS - INTERVAL_NS / 2);
    // 1500 bytes in each interval.
    let source = json!({"cbr": {"rate": "960Mb/s", "packet": {"ip": "1500B"}}});
    let traffic: Vec<Value> = targets
        .iter()
        .enumerate()
        .map(|(number, target)| {
            hosts[sender(number)] = json!({});
            json!({"name": sender(number), "from": sender(number), "to": receiver(*target), "stop": stop,
                   "source": source})
        })
        .collect();
    json!({
        "perhop": 1, "name": "hot ports", "duration": "100ms", "hosts": hosts, "routers": {"switch": {}},
        "policies": policies, "links": links, "traffic": traffic,
    })
}

/// A drop because of the pool: the port, and the units of every port.
type Refusal = (usize, Vec<u64>);

/// The expected drops of these bursts, by port.
fn expected(ports: &[HotPort], targets: &[usize], packets: u64) -> Vec<Drops> {
    by_frame(ports, targets, packets).0
}

/// The expected drops of these bursts, by port, and each drop because of the pool, counted frame by frame. A
/// frame waits and uses its units until the transmission of the previous frame begins.
fn by_frame(ports: &[HotPort], targets: &[usize], packets: u64) -> (Vec<Drops>, Vec<Refusal>) {
    let mut drops = vec![[0; 3]; ports.len()];
    let mut refusals = Vec::new();
    // By port: the times at which frames enter the ring of one frame, and the time at which the wire is free.
    let mut entering: Vec<Vec<u64>> = vec![Vec::new(); ports.len()];
    let mut free_at = vec![0; ports.len()];
    for packet in 0..packets {
        let now = WIRE_NS + packet * INTERVAL_NS;
        for target in targets {
            let held = |port: usize| {
                FRAME_UNITS * entering[port].iter().filter(|enters| **enters > now).count() as u64
            };
            let pool = ports[*target].pool;
            let of_pool = (0..ports.len()).filter(|port| ports[*port].pool == pool);
            let used: u64 = of_pool.map(held).sum();
            let (own, limits) = (held(*target) + FRAME_UNITS, ports[*target]);
            let cause = if own > limits.threshold {
                0
            } else if own > limits.port_limit {
                2
            } else if used + FRAME_UNITS > limits.pool_units {
                let own_pool = |port: usize| if ports[port].pool == pool { held(port) } else { 0 };
                refusals.push((*target, (0..ports.len()).map(own_pool).collect()));
                1
            } else {
                entering[*target].push(free_at[*target].max(now));
                free_at[*target] = free_at[*target].max(now) + WIRE_NS;
                continue;
            };
            drops[*target][cause] += 1;
        }
    }
    (drops, refusals)
}

/// The counter `column` of each port of the switch in the results.
fn of_ports(results: &Results, column: &str, ports: usize) -> Vec<u64> {
    let table = results.table("ports").unwrap();
    let (names, values) = (table.column("port").unwrap(), numbers(table, column));
    let of_port = |number: usize| {
        let name = format!("switch->r{number}");
        let row = (0..table.rows()).find(|row| names.text(*row) == Some(name.as_str())).unwrap();
        values[row] as u64
    };
    (0..ports).map(of_port).collect()
}

/// Runs both engines, checks that they agree, and returns the drops of each port.
fn run(ports: &[HotPort], targets: &[usize], packets: u64) -> Vec<Drops> {
    let scenario = bursts(ports, targets, packets);
    let by = |engine| simulate(&scenario, RunOptions { engine, ..ONCE });
    let (fast, plain) = (by(EngineChoice::Fast), by(EngineChoice::Plain));
    assert_eq!(format!("{:?}", fast.tables), format!("{:?}", plain.tables));
    let causes = ["dropped_queue_full", "dropped_shared_memory", "dropped_port_memory"];
    let columns = causes.map(|column| of_ports(&fast, column, ports.len()));
    let total = of_ports(&fast, "dropped_packets", ports.len());
    let drops: Vec<Drops> =
        (0..ports.len()).map(|port| columns.each_ref().map(|column| column[port])).collect();
    assert_eq!(drops.iter().map(|port| port.iter().sum()).collect::<Vec<u64>>(), total);
    drops
}

#[test]
fn many_senders_into_one_port_lose_by_the_nearest_limit() {
    for (senders, threshold, port_limit, pool_units) in
        [(2, 240, 1000, 1000), (4, 1000, 240, 1000), (8, 1000, 1000, 240), (16, 600, 480, 360)]
    {
        let port = HotPort { threshold, port_limit, ..HotPort::new("chip", pool_units) };
        let targets = vec![0; senders];
        for packets in [5, 40, 100] {
            assert_eq!(run(&[port], &targets, packets), expected(&[port], &targets, packets));
        }
    }
}

#[test]
fn two_hot_ports_share_the_pool() {
    let ports = [HotPort::new("chip", 600); 2];
    for targets in [vec![0, 0, 1, 1], vec![0, 0, 0, 0, 1, 1], vec![0, 1, 1, 0, 1, 1]] {
        for packets in [20, 60, 120] {
            let found = run(&ports, &targets, packets);
            assert_eq!(found, expected(&ports, &targets, packets));
            // The drops of each port if it had the whole pool to itself.
            let alone = expected(&[HotPort::new("a", 600), HotPort::new("b", 600)], &targets, packets);
            let sum = |drops: &[Drops]| drops.iter().flatten().sum::<u64>();
            assert!(sum(&found) >= sum(&alone), "{found:?} {alone:?}");
        }
    }
}

/// One port with a long burst uses the whole pool, so that the other port drops frames far below its own
/// limits. A limit of the first port prevents this.
#[test]
fn one_port_takes_the_pool() {
    let (greedy, small) =
        (HotPort::new("chip", 300), HotPort { threshold: 240, ..HotPort::new("chip", 300) });
    let targets = [0, 0, 0, 0, 1, 1];
    let found = run(&[greedy, small], &targets, 60);
    assert_eq!(found, expected(&[greedy, small], &targets, 60));
    assert!(found[1][0] == 0 && found[1][1] > 20, "{found:?}");
    let bounded = HotPort { threshold: 60, ..greedy };
    let found = run(&[bounded, small], &targets, 60);
    assert_eq!(found, expected(&[bounded, small], &targets, 60));
    assert_eq!(found[1], [20, 0, 0]);
}

/// The rows of the table `pools`: port, holder, and the units of the holder at the first drop and at the drop
/// at which the holders have most units.
fn holders(results: &Results) -> Vec<(String, String, u64, u64)> {
    let table = results.table("pools").unwrap();
    let text = |column: &str, row| table.column(column).unwrap().text(row).unwrap().to_owned();
    let (first, fullest) = (numbers(table, "first_units"), numbers(table, "fullest_units"));
    let row = |row| (text("port", row), text("holder", row), first[row] as u64, fullest[row] as u64);
    (0..table.rows()).map(row).collect()
}

/// The rows that the count frame by frame predicts.
fn expected_holders(refusals: &[Refusal], ports: usize) -> Vec<(String, String, u64, u64)> {
    let name = |port: usize| format!("switch->r{port}");
    let of_port = |port: usize| {
        let mut own = refusals.iter().filter(move |(victim, _)| *victim == port).map(|(_, held)| held);
        let first = own.next()?;
        let sum = |held: &&Vec<u64>| held.iter().sum::<u64>();
        // Of drops with equal units, the first one is recorded.
        let fullest = own.fold(first, |best, held| if sum(&held) > sum(&best) { held } else { best });
        let others = (0..ports).filter(move |other| *other != port);
        let row = move |holder: usize| (name(port), name(holder), first[holder], fullest[holder]);
        let rows = std::iter::once(port).chain(others).map(row);
        Some(rows.filter(|(.., first, fullest)| first + fullest > 0).collect::<Vec<_>>())
    };
    (0..ports).filter_map(of_port).flatten().collect()
}

/// Checks which ports used the memory when it had no room: at the first drop of each port, and at the drop at
/// which most units were used.
#[test]
fn the_holders_of_a_pool_are_those_of_the_count_of_frames() {
    let bounded = HotPort { threshold: 150, ..HotPort::new("chip", 301) };
    let ports = [HotPort::new("chip", 301), bounded, HotPort::new("other", 100)];
    for targets in [vec![0, 0, 0, 0, 1, 1], vec![1, 1, 0, 0, 2, 2, 2], vec![2, 2, 2]] {
        let (_, refusals) = by_frame(&ports, &targets, 70);
        // The third port is alone in its pool, which it does not share.
        let shared: Vec<Refusal> = refusals.into_iter().filter(|(port, _)| *port < 2).collect();
        for engine in [EngineChoice::Fast, EngineChoice::Plain] {
            let results = simulate(&bursts(&ports, &targets, 70), RunOptions { engine, ..ONCE });
            assert_eq!(holders(&results), expected_holders(&shared, ports.len()));
            let summary = results.summary.to_json();
            assert_eq!(summary.contains("\"pools\""), !shared.is_empty());
        }
    }
    let taken = simulate(&bursts(&ports, &[0, 0, 0, 0, 1, 1], 70), ONCE);
    let rows = holders(&taken);
    let of_second = |(port, ..): &&(String, String, u64, u64)| port == "switch->r1";
    let [(_, _, own, _), (_, holder, most, _)] = &rows.iter().filter(of_second).collect::<Vec<_>>()[..]
    else {
        panic!("{rows:?}")
    };
    assert!(holder == "switch->r0" && most > own && own + most > 301 - FRAME_UNITS, "{rows:?}");
}

/// The memory over time, as the playground draws it: limits, peaks, and the drops of each cause.
#[test]
fn the_memory_over_time_agrees_with_the_count_of_frames() {
    let ports =
        [HotPort::new("chip", 301), HotPort { threshold: 40, port_limit: 30, ..HotPort::new("chip", 301) }];
    let targets = [0, 0, 0, 0, 1, 1];
    let scenario: Scenario = serde_json::from_value(bursts(&ports, &targets, 70)).unwrap();
    // Each link has two ports. The links of the six senders have ports 0 to 11, and the link of the first
    // receiver has ports 12 and 13. Port 14 is `switch->r1`.
    let chosen = 14;
    let mut playback = Playback::new(&scenario, Path::new("."), 1, chosen).unwrap();
    let ms = Time::from_milliseconds;
    let span = playback.memory(ms(0), ms(20), 400).unwrap().unwrap();
    let MemoryLayout { unit_bytes, pool_units, ports: layouts } = &span.layout;
    assert_eq!((*unit_bytes, *pool_units), (256, 301));
    let names: Vec<&str> = layouts.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["switch->r1", "switch->r0"]);
    assert_eq!(layouts[0].queues[0].most, [40]);
    let column = |name: &str| {
        let mut columns = span.samples.iter().chain(&span.drops);
        &columns.find(|(known, _)| known == name).unwrap().1
    };
    let greatest = |name: &str| column(name).iter().copied().fold(0.0, f64::max);
    assert_eq!((greatest("pool"), greatest("units/0/0")), (300.0, 30.0));
    for name in ["pool", "units/0/0", "units/1/0"] {
        assert_eq!(column(name).len(), 400);
        assert_eq!(column(name).last(), Some(&0.0), "all frames have left");
    }
    // Each port has one queue, so the units of the pool are the sum of the units of both queues if both grow
    // or shrink in an interval. Otherwise they are less.
    let by_queue = column("units/0/0").iter().zip(column("units/1/0"));
    assert!(by_queue.zip(column("pool")).all(|((one, other), pool)| *pool <= one + other));
    let drops = expected(&ports, &targets, 70);
    for (place, port) in [(0, 1), (1, 0)] {
        for (cause, index) in
            [(DropCause::QueueFull, 0), (DropCause::SharedMemory, 1), (DropCause::PortMemory, 2)]
        {
            let rows = (0..column("sample").len()).filter(|row| {
                column("port")[*row] == f64::from(place) && column("cause")[*row] == cause.index() as f64
            });
            let packets: f64 = rows.map(|row| column("packets")[row]).sum();
            assert_eq!(packets, drops[port][index] as f64, "{} {cause:?}", ports[port].pool);
        }
    }
    // A span before the current time, and a port without a shared memory.
    let later = playback.memory(ms(1), ms(2), 20).unwrap().unwrap();
    assert_eq!(later.samples[0].1.len(), 20);
    assert_eq!(later, playback.memory(ms(1), ms(2), 20).unwrap().unwrap());
    let mut other = Playback::new(&scenario, Path::new("."), 1, 0).unwrap();
    assert_eq!(other.memory(ms(0), ms(20), 5), Ok(None));
}

/// Drops of the warm-up are not recorded.
#[test]
fn the_holders_of_a_pool_are_recorded_after_the_warm_up() {
    let mut scenario = bursts(&[HotPort::new("chip", 300); 2], &[0, 0, 0, 0, 1, 1], 60);
    scenario["measure"] = json!({"warmup": "50ms"});
    for engine in [EngineChoice::Fast, EngineChoice::Plain] {
        assert_eq!(holders(&simulate(&scenario, RunOptions { engine, ..ONCE })), []);
    }
}

/// Ports of different groups do not affect each other.
#[test]
fn groups_of_ports_have_pools_of_their_own() {
    let ports = [HotPort::new("1-24", 240), HotPort::new("1-24", 240), HotPort::new("25-48", 240)];
    let targets = [0, 0, 1, 1, 2, 2];
    let found = run(&ports, &targets, 80);
    assert_eq!(found, expected(&ports, &targets, 80));
    let alone = expected(&ports[2..], &[0, 0], 80);
    assert_eq!(found[2], alone[0]);
    assert!(found[0][1] + found[1][1] > 2 * found[2][1], "{found:?}");
}

#[test]
fn different_descriptions_of_a_pool_are_an_error() {
    let scenario = bursts(&[HotPort::new("chip", 240), HotPort::new("chip", 300)], &[0, 1], 5);
    let error = perhop_scenario::load_json(scenario, ".").unwrap_err();
    let message = "another port of this node describes the pool chip in another way";
    assert!(error.iter().any(|found| found.message == message), "{error:?}");
}

/// A port of the pool with a shaped or an unshaped urgent class.
fn pool_port(pool_units: u64, scheduler: &str, shape: Option<Value>) -> Value {
    let mut urgent = json!({"name": "urgent", "match": {"dscp": "ef"},
                            "buffer": {"shared-memory": {"reserved": 6, "alpha": 1}}});
    if let Some(shape) = shape {
        urgent["shape"] = shape;
    }
    json!({"queueing": {
        "memory": {"unit-bytes": 256, "shared": pool_units, "pool": "chip",
                   "pool-fall": {"start": 40, "end": 90}, "limit": 80},
        "scheduler": scheduler,
        "classes": [urgent, {"name": "rest", "buffer": {"shared-memory": {
            "limit": 60, "pool-minimum": 12, "thresholds": [60, 40]}}}],
    }})
}

/// A switch with three ports in one pool, hosts before the switch and behind a router, and TCP traffic if
/// `has_tcp`.
fn network(sources: &[(u8, u64, u64)], pool_units: u64, schedulers: [&str; 3], has_tcp: bool) -> Value {
    let link = |a: &str, b: &str, rate: &str| json!({"between": [a, b], "rate": rate, "delay": "2ms"});
    let output = |mut link: Value, policy: &str| {
        link["interfaces"] = json!({"switch": {"output": policy}});
        link
    };
    let links = json!([
        link("a", "switch", "3Mb/s"),
        link("b", "edge", "3Mb/s"),
        link("edge", "switch", "3Mb/s"),
        output(link("switch", "s", "1Mb/s"), "first"),
        output(link("switch", "t", "700kb/s"), "second"),
        output(link("switch", "far", "1Mb/s"), "third"),
        link("far", "u", "900kb/s"),
    ]);
    let mut traffic: Vec<Value> = sources
        .iter()
        .enumerate()
        .map(|(index, &(kind, rate, size))| {
            let (rate, packet) = (format!("{rate}b/s"), json!({"ip": format!("{size}B")}));
            let source = match kind {
                0 => json!({"cbr": {"rate": rate, "packet": packet}}),
                1 => json!({"poisson": {"rate": rate, "packet": packet}}),
                _ => json!({"on-off": {"rate": rate, "packet": packet, "on-time": "30ms", "off-time": "20ms",
                                       "law": "exponential"}}),
            };
            let (from, to) = (["a", "b", "u"][index % 3], ["s", "t", "u", "s"][index % 4]);
            let dscp = if index % 2 == 0 { "ef" } else { "default" };
            // The first sources start at the same time, so that simultaneous events occur.
            let within = if index < 3 { "0s" } else { "50ms" };
            json!({"name": format!("flow{index}"), "from": from, "to": to, "start-within": within,
                   "dscp": dscp, "source": source})
        })
        .filter(|flow| flow["from"] != flow["to"])
        .collect();
    if has_tcp {
        for (from, to) in [("a", "t"), ("b", "u")] {
            traffic.push(json!({"name": format!("tcp {to}"), "from": from, "to": to,
                                "source": {"bulk": {"tcp": {"profile": "linux-6"}}}}));
        }
    }
    let [first, second, third] = schedulers;
    let shape = json!({"rate": "300kb/s", "burst": "3kB"});
    let port = |scheduler, shape| pool_port(pool_units, scheduler, shape);
    json!({
        "perhop": 1, "name": "one memory", "duration": "2s",
        "hosts": {"a": {}, "b": {}, "s": {}, "t": {}, "u": {}},
        "routers": {"switch": {}, "edge": {}, "far": {}},
        "policies": {"first": port(first, None), "second": port(second, Some(shape)), "third": port(third, None)},
        "links": links, "traffic": traffic,
        "measure": {"warmup": "100ms", "throughput-every": "100ms"},
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn both_engines_share_a_pool_alike(
        sources in prop::collection::vec((0u8..3, 100_000u64..1_500_000, 100u64..1500), 1..9),
        pool_units in 30u64..140,
        schedulers in prop::array::uniform3(prop::sample::select(vec!["priority", "scfq", "wrr"])),
        has_tcp in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let scenario = network(&sources, pool_units, schedulers, has_tcp);
        let by = |engine| simulate(&scenario, RunOptions { seed, engine, ..ONCE });
        let (fast, plain) = (by(EngineChoice::Fast), by(EngineChoice::Plain));
        prop_assert_eq!(format!("{:?}", fast.tables), format!("{:?}", plain.tables));
        // The parts of a divided network have their own numbers of ports.
        let options = RunOptions { seed, threads: 3, engine: EngineChoice::Parallel, ..ONCE };
        let divided = simulate(&scenario, options);
        prop_assert_eq!(format!("{:?}", fast.tables), format!("{:?}", divided.tables));
    }
}
