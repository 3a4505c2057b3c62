//! Bounds of one port, calculated by hand. A raw wire of 8 Mb/s sends one byte per microsecond.

use perhop_bounds::arrival::Arrival;
use perhop_bounds::lengths::Lengths;
use perhop_bounds::port::Port;
use perhop_bounds::queue::QueueBound;
use perhop_bounds::rule::Rule;
use perhop_bounds::stream::Stream;
use perhop_qos::accounting::Accounting;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::packet::Packet;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::ring::RingConfig;
use perhop_qos::units::Rate;
use serde_json::{Value, json};

const WIRE: WireConfig = WireConfig {
    rate: Rate::from_bits_per_second(8_000_000),
    framing: Framing::Raw,
    headers: HeaderStack::EMPTY,
    ring: RingConfig::Packets(1),
};

/// Creates a stream of packets with one length. `own` is the burst and the rate of its arrival curve, in
/// bytes per microsecond. `None` means unbounded.
fn stream(length: u32, own: Option<(f64, f64)>) -> Vec<Stream> {
    vec![Stream {
        traffic: 0,
        answers: false,
        flows: 1,
        packet: Packet::default(),
        lengths: Lengths::exactly(length),
        own: own.map(|(burst, rate)| Arrival::token_bucket(burst, rate * 1e6)),
        limits: Vec::new(),
    }]
}

fn bounds_on(wire: WireConfig, queueing: Option<Value>, streams: Vec<Vec<Stream>>) -> Vec<QueueBound> {
    let queueing: Option<QueueingConfig> = queueing.map(|value| serde_json::from_value(value).unwrap());
    let port = Port { queueing: queueing.as_ref(), wire, accounting: Accounting::IP, streams };
    port.bounds().into_iter().map(Option::unwrap).collect()
}

fn bounds(queueing: Value, streams: Vec<Vec<Stream>>) -> Vec<QueueBound> {
    bounds_on(WIRE, Some(queueing), streams)
}

fn classes(scheduler: &str, classes: &[Value]) -> Value {
    let named = |(index, class): (usize, &Value)| {
        let mut class = class.clone();
        class["name"] = json!(index.to_string());
        class
    };
    json!({"scheduler": scheduler, "classes": classes.iter().enumerate().map(named).collect::<Vec<_>>()})
}

fn share(key: &str, value: impl Into<Value>) -> Value {
    json!({"share": {key: value.into()}})
}

/// Checks that the delay is `microseconds`, or exceeds it by at most one part in a million.
#[track_caller]
fn assert_delay(bound: &QueueBound, microseconds: f64) {
    let delay = bound.delay.as_ref().unwrap() * 1e6;
    assert!(delay >= microseconds && delay < microseconds * 1.000_001 + 0.01, "{delay}");
}

#[test]
fn a_fifo_counts_cells() {
    // Three packets of 40 bytes need three cells of 53 bytes. The port has no policy, so the bound counts
    // wire bytes.
    let wire = WireConfig { framing: Framing::Aal5Mux, ..WIRE };
    let bounds = bounds_on(wire, None, vec![stream(40, Some((120.0, 0.01)))]);
    assert_delay(&bounds[0], 159.0);
    assert_eq!(bounds[0].rules, [Rule::Fifo]);
    assert_eq!(bounds[0].backlog_packets, Ok(3.0));
}

/// Three packets of 200 + 18 bytes use one unit of 256 bytes each. Other queues may use the units that are
/// not reserved.
#[test]
fn only_the_reserved_part_of_a_shared_memory_is_certain() {
    for (reserved, thresholds, overflows) in
        [(3, json!([]), false), (2, json!([]), true), (3, json!([2]), true)]
    {
        let queueing = json!({"memory": {"unit-bytes": 256, "shared": 1000}, "classes": [
            {"name": "all", "buffer": {"shared-memory": {"reserved": reserved, "thresholds": thresholds}}}]});
        let bounds = bounds(queueing, vec![stream(200, Some((600.0, 0.1)))]);
        assert_delay(&bounds[0], 600.0);
        assert_eq!(bounds[0].overflows, Some(overflows), "{reserved} {thresholds}");
    }
}

#[test]
fn self_clocked_fair_queueing() {
    let queueing = classes("scfq", &[share("weight", 2), share("weight", 3)]);
    let streams = vec![stream(200, Some((600.0, 0.1))), stream(1500, None)];
    let bounds = bounds(queueing, streams);
    // The delay consists of 600 bytes at two fifths of the wire, and one packet of the other class.
    assert_delay(&bounds[0], 600.0 * 2.5 + 1500.0);
    assert!((bounds[0].rate - 4e5).abs() < 1e-3);
    // The arrivals at the other queue are unbounded, but this queue contains at most 64 packets. They are
    // served at three fifths of the wire, after one packet of each class.
    assert_delay(&bounds[1], 64.0 * 1500.0 * 5.0 / 3.0 + 1500.0 + 200.0);
    assert_eq!(bounds[1].rules, [Rule::Scfq, Rule::QueueLimit]);
    assert_eq!((bounds[1].overflows, bounds[0].overflows), (Some(true), Some(false)));
}

#[test]
fn deficit_round_robin() {
    let queueing = classes("drr", &[share("quantum", "750B"), share("quantum", "1500B")]);
    let bounds = bounds(queueing, vec![stream(200, Some((600.0, 0.1))), stream(1500, Some((1500.0, 0.2)))]);
    // The bound of deficit round robin counts 600 bytes in one turn, a quantum of the other class, 1499 saved
    // bytes of the other class, and one packet of the class itself on the wire. The bound by the arrivals of
    // the other class is lower: they are at most 1500 + 0.2 · t. The 600 bytes then end after 2100 / 0.8.
    assert_delay(&bounds[0], 2100.0 / 0.8);
    assert_eq!(bounds[0].rules, [Rule::Rest]);
    let queueing = classes("drr", &[share("quantum", "750B"), share("quantum", "1500B")]);
    let bounds = self::bounds(queueing, vec![stream(200, Some((600.0, 0.1))), stream(1500, None)]);
    assert_delay(&bounds[0], 600.0 + 1500.0 + 1499.0 + 200.0);
    assert_eq!(bounds[0].rules, [Rule::Drr]);
}

#[test]
fn weighted_round_robin() {
    let queueing = classes("wrr", &[share("weight", 2), share("weight", 3)]);
    let bounds = bounds(queueing, vec![stream(200, Some((600.0, 0.01))), stream(1500, None)]);
    // Three packets need two turns. The delay counts their 600 bytes, two turns of three packets of the other
    // class, one saved packet of the other class, and one packet of the class itself.
    assert_delay(&bounds[0], 600.0 + 9000.0 + 1500.0 + 200.0);
}

#[test]
fn levels_of_priority() {
    let level = json!({});
    let queueing = classes("priority", &[level.clone(), level.clone(), level]);
    let streams =
        vec![stream(200, Some((600.0, 0.15))), stream(1000, Some((1000.0, 0.1))), stream(1500, None)];
    let bounds = bounds(queueing, streams);
    assert_delay(&bounds[0], 1500.0 + 600.0);
    assert_delay(&bounds[1], (1500.0 + 600.0 + 1000.0) / 0.85);
    // When the busy period of the lowest level begins, only packets of the levels above can be on the wire.
    // While packets of this level wait, the levels above send 600 + 0.15 · (t + D) and 1000 + 0.1 · (t + D)
    // bytes. One packet of 1500 bytes is added.
    let (first, second) = (bounds[0].delay.clone().unwrap() * 1e6, bounds[1].delay.clone().unwrap() * 1e6);
    let before = 600.0 + 0.15 * first + 1000.0 + 0.1 * second;
    assert_delay(&bounds[2], (64.0 * 1500.0 + 1500.0 + before) / 0.75);
}

#[test]
fn unbounded_priority_leaves_lower_levels_unbounded() {
    let level = json!({});
    let queueing = classes("priority", &[level.clone(), level]);
    let bounds = bounds(queueing, vec![stream(200, None), stream(1000, Some((1000.0, 0.1)))]);
    // The queue of the first level contains at most 64 packets.
    assert_delay(&bounds[0], 64.0 * 200.0 + 1000.0);
    assert!(bounds[1].delay.as_ref().unwrap_err().contains("`0` has priority over this queue"), "{bounds:?}");
    // A policer that drops packets while other packets wait limits the first level to 2000 + 0.25 · t. A cap
    // has the same effect.
    for limit in [
        json!({"police": {"rate": "2Mb/s", "burst": "2000B"}}),
        share("cap", json!({"rate": "2Mb/s", "burst": "2000B"})),
    ] {
        let queueing = classes("priority", &[limit, json!({})]);
        let bounds = self::bounds(queueing, vec![stream(200, None), stream(1000, Some((1000.0, 0.1)))]);
        // The delay counts a packet of 1000 bytes on the wire, 2000 + 0.25 · t bytes of the first level, and
        // the packet itself.
        assert_delay(&bounds[1], (1000.0 + 2000.0 + 1000.0) / 0.75);
    }
}

#[test]
fn a_cap_that_is_never_reached() {
    let bounds_behind = |burst| {
        let cap = share("cap", json!({"rate": "2Mb/s", "burst": "2000B"}));
        let queueing = classes("priority", &[cap, json!({})]);
        bounds(queueing, vec![stream(200, Some((burst, 0.05))), stream(1000, None)])
    };
    // With priority, the delay is 1400 µs. The class therefore sends at most 400 + 0.05 · 1400 bytes at once.
    assert_delay(&bounds_behind(400.0)[0], 1000.0 + 400.0);
    // With 1900 + 0.05 · 2900 bytes, the class would exceed the burst of 2000 bytes.
    assert!(bounds_behind(1900.0)[0].delay.as_ref().unwrap_err().contains("above its cap"));
}

#[test]
fn a_shaper_before_the_wire() {
    let shape = json!({"shape": {"rate": "2Mb/s", "burst": "4000B"}});
    let bounds = bounds(classes("fifo", &[shape]), vec![stream(1000, Some((3000.0, 0.1)))]);
    // The delay counts 3000 bytes at a quarter byte per microsecond, one packet on the wire, and the packet
    // itself.
    assert_delay(&bounds[0], 12_000.0 + 2000.0);
    assert_eq!(bounds[0].rules, [Rule::Shaper]);
}

#[test]
fn a_shaper_next_to_other_classes() {
    let shaped = |burst: &str| json!({"shape": {"rate": "1Mb/s", "burst": burst}});
    let bounds_at = |burst| {
        let queueing = classes("scfq", &[shaped(burst), json!({})]);
        bounds(queueing, vec![stream(1000, Some((2000.0, 0.01))), stream(1500, None)])
    };
    // Each of the two packets takes 2000 µs at half of the wire, after one packet of the other class and the
    // packet on the wire: 2000 + 1500 + 1500 µs. The shaper passes an eighth of a byte per microsecond, so
    // each byte waits 8 µs for its tokens.
    assert_delay(&bounds_at("1500B")[0], 2.0 * 5000.0 + 2.0 * 8000.0);
    // A burst of 2375 bytes has room for two packets and for the tokens of 3 ms. The delay then includes the
    // latency only once, and the time of one packet at half of the wire.
    assert_delay(&bounds_at("2375B")[0], 2.0 * 8000.0 + 3000.0 + 2000.0);
}

#[test]
fn minima_with_deadlines() {
    let queueing = classes("three-parameter", &[share("minimum", "4Mb/s"), share("minimum", "2Mb/s")]);
    let bounds = bounds(queueing, vec![stream(500, Some((1000.0, 0.1))), stream(1500, None)]);
    // The delay counts 1000 bytes and the previous packet at half a byte per microsecond, the packet on the
    // wire, and one more packet.
    assert_delay(&bounds[0], 2000.0 + 1000.0 + 1500.0 + 1500.0);
    assert_eq!(bounds[0].rules, [Rule::Minimum]);
}

#[test]
fn fluid_servers() {
    for (scheduler, rule) in [("wfq", Rule::Wfq), ("wf2q-plus", Rule::Wf2qPlus)] {
        let queueing = classes(scheduler, &[share("weight", 1), share("weight", 3)]);
        let bounds = bounds(queueing, vec![stream(200, Some((600.0, 0.1))), stream(1500, None)]);
        assert_delay(&bounds[0], 600.0 * 4.0 + 1500.0);
        assert_eq!(bounds[0].rules, [rule]);
        assert!(bounds[1].delay.is_err());
    }
}

#[test]
fn packets_of_lower_priority_in_a_long_ring_add_delay() {
    let wire = WireConfig { ring: RingConfig::Packets(4), ..WIRE };
    let queueing = classes("priority", &[json!({}), json!({})]);
    let bounds = bounds_on(wire, Some(queueing), vec![stream(200, Some((600.0, 0.1))), stream(1500, None)]);
    assert_delay(&bounds[0], 4.0 * 1500.0 + 600.0);
}

#[test]
fn fair_queueing_of_flows_has_no_bound() {
    let class = json!({"fair-queueing": {}});
    let bounds = bounds(classes("fifo", &[class]), vec![stream(200, Some((600.0, 0.1)))]);
    assert!(bounds[0].delay.as_ref().unwrap_err().contains("different order"));
    assert!(bounds[0].backlog_bytes.is_ok());
}

#[test]
fn token_buckets_in_a_hierarchy_have_no_bound_alone_or_nested() {
    let share = json!({"rate": "1Mb/s"});
    let inner = json!({"scheduler": "htb", "classes": [{"name": "0", "share": share}]});
    for class in [json!({"share": share}), json!({"share": share, "queueing": inner})] {
        let bounds = bounds(classes("htb", &[class]), vec![stream(200, Some((600.0, 0.1)))]);
        assert!(bounds[0].delay.as_ref().unwrap_err().contains("no bound is known for htb"), "{bounds:?}");
    }
}

#[test]
fn link_sharing_has_no_bound_alone_or_nested() {
    let share = json!({"fraction": 0.5, "borrow": false});
    let inner = json!({"scheduler": "cbq", "classes": [{"name": "0", "share": share}]});
    for class in [json!({"share": share}), json!({"share": share, "queueing": inner})] {
        let bounds = bounds(classes("cbq", &[class]), vec![stream(200, Some((600.0, 0.1)))]);
        assert!(bounds[0].delay.as_ref().unwrap_err().contains("no bound is known for cbq"), "{bounds:?}");
    }
}

/// Returns a port with two queues of guarantee-excess at these levels. The queues have guaranteed rates of
/// 0.5 and 0.25 bytes per microsecond.
fn guaranteed(levels: [u16; 2]) -> Value {
    let share = |rate: &str, burst: &str, level: u16| json!({"share": {"rate": rate, "burst": burst, "level": level}});
    let shares = [share("4Mb/s", "4000B", levels[0]), share("2Mb/s", "2000B", levels[1])];
    classes("guarantee-excess", &shares)
}

#[test]
fn a_guaranteed_rate_waits_for_the_guarantees_of_its_level() {
    let streams = || vec![stream(100, Some((300.0, 0.1))), stream(200, None)];
    // The other queue leaves a service of 0.75 bytes per microsecond, which starts after (200 + 2000) / 0.75
    // = 2933.3 µs: 200 bytes are on the wire, and 2000 bytes are the burst of the other queue. For the
    // guaranteed queue, this is a service of 0.5 bytes per microsecond after 2933.3 + 100 / 0.75 = 3066.7 µs.
    // Its 300 bytes take 600 µs more.
    let bounds_of_one_level = bounds(guaranteed([0, 0]), streams());
    assert_delay(&bounds_of_one_level[0], 2_933.333_333 + 133.333_333 + 600.0);
    assert_eq!(bounds_of_one_level[0].rules, [Rule::GuaranteedRate]);
    // A queue of a higher level waits only for the packet on the wire. The delay is 200 + 100 + 600 µs.
    let bounds_of_two_levels = bounds(guaranteed([0, 1]), streams());
    assert_delay(&bounds_of_two_levels[0], 900.0);
    // The guaranteed rate of the other queue is still 0.25, although its arrivals are unbounded.
    assert!((bounds_of_two_levels[1].rate - 0.25e6).abs() < 1.0);
}

#[test]
fn a_queue_without_a_guarantee_has_the_rest() {
    let mut queueing = guaranteed([0, 1]);
    queueing["classes"][1]["share"] = json!({});
    let found =
        bounds(queueing.clone(), vec![stream(100, Some((300.0, 0.1))), stream(200, Some((400.0, 0.05)))]);
    // The other queue leaves a service of 0.9 bytes per microsecond, which starts after (200 + 300) / 0.9 µs.
    assert_delay(&found[1], (500.0 + 400.0) / 0.9);
    assert_eq!(found[1].rules, [Rule::Rest]);
    // The other queue now has no contract, so it may use the whole line, and the delay has no bound.
    let found = bounds(queueing, vec![stream(100, None), stream(200, Some((400.0, 0.05)))]);
    let reason = found[1].delay.as_ref().unwrap_err();
    assert!(reason.contains("the queue has no guaranteed rate"), "{reason}");
}

#[test]
fn a_maximum_limits_the_queue_that_is_always_within_its_guarantee() {
    let share = |value: Value| json!({"share": value});
    let strict = share(json!({"rate": "2Mb/s", "ceil": "2Mb/s", "ceil-burst": "1000B"}));
    let low = share(json!({"rate": "4Mb/s", "burst": "4000B", "level": 1}));
    let queueing = classes("guarantee-excess", &[strict, low]);
    let found = bounds(queueing, vec![stream(100, None), stream(200, Some((400.0, 0.1)))]);
    // The queue with the maximum sends at most 1000 + 0.25 t bytes. It leaves a service of 0.75 bytes per
    // microsecond, which starts after (200 + 1000) / 0.75 µs. The 400 bytes take 400 / 0.75 µs.
    assert_delay(&found[1], 1600.0 + 533.333_333);
    assert_eq!(found[1].rules, [Rule::Rest]);
    // The rate of the queue with the maximum is this maximum, 0.25 MB/s.
    assert!((found[0].rate - 0.25e6).abs() < 1.0);
}

/// The guaranteed rate of the other queue is 0.75 bytes per microsecond. It leaves only 0.25 of the 0.5 that
/// this queue is guaranteed.
#[test]
fn a_guarantee_that_the_others_do_not_leave_is_the_rate_that_they_leave() {
    let share = |rate: &str, burst: &str| json!({"share": {"rate": rate, "burst": burst}});
    let queueing = classes("guarantee-excess", &[share("4Mb/s", "8000B"), share("6Mb/s", "500B")]);
    let found = bounds(queueing, vec![stream(100, None), stream(200, None)]);
    // The service that remains is 0.25 bytes per microsecond after (200 + 500) / 0.25 = 2800 µs.
    assert!((found[0].rate - 0.25e6).abs() < 1.0, "{}", found[0].rate);
}
