//! FQ-CoDel: the vectors of `vectors/queue/fq-codel.toml`, and random traffic compared with a plain scheduler
//! that has the plain `CoDel` of `plain/codel.rs` in each queue.

use std::collections::{BTreeMap, VecDeque};

use crate::plain::codel::{Dequeued, LinuxQueue, Plain, RfcQueue, Settings};
use crate::vectors::cases;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::packet::Ecn;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{DropCause, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// At this rate, a byte is sent in one microsecond.
const RATE: Rate = Rate::from_bits_per_second(8_000_000);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Happened {
    /// `CoDel` has dropped the packet at this time.
    Dropped(u64, usize),
    Full(usize),
    Marked(usize),
    Sent(u64, usize),
}

#[derive(Default)]
struct Log(Vec<Happened>);

impl Observer for Log {
    fn dropped(&mut self, now: Time, _: Option<Place>, packet: &Packet, cause: DropCause) {
        let id = packet.payload as usize;
        self.0.push(match cause {
            DropCause::EarlyForced => Happened::Dropped(now.as_picoseconds(), id),
            _ => Happened::Full(id),
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
        serde_json::from_value(json!({"classes": [{"name": "all", "buffer": {"fq-codel": config}}]}))
            .unwrap();
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
    loop {
        while let Some((_, packet)) = arrivals.get(next).filter(|(at, _)| *at <= now) {
            port.enqueue(now, &mut packet.clone(), &mut log);
            next += 1;
        }
        while port.poll_transmit(now, &mut leaving, &mut log).is_some() {}
        let held: u64 = port.queues().iter().map(|queue| queue.occupancy().packets).sum();
        assert_eq!((held, held), (port.backlog(), port.queues()[0].iter().count() as u64));
        assert_eq!(port.queues()[0].head().is_some(), held > 0);
        let arrival = arrivals.get(next).map(|(at, _)| *at);
        match port.poll_timeout().into_iter().chain(arrival).min() {
            Some(at) => now = at,
            None => return log.0,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    fq_codel: Value,
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
    for case in &cases::<Case>("queue/fq-codel.toml") {
        let (mut labels, mut arrivals) = (Vec::<String>::new(), Vec::new());
        for Arriving { at, flow, length, count } in &case.arrivals {
            for _ in 0..*count {
                let number = 1 + labels.iter().filter(|label| label.starts_with(*flow)).count();
                arrivals.push((*at, packet(labels.len(), *flow as u16, *length, Ecn::NotCapable)));
                labels.push(format!("{flow}{number}"));
            }
        }
        let happened = by_port(&mut port(&case.fq_codel, Framing::Raw), &arrivals);
        let named = |id_of: fn(&Happened) -> Option<usize>| {
            happened.iter().filter_map(id_of).map(|id| labels[id].clone()).collect::<Vec<_>>().join(" ")
        };
        let sent = named(|event| if let Happened::Sent(_, id) = event { Some(*id) } else { None });
        let dropped = named(|event| if let Happened::Full(id) = event { Some(*id) } else { None });
        assert_eq!((&sent, &dropped), (&case.order, &case.dropped), "{}", case.name);
    }
}

/// The `CoDel` of one flow.
enum Queue {
    Rfc(RfcQueue),
    Linux(LinuxQueue),
}

impl Queue {
    fn packets(&mut self) -> &mut VecDeque<Plain> {
        match self {
            Queue::Rfc(queue) => &mut queue.packets,
            Queue::Linux(queue) => &mut queue.packets,
        }
    }
}

struct Flow {
    queue: Queue,
    deficit: i64,
}

/// FQ-CoDel according to its sources.
struct PlainFq {
    flows: BTreeMap<u16, Flow>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    quantum: i64,
    header: u64,
    limit: usize,
    batch: usize,
    is_linux: bool,
    make: Box<dyn Fn() -> Queue>,
}

impl PlainFq {
    fn held(&mut self) -> usize {
        self.flows.values_mut().map(|flow| flow.queue.packets().len()).sum()
    }
    fn backlog(&mut self, flow: u16) -> u64 {
        let header = self.header;
        let queue = &mut self.flows.get_mut(&flow).unwrap().queue;
        queue.packets().iter().map(|packet| packet.length + header).sum()
    }
    /// Adds `packet` to flow `index`. Returns the packets that are dropped because of it.
    fn enqueue(&mut self, index: u16, packet: Plain) -> Vec<usize> {
        let make = &self.make;
        let flow = self.flows.entry(index).or_insert_with(|| Flow { queue: make(), deficit: 0 });
        flow.queue.packets().push_back(packet);
        if !self.new.contains(&index) && !self.old.contains(&index) {
            flow.deficit = self.quantum;
            self.new.push_back(index);
        }
        if self.held() <= self.limit {
            return Vec::new();
        }
        let indices: Vec<u16> = self.flows.keys().copied().collect();
        let (mut fattest, mut most) = (0, 0);
        for index in indices {
            if self.backlog(index) > most {
                (fattest, most) = (index, self.backlog(index));
            }
        }
        let (mut dropped, mut bytes) = (Vec::new(), 0);
        let flow = self.flows.get_mut(&fattest).unwrap();
        loop {
            let packet = flow.queue.packets().pop_front().unwrap();
            bytes += packet.length + self.header;
            dropped.push(packet.id);
            if dropped.len() >= self.batch || bytes >= most / 2 {
                break;
            }
        }
        if let Queue::Linux(queue) = &mut flow.queue {
            queue.count += dropped.len() as u32;
        }
        dropped
    }
    fn dequeue(&mut self, now: u64) -> Dequeued {
        let mut all = Dequeued::default();
        loop {
            let is_new = !self.new.is_empty();
            let Some(&index) = self.new.front().or(self.old.front()) else { return all };
            let total: u64 = self
                .flows
                .keys()
                .copied()
                .collect::<Vec<_>>()
                .into_iter()
                .map(|flow| self.backlog(flow))
                .sum();
            let own = self.backlog(index);
            let flow = self.flows.get_mut(&index).unwrap();
            let list = if is_new { &mut self.new } else { &mut self.old };
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let Dequeued { dropped, marked, sent } = match &mut flow.queue {
                Queue::Rfc(queue) => queue.dequeue(now),
                Queue::Linux(queue) => {
                    queue.besides = total - own;
                    queue.dequeue(now)
                }
            };
            all.dropped.extend(dropped);
            all.marked = all.marked.or(marked);
            if let Some(packet) = sent {
                flow.deficit -= (packet.length + self.header).cast_signed();
                all.sent = Some(packet);
                return all;
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
    mut queue: PlainFq,
    arrivals: &[(Time, Packet)],
    flow_of: impl Fn(&Packet) -> u16,
    framing: Framing,
) -> Vec<Happened> {
    let (mut happened, mut free_at, mut next) = (Vec::new(), 0, 0);
    let mut now = 0;
    loop {
        while let Some((at, packet)) = arrivals.get(next).filter(|(at, _)| at.as_picoseconds() <= now) {
            let plain = Plain {
                id: packet.payload as usize,
                length: packet.length.into(),
                joined: at.as_picoseconds(),
                is_capable: packet.marks.ecn() != Ecn::NotCapable,
            };
            happened.extend(queue.enqueue(flow_of(packet), plain).into_iter().map(Happened::Full));
            next += 1;
        }
        if free_at <= now && queue.held() > 0 {
            let Dequeued { dropped, marked, sent } = queue.dequeue(now);
            happened.extend(dropped.into_iter().map(|id| Happened::Dropped(now, id)));
            happened.extend(marked.map(Happened::Marked));
            if let Some(packet) = sent {
                happened.push(Happened::Sent(now, packet.id));
                free_at = now + RATE.transmission_time(framing.wire_bytes(packet.length)).as_picoseconds();
            }
        }
        let arrival = arrivals.get(next).map(|(at, _)| at.as_picoseconds());
        let free = (queue.held() > 0).then_some(free_at);
        match free.into_iter().chain(arrival).min() {
            Some(at) => now = at.max(now),
            None => return happened,
        }
    }
}

/// Packets of up to six flows that arrive in bursts.
fn arrivals() -> impl Strategy<Value = Vec<(Time, Packet)>> {
    let gap = prop_oneof![5 => Just(0u64), 6 => 0..1_200u64, 1 => 0..20_000u64];
    let length = prop_oneof![2 => Just(1000u32), 1 => Just(40u32), 2 => 40..1500u32];
    let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable0, Ecn::Capable1]);
    prop::collection::vec((gap, length, 0..6u16, ecn), 1..400).prop_map(|arrivals| {
        let mut now = Time::ZERO;
        let arrival = |(id, (gap, length, flow, ecn))| {
            now += Time::from_microseconds(gap);
            (now, packet(id, flow, length, ecn))
        };
        arrivals.into_iter().enumerate().map(arrival).collect()
    })
}

proptest! {
    #[test]
    fn a_port_agrees_with_plain_queues(
        arrivals in arrivals(),
        (target, ratio, mtu) in (50..3_000u64, 2..8u64, 0..1600u64),
        (quantum, limit, batch, flows) in (256..3000u64, 5..200usize, 1..5usize, prop::sample::select(vec![1u16, 3, 1024])),
        (marks, is_linux) in any::<(bool, bool)>(),
        framing in prop::sample::select(vec![Framing::Raw, Framing::EthernetHeader]),
    ) {
        let config = json!({
            "law": if is_linux { "linux" } else { "rfc" },
            "target": format!("{target}us"), "interval": format!("{}us", target * ratio), "mtu": format!("{mtu}B"),
            "quantum": format!("{quantum}B"), "limit": format!("{limit} packets"), "drop-batch": batch,
            "flows": flows, "ecn": if marks { "mark" } else { "ignore" },
        });
        let mut port = port(&config, framing);
        let header = if is_linux { framing.queued_header().into() } else { 0 };
        let make = move || {
            let settings = Settings { target: target * 1_000_000, interval: target * ratio * 1_000_000, mtu, marks };
            if is_linux { Queue::Linux(LinuxQueue::new(settings, header)) } else { Queue::Rfc(RfcQueue::new(settings)) }
        };
        let plain = PlainFq {
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: quantum.cast_signed(),
            header,
            limit,
            batch,
            is_linux,
            make: Box::new(make),
        };
        let found = by_port(&mut port, &arrivals);
        let flow_of = |packet: &Packet| port.queues()[0].flow_of(packet).unwrap();
        prop_assert_eq!(found, by_plain(plain, &arrivals, flow_of, framing));
    }
}

/// The hash distributes flows evenly. With 1024 flows and 1024 queues, a fraction of 1 / e of the queues is
/// empty.
#[test]
fn flows_spread_over_the_queues() {
    let port = port(&json!({}), Framing::Raw);
    let mut held = vec![0; 1024];
    for flow in 0..1024 {
        held[usize::from(port.queues()[0].flow_of(&packet(0, flow, 1000, Ecn::NotCapable)).unwrap())] += 1;
    }
    let empty = held.iter().filter(|flows| **flows == 0).count();
    // On average 1024 / e = 377 queues are empty, with a standard deviation of √(1024 · (e − 2)) / e = 10.
    assert!((340..415).contains(&empty), "{empty}");
    assert!(held.iter().max() <= Some(&8), "{held:?}");
}

#[test]
fn invalid_values_are_refused() {
    for (config, at) in [
        (json!({"flows": 0}), "flows"),
        (json!({"quantum": "100B"}), "quantum"),
        (json!({"drop-batch": 0}), "drop-batch"),
        (json!({"limit": "0 packets"}), "limit"),
        (json!({"limit": "10kB"}), "limit"),
        (json!({"interval": "1us"}), "interval"),
        (json!({"target": "100ms"}), "target"),
    ] {
        let queueing: QueueingConfig =
            serde_json::from_value(json!({"classes": [{"name": "all", "buffer": {"fq-codel": config}}]}))
                .unwrap();
        let wire = WireConfig {
            rate: RATE,
            framing: Framing::Raw,
            headers: HeaderStack::EMPTY,
            ring: RingConfig::Packets(1),
        };
        let error = Port::build(Some(&queueing), &wire, &[], &Streams::new(1, 0)).unwrap_err();
        assert_eq!(error.path.last().map(String::as_str), Some(at), "{error}");
        assert!(error.help.is_some(), "{error}");
    }
}

/// After a timeout, the packets of a flow join another queue if sockets distinguish flows. About one flow in
/// 1024 gets the same queue again.
#[test]
fn sockets_take_another_queue_after_a_timeout() {
    for (flow_hash, least, most) in [("headers", 0, 0), ("socket", 62, 64)] {
        let port = port(&json!({ "flow-hash": flow_hash }), Framing::Raw);
        let moves = |flow: u16| {
            let mut packet = packet(0, flow, 1000, Ecn::NotCapable);
            let before = port.queues()[0].flow_of(&packet);
            packet.rehash();
            port.queues()[0].flow_of(&packet) != before
        };
        let moved = (0..64).filter(|flow| moves(*flow)).count();
        assert!((least..=most).contains(&moved), "{flow_hash}: {moved}");
    }
}
