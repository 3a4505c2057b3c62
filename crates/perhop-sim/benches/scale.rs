//! The cost of networks and tables of growing size: set-up, run and memory.
//!
//! `cargo bench -p perhop-sim --bench scale -- KIND SIZE STAGE [SECONDS]` runs up to the given stage and
//! prints the amount of work: packet-hops, or metered packets. SECONDS is the simulated time (default: 2). If
//! STAGE is a number of threads, the command runs the scenario to the end in parts and prints the counts of
//! the parts. `make bench-scale` runs growing sizes, each in its own process. It records the processor time
//! and the peak memory of each process, and writes `docs/scale.md`.

use std::fmt::{Display, Write};
use std::path::Path;

use perhop_qos::meter::{FlowMeters, Meter, MeterConfig};
use perhop_qos::random::Streams;
use perhop_qos::{FlowKey, Packet, Time};
use perhop_scenario::Scenario;
use perhop_sim::build::set_up;
use perhop_sim::fast::World;
use perhop_sim::{EngineChoice, Progress, RunOptions, run};
use serde_json::{Value, json};

/// The last stage to run.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Stage {
    /// The input of perhop: the text of the scenario.
    Input,
    /// A network that is ready to start.
    SetUp,
    /// The results.
    Run,
    /// The results of a run on this number of threads.
    Parallel(usize),
}

fn main() {
    // Cargo adds `--bench` to the arguments.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (kind, size, stage, seconds) = match &arguments[..] {
        [kind, size, stage] => (kind, size, stage, 2),
        [kind, size, stage, seconds] => (kind, size, stage, seconds.parse().expect("seconds are a number")),
        _ => {
            return println!(
                "tcp, meters, chain or topology; a size; input, set-up, run or a number of threads"
            );
        }
    };
    let size: u32 = size.parse().expect("a size is a number");
    let stage = match stage.as_str() {
        "input" => Stage::Input,
        "set-up" => Stage::SetUp,
        "run" => Stage::Run,
        threads => Stage::Parallel(threads.parse().expect("a number of threads")),
    };
    let work = match kind.as_str() {
        "tcp" => simulate(tcp(size), seconds, stage),
        "meters" => meters(size, stage),
        "chain" => simulate(chain(size), seconds, stage),
        "topology" => simulate(topology(size), seconds, stage),
        _ => panic!("tcp, meters, chain or topology"),
    };
    println!("{work}");
}

/// Packet-hops of the scenario in `text` in `seconds`.
fn simulate(text: String, seconds: u32, stage: Stage) -> u64 {
    if stage == Stage::Input {
        return 0;
    }
    let mut scenario = serde_json::from_str::<Scenario>(&text).expect("the benchmark's scenario is valid");
    // perhop does not store the text, so the measured peak of memory must not include it.
    drop(text);
    scenario.duration = Time::from_microseconds(u64::from(seconds) * 1_000_000);
    if stage == Stage::SetUp {
        let setup =
            set_up(&scenario, Path::new("."), 1, 0, &[]).expect("the benchmark's scenario can be built");
        World::new(setup, ());
        return 0;
    }
    let (engine, threads) = match stage {
        Stage::Parallel(threads) => (EngineChoice::Parallel, threads),
        _ => (EngineChoice::Fast, 1),
    };
    let (progress, options) = (Progress::new(), RunOptions { seed: 1, replications: 1, threads, engine });
    run(&scenario, Path::new("."), &options, &progress).expect("the benchmark's scenario runs");
    if let Some(division) = progress.division() {
        println!("{division:?}");
    }
    progress.packet_hops()
}

/// Items of a list or an object, as JSON text. A tree of JSON values would use more memory than the run.
#[derive(Default)]
struct Items(String);

impl Items {
    fn push(&mut self, item: impl Display) {
        let separator = if self.0.is_empty() { "" } else { "," };
        write!(self.0, "{separator}{item}").expect("a string takes every text");
    }
    /// Adds a node with this `name` and without settings.
    fn push_node(&mut self, name: &str) {
        self.push(format_args!("\"{name}\":{{}}"));
    }
}

/// A scenario called `name` with these `hosts`, `routers`, `links` and `traffic`.
fn scenario(name: &str, [hosts, routers, links, traffic]: [Items; 4], policies: &Value) -> String {
    let [Items(hosts), Items(routers), Items(links), Items(traffic)] = [hosts, routers, links, traffic];
    format!(
        r#"{{"perhop":1,"name":"{name}","duration":"2s","hosts":{{{hosts}}},"routers":{{{routers}}},
        "links":[{links}],"traffic":[{traffic}],"policies":{policies}}}"#
    )
}

/// `pairs` bulk transfers between `pairs` pairs of hosts. The bottleneck has 1 Mb/s for each
/// transfer.
fn tcp(pairs: u32) -> String {
    let [mut hosts, mut routers, mut links, mut traffic]: [Items; 4] = Default::default();
    for pair in 0..pairs {
        let (source, sink) = (format!("source{pair}"), format!("sink{pair}"));
        hosts.push_node(&source);
        hosts.push_node(&sink);
        links.push(json!({"between": [source, "r1"], "rate": "1Gb/s", "delay": "1ms"}));
        links.push(json!({"between": ["r2", sink], "rate": "1Gb/s", "delay": "1ms"}));
        traffic.push(json!({
            "name": format!("flow{pair}"), "class": "tcp", "from": source, "to": sink, "start-within": "100ms",
            "source": {"bulk": {"tcp": {"profile": "rfc5681-reno", "recovery": "newreno", "mss": "960B"}}},
        }));
    }
    routers.push_node("r1");
    routers.push_node("r2");
    let buffer = json!({"tail-drop": {"limit": format!("{} packets", 5 * pairs)}});
    links.push(json!({
        "between": ["r1", "r2"], "rate": format!("{pairs}Mb/s"), "delay": "20ms",
        "interfaces": {"r1": {"output": "bottleneck"}},
    }));
    let policies = json!({"bottleneck": {"queueing": {"classes": [{"name": "all", "buffer": buffer}]}}});
    scenario("tcp", [hosts, routers, links, traffic], &policies)
}

/// Four flows of 25 Mb/s through `count` routers in a row.
fn chain(count: u32) -> String {
    let [mut hosts, mut routers, mut links, mut traffic]: [Items; 4] = Default::default();
    for router in 0..count {
        routers.push_node(&format!("r{router}"));
    }
    let last = format!("r{}", count - 1);
    for router in 1..count {
        let between = [format!("r{}", router - 1), format!("r{router}")];
        links.push(json!({"between": between, "rate": "100Mb/s", "delay": "1ms"}));
    }
    for flow in 0..4 {
        let (source, sink) = (format!("source{flow}"), format!("sink{flow}"));
        hosts.push_node(&source);
        hosts.push_node(&sink);
        links.push(json!({"between": [source, "r0"], "rate": "1Gb/s", "delay": "1ms"}));
        links.push(json!({"between": [last, sink], "rate": "1Gb/s", "delay": "1ms"}));
        traffic.push(json!({
            "name": format!("flow{flow}"), "from": source, "to": sink, "start-within": "1ms",
            "source": {"poisson": {"rate": "24Mb/s", "packet": {"ip": "500B"}}},
        }));
    }
    scenario("chain", [hosts, routers, links, traffic], &json!({}))
}

/// A network of `nodes` nodes. A tenth of the nodes are routers in a ring with a chord from each
/// router. The others are hosts, each of which sends 1 Mb/s to a distant host.
fn topology(nodes: u32) -> String {
    let count = nodes / 10;
    let leaves = nodes - count;
    let [mut hosts, mut routers, mut links, mut traffic]: [Items; 4] = Default::default();
    let chord = count.isqrt().max(2);
    for router in 0..count {
        routers.push_node(&format!("r{router}"));
        for reach in [1, chord] {
            let between = [format!("r{router}"), format!("r{}", (router + reach) % count)];
            links.push(json!({"between": between, "rate": "1Gb/s", "delay": "2ms"}));
        }
    }
    for host in 0..leaves {
        hosts.push_node(&format!("h{host}"));
        let between = [format!("h{host}"), format!("r{}", host % count)];
        links.push(json!({"between": between, "rate": "100Mb/s", "delay": "1ms"}));
        let to = (host + leaves / 2 + 1) % leaves;
        traffic.push(json!({
            "name": format!("flow{host}"), "from": format!("h{host}"), "to": format!("h{to}"), "start-within": "10ms",
            "source": {"poisson": {"rate": "1Mb/s", "packet": {"ip": "500B"}}},
        }));
    }
    scenario("topology", [hosts, routers, links, traffic], &json!({}))
}

/// Creates a meter for each of `flows` flows in irregular order, then meters packets of ten of these flows.
fn meters(flows: u32, stage: Stage) -> u64 {
    const PACKETS: u64 = 10_000_000;
    let config: MeterConfig =
        serde_json::from_value(json!({"single-rate-tcm": {"cir": "1Mb/s", "cbs": "10kB", "ebs": "10kB"}}))
            .expect("the benchmark's meter is valid");
    let key = |number: u32| {
        // Multiplication by an odd number modulo 2³² returns every number once, in an irregular order.
        let spread = number.wrapping_mul(2_654_435_761);
        let source = std::net::IpAddr::from(std::net::Ipv4Addr::from_bits(spread)).into();
        FlowKey { source, source_port: 5000, ..FlowKey::default() }
    };
    let mut meters = FlowMeters::new(&config, &Streams::new(1, 0)).expect("the benchmark's meters are valid");
    if stage >= Stage::SetUp {
        (0..flows).for_each(|flow| meters.announce(&key(flow)));
    }
    if stage < Stage::Run {
        return 0;
    }
    let busy: Vec<Packet> = (0..10).map(|flow| Packet::new(key(flow * (flows / 10)), 500)).collect();
    let at = |packet: u64| Time::from_microseconds(packet * 400);
    let is_green = |packet: &u64| meters.measure(at(*packet), &busy[(*packet % 10) as usize]).index() == 0;
    assert_eq!(
        (0..PACKETS).filter(is_green).count() as u64,
        PACKETS,
        "10 flows of 1 Mb/s together exceed no profile of 1 Mb/s each"
    );
    PACKETS
}
