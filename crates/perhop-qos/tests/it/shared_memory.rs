//! Runs `vectors/memory/*.toml`, and tests ports whose queues share memory.

use std::path::Path;

use perhop_qos::buffer::{BufferManager, MemoryConfig, MemoryPools, MemoryQueue, SharedMemoryConfig};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::queue::Occupancy;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{Color, DropCause, FlowKey, Observer, Packet, Port, Rate, Time, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::vectors::cases;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Case {
    name: String,
    memory: MemoryConfig,
    queue: Vec<QueueOfCase>,
    step: Vec<Step>,
}

/// A queue of port `port`. All ports have the settings of the memory.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueOfCase {
    #[serde(default)]
    port: usize,
    #[serde(default)]
    buffer: SharedMemoryConfig,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Step {
    event: Event,
    /// The queues of a round. In each round, each of them receives or sends one packet.
    queues: Vec<usize>,
    count: usize,
    length: u32,
    #[serde(default)]
    precedence: Color,
    /// The number of packets that are admitted in all rounds. Only for arrivals.
    admitted: Option<usize>,
    /// The cause of all drops, if there are any.
    cause: Option<String>,
    /// The units of all queues after the step.
    units: Vec<u64>,
    /// The units of each port in addition to the reserved units of its queues.
    ports: Option<Vec<u64>>,
    /// The free units of the pool.
    free: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Event {
    Arrival,
    Departure,
}

fn run(case: &Case) {
    let (mut pools, memory) =
        (MemoryPools::default(), MemoryConfig { pool: Some("chip".to_owned()), ..case.memory.clone() });
    let last = case.queue.iter().map(|queue| queue.port).max().unwrap();
    let ports: Vec<_> = (0..=last).map(|_| pools.port(&memory).unwrap()).collect();
    let mut queues: Vec<MemoryQueue> = case
        .queue
        .iter()
        .map(|queue| ports[queue.port].queue(&queue.buffer, &Streams::new(1, 0)).unwrap())
        .collect();
    for (number, step) in case.step.iter().enumerate() {
        let place = format!("{}: step {}", case.name, number + 1);
        play(&mut queues, step, &place);
        let units: Vec<u64> = queues.iter().map(MemoryQueue::units).collect();
        assert_eq!(units, step.units, "{place}: units");
        if let Some(expected) = &step.ports {
            let found: Vec<u64> = ports.iter().map(|port| port.shared_units()).collect();
            assert_eq!(found, *expected, "{place}: ports");
        }
        if let Some(expected) = step.free {
            assert_eq!(ports[0].free_units(), expected, "{place}: free");
        }
    }
}

fn play(queues: &mut [MemoryQueue], step: &Step, place: &str) {
    let (mut admitted, mut causes) = (0, Vec::new());
    for queue in (0..step.count).flat_map(|_| &step.queues) {
        match step.event {
            Event::Departure => queues[*queue].give_back(step.length),
            Event::Arrival => {
                let packet = Packet::new(FlowKey::default(), step.length);
                let queue = &mut queues[*queue];
                match queue.admit(Time::ZERO, &packet, step.precedence, &Occupancy::default()) {
                    Verdict::Drop(cause) => causes.push(cause.name()),
                    Verdict::Pass | Verdict::MarkCe => admitted += 1,
                }
            }
        }
    }
    causes.dedup();
    assert_eq!(causes, step.cause.as_deref().into_iter().collect::<Vec<_>>(), "{place}: causes");
    if let Some(expected) = step.admitted {
        assert_eq!(admitted, expected, "{place}: admitted");
    }
}

#[test]
fn every_vector_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../vectors/memory");
    let mut checked = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let found: Vec<Case> = cases(Path::new("memory").join(file.unwrap().file_name()));
        found.iter().for_each(run);
        checked += found.len();
    }
    assert!(checked > 10, "only {checked} cases found");
}

/// Counts the drops by cause, and the sent packets of each queue.
#[derive(Default)]
struct Fates {
    dropped: [u64; DropCause::COUNT],
    sent: [u64; 3],
}

impl Observer for Fates {
    fn dropped(&mut self, _: Time, _: Option<Place>, _: &Packet, cause: DropCause) {
        self.dropped[cause.index()] += 1;
    }
    fn dequeued(&mut self, _: Time, place: Place, _: &Packet, _: perhop_qos::port::Departure) {
        self.sent[place.queue.index()] += 1;
    }
}

fn build(queueing: &Value) -> Result<Port, perhop_qos::ConfigError> {
    build_in(queueing, &mut MemoryPools::default())
}

fn build_in(queueing: &Value, pools: &mut MemoryPools) -> Result<Port, perhop_qos::ConfigError> {
    let policy: PolicyConfig = serde_json::from_value(json!({ "queueing": queueing })).unwrap();
    let wire = WireConfig {
        rate: Rate::from_bits_per_second(1_000_000_000),
        framing: Framing::Raw,
        headers: HeaderStack::EMPTY,
        ring: RingConfig::Packets(1),
    };
    policy.build_port_in(&wire, &[], &Streams::new(1, 0), pools)
}

/// A computation by hand: packets of 1500 bytes need 1518 bytes, which are 6 units. Queue 0 has room for 20
/// packets in its own units and for 5 packets in the pool of 60 units. Queue 1 has room for the other 5
/// packets of the pool. The queue without memory has room for 64 packets.
#[test]
fn queues_of_a_port_draw_on_one_memory() {
    let mut port = build(&json!({
        "memory": {"unit-bytes": 256, "shared": 60},
        "classes": [
            {"name": "urgent", "match": {"dscp": "ef"}, "buffer": {"shared-memory": {"reserved": 120, "limit": 30}}},
            {"name": "bulk", "match": {"dscp": "af11"}, "buffer": {"shared-memory": {}}},
            {"name": "rest"},
        ],
    }))
    .unwrap();
    let mut fates = Fates::default();
    let packet = |dscp: &str| Packet { dscp: dscp.parse().unwrap(), ..Packet::new(FlowKey::default(), 1500) };
    for dscp in ["ef", "af11", "default"] {
        for _ in 0..100 {
            port.enqueue(Time::ZERO, &mut packet(dscp), &mut fates);
        }
    }
    let dropped = |fates: &Fates, cause: DropCause| fates.dropped[cause.index()];
    assert_eq!(dropped(&fates, DropCause::SharedMemory), 75 + 95);
    assert_eq!(dropped(&fates, DropCause::QueueFull), 36);
    let mut leaving = Packet::default();
    let mut now = Time::ZERO;
    while port.poll_transmit(now, &mut leaving, &mut fates).is_some() {
        now = port.poll_timeout().unwrap_or(now);
    }
    assert_eq!(fates.sent, [25, 5, 64]);
    // All units of the pool are free again.
    for _ in 0..100 {
        port.enqueue(now, &mut packet("af11"), &mut fates);
    }
    assert_eq!(dropped(&fates, DropCause::SharedMemory), 75 + 95 + 90);
}

/// A port with a queue that can use all free units of `memory`.
fn greedy(memory: &Value) -> Value {
    json!({"memory": memory, "classes": [{"name": "all", "buffer": {"shared-memory": {}}}]})
}

/// A computation by hand: 60 units have room for 10 packets of 6 units. Units that one port uses are free for
/// the other port only after a departure.
#[test]
fn ports_with_the_same_pool_share_it() {
    let mut pools = MemoryPools::default();
    let memory = json!({"unit-bytes": 256, "shared": 60, "pool": "chip"});
    let mut ports = [(); 2].map(|()| build_in(&greedy(&memory), &mut pools).unwrap());
    let other = json!({"unit-bytes": 256, "shared": 60, "pool": "other chip"});
    let mut apart = build_in(&greedy(&other), &mut pools).unwrap();
    let mut alone = build_in(&greedy(&json!({"unit-bytes": 256, "shared": 60})), &mut pools).unwrap();
    let offer = |port: &mut Port, count: usize| {
        let mut fates = Fates::default();
        for _ in 0..count {
            port.enqueue(Time::ZERO, &mut Packet::new(FlowKey::default(), 1500), &mut fates);
        }
        fates.dropped[DropCause::SharedMemory.index()]
    };
    assert_eq!([offer(&mut ports[0], 7), offer(&mut ports[1], 7)], [0, 4]);
    assert_eq!([offer(&mut apart, 11), offer(&mut alone, 11)], [1, 1]);
    let pool_of = |port: &Port| port.shared_pool();
    assert!(pool_of(&ports[0]).is_some() && pool_of(&ports[0]) == pool_of(&ports[1]));
    assert!(pool_of(&apart).is_some() && pool_of(&apart) != pool_of(&ports[0]) && pool_of(&alone).is_none());
    // Other ports of a shared pool must be notified of departures when they happen.
    assert!(!ports[0].precomputes_departures() && alone.precomputes_departures());
    assert!(Port::is_memory_conserved(ports.iter().chain([&apart, &alone])));
    assert!(!Port::is_memory_conserved([&ports[0]]), "the other port has units of the pool, too");
    let mut leaving = Packet::default();
    assert!(ports[0].poll_transmit(Time::ZERO, &mut leaving, Fates::default()).is_some());
    assert_eq!(offer(&mut ports[1], 2), 1);
    assert!(Port::is_memory_conserved(&ports));
}

#[test]
fn ports_of_a_pool_describe_it_alike() {
    let with = |field: &str, value: Value| {
        let mut memory = json!({"unit-bytes": 256, "shared": 60, "pool": "chip"});
        memory[field] = value;
        greedy(&memory)
    };
    let mut pools = MemoryPools::default();
    build_in(&with("reserved", json!(5)), &mut pools).unwrap();
    for (field, value) in
        [("unit-bytes", json!(208)), ("shared", json!(61)), ("pool-fall", json!({"start": 1, "end": 2}))]
    {
        let error = build_in(&with(field, value), &mut pools).unwrap_err();
        assert!(error.path.join(".") == "queueing.memory.pool" && error.help.is_some(), "{error}");
    }
    // Other settings of the ports may be different.
    build_in(&with("limit", json!(9)), &mut pools).unwrap();
}

#[test]
fn a_queue_without_the_memory_of_its_port_is_an_error() {
    let memory = json!({"unit-bytes": 256, "shared": 60});
    let draws = json!({"name": "a", "buffer": {"shared-memory": {}}});
    let fair = json!({"name": "a", "buffer": {"shared-memory": {}}, "fair-queueing": {}});
    let plain = json!({"name": "a"});
    let inner = json!({"name": "a", "queueing": {"memory": memory, "classes": [draws]}});
    let zero = json!({"name": "a", "buffer": {"shared-memory": {"limit": 0}}});
    for (queueing, path) in [
        (json!({"classes": [draws]}), "queueing.classes.0.buffer.shared-memory"),
        (json!({"memory": memory, "classes": [plain]}), "queueing.memory"),
        (json!({"memory": memory, "classes": [fair]}), "queueing.classes.0.fair-queueing"),
        (json!({"classes": [inner]}), "queueing.classes.0.queueing.memory"),
        (json!({"memory": memory, "classes": [zero]}), "queueing.classes.0.buffer.shared-memory.limit"),
        (
            json!({"memory": {"unit-bytes": 0, "shared": 60}, "classes": [draws]}),
            "queueing.memory.unit-bytes",
        ),
        (json!({"memory": memory, "classes": [{"name": "a", "buffer": {"cake": {}}}]}), "queueing.memory"),
    ] {
        let error = build(&queueing).unwrap_err();
        assert!(error.path.join(".") == path && error.help.is_some(), "{error}");
    }
}
