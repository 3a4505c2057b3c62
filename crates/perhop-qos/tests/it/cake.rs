//! CAKE compared packet by packet with a plain implementation, and compared with the drops of a kernel. Also
//! tests the rates of tins and hosts.

use crate::plain::cake::{Fate, Plain, Settings};
use perhop_qos::buffer::BufferConfig;
use perhop_qos::cake::{Cake, CakeConfig};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::{Address, Dscp, Ecn, TcpHeader};
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::{RingAdmission, RingConfig, RingRelease};
use perhop_qos::{DropCause, FlowKey, Packet, Port, Rate, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

fn config(cake: &Value) -> CakeConfig {
    serde_json::from_value(cake.clone()).unwrap()
}
fn streams() -> Streams {
    Streams::new(7, 0)
}
fn cake(options: &Value) -> Cake {
    config(options).build(Framing::EthernetHeader, &streams()).unwrap()
}

/// A packet of flow `flow` from host `flow / 4` to host `flow % 4`.
fn packet(number: u64, flow: u16, length: u32, dscp: u8, ecn: Ecn) -> Packet {
    let host = |net: u8, host: u16| Address::from_ipv4([10, net, 0, host as u8].into());
    let key = FlowKey {
        source: host(1, flow / 4),
        destination: host(2, flow % 4),
        source_port: 1000 + flow,
        destination_port: 9,
        ..FlowKey::default()
    };
    let dscp = Dscp::new(dscp).unwrap();
    Packet { payload: number, dscp, marks: ecn.into(), ..Packet::new(key, length) }
}

fn pull(cake: &mut Cake, now: Time) -> Vec<Fate> {
    let (mut fates, mut packet) = (Vec::new(), Packet::default());
    let pulled = cake.pull(now, &mut packet, |tin, packet, cause| {
        fates.push(Fate::Dropped(tin, packet.payload, cause));
    });
    fates.push(match (pulled, cake.held_until()) {
        (Some(pulled), _) => Fate::Sent(pulled.tin, packet.payload, pulled.is_marked),
        (None, Some(until)) => Fate::WaitsUntil(until),
        (None, None) => Fate::Nothing,
    });
    fates
}
fn push(cake: &mut Cake, now: Time, tin: usize, packet: &Packet, header: Option<TcpHeader>) -> Vec<Fate> {
    let filtered = if cake.filters_acknowledgments() {
        cake.push_filtered(now, tin, packet, header)
    } else {
        cake.push(now, tin, packet);
        None
    };
    let filtered = filtered.map(|packet| Fate::Dropped(tin, packet.payload, DropCause::EarlyForced));
    let shed = std::iter::from_fn(|| cake.overflow(now))
        .map(|(tin, packet)| Fate::Dropped(tin, packet.payload, DropCause::QueueFull));
    filtered.into_iter().chain(shed).collect()
}

/// Returns the TCP header of packet `number`, or `None` for a long packet, which has no TCP header. The
/// headers differ in few fields.
fn header(flow: u16, length: u32, number: u32) -> Option<TcpHeader> {
    if length > 900 {
        return None;
    }
    let kinds = [0x10u16, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x50, 0x90, 0x110, 0x11, 0x18, 0x02, 0x12];
    let pick =
        |end: u32, salt: u32| length.wrapping_mul(2_654_435_761).wrapping_add(salt * 40_503) >> 7 & (end - 1);
    let mut header = TcpHeader {
        // Sequence numbers wrap around, and some packets acknowledge the same bytes as earlier packets.
        acknowledgment: (number / 2 * 1000)
            .wrapping_sub(20_000 * u32::from(flow))
            .wrapping_sub(1000 * (pick(8, 1) / 7)),
        flags: kinds[pick(16, 2) as usize % kinds.len()],
        has_payload: pick(16, 3) == 0,
        has_others: pick(32, 4) == 0,
        timestamps: flow.is_multiple_of(2).then(|| (number / 3 + pick(2, 5), number / 4)),
        ..TcpHeader::default()
    };
    for block in 0..pick(8, 6) / 3 {
        let start = header.acknowledgment.wrapping_add(1000 * (1 + 2 * block));
        // Some blocks are DSACKs, which report duplicates.
        let start = if pick(16, 7) == 0 { header.acknowledgment.wrapping_sub(1000) } else { start };
        header.push_block(start, start.wrapping_add(500 * (1 + pick(2, 8))));
    }
    Some(header)
}

/// The settings that a test varies, for both implementations.
fn variants() -> Vec<(Value, Settings)> {
    // At 8 Mb/s, a byte is sent in 1000 ns.
    let besteffort = Settings {
        byte_ns: 1000,
        tins: vec![(1000, 65_535)],
        quanta: vec![300],
        rtt_ns: 10_000_000,
        overhead: 14,
        memory: 24_000,
        ingress: false,
        sources: false,
        destinations: false,
        ack_filter: None,
    };
    let diffserv4 = Settings {
        tins: vec![(1000, 1024), (16_000, 64), (2000, 512), (4000, 256)],
        quanta: vec![300; 4],
        sources: true,
        destinations: true,
        ..besteffort.clone()
    };
    let unlimited = Settings {
        byte_ns: 0,
        tins: vec![(0, 1024), (0, 64), (0, 512), (0, 256)],
        quanta: vec![1514; 4],
        ..diffserv4.clone()
    };
    let base = json!({"bandwidth": "8Mb/s", "tins": "besteffort", "isolation": "flows", "rtt": "10ms", "memory-limit": "24000B"});
    let with = |changes: Value| {
        let mut all = base.clone();
        for (key, value) in changes.as_object().unwrap() {
            all[key] = value.clone();
        }
        all
    };
    vec![
        (base.clone(), besteffort.clone()),
        (with(json!({"isolation": "dual-srchost"})), Settings { sources: true, ..besteffort.clone() }),
        (
            with(json!({"isolation": "dual-dsthost", "overhead": 30})),
            Settings { destinations: true, overhead: 30, ..besteffort.clone() },
        ),
        (with(json!({"isolation": "triple-isolate", "tins": "diffserv4"})), diffserv4.clone()),
        (
            with(json!({"isolation": "triple-isolate", "tins": "diffserv4", "ingress": true})),
            Settings { ingress: true, ..diffserv4 },
        ),
        (with(json!({"isolation": "triple-isolate", "tins": "diffserv4", "bandwidth": null})), unlimited),
        (
            with(json!({"memory-limit": "100000B", "ingress": true})),
            Settings { memory: 100_000, ingress: true, ..besteffort.clone() },
        ),
        (with(json!({"ack-filter": "filter"})), Settings { ack_filter: Some(false), ..besteffort.clone() }),
        (
            with(json!({"ack-filter": "aggressive", "ingress": true})),
            Settings { ack_filter: Some(true), ingress: true, ..besteffort },
        ),
    ]
}

/// A step: microseconds since the previous packet, flow, bytes, codepoint, ECN, and the number of packets
/// that are pulled after it.
type Step = (u64, u16, u32, u8, Ecn, usize);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![4 => 0u64..400, 2 => 400u64..1500, 1 => 5000u64..60_000];
    let dscp = prop::sample::select(vec![0u8, 0, 8, 26, 46, 45]);
    let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::NotCapable, Ecn::Capable0]);
    prop::collection::vec((gap, 0u16..6, 40u32..1500, dscp, ecn, 0usize..3), 1..600)
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(24), cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_plain_implementation(
        steps in steps(),
        (options, settings) in prop::sample::select(variants()),
    ) {
        let tins = config(&options).tins;
        let (mut cake, mut plain) = (cake(&options), Plain::new(settings, &streams()));
        let (mut now, mut offered, mut gone, mut filtered) = (Time::ZERO, 0u64, 0u64, 0);
        let ends = |fates: &[Fate]| fates.iter().filter(|fate| matches!(fate, Fate::Sent(..) | Fate::Dropped(..))).count() as u64;
        for (number, &(gap, flow, length, dscp, ecn, pulls)) in steps.iter().enumerate() {
            now += Time::from_microseconds(gap);
            let packet = packet(number as u64, flow, length, dscp, ecn);
            let tin = tins.tin_of(packet.dscp);
            let header = header(flow, length, number as u32);
            plain.headers.extend(header.map(|header| (number as u64, header)));
            let pushed = push(&mut cake, now, tin, &packet, header);
            let is_filtered = |fate: &&Fate| matches!(fate, Fate::Dropped(_, _, DropCause::EarlyForced));
            filtered += pushed.iter().filter(is_filtered).count();
            prop_assert_eq!(&pushed, &plain.push(now, tin, &packet));
            (offered, gone) = (offered + 1, gone + ends(&pushed));
            for _ in 0..pulls {
                let pulled = pull(&mut cake, now);
                prop_assert_eq!(&pulled, &plain.pull(now));
                gone += ends(&pulled);
            }
            prop_assert_eq!(offered, gone + cake.held());
            // A check of all queues takes longer than the step itself.
            if number % 16 == 0 {
                prop_assert_eq!(cake.held(), cake.iter().count() as u64);
            }
        }
        // COBALT drops packets at the head, never on arrival.
        prop_assert!(filtered == 0 || cake.filters_acknowledgments());
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FilterCase {
    name: String,
    filter: String,
    packet: Vec<Acknowledgment>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Acknowledgment {
    number: Option<u32>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    sack: Vec<(u32, u32)>,
    timestamps: Option<(u32, u32)>,
    #[serde(default)]
    payload: bool,
    #[serde(default)]
    other_options: bool,
    /// Whether the packet belongs to another connection in the same queue.
    #[serde(default)]
    other: bool,
    /// The number of the packet that this packet makes redundant, and that is therefore dropped.
    drops: Option<usize>,
}

impl Acknowledgment {
    fn header(&self) -> Option<TcpHeader> {
        let flag = |name: &String| match name.as_str() {
            "fin" => TcpHeader::FIN,
            "syn" => TcpHeader::SYN,
            "ece" => TcpHeader::ECE,
            "cwr" => TcpHeader::CWR,
            "ae" => TcpHeader::AE,
            other => panic!("unknown flag {other}"),
        };
        let mut header = TcpHeader {
            acknowledgment: self.number?,
            flags: self.flags.iter().fold(TcpHeader::ACK, |all, name| all | flag(name)),
            has_payload: self.payload,
            has_others: self.other_options,
            timestamps: self.timestamps,
            ..TcpHeader::default()
        };
        self.sack.iter().for_each(|(start, end)| header.push_block(*start, *end));
        Some(header)
    }
}

/// `vectors/queue/ack-filter.toml`: cases computed by hand, in which packets make others redundant.
#[test]
fn acknowledgments_are_dropped_as_by_hand() {
    #[derive(serde::Deserialize)]
    struct Cases {
        case: Vec<FilterCase>,
    }
    let cases: Cases = toml::from_str(include_str!("../../../../vectors/queue/ack-filter.toml")).unwrap();
    for case in &cases.case {
        // All connections share one queue.
        let mut cake = cake(&json!({"ack-filter": case.filter, "isolation": "flowblind"}));
        for (number, entry) in case.packet.iter().enumerate() {
            let packet = packet(number as u64, u16::from(entry.other), 40, 0, Ecn::NotCapable);
            let dropped = cake.push_filtered(Time::ZERO, 0, &packet, entry.header());
            let dropped = dropped.map(|packet| packet.payload as usize);
            assert_eq!(dropped, entry.drops, "{}: packet {number}", case.name);
        }
        let dropped = case.packet.iter().filter(|entry| entry.drops.is_some()).count();
        assert_eq!(cake.held(), (case.packet.len() - dropped) as u64, "{}", case.name);
    }
}

/// Sends 12 Mb/s in frames of 1000 bytes to a link of 10 Mb/s. Compares the departure time of the packet
/// before each drop with Linux 6.1.192 (`tests/readings/linux-aqm.toml`). The second signal is late because
/// the delay was below the target for some time.
#[test]
fn drops_when_the_kernel_did() {
    let readings: toml::Value =
        toml::from_str(include_str!("../../../../tests/readings/linux-aqm.toml")).unwrap();
    let cases = readings["case"].as_array().unwrap();
    let reading = cases.iter().find(|case| case["id"].as_str() == Some("cbr12-cake")).unwrap();
    let expected: Vec<f64> =
        reading["gaps_s"].as_array().unwrap().iter().map(|gap| gap.as_float().unwrap()).collect();
    let mut cake = cake(&json!({"bandwidth": "10Mb/s", "tins": "besteffort"}));
    let (mut gaps, mut wake) = (Vec::new(), Time::ZERO);
    for number in 0..1600u64 {
        let arrives = Time::from_picoseconds(100_000_000_000 + number * 2_000_000_000 / 3);
        while cake.held() > 0 && wake <= arrives {
            wake = leave(&mut cake, wake, &mut gaps);
        }
        cake.push(arrives, 0, &packet(number, 0, 986, 0, Ecn::NotCapable));
        wake = wake.max(arrives);
    }
    assert!(gaps.len() >= expected.len());
    for (number, (found, expected)) in gaps.iter().zip(&expected).enumerate() {
        assert!((found - expected).abs() < 3e-6, "gap {number}: {found} and not {expected}");
    }
}

/// Pulls the next packet at `now`, and adds `now` to `gaps` if CAKE drops a packet before it. Returns the
/// time at which the caller must pull again.
fn leave(cake: &mut Cake, now: Time, gaps: &mut Vec<f64>) -> Time {
    let fates = pull(cake, now);
    if let [Fate::Dropped(..), ..] = fates[..] {
        gaps.push(now.as_seconds());
    }
    match fates.last() {
        Some(Fate::WaitsUntil(until)) => *until,
        _ => now,
    }
}

/// The bytes that are sent in five seconds, for each key that `key` returns for a packet. Each flow always
/// has three packets in the queue.
fn shares<const N: usize>(options: &Value, flows: &[(u16, u8)], key: impl Fn(&Packet) -> usize) -> [u64; N] {
    let tins = config(options).tins;
    let (mut cake, mut now, mut sent) = (cake(options), Time::ZERO, [0; N]);
    let packets: Vec<Packet> =
        flows.iter().map(|&(flow, dscp)| packet(0, flow, 1000, dscp, Ecn::Capable0)).collect();
    let refill = |cake: &mut Cake, now: Time| {
        let held: Vec<FlowKey> = cake.iter().map(Packet::flow_key).collect();
        for packet in &packets {
            let waiting = held.iter().filter(|key| **key == packet.flow_key()).count();
            (waiting..3).for_each(|_| {
                cake.push(now, tins.tin_of(packet.dscp), packet);
            });
        }
    };
    while now < Time::from_seconds(5) {
        refill(&mut cake, now);
        let mut packet = Packet::default();
        match cake.pull(now, &mut packet, |_, _, _| {}) {
            Some(_) => sent[key(&packet)] += u64::from(packet.length),
            None => now = cake.held_until().unwrap(),
        }
    }
    sent
}

fn fraction(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// A tin above its share follows its own clock: voice sends at most a quarter of the bandwidth and bulk a
/// sixteenth, while best effort is saturated.
#[test]
fn tins_above_their_shares_leave_the_rest() {
    let options = json!({"bandwidth": "8Mb/s", "tins": "diffserv4", "isolation": "flows"});
    let sent: [u64; 4] =
        shares(&options, &[(0, 0), (1, 8), (2, 26), (3, 46)], |packet| match packet.dscp.value() {
            8 => 1,
            26 => 2,
            46 => 3,
            _ => 0,
        });
    let all = sent.iter().sum::<u64>();
    for (tin, share) in [(1, 1.0 / 16.0), (2, 0.5), (3, 0.25)] {
        assert!((fraction(sent[tin], all) - share).abs() < 0.01, "tin {tin}: {sent:?}");
    }
    // The link sends 8 Mb/s for five seconds, in frames of 1014 bytes.
    assert!((fraction(all, 5_000_000) - 1000.0 / 1014.0).abs() < 0.002, "{all}");
}

/// All flows of one host together have the same rate as the only flow of another host.
#[test]
fn flows_of_a_host_share() {
    let options =
        |isolation: &str| json!({"bandwidth": "8Mb/s", "tins": "besteffort", "isolation": isolation});
    // Flows 0 to 3 come from host 0 and go to four hosts. Flow 4 comes from host 1 and goes to the first of
    // these hosts.
    let flows = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)];
    let second = packet(0, 4, 1000, 0, Ecn::NotCapable).source;
    let by_source = |isolation: &str| {
        let sent: [u64; 2] =
            shares(&options(isolation), &flows, |packet| usize::from(packet.source == second));
        fraction(sent[1], sent[0] + sent[1])
    };
    assert!((by_source("flows") - 0.2).abs() < 0.01);
    assert!((by_source("dual-srchost") - 0.5).abs() < 0.01);
    // Two flows share the first destination, and each of them has half of its quarter. Each other flow has a
    // quarter.
    assert!((by_source("dual-dsthost") - 0.5 / 4.0).abs() < 0.01);
    assert!((by_source("srchost") - 0.5).abs() < 0.01);
    assert!((by_source("dsthost") - 0.5 / 4.0).abs() < 0.02, "{}", by_source("dsthost"));
}

/// The fates of a port's packets.
#[derive(Default)]
struct Seen {
    arrived: u64,
    sent: Vec<Packet>,
    dropped: Vec<DropCause>,
}

impl Observer for Seen {
    fn arrived(&mut self, _: Time, _: Place, _: &Packet) {
        self.arrived += 1;
    }
    fn dropped(&mut self, _: Time, _: Option<Place>, _: &Packet, cause: DropCause) {
        self.dropped.push(cause);
    }
    fn dequeued(&mut self, _: Time, _: Place, packet: &Packet, _: perhop_qos::port::Departure) {
        self.sent.push(*packet);
    }
}

const WIRE: WireConfig = WireConfig {
    rate: Rate::from_bits_per_second(100_000_000),
    framing: Framing::EthernetHeader,
    headers: HeaderStack::EMPTY,
    ring: RingConfig::Packets(1),
};

fn queueing(classes: &Value) -> QueueingConfig {
    serde_json::from_value(json!({"classes": classes})).unwrap()
}

#[test]
fn a_port_counts_by_tins_and_loses_nothing() {
    let options =
        json!({"cake": {"bandwidth": "8Mb/s", "tins": "diffserv4", "wash": true, "memory-limit": "60000B"}});
    let config = queueing(&json!([{"name": "all", "buffer": options}]));
    assert_eq!(config.queue_names(), ["all/best-effort", "all/bulk", "all/video", "all/voice"]);
    let mut port = Port::build(Some(&config), &WIRE, &[], &streams()).unwrap();
    let (mut seen, mut packet_out) = (Seen::default(), Packet::default());
    let mut now = Time::ZERO;
    for number in 0..20_000u64 {
        now += Time::from_microseconds(600);
        while let Some(wake) = port.poll_timeout().filter(|wake| *wake <= now) {
            while port.poll_transmit(wake, &mut packet_out, &mut seen).is_some() {}
        }
        let dscp = [0, 8, 26, 46][number as usize % 4];
        let mut arriving = packet(number, (number % 4) as u16, 986, dscp, Ecn::NotCapable);
        port.enqueue(now, &mut arriving, &mut seen);
        while port.poll_transmit(now, &mut packet_out, &mut seen).is_some() {}
        let waiting: u64 = port.queues().iter().map(|queue| queue.occupancy().packets).sum();
        assert_eq!(waiting, port.backlog());
        assert_eq!(seen.arrived, seen.sent.len() as u64 + seen.dropped.len() as u64 + waiting);
    }
    assert!(seen.sent.iter().all(|packet| packet.dscp == Dscp::DEFAULT), "washed");
    for cause in [DropCause::QueueFull, DropCause::EarlyForced] {
        assert!(seen.dropped.contains(&cause), "{cause}");
    }
    // The link sends 1 MB/s for 12 s, in frames of 1000 bytes.
    assert!((seen.sent.len() as f64 - 12_000.0).abs() < 30.0, "{}", seen.sent.len());
    let waiting = port.waiting().count() as u64;
    assert_eq!(waiting, port.backlog());
}

#[test]
fn mistakes_are_named() {
    let built = |classes: Value, wire: &WireConfig| {
        Port::build(Some(&queueing(&classes)), wire, &[], &streams()).map(|_| ()).unwrap_err()
    };
    let with_options = |options: Value| json!([{"name": "all", "buffer": {"cake": options}}]);
    for (options, field) in [
        (json!({"rtt": "0s"}), "rtt"),
        (json!({"bandwidth": "100b/s"}), "bandwidth"),
        (json!({"overhead": 300}), "overhead"),
        (json!({"mpu": 300}), "mpu"),
        (json!({"memory-limit": "1B"}), "memory-limit"),
    ] {
        let error = built(with_options(options), &WIRE);
        assert!(error.path.iter().any(|part| part == field) && error.help.is_some(), "{error}");
    }
    let with = |key: &str, value: Value| {
        let mut classes = with_options(json!({}));
        classes[0][key] = value;
        classes
    };
    for (key, value) in [
        ("match", json!({"dscp": ["ef"]})),
        ("shape", json!({"rate": "1Mb/s", "burst": "1500B"})),
        ("police", json!({"rate": "1Mb/s", "burst": "1500B"})),
        ("fair-queueing", json!({})),
    ] {
        let error = built(with(key, value), &WIRE);
        assert!(error.path.iter().any(|part| part == key) && error.help.is_some(), "{error}");
    }
    let config: QueueingConfig =
        serde_json::from_value(json!({"scheduler": "drr", "classes": with_options(json!({}))})).unwrap();
    let error = Port::build(Some(&config), &WIRE, &[], &streams()).map(|_| ()).unwrap_err();
    assert!(error.path.iter().any(|part| part == "scheduler") && error.help.is_some(), "{error}");
    let two_classes =
        json!([{"name": "ef", "match": {"dscp": ["ef"]}}, {"name": "rest", "buffer": {"cake": {}}}]);
    let error = built(two_classes, &WIRE);
    assert!(error.message.contains("CAKE") && error.help.is_some(), "{error}");
    let ring = RingConfig::Particles {
        count: 4,
        size: "512B".parse().unwrap(),
        admission: RingAdmission::default(),
        release: RingRelease::default(),
    };
    let error = built(with_options(json!({})), &WireConfig { ring, ..WIRE });
    assert!(error.message.contains("whole packets"), "{error}");
}

#[test]
fn written_configurations_are_read_back() {
    let text = r#"{"cake":{"bandwidth":"10Mb/s","tins":"diffserv4","isolation":"dual-srchost","rtt":"100ms","overhead":38,"mpu":84,"cells":"atm","memory-limit":"4MiB","wash":true,"ingress":true}}"#;
    let config: BufferConfig = serde_json::from_str(text).unwrap();
    let again: BufferConfig = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
    assert_eq!(config, again);
    assert!(config.drops_at_the_head());
}
