//! FQ-PIE: the vectors of `vectors/queue/fq-pie.toml`, and random traffic compared with a plain scheduler
//! that has the plain PIE of `plain/pie.rs` in each queue.

use std::collections::{BTreeMap, VecDeque};

use crate::plain::pie::{Fate, Kernel, MILLISECOND, PlainPie, Rfc};
use crate::vectors::cases;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::packet::Ecn;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::{Stream, Streams};
use perhop_qos::ring::RingConfig;
use perhop_qos::{DropCause, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde::Deserialize;
use serde_json::{Value, json};

/// At this rate, a byte is sent in one microsecond.
const RATE: Rate = Rate::from_bits_per_second(8_000_000);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Happened {
    Early(u64, usize),
    Full(u64, usize),
    Marked(usize),
    Sent(u64, usize),
}

#[derive(Default)]
struct Log(Vec<Happened>);

impl Observer for Log {
    fn dropped(&mut self, now: Time, _: Option<Place>, packet: &Packet, cause: DropCause) {
        let (now, id) = (now.as_picoseconds(), packet.payload as usize);
        self.0.push(match cause {
            DropCause::EarlyRandom => Happened::Early(now, id),
            _ => Happened::Full(now, id),
        });
    }
    fn marked(&mut self, _: Time, _: Place, packet: &Packet) {
        self.0.push(Happened::Marked(packet.payload as usize));
    }
    fn dequeued(&mut self, now: Time, _: Place, packet: &Packet, _: Departure) {
        self.0.push(Happened::Sent(now.as_picoseconds(), packet.payload as usize));
    }
}

fn port(config: &Value, framing: Framing) -> Port {
    let queueing: QueueingConfig =
        serde_json::from_value(json!({"classes": [{"name": "all", "buffer": {"fq-pie": config}}]})).unwrap();
    let wire = WireConfig { rate: RATE, framing, headers: HeaderStack::EMPTY, ring: RingConfig::Packets(1) };
    Port::build(Some(&queueing), &wire, &[], &Streams::new(1, 0)).unwrap()
}

fn packet(id: usize, flow: u16, length: u32, ecn: Ecn) -> Packet {
    let key = FlowKey { source_port: flow, ..FlowKey::default() };
    Packet { payload: id as u64, marks: ecn.into(), ..Packet::new(key, length) }
}

/// The events of a port with `arrivals`. At one instant, arrivals precede departures.
fn by_port(port: &mut Port, arrivals: &[(Time, Packet)]) -> Vec<Happened> {
    let (mut log, mut now, mut next, mut leaving) = (Log::default(), Time::ZERO, 0, Packet::default());
    for step in 0_u64.. {
        while let Some((_, packet)) = arrivals.get(next).filter(|(at, _)| *at <= now) {
            port.enqueue(now, &mut packet.clone(), &mut log);
            next += 1;
        }
        while port.poll_transmit(now, &mut leaving, &mut log).is_some() {}
        let held: u64 = port.queues().iter().map(|queue| queue.occupancy().packets).sum();
        assert_eq!(held, port.backlog());
        // A check of all queues takes longer than the step itself.
        if step % 16 == 0 {
            assert_eq!(held, port.queues()[0].iter().count() as u64);
        }
        let arrival = arrivals.get(next).map(|(at, _)| *at);
        match port.poll_timeout().into_iter().chain(arrival).min() {
            Some(at) => now = at,
            None => break,
        }
    }
    log.0
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    fq_pie: Value,
    arrivals: Vec<Arriving>,
    order: String,
    #[serde(default)]
    dropped: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arriving {
    at: Time,
    flow: char,
    length: u32,
    #[serde(default = "default_count")]
    count: usize,
}

fn default_count() -> usize {
    1
}

#[test]
fn every_vector_holds() {
    for case in &cases::<Case>("queue/fq-pie.toml") {
        let (mut labels, mut arrivals) = (Vec::<String>::new(), Vec::new());
        for Arriving { at, flow, length, count } in &case.arrivals {
            for _ in 0..*count {
                let number = 1 + labels.iter().filter(|label| label.starts_with(*flow)).count();
                arrivals.push((*at, packet(labels.len(), *flow as u16, *length, Ecn::NotCapable)));
                labels.push(format!("{flow}{number}"));
            }
        }
        let happened = by_port(&mut port(&case.fq_pie, Framing::Raw), &arrivals);
        let named = |id_of: fn(&Happened) -> Option<usize>| {
            happened.iter().filter_map(id_of).map(|id| labels[id].clone()).collect::<Vec<_>>().join(" ")
        };
        let sent = named(|event| if let Happened::Sent(_, id) = event { Some(*id) } else { None });
        let dropped = named(|event| match event {
            Happened::Full(_, id) | Happened::Early(_, id) => Some(*id),
            _ => None,
        });
        assert_eq!((&sent, &dropped), (&case.order, &case.dropped), "{}", case.name);
    }
}

/// The PIE of one flow.
enum Law {
    Rfc(Rfc),
    Kernel(Kernel),
}

impl Law {
    fn pie(&mut self) -> &mut dyn PlainPie {
        match self {
            Law::Rfc(pie) => pie,
            Law::Kernel(pie) => pie,
        }
    }
    /// The random stream that all flows share.
    fn random(&mut self) -> &mut Stream {
        match self {
            Law::Rfc(pie) => &mut pie.random,
            Law::Kernel(pie) => &mut pie.random,
        }
    }
    fn overflowed(&mut self) {
        match self {
            Law::Rfc(pie) => pie.accu_prob = 0.0,
            Law::Kernel(pie) => pie.accu_prob = 0,
        }
    }
}

struct Flow {
    law: Law,
    held: Vec<(Time, Packet)>,
    deficit: i64,
}

/// FQ-PIE: the queues of RFC 8290 with PIE in each queue.
struct PlainFq {
    flows: BTreeMap<u16, Flow>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    quantum: i64,
    header: u32,
    limit: usize,
    is_linux: bool,
    random: Stream,
    next_update: Time,
    make: Box<dyn Fn() -> Law>,
}

impl PlainFq {
    fn held(&self) -> usize {
        self.flows.values().map(|flow| flow.held.len()).sum()
    }
    fn pass(&mut self, now: Time) {
        while self.next_update <= now {
            self.flows.values_mut().for_each(|flow| flow.law.pie().update(&flow.held));
            self.next_update += (self.make)().pie().update_interval();
        }
    }
    fn enqueue(&mut self, now: Time, index: u16, packet: Packet) -> Fate {
        let (held, make) = (self.held(), &self.make);
        let flow =
            self.flows.entry(index).or_insert_with(|| Flow { law: make(), held: Vec::new(), deficit: 0 });
        if held >= self.limit {
            flow.law.overflowed();
            return Fate::Full;
        }
        std::mem::swap(flow.law.random(), &mut self.random);
        let fate = flow.law.pie().arrives(now, &packet, &flow.held);
        std::mem::swap(flow.law.random(), &mut self.random);
        if matches!(fate, Fate::Joins | Fate::Marked) {
            flow.held.push((now, packet));
            if !self.new.contains(&index) && !self.old.contains(&index) {
                flow.deficit = self.quantum;
                self.new.push_back(index);
            }
        }
        fate
    }
    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let &index = self.new.front().or(self.old.front())?;
            let flow = self.flows.get_mut(&index).unwrap();
            let list = if is_new { &mut self.new } else { &mut self.old };
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            if let Some((_, packet)) = flow.held.first().copied() {
                flow.law.pie().left(now, &flow.held);
                flow.held.remove(0);
                flow.deficit -= i64::from(packet.length + self.header);
                return Some(packet);
            }
            list.pop_front();
            if is_new && (!self.is_linux || !self.old.is_empty()) {
                self.old.push_back(index);
            }
        }
    }
}

/// Returns the events of a [`PlainFq`] with `arrivals`. `flow_of` returns the queue of a packet, and is the
/// only function that the crate under test provides.
fn by_plain(
    queue: &mut PlainFq,
    arrivals: &[(Time, Packet)],
    flow_of: impl Fn(&Packet) -> u16,
    framing: Framing,
) -> Vec<Happened> {
    let (mut happened, mut free_at, mut next, mut now) = (Vec::new(), Time::ZERO, 0, Time::ZERO);
    loop {
        queue.pass(now);
        while let Some((_, packet)) = arrivals.get(next).filter(|(at, _)| *at <= now) {
            let (at, id) = (now.as_picoseconds(), packet.payload as usize);
            match queue.enqueue(now, flow_of(packet), *packet) {
                Fate::Early => happened.push(Happened::Early(at, id)),
                Fate::Full => happened.push(Happened::Full(at, id)),
                Fate::Marked => happened.push(Happened::Marked(id)),
                Fate::Joins => {}
            }
            next += 1;
        }
        if free_at <= now
            && let Some(packet) = queue.dequeue(now)
        {
            happened.push(Happened::Sent(now.as_picoseconds(), packet.payload as usize));
            free_at = now + RATE.transmission_time(framing.wire_bytes(packet.length.into()));
        }
        let arrival = arrivals.get(next).map(|(at, _)| *at);
        let free = (queue.held() > 0).then_some(free_at);
        match free.into_iter().chain(arrival).min() {
            Some(at) => now = at.max(now),
            None => return happened,
        }
    }
}

/// Packets of up to five flows, usually above the rate of the wire. The transmission of each burst takes 25
/// ms.
fn arrivals() -> impl Strategy<Value = Vec<(Time, Packet)>> {
    let gap = prop_oneof![4 => Just(0u64), 4 => 0..30_000u64, 1 => 0..900_000u64];
    let length = prop_oneof![2 => Just(1000u32), 1 => 40..1500u32];
    let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable0]);
    prop::collection::vec((gap, length, 0..5u16, ecn, 1..30usize), 20..160).prop_map(|bursts| {
        let (mut now, mut arrivals) = (Time::ZERO, Vec::new());
        for (gap, length, flow, ecn, count) in bursts {
            now += Time::from_microseconds(gap);
            (0..count).for_each(|_| arrivals.push((now, packet(arrivals.len(), flow, length, ecn))));
        }
        arrivals
    })
}

fn rfc(timestamps: bool, derandomizes: bool, t_update_us: u64, random: Stream) -> Rfc {
    Rfc {
        qdelay_ref: 0.015,
        t_update_us,
        max_burst_us: 150_000,
        alpha: 0.125,
        beta: 1.25,
        mark_ecnth: Some(0.1),
        tail_drop: usize::MAX,
        couple_of_packets: 3000,
        timestamps,
        derandomizes,
        random,
        drop_prob: 0.0,
        current_qdelay: 0.0,
        qdelay_old: 0.0,
        burst_allowance_us: 150_000,
        accu_prob: 0.0,
        avg_dq_time: 0.0,
        dq_count: 0,
        measurement_start: None,
    }
}

fn kernel(tupdate_us: u64, header: u32, random: Stream) -> Kernel {
    Kernel {
        target: 15 * MILLISECOND,
        tupdate_us,
        limit: usize::MAX,
        alpha: 2,
        beta: 20,
        ecn: true,
        header,
        random,
        prob: 0,
        accu_prob: 0,
        qdelay: 0,
        qdelay_old: 0,
        burst_time: 150 * MILLISECOND,
        dq_tstamp: None,
    }
}

proptest! {
    // The two implementations round the fractions of the RFC in different orders. With a fixed seed, all
    // machines run the same cases.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(80) })]
    #[test]
    fn a_port_agrees_with_plain_queues(
        arrivals in arrivals(),
        (quantum, limit, flows) in (256..3000u64, 20..400usize, prop::sample::select(vec![1u16, 3, 1024])),
        update_ms in 5..30u64,
        (timestamps, derandomizes, is_linux) in any::<(bool, bool, bool)>(),
        framing in prop::sample::select(vec![Framing::Raw, Framing::EthernetHeader]),
    ) {
        let mut config = json!({
            "law": if is_linux { "linux" } else { "rfc" }, "update-interval": format!("{update_ms}ms"),
            "quantum": format!("{quantum}B"), "limit": format!("{limit} packets"), "flows": flows, "ecn": "mark",
        });
        if !is_linux {
            config["delay"] = json!(if timestamps { "sojourn" } else { "departure-rate" });
            config["drop-spacing"] = json!(if derandomizes { "derandomized" } else { "random" });
        }
        let mut port = port(&config, framing);
        let header = if is_linux { framing.queued_header() } else { 0 };
        let spare = Streams::new(9, 9).stream();
        let make = move || if is_linux { Law::Kernel(kernel(update_ms * 1000, header, spare.clone())) } else { Law::Rfc(rfc(timestamps, derandomizes, update_ms * 1000, spare.clone())) };
        let mut plain = PlainFq {
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: quantum.cast_signed(),
            header,
            limit,
            is_linux,
            random: Streams::new(1, 0).child("all").child("buffer").stream(),
            next_update: make().pie().first_update(),
            make: Box::new(make),
        };
        let happened = by_port(&mut port, &arrivals);
        let queue = port.queues()[0].clone();
        let plainly = by_plain(&mut plain, &arrivals, |packet| queue.flow_of(packet).unwrap(), framing);
        prop_assert_eq!(happened, plainly);
    }
}

/// Two flows offer 0.6 of the wire's rate each, and a third flow offers a hundredth. The first two flows have
/// equal shares of the remaining rate, and PIE keeps the delay of each at its target. The third flow is
/// always a new flow and loses no packet.
#[test]
fn flows_share_and_the_sparse_one_does_not_wait() {
    for law in ["rfc", "linux"] {
        let mut port =
            port(&json!({"law": law, "delay": "sojourn", "drop-spacing": "derandomized"}), Framing::Raw);
        let mut arrivals: Vec<(Time, Packet)> = Vec::new();
        for (flow, gap) in [(1u16, 1667u64), (2, 1667), (3, 20_000)] {
            let length = if flow == 3 { 200 } else { 1000 };
            arrivals.extend((0..40_000_000 / gap).map(|number| {
                (Time::from_microseconds(number * gap), packet(0, flow, length, Ecn::NotCapable))
            }));
        }
        arrivals.sort_by_key(|(at, _)| *at);
        for (id, (_, packet)) in arrivals.iter_mut().enumerate() {
            packet.payload = id as u64;
        }
        let (mut sent, mut waits, mut dropped) = ([0u32; 4], [const { Vec::new() }; 4], [0; 4]);
        for event in by_port(&mut port, &arrivals) {
            let flow = |id: usize| usize::from(arrivals[id].1.flow_key().source_port);
            match event {
                Happened::Sent(at, id) if at > 10_000_000_000_000 && at < 40_000_000_000_000 => {
                    sent[flow(id)] += 1;
                    waits[flow(id)].push((at - arrivals[id].0.as_picoseconds()) as f64 / 1e9);
                }
                Happened::Early(_, id) | Happened::Full(_, id) => dropped[flow(id)] += 1,
                _ => {}
            }
        }
        let mean = |waits: &Vec<f64>| waits.iter().sum::<f64>() / waits.len() as f64;
        assert!(dropped[3] == 0 && sent[3].abs_diff(1500) <= 1, "{law}: {sent:?}, {dropped:?}");
        assert!(waits[3].iter().all(|wait| *wait <= 1.0), "{law}: for the packet on the wire alone");
        // Each flow sends half of 1000 packets per second for 30 s, minus half of the 10 packets per second
        // of the third flow.
        for flow in [1, 2] {
            assert!((f64::from(sent[flow]) / 14_850.0 - 1.0).abs() < 0.01, "{law}: {sent:?}");
            assert!((mean(&waits[flow]) - 15.0).abs() < 1.5, "{law}: {} ms", mean(&waits[flow]));
        }
    }
}
