//! Tests that the shortcuts of a port do not change its results: the path around the queue, precomputed
//! departures, omitted polls, choices of a single scheduler without a tree, and the stored transmission time
//! of the previous packet.

use crate::replay::{Arrival, Log, Way, arrivals, replay};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::Streams;
use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
use perhop_qos::{ByteSize, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

const RATE: Rate = Rate::from_bits_per_second(8_000_000);

fn rings() -> impl Strategy<Value = RingConfig> {
    let admissions = vec![RingAdmission::Strict, RingAdmission::Overshoot, RingAdmission::Batches];
    let admission = prop::sample::select(admissions);
    let release = prop::sample::select(vec![RingRelease::LastBit, RingRelease::FirstBit]);
    let particles =
        (1..8u32, 64..1600u64, admission, release).prop_map(|(count, size, admission, release)| {
            RingConfig::Particles { count, size: ByteSize::from_bytes(size), admission, release }
        });
    prop_oneof![(1..5u32).prop_map(RingConfig::Packets), particles]
}

/// A wire that counts IP bytes.
fn raw(ring: RingConfig) -> WireConfig {
    WireConfig { rate: RATE, framing: Framing::Raw, headers: HeaderStack::EMPTY, ring }
}

fn port(queueing: Option<&Value>, wire: &WireConfig) -> Port {
    port_with(queueing, wire, &Streams::new(3, 0))
}

/// A port whose classes draw the random numbers of the classes in `inside(_, queueing)`. The hash key of a
/// flow is such a random number. It determines which of two equally long queues FQ-CoDel shortens.
fn port_with_inner_streams(queueing: &Value, wire: &WireConfig) -> Port {
    port_with(Some(queueing), wire, &Streams::new(3, 0).child(OUTER))
}

fn port_with(queueing: Option<&Value>, wire: &WireConfig, streams: &Streams) -> Port {
    let queueing: Option<QueueingConfig> =
        queueing.map(|value| serde_json::from_value(value.clone()).unwrap());
    Port::build(queueing.as_ref(), wire, &[], streams).unwrap()
}

/// Buffer managers of all kinds, with three drop precedences if they support several.
fn buffers() -> Vec<Value> {
    let precedences = json!([
        {"min": "3 packets", "max": "9 packets", "max-probability": 0.1},
        {"min": "2 packets", "max": "6 packets", "max-probability": 0.3},
        {"min": "1 packets", "max": "4 packets", "max-probability": 0.6},
    ]);
    let averaged = |update: &str, ecn: &str| {
        json!({"precedences": precedences, "averaging": {"weight": 0.2}, "limit": "12 packets",
               "update": update, "ecn": ecn})
    };
    vec![
        json!({"tail-drop": {"limit": "4 packets"}}),
        json!({"tail-drop": {"limit": "1200B"}}),
        json!({"wred": averaged("arrivals", "mark")}),
        json!({"rio-c": averaged("arrivals", "ignore")}),
        json!({"rio-dc": averaged("arrivals-and-departures", "mark")}),
        json!({"mred": averaged("arrivals-and-departures", "ignore")}),
        json!({"weighted-tail-drop": {"limits": ["5 packets", "1200B", "2 packets"]}}),
        json!({"weighted-tail-drop": {"limits": ["4 packets", "2 packets", "3 packets"]}}),
        codel("rfc"),
        codel("linux"),
        fq_codel("rfc"),
        fq_codel("linux"),
        pie(json!({"ecn": "mark", "mark-up-to": 0.5})),
        pie(json!({"delay": "sojourn", "drop-spacing": "derandomized", "limit": "9000B"})),
        json!({"pie": {"law": "linux", "limit": "12 packets", "ecn": "mark"}}),
        dualpi2("rfc", &json!({"time-shift": "2ms"})),
        dualpi2("rfc", &json!({"classic-share": 25})),
        dualpi2("linux", &json!({"classic-share": 10})),
    ]
}

/// `CoDel` whose target is short enough to drop some packets.
fn codel(law: &str) -> Value {
    json!({"codel": {"law": law, "target": "500us", "interval": "2ms", "mtu": "100B", "limit": "40 packets", "ecn": "mark"}})
}

/// FQ-CoDel whose target and limit are small enough to drop some packets.
fn fq_codel(law: &str) -> Value {
    json!({"fq-codel": {"law": law, "target": "500us", "interval": "2ms", "mtu": "100B", "limit": "9 packets",
                        "drop-batch": 4, "quantum": "400B"}})
}

/// Whether classes with `buffer` are valid under `scheduler`. The fluid server of WFQ cannot remove packets.
fn may_drop(scheduler: &str, buffer: &Value) -> bool {
    scheduler != "wfq" || ["codel", "fq-codel", "dualpi2"].iter().all(|kind| buffer.get(kind).is_none())
}

/// `DualPI2` that reacts within a hundred packets.
fn dualpi2(law: &str, scheduler: &Value) -> Value {
    json!({"dualpi2": {"law": law, "target": "1ms", "update-interval": "500us", "alpha": 64, "beta": 128,
                       "limit": "12 packets", "scheduler": scheduler}})
}

/// CAKE whose target and limit are small enough to drop some packets.
fn cake(mut options: Value) -> Value {
    let quick = json!({"rtt": "2ms", "memory-limit": "12000B"});
    options.as_object_mut().unwrap().extend(quick.as_object().unwrap().clone());
    json!({"classes": [{"name": "all", "buffer": {"cake": options}}]})
}

/// PIE that reacts within a hundred packets.
fn pie(mut options: Value) -> Value {
    let quick = json!({"target": "1ms", "update-interval": "500us", "burst": "2ms", "alpha": 2, "beta": 2,
                       "floor": "1000B"});
    options.as_object_mut().unwrap().extend(quick.as_object().unwrap().clone());
    json!({"pie": options})
}

/// Ports with one queue, for all buffer managers and all drop precedences. `None` is the default port of a
/// scenario.
fn single_queues() -> Vec<Option<Value>> {
    let precedences = [
        json!("color"),
        json!("dscp"),
        json!("ip-precedence"),
        json!("cos"),
        json!({"by-dscp": [0, [8, 16]]}),
    ];
    let mut all = vec![None];
    for buffer in buffers() {
        for precedence in &precedences {
            let class = json!({"name": "all", "buffer": buffer, "precedence": precedence});
            all.push(Some(json!({"classes": [class]})));
        }
    }
    all
}

/// The single queues whose buffer managers do not drop or mark packets at the head.
fn decided_on_arrival() -> Vec<Option<Value>> {
    let asks = |queueing: &Option<Value>| {
        queueing.as_ref().is_some_and(|queueing| !may_drop("wfq", &queueing["classes"][0]["buffer"]))
    };
    let in_memory = json!({"memory": memory(), "classes": [{"name": "all", "buffer": {"shared-memory": {
        "reserved": 2, "limit": 9, "thresholds": [11, 8, 5]}}}]});
    single_queues().into_iter().filter(|queueing| !asks(queueing)).chain([Some(in_memory)]).collect()
}

/// Ports of up to two queues in which the fate of a packet depends on more than the decision of a buffer
/// manager on arrival.
fn ports_with_more_to_decide() -> Vec<Value> {
    let tail_drop = &buffers()[0];
    vec![
        json!({"classes": [{"name": "all", "buffer": tail_drop, "shape": {"rate": "4Mb/s", "burst": "3kB"}}]}),
        json!({"classes": [{"name": "all", "fair-queueing": {"limit": "4 packets", "flow-limit": "3 packets"}}]}),
        json!({"classes": [{"name": "all", "buffer": tail_drop, "police": {"rate": "4Mb/s", "burst": "3kB"}}]}),
        json!({"classes": [{"name": "some", "buffer": tail_drop, "match": {"dscp": [8, 16]}}]}),
        json!({"classes": [{"name": "all", "buffer": codel("rfc")}]}),
        json!({"classes": [{"name": "all", "buffer": fq_codel("rfc")}]}),
        json!({"memory": shared(memory()), "classes": [{"name": "all", "buffer": {"shared-memory": {
            "reserved": 2, "limit": 9, "thresholds": [11, 8, 5]}}}]}),
        json!({"memory": memory(), "scheduler": "priority", "classes": [
            {"name": "some", "match": {"dscp": 8}, "buffer": {"shared-memory": {"reserved": 3, "alpha": 0.5}}},
            {"name": "rest", "buffer": {"shared-memory": {"limit": 9, "port-minimum": 4}}},
        ]}),
        cake(json!({"tins": "besteffort", "isolation": "flows"})),
        cake(json!({"tins": "precedence", "bandwidth": "4Mb/s"})),
        cake(json!({"tins": "precedence", "bandwidth": "4Mb/s", "ingress": true, "wash": true})),
        json!({"limit": "2 packets", "classes": [{"name": "all", "buffer": tail_drop}]}),
        // The limit is smaller than most packets, so even an empty queue refuses them.
        json!({"limit": "900B", "classes": [{"name": "all", "buffer": tail_drop}]}),
        json!({"scheduler": "scfq", "classes": [
            {"name": "some", "match": {"dscp": 8}, "buffer": tail_drop}, {"name": "rest", "buffer": buffers()[2]},
        ]}),
    ]
}

/// A memory for a dozen packets.
fn memory() -> Value {
    json!({"unit-bytes": 256, "shared": 20, "reserved": 2, "limit": 18, "port-fall": {"start": 6, "end": 12}})
}

/// `memory` with a pool that other ports can share.
fn shared(mut memory: Value) -> Value {
    memory["pool"] = json!("chip");
    memory
}

const SCHEDULERS: [&str; 8] =
    ["fifo", "priority", "wrr", "drr", "scfq", "wfq", "wf2q-plus", "three-parameter"];
/// The schedulers whose choice changes no state. In contrast, a choice of WRR or DRR can begin the next turn.
/// A nested scheduler makes its choice when its previous packet leaves, not when the next packet may leave.
const WITHOUT_TURNS: [&str; 6] = ["fifo", "priority", "scfq", "wfq", "wf2q-plus", "three-parameter"];

/// Four classes by codepoint under `scheduler`. If the scheduler has shares, they are derived from `weights`.
fn classes(scheduler: &str, weights: [u32; 4], buffer: &Value) -> Value {
    let class = |(index, weight): (usize, u32)| {
        let share = match scheduler {
            "priority" if index == 0 => json!({"cap": {"rate": "2Mb/s", "burst": "3kB"}}),
            "fifo" | "priority" => json!({}),
            "drr" => json!({"quantum": format!("{}B", 300 * weight)}),
            // Some classes have no minimum. The sum of the minima can exceed the rate of the wire.
            "three-parameter" if weight > 1 => {
                json!({"minimum": format!("{}kb/s", 500 * weight), "weight": weight})
            }
            _ => json!({"weight": weight}),
        };
        json!({"name": index.to_string(), "match": {"dscp": 8 * index}, "share": share, "buffer": buffer})
    };
    let classes: Vec<Value> = weights.into_iter().enumerate().map(class).collect();
    json!({"scheduler": scheduler, "classes": classes})
}

/// Returns `queueing` with a shaper in its last class, or with the last class nested in another class.
fn shaped_or_nested(mut queueing: Value, nested: bool) -> Value {
    let last = &mut queueing["classes"][3];
    if nested {
        let (own, buffer) = (last.clone(), last["buffer"].take());
        let inner = json!({"name": "own", "buffer": buffer});
        *last = json!({"name": "outer", "match": own["match"], "share": own["share"],
                       "queueing": {"scheduler": "wrr", "classes": [inner]}});
    } else {
        last["shape"] = json!({"rate": "1500kb/s", "burst": "2kB"});
    }
    queueing
}

/// The name of the class around a scheduler.
const OUTER: &str = "all";

/// Returns `queueing` as the only class of `outer`.
fn inside(outer: &str, queueing: &Value) -> Value {
    json!({"scheduler": outer, "classes": [{"name": OUTER, "queueing": queueing}]})
}

proptest! {
    #[test]
    fn send_is_enqueue_and_poll_for_every_kind_of_queue(
        queueing in prop::sample::select(single_queues()),
        framing in prop::sample::select(&Framing::ALL[..]),
        ring in rings(),
        arrivals in arrivals(),
    ) {
        let wire = WireConfig { rate: RATE, framing, headers: HeaderStack::EMPTY, ring };
        let plain = replay(port(queueing.as_ref(), &wire), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port(queueing.as_ref(), &wire), &arrivals, Way::Straight), plain);
    }

    #[test]
    fn send_is_enqueue_and_poll_with_further_decisions(
        queueing in prop::sample::select(ports_with_more_to_decide()),
        ring in rings(),
        arrivals in arrivals(),
    ) {
        let is_cake = queueing["classes"][0]["buffer"].get("cake").is_some();
        prop_assume!(!is_cake || matches!(ring, RingConfig::Packets(_)), "CAKE sends only whole packets");
        let plain = replay(port(Some(&queueing), &raw(ring)), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port(Some(&queueing), &raw(ring)), &arrivals, Way::Straight), plain);
    }

    #[test]
    fn send_is_enqueue_and_poll_under_every_scheduler(
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        weights in prop::array::uniform4(1..6u32),
        buffer in prop::sample::select(buffers()),
        ring in rings(),
        arrivals in arrivals(),
    ) {
        prop_assume!(may_drop(scheduler, &buffer));
        let wire = raw(ring);
        let queueing = Some(classes(scheduler, weights, &buffer));
        let plain = replay(port(queueing.as_ref(), &wire), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port(queueing.as_ref(), &wire), &arrivals, Way::Straight), plain);
    }

    /// A driver may poll a port before its timeout. Such polls must not change the results.
    #[test]
    fn polling_too_often_changes_nothing(
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        weights in prop::array::uniform4(1..6u32),
        nested in any::<bool>(),
        buffer in prop::sample::select(vec![buffers()[0].clone(), codel("linux"), fq_codel("linux")]),
        arrivals in arrivals(),
    ) {
        prop_assume!(may_drop(scheduler, &buffer));
        let wire = raw(RingConfig::Packets(2));
        // The fluid server of WFQ does not support shapers.
        let nested = nested || scheduler == "wfq";
        let queueing = shaped_or_nested(classes(scheduler, weights, &buffer), nested);
        let plain = replay(port(Some(&queueing), &wire), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port(Some(&queueing), &wire), &arrivals, Way::Restless), plain);
    }

    /// A port with one scheduler updates its heads when packets join and leave. A nested scheduler reads
    /// them.
    #[test]
    fn a_scheduler_alone_decides_as_inside_another(
        scheduler in prop::sample::select(WITHOUT_TURNS.to_vec()),
        outer in prop::sample::select(SCHEDULERS.to_vec()),
        weights in prop::array::uniform4(1..6u32),
        buffer in prop::sample::select(vec![buffers()[0].clone(), codel("rfc"), fq_codel("rfc")]),
        ring in rings(),
        arrivals in arrivals(),
    ) {
        prop_assume!(may_drop(scheduler, &buffer) && may_drop(outer, &buffer));
        let wire = raw(ring);
        let alone = classes(scheduler, weights, &buffer);
        let plain = replay(port(Some(&inside(outer, &alone)), &wire), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port_with_inner_streams(&alone, &wire), &arrivals, Way::Plain), plain);
    }

    /// A scheduler makes the same choices at any depth of the tree.
    #[test]
    fn a_scheduler_inside_another_decides_as_inside_two(
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        outer in prop::sample::select(SCHEDULERS.to_vec()),
        weights in prop::array::uniform4(1..6u32),
        buffer in prop::sample::select(vec![buffers()[0].clone(), codel("rfc"), fq_codel("rfc")]),
        ring in rings(),
        arrivals in arrivals(),
    ) {
        prop_assume!(may_drop(scheduler, &buffer) && may_drop(outer, &buffer));
        let wire = raw(ring);
        let once = inside(outer, &classes(scheduler, weights, &buffer));
        let plain = replay(port(Some(&inside("fifo", &once)), &wire), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port_with_inner_streams(&once, &wire), &arrivals, Way::Plain), plain);
    }

    /// A port with a single queue makes no choice. It equals a port with a scheduler that has only this
    /// queue.
    #[test]
    fn one_queue_is_a_scheduler_with_one_child(
        scheduler in prop::sample::select(SCHEDULERS.to_vec()),
        bytes in any::<bool>(),
        ring in rings(),
        arrivals in arrivals(),
    ) {
        let wire = raw(ring);
        // The names of the classes determine the random stream of RED.
        let class = json!({"name": "all", "buffer": buffers()[usize::from(bytes)]});
        let alone = json!({"classes": [class]});
        let plain = replay(port(Some(&inside(scheduler, &alone)), &wire), &arrivals, Way::Plain);
        prop_assert_eq!(replay(port(Some(&alone), &wire), &arrivals, Way::Straight), plain);
    }
}

/// Stores the times of each packet on the wire.
#[derive(Default)]
struct OnWire(Vec<(u32, Departure)>);

impl Observer for OnWire {
    fn dequeued(&mut self, _: Time, _: Place, packet: &Packet, departure: Departure) {
        self.0.push((packet.length, departure));
    }
}

proptest! {
    /// The port stores the transmission time of the previous packet. The packets have few different lengths,
    /// so that equal lengths often follow each other.
    #[test]
    fn every_packet_takes_its_own_time_on_the_wire(
        rate in 1..40_000_000_000u64,
        framing in prop::sample::select(&Framing::ALL[..]),
        packets in prop::collection::vec((prop_oneof![Just(0u32), Just(40), 0..9000u32], 1..4usize), 1..40),
    ) {
        let rate = Rate::from_bits_per_second(rate);
        let mut port = port(None, &WireConfig { rate, framing, headers: HeaderStack::EMPTY, ring: RingConfig::default() });
        let (mut on_wire, mut now) = (OnWire::default(), Time::ZERO);
        let lengths: Vec<u32> =
            packets.iter().flat_map(|(length, times)| std::iter::repeat_n(*length, *times)).collect();
        for length in &lengths {
            port.send(now, &mut Packet::new(FlowKey::default(), *length), &mut on_wire);
            now = on_wire.0.last().unwrap().1.ends;
        }
        prop_assert_eq!(on_wire.0.len(), lengths.len());
        let mut before = Time::ZERO;
        for ((length, departure), expected) in on_wire.0.iter().zip(&lengths) {
            prop_assert_eq!(length, expected);
            prop_assert_eq!(departure.starts, before);
            let takes = rate.transmission_time(framing.wire_bytes(u64::from(*length)));
            prop_assert_eq!(departure.ends, departure.starts + takes);
            before = departure.ends;
        }
    }
}

/// Returns the events of `port`, in the order of the packets, and the final averages. At one instant,
/// departures precede arrivals.
fn precomputed_or_polled(mut port: Port, arrivals: &[Arrival], precomputes: bool) -> (Vec<String>, Vec<f64>) {
    let (mut log, mut now) = (Log::default(), Time::ZERO);
    // The last packet arrives so late that all other packets have left.
    let last = (Time::from_seconds(10), Packet::new(FlowKey::default(), 500));
    for (number, (gap, packet)) in arrivals.iter().chain([&last]).enumerate() {
        now += *gap;
        let mut packet = Packet { payload: number as u64, ..*packet };
        if precomputes {
            // As in the simulator, a packet that finds an idle port may bypass the queue.
            match port.cut_through_departure(now, packet.length).filter(|_| port.allows_cut_through()) {
                Some(departure) => port.cut_through(&packet, departure, &mut log),
                None => _ = port.precompute_departure(now, &mut packet, &mut log),
            }
            continue;
        }
        while let Some(wake) = port.poll_timeout().filter(|wake| *wake <= now) {
            port.poll_transmit(wake, &mut Packet::default(), &mut log);
        }
        port.enqueue(now, &mut packet, &mut log);
        port.poll_transmit(now, &mut Packet::default(), &mut log);
    }
    let averages = port.buffers()[0].averages();
    let Log(mut lines) = log;
    lines.sort_by_key(|line| number_in(line));
    (lines, averages)
}

/// The number of the packet in a line of a log.
fn number_in(line: &str) -> u64 {
    let (_, from) = line.split_once("payload: ").unwrap();
    from.split_once(',').unwrap().0.parse().unwrap()
}

proptest! {
    #[test]
    fn precomputed_departures_equal_polled_ones(
        queueing in prop::sample::select(decided_on_arrival()),
        // At 1.7 Mb/s, the time of a byte is not a whole number of picoseconds.
        rate in prop::sample::select(vec![8_000_000, 1_700_000]),
        arrivals in arrivals(),
    ) {
        let rate = Rate::from_bits_per_second(rate);
        // The port is built twice, because a clone would share its memory.
        let built = || port(queueing.as_ref(), &WireConfig { rate, ..raw(RingConfig::default()) });
        prop_assert!(built().precomputes_departures());
        let polled = precomputed_or_polled(built(), &arrivals, false);
        prop_assert_eq!(precomputed_or_polled(built(), &arrivals, true), polled);
    }
}

#[test]
fn departures_that_depend_on_later_arrivals_are_not_precomputed() {
    for queueing in &ports_with_more_to_decide() {
        let port = port(Some(queueing), &raw(RingConfig::default()));
        assert!(!port.precomputes_departures(), "{queueing}");
    }
    // In a ring of two packets, packets leave the queue before the wire is free.
    assert!(!port(None, &raw(RingConfig::Packets(2))).precomputes_departures());
}
