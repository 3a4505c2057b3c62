//! A search for arrival patterns that delay one class as long as possible and conform to the contract of each
//! class. The delays are compared with the bound of the port.

use perhop_bounds::arrival::Arrival;
use perhop_bounds::lengths::Lengths;
use perhop_bounds::port::Port;
use perhop_bounds::stream::Stream;
use perhop_qos::accounting::Accounting;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::packet::{Dscp, Packet};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::port::Port as QosPort;
use perhop_qos::random::{Stream as Draws, Streams};
use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
use perhop_qos::units::{ByteSize, PICOSECONDS_PER_SECOND, Rate, Time};
use serde_json::{Value, json};

/// A wire that sends one byte per microsecond.
const WIRE: WireConfig = WireConfig {
    rate: Rate::from_bits_per_second(8_000_000),
    framing: Framing::Raw,
    headers: HeaderStack::EMPTY,
    ring: RingConfig::Packets(1),
};
const CODEPOINTS: [&str; 3] = ["ef", "af41", "default"];

/// The contract of one class: a token bucket, and the lengths of its packets.
#[derive(Clone, Copy)]
struct Contract {
    burst: f64,
    rate: f64,
    lengths: &'static [u32],
}

/// The packets of one class: the time of the first packet, the lengths of the first packets, and the lengths
/// of the later packets. Each packet is sent as soon as its tokens permit.
#[derive(Clone)]
struct Pattern {
    starts: Time,
    first: Vec<u32>,
    then: u32,
}

impl Pattern {
    fn draw(draws: &mut Draws, contract: &Contract) -> Pattern {
        let mut length = || contract.lengths[(draws.uniform() * contract.lengths.len() as f64) as usize];
        let (first, then) = ((0..8).map(|_| length()).collect(), length());
        Pattern { starts: Time::from_seconds_f64(draws.uniform() * 0.02), first, then }
    }
    /// Returns a copy of the pattern with one random change.
    fn changed(&self, draws: &mut Draws, contract: &Contract) -> Pattern {
        let other = Pattern::draw(draws, contract);
        let mut changed = self.clone();
        match (draws.uniform() * 4.0) as usize {
            0 => changed.starts = other.starts,
            1 => {
                // A small change of the start time may change which class sends first.
                let step = Time::from_seconds_f64(draws.uniform() * 2e-4);
                let later = draws.uniform() < 0.5;
                changed.starts =
                    if later { changed.starts + step } else { changed.starts.saturating_sub(step) };
            }
            2 => changed.then = other.then,
            _ => {
                let place = (draws.uniform() * changed.first.len() as f64) as usize;
                changed.first[place] = other.first[place];
            }
        }
        changed
    }
    /// Returns the packets that are sent until `end`.
    fn arrivals(&self, contract: &Contract, end: Time) -> Vec<(Time, u32)> {
        let (mut tokens, mut now) = (contract.burst, self.starts);
        let mut arrivals = Vec::new();
        for length in self.first.iter().copied().chain(std::iter::repeat(self.then)) {
            let missing = (f64::from(length) - tokens).max(0.0);
            // The time is rounded up, because a packet that is a picosecond too early would violate the
            // contract.
            let wait = (missing / contract.rate * PICOSECONDS_PER_SECOND as f64).ceil() as u64;
            now += Time::from_picoseconds(wait + u64::from(wait > 0));
            if now > end {
                break;
            }
            tokens = (tokens + missing - f64::from(length)).max(0.0);
            arrivals.push((now, length));
        }
        arrivals
    }
}

/// A port and the contracts of its classes.
#[derive(Clone, Copy)]
struct Node<'a> {
    policy: &'a PolicyConfig,
    wire: WireConfig,
    contracts: &'a [Contract],
}

/// The longest delay of class `tagged` if all classes send according to their patterns, seconds.
fn longest_delay(node: Node, patterns: &[Pattern], tagged: usize) -> f64 {
    let Node { policy, wire, contracts } = node;
    let mut port = policy.build_port(&wire, &[], &Streams::new(0, 0)).unwrap();
    let mut arrivals: Vec<(Time, usize, u32)> = Vec::new();
    for (class, (contract, pattern)) in contracts.iter().zip(patterns).enumerate() {
        let packets = pattern.arrivals(contract, Time::from_milliseconds(120));
        arrivals.extend(packets.into_iter().map(|(at, length)| (at, class, length)));
    }
    arrivals.sort_by_key(|(at, class, _)| (*at, *class));
    let mut longest = Time::ZERO;
    let mut next = arrivals.into_iter().peekable();
    loop {
        let due = port.poll_timeout();
        let Some(now) = next.peek().map(|entry| entry.0).into_iter().chain(due).min() else { break };
        if due == Some(now) {
            longest = longest.max(poll(&mut port, now, tagged));
            continue;
        }
        let Some((_, class, length)) = next.next() else { break };
        let dscp: Dscp = CODEPOINTS[class].parse().unwrap();
        let mut packet = Packet { length, dscp, sent_at: now, ..Packet::default() };
        let _ = port.enqueue(now, &mut packet, ());
        longest = longest.max(poll(&mut port, now, tagged));
    }
    longest.as_seconds()
}

/// Sends the packets that may be sent now. Returns the longest delay of a packet of `tagged` among them.
fn poll(port: &mut QosPort, now: Time, tagged: usize) -> Time {
    let mut packet = Packet::default();
    let mut longest = Time::ZERO;
    while let Some(departure) = port.poll_transmit(now, &mut packet, ()) {
        if packet.dscp == CODEPOINTS[tagged].parse().unwrap() {
            longest = longest.max(departure.ends - packet.sent_at);
        }
    }
    longest
}

/// Returns the longest delay of class `tagged` that a search finds. The search starts with several random
/// patterns and improves each of them step by step.
fn reached(node: Node, tagged: usize, climbs: usize) -> f64 {
    let contracts = node.contracts;
    let mut draws = Streams::new(1, 0).child("adversary").stream();
    let mut worst = 0.0f64;
    for _ in 0..climbs {
        let mut patterns: Vec<Pattern> =
            contracts.iter().map(|contract| Pattern::draw(&mut draws, contract)).collect();
        let mut best = longest_delay(node, &patterns, tagged);
        for _ in 0..250 {
            let class = (draws.uniform() * contracts.len() as f64) as usize;
            let mut other = patterns.clone();
            other[class] = patterns[class].changed(&mut draws, &contracts[class]);
            let delay = longest_delay(node, &other, tagged);
            if delay >= best {
                (best, patterns) = (delay, other);
            }
        }
        worst = worst.max(best);
    }
    worst
}

fn bounds(node: Node) -> Vec<Option<f64>> {
    let Node { policy, wire, contracts } = node;
    let stream = |contract: &Contract| Stream {
        traffic: 0,
        answers: false,
        flows: 1,
        packet: Packet::default(),
        lengths: Lengths::among(contract.lengths.iter().copied()).unwrap(),
        own: Some(Arrival::token_bucket(contract.burst, contract.rate)),
        limits: Vec::new(),
    };
    let streams = contracts.iter().map(|contract| vec![stream(contract)]).collect();
    let port = Port { queueing: policy.queueing.as_ref(), wire, accounting: Accounting::IP, streams };
    port.bounds().into_iter().map(|bound| bound.unwrap().delay.ok()).collect()
}

/// Returns classes for the three codepoints. The last class matches all other packets, too.
fn classes(properties: &[Value; 3]) -> Vec<Value> {
    let class = |(index, properties): (usize, &Value)| {
        let mut class = properties.clone();
        class["name"] = json!(CODEPOINTS[index]);
        class["buffer"] = json!({"tail-drop": {"limit": "100000 packets"}});
        if index < 2 {
            class["match"] = json!({"dscp": CODEPOINTS[index]});
        }
        class
    };
    properties.iter().enumerate().map(class).collect()
}

fn flat(scheduler: &str, properties: &[Value; 3]) -> Value {
    json!({"scheduler": scheduler, "classes": classes(properties)})
}

fn shares(key: &str, values: [Value; 3]) -> [Value; 3] {
    values.map(|value| json!({"share": {key: value}}))
}

fn policy(queueing: &Value) -> PolicyConfig {
    serde_json::from_value(json!({"queueing": queueing})).unwrap()
}

/// The contracts of three classes: the first has small packets, the second has packets of two lengths, and
/// the third has large packets. Together they use 0.85 of the wire.
const CONTRACTS: [Contract; 3] = [
    Contract { burst: 600.0, rate: 1.5e5, lengths: &[200] },
    Contract { burst: 6000.0, rate: 3.0e5, lengths: &[500, 1500] },
    Contract { burst: 15_000.0, rate: 4.0e5, lengths: &[300, 1499, 1500] },
];

/// Checks that no found delay exceeds its bound, and that each bound exceeds the longest delay found by at
/// most a quarter.
fn check(queueing: &Value) {
    let policy = policy(queueing);
    let node = Node { policy: &policy, wire: WIRE, contracts: &CONTRACTS };
    for (tagged, bound) in bounds(node).iter().enumerate() {
        let (bound, reached) = (bound.unwrap(), reached(node, tagged, 12));
        println!("class {tagged}: bound {bound} s, reached {reached} s: {:.3}", bound / reached);
        assert!(reached <= bound, "class {tagged}: {reached} s, {bound} s");
        assert!(bound <= 1.25 * reached, "class {tagged}: {reached} s, {bound} s");
    }
}

#[test]
fn self_clocked_fair_queueing_is_nearly_as_late_as_its_bound() {
    check(&flat("scfq", &shares("weight", [json!(2), json!(3), json!(4)])));
}

#[test]
fn deficit_round_robin_is_nearly_as_late_as_its_bound() {
    check(&flat("drr", &shares("quantum", [json!("750B"), json!("1500B"), json!("2250B")])));
}

#[test]
fn strict_priority_is_nearly_as_late_as_its_bound() {
    check(&flat("priority", &[json!({}), json!({}), json!({})]));
}

/// Returns a voice class with priority over the other classes, which the scheduler `inner` serves.
fn voice_above(inner: &str, properties: &[Value; 3]) -> Value {
    let mut classes = classes(properties);
    let voice = classes.remove(0);
    json!({"scheduler": "priority", "classes": [
        voice, {"name": "rest", "queueing": {"scheduler": inner, "classes": classes}},
    ]})
}

/// Returns policies with different schedulers, shapers, caps and maxima.
fn combinations() -> Vec<Value> {
    let plain = || [json!({}), json!({}), json!({})];
    let minima = || shares("minimum", [json!("1600kb/s"), json!("2600kb/s"), json!("3500kb/s")]);
    let shape = |rate: &str, burst: &str| json!({"shape": {"rate": rate, "burst": burst}});
    let all = |shape: &Value, inner: Value| {
        let mut class = shape.clone();
        (class["name"], class["queueing"]) = (json!("all"), inner);
        json!({"classes": [class]})
    };
    let capped = [json!({"share": {"cap": {"rate": "1600kb/s", "burst": "1600B"}}}), json!({}), json!({})];
    let mut shaped = plain();
    shaped[0] = shape("1300kb/s", "6000B");
    let mut tight = plain();
    tight[0] = shape("1300kb/s", "200B");
    let mut held = minima();
    held[1]["shape"] = json!({"rate": "2500kb/s", "burst": "12000B"});
    let weights = || shares("weight", [json!(2), json!(3), json!(4)]);
    let rates = |level: u16| {
        let share =
            |rate: &str, level: u16| json!({"share": {"rate": rate, "burst": "6000B", "level": level}});
        [share("1600kb/s", 0), share("2600kb/s", level), share("3500kb/s", level)]
    };
    let mut strict = rates(1);
    strict[0] = json!({"share": {"rate": "1600kb/s", "ceil": "1600kb/s", "ceil-burst": "1600B"}});
    strict[2] = json!({"share": {"excess-level": 1, "level": 1}});
    let mut port = json!({"name": "port", "share": {"ceil": "7500kb/s", "ceil-burst": "20000B"}});
    port["queueing"] = flat("guarantee-excess", &rates(1));
    vec![
        flat("guarantee-excess", &rates(0)),
        flat("guarantee-excess", &rates(1)),
        flat("guarantee-excess", &strict),
        json!({"scheduler": "guarantee-excess", "classes": [port]}),
        flat("fifo", &plain()),
        flat("wrr", &weights()),
        flat("wfq", &weights()),
        flat("wf2q-plus", &weights()),
        flat("three-parameter", &minima()),
        flat("three-parameter", &held),
        flat("priority", &capped),
        flat("scfq", &shaped),
        flat("drr", &tight),
        voice_above("scfq", &plain()),
        voice_above("drr", &plain()),
        voice_above("three-parameter", &{
            let mut rest = minima();
            rest[0] = json!({});
            rest
        }),
        all(&shape("7500kb/s", "1500B"), voice_above("scfq", &plain())),
        all(&shape("7500kb/s", "20000B"), flat("drr", &plain())),
        all(&shape("7500kb/s", "1000B"), flat("priority", &plain())),
    ]
}

/// Every delay that a search finds is within its bound, with every scheduler and every ring.
#[test]
fn no_search_exceeds_a_bound() {
    let rings = [
        RingConfig::Packets(1),
        RingConfig::Packets(3),
        RingConfig::Particles {
            count: 5,
            size: ByteSize::from_bytes(576),
            admission: RingAdmission::Overshoot,
            release: RingRelease::LastBit,
        },
        RingConfig::Particles {
            count: 5,
            size: ByteSize::from_bytes(512),
            admission: RingAdmission::Strict,
            release: RingRelease::FirstBit,
        },
        RingConfig::Particles {
            count: 5,
            size: ByteSize::from_bytes(512),
            admission: RingAdmission::Batches,
            release: RingRelease::FirstBit,
        },
    ];
    let (mut bounded, mut compared) = (0, 0);
    for queueing in &combinations() {
        let policy = policy(queueing);
        for ring in rings {
            let node = Node { policy: &policy, wire: WireConfig { ring, ..WIRE }, contracts: &CONTRACTS };
            for (tagged, bound) in bounds(node).iter().enumerate() {
                compared += 1;
                let Some(bound) = bound else { continue };
                bounded += 1;
                let reached = reached(node, tagged, 2);
                assert!(reached <= *bound, "{queueing} {ring:?} class {tagged}: {reached} s, {bound} s");
            }
        }
    }
    // Without enough bounded classes, the search proves nothing.
    assert!(bounded * 10 >= compared * 8, "{bounded} of {compared}");
}
