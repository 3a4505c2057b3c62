//! Each law of RED compared packet by packet with a separate implementation of its source (`plain/laws`). If
//! arrivals and random numbers are equal, decisions and averages must be equal.

use crate::plain::laws::ds_red::{DsRed, Mode};
use crate::plain::laws::linux::{Linux, Qdisc};
use crate::plain::laws::ns_red::{NsRed, NsRio, NsState};
use crate::plain::laws::{Curve, Floyd, Implementation};
use perhop_qos::buffer::{AnyBuffer, BufferConfig, BufferManager};
use perhop_qos::framing::Framing;
use perhop_qos::queue::{PrecedenceSource, Queue};
use perhop_qos::random::{Stream, Streams};
use perhop_qos::{Color, FlowKey, Packet, Rate, Time, Verdict};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner, contextualize_config};
use serde_json::{Value, json};

/// The rate of the link, bytes per second.
const BYTES_PER_SECOND: u64 = 1_000_000;
const DRAIN: Rate = Rate::from_bits_per_second(8 * BYTES_PER_SECOND);

/// A test case: the law, and the framing of the link.
struct Law {
    config: Value,
    framing: Framing,
}

/// Arrivals: microseconds since the previous packet, precedence, hundreds of bytes.
type Arrivals = Vec<(u64, usize, u32)>;

/// Phases of arrivals. The mean gap of a phase causes overload, matches the rate of the link, or leaves
/// silence between packets.
fn arrivals() -> impl Strategy<Value = Arrivals> {
    let phase = (
        prop_oneof![Just(300_u64), Just(700), Just(1_100), Just(3_000), Just(40_000), Just(400_000)],
        prop::collection::vec(
            (1..2_000_u64, 0..3_usize, prop_oneof![Just(10_u32), Just(10), 1..15_u32]),
            1..300,
        ),
    );
    prop::collection::vec(phase, 1..6).prop_map(|phases| {
        let of_phase = |(mean, packets): (u64, Vec<(u64, usize, u32)>)| {
            packets.into_iter().map(move |(share, index, length)| (1 + share * mean / 1_000, index, length))
        };
        phases.into_iter().flat_map(of_phase).collect()
    })
}

/// The numbers of packets that both implementations have kept and dropped.
#[derive(Debug, Default)]
struct Compared {
    kept: usize,
    dropped: usize,
}

/// Both implementations on one link. When the link is free, it polls both for the next packet. After an
/// arrival that finds the link free, it polls again.
struct Link<'i> {
    framing: Framing,
    buffer: AnyBuffer,
    queue: Queue,
    peer: &'i mut dyn Implementation,
    free_at: Time,
    /// Whether the last poll found no packet. The link then waits for the next arrival.
    found_empty: bool,
}

impl Link<'_> {
    fn request(&mut self, now: Time) -> bool {
        let Some(packet) = self.queue.pop() else {
            self.peer.deque(now.as_seconds(), None);
            self.found_empty = true;
            return false;
        };
        let length = packet.length + self.header();
        self.peer.deque(now.as_seconds(), Some((packet.color.index(), length)));
        self.buffer.departed(now, packet.color, packet.length, self.queue.occupancy());
        self.free_at = now + DRAIN.transmission_time(self.framing.wire_bytes(packet.length.into()));
        self.found_empty = false;
        true
    }
    /// The bytes that the peer counts for a packet in addition to its IP bytes.
    fn header(&self) -> u32 {
        if self.framing == Framing::EthernetHeader { 14 } else { 0 }
    }
    fn advance(&mut self, until: Time) {
        while self.free_at <= until && !self.found_empty {
            self.request(self.free_at);
        }
    }
}

fn compare(
    law: &Value,
    peer: &mut dyn Implementation,
    arrivals: &Arrivals,
) -> Result<Compared, TestCaseError> {
    compare_on(&Law { config: law.clone(), framing: Framing::Raw }, peer, arrivals)
}

fn compare_on(
    law: &Law,
    peer: &mut dyn Implementation,
    arrivals: &Arrivals,
) -> Result<Compared, TestCaseError> {
    let Law { config, framing } = law;
    let buffer: BufferConfig = serde_json::from_value(json!({"mred": config})).unwrap();
    let buffer = buffer.build_on(DRAIN, *framing, &Streams::new(3, 0)).unwrap();
    let precedences = config["precedences"].as_array().unwrap().len();
    let mut link = Link {
        framing: *framing,
        buffer,
        queue: Queue::new(&PrecedenceSource::Color),
        peer,
        free_at: Time::ZERO,
        found_empty: true,
    };
    let (mut now, mut compared) = (Time::ZERO, Compared::default());
    for (number, (after, index, length)) in arrivals.iter().enumerate() {
        now += Time::from_microseconds(*after);
        link.advance(now);
        let color = Color::new(index % precedences);
        let packet = Packet { color, ..Packet::new(FlowKey::default(), length * 100) };
        let verdict = link.buffer.admit(now, &packet, color, link.queue.occupancy());
        let fate = link.peer.enque(now.as_seconds(), color.index(), packet.length + link.header());
        let Some(joins) = fate else { return Ok(compared) };
        let (own, other) = (link.buffer.averages(), link.peer.averages());
        for (own, other) in own.iter().zip(&other) {
            let allowed = link.peer.tolerance() * other.max(1.0);
            prop_assert!((own - other).abs() <= allowed, "packet {number}: average {own}, not {other}");
        }
        prop_assert_eq!(
            verdict == Verdict::Pass,
            joins,
            "packet {}: {:?}, averages {:?}",
            number,
            verdict,
            other
        );
        if joins {
            compared.kept += 1;
            link.queue.push(packet);
        } else {
            compared.dropped += 1;
        }
        if link.free_at <= now {
            link.request(now);
        }
    }
    Ok(compared)
}

/// The random numbers of the buffer manager in [`compare`].
fn random() -> Stream {
    Streams::new(3, 0).stream()
}

/// The number of cases, unless `PROPTEST_CASES` sets another number.
const CASES: u32 = 256;

/// Runs `test` with [`CASES`] random `arrivals`. Checks that both implementations keep, and that both drop,
/// enough packets for a comparison.
fn hold(test: impl Fn(Arrivals, u64) -> Result<Compared, TestCaseError>) {
    let seed = RngSeed::Fixed(1);
    let config =
        ProptestConfig { rng_seed: seed, failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let config = contextualize_config(config);
    let is_whole = config.cases >= CASES;
    let mut runner = TestRunner::new(config);
    let (kept, dropped) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = runner.run(&(arrivals(), any::<u64>()), |(arrivals, choice)| {
        let compared = test(arrivals, choice)?;
        kept.set(kept.get() + compared.kept);
        dropped.set(dropped.get() + compared.dropped);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    println!("compared: {} kept, {} dropped", kept.get(), dropped.get());
    let is_enough = kept.get() > 20_000 && dropped.get() > 3_000;
    assert!(!is_whole || is_enough, "{} kept, {} dropped", kept.get(), dropped.get());
}

fn packets(curves: &[Curve]) -> Value {
    let in_packets = |curve: &Curve| {
        json!({"min": format!("{} packets", curve.min), "max": format!("{} packets", curve.max),
               "max-probability": curve.max_p})
    };
    curves.iter().map(in_packets).collect()
}
fn bytes(curves: &[Curve]) -> Value {
    let in_bytes = |curve: &Curve| {
        json!({"min": format!("{}B", curve.min), "max": format!("{}B", curve.max),
               "max-probability": curve.max_p})
    };
    curves.iter().map(in_bytes).collect()
}
fn scaled(curves: &[Curve], by: f64) -> Vec<Curve> {
    curves.iter().map(|curve| Curve { min: curve.min * by, max: curve.max * by, ..*curve }).collect()
}

const CURVES: [Curve; 3] = [
    Curve { min: 6.0, max: 14.0, max_p: 0.1 },
    Curve { min: 4.0, max: 12.0, max_p: 0.2 },
    Curve { min: 2.0, max: 9.0, max_p: 0.5 },
];

#[test]
fn the_paper() {
    hold(|arrivals, _| {
        let law = json!({"law": "floyd-1993", "averages": "single", "precedences": packets(&CURVES[..1]),
            "averaging": {"weight": 0.05}, "mean-packet-size": "1000B", "limit": "16 packets"});
        let mut peer = Floyd {
            curve: CURVES[0],
            weight: 0.05,
            limit: 16,
            s: 1e-3,
            random: random(),
            average: 0.0,
            count: 0,
            q_time: 0.0,
            packets: 0,
        };
        compare(&law, &mut peer, &arrivals)
    });
}

#[test]
fn red_of_ns_2() {
    hold(|arrivals, choice| {
        let bit = |place: u32| choice >> place & 1 == 1;
        let (recent, gentle, wait, count_bytes, in_bytes) =
            (bit(0), bit(0) && bit(1), bit(2), bit(3), bit(4));
        let by = if in_bytes { 1_000.0 } else { 1.0 };
        let curves = scaled(&CURVES[..1], by);
        let law = json!({
            "law": if recent { "ns-2.35" } else { "ns-2-1999" },
            "precedences": if in_bytes { bytes(&curves) } else { packets(&curves) },
            "averaging": {"weight": 0.05}, "mean-packet-size": "1000B",
            "limit": if in_bytes { "16000B" } else { "16 packets" },
            "above-max": if gentle { "gentle" } else { "drop" },
            "drop-spacing": if wait { "wait" } else { "counted-first" },
            "probability": if count_bytes { "per-byte" } else { "per-packet" },
        });
        let mut peer = NsRed {
            curve: curves[0],
            weight: 0.05,
            gentle,
            wait,
            bytes: count_bytes,
            queue_in_bytes: in_bytes,
            use_mark_p: recent,
            ns1_compat: !recent,
            mean: 1_000,
            limit: 16 * by as u64,
            ptc: 1_000.0,
            random: random(),
            state: NsState::default(),
        };
        compare(&law, &mut peer, &arrivals)
    });
}

#[test]
fn rio_of_ns_2() {
    hold(|arrivals, choice| {
        let bit = |place: u32| choice >> place & 1 == 1;
        let (gentle, wait, count_bytes, in_bytes) = (bit(0), bit(1), bit(2), bit(3));
        let by = if in_bytes { 1_000.0 } else { 1.0 };
        let curves = scaled(&CURVES[..2], by);
        let law = json!({
            "law": "ns-2.35-rio", "averages": "coupled",
            "precedences": if in_bytes { bytes(&curves) } else { packets(&curves) },
            "averaging": {"weight": 0.05}, "mean-packet-size": "1000B",
            "limit": if in_bytes { "16000B" } else { "16 packets" },
            "above-max": if gentle { "gentle" } else { "drop" },
            "drop-spacing": if wait { "wait" } else { "counted-first" },
            "probability": if count_bytes { "per-byte" } else { "per-packet" },
        });
        let red = |curve| NsRed {
            curve,
            weight: 0.05,
            gentle,
            wait,
            bytes: count_bytes,
            queue_in_bytes: in_bytes,
            use_mark_p: false,
            ns1_compat: false,
            mean: 1_000,
            limit: 16 * by as u64,
            ptc: 1_000.0,
            random: random(),
            state: NsState::default(),
        };
        let (inside, all) = (red(curves[0]), red(curves[1]));
        compare(&law, &mut NsRio { inside, all, idle: [true; 2], idle_time: 0.0 }, &arrivals)
    });
}

#[test]
fn ds_red_of_ns_2() {
    for (mode, averages) in [(Mode::RioC, "coupled"), (Mode::RioD, "decoupled"), (Mode::Wred, "single")] {
        hold(|arrivals, choice| {
            let curves = &CURVES[..=(choice % 3) as usize];
            let law = json!({"law": "ns-2.35-dsred", "averages": averages, "precedences": packets(curves),
                "averaging": {"weight": 0.05}, "mean-packet-size": "1000B", "limit": "16 packets"});
            let mut peer = DsRed::new(mode, curves.to_vec(), 0.05, 16, 1_000.0, random());
            compare(&law, &mut peer, &arrivals)
        });
    }
}

#[test]
fn linux() {
    for (qdisc, law, averages) in [
        (Qdisc::Red, "linux-red", "single"),
        (Qdisc::Grio, "linux-gred", "coupled-sampled"),
        (Qdisc::GredWred, "linux-gred", "single"),
        (Qdisc::Gred, "linux-gred", "decoupled"),
    ] {
        hold(|arrivals, choice| {
            let count = if qdisc == Qdisc::Red { 1 } else { 1 + (choice % 3) as usize };
            let curves = scaled(&CURVES[..count], 1_000.0);
            let (wlog, megabits) =
                ([4, 6][(choice >> 4) as usize & 1], [2, 10, 100][(choice >> 6) as usize % 3]);
            let law = json!({"law": law, "averages": averages, "precedences": bytes(&curves),
                "averaging": {"exponent": wlog}, "mean-packet-size": "1000B", "limit": "16000B",
                "idle-rate": format!("{megabits}Mb/s")});
            let tc = (1_000, megabits * 125_000);
            let mut peer = Linux::new(qdisc, &curves, (wlog, 16_000), tc, random());
            // On Ethernet, the header of a packet is counted.
            let framing = if choice >> 9 & 1 == 1 { Framing::EthernetHeader } else { Framing::Raw };
            compare_on(&Law { config: law, framing }, &mut peer, &arrivals)
        });
    }
}
