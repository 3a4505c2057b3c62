//! A port with any policy under any sequence of arrivals and polls, compared with a model that only counts
//! packets. Each packet that arrived is sent, dropped or waiting. No packet leaves before its arrival, twice,
//! or at the same time as another packet.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::{Dscp, Ecn, FlowKey};
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{Color, DropCause, Packet, Time};

use crate::outcome::{Outcome, structured};

#[derive(Debug, Arbitrary)]
struct Input {
    policy: usize,
    kilobits: u16,
    operations: Vec<Operation>,
}

#[derive(Debug, Arbitrary)]
enum Operation {
    Arrive {
        after_ns: u32,
        length: u16,
        dscp: u8,
        color: u8,
        flow: u8,
        ecn: bool,
    },
    Poll,
    /// Waits until the time that the port requested.
    Sleep,
}

/// The state of the model.
#[derive(Debug, Default)]
struct Counts {
    arrived: u64,
    sent: u64,
    dropped: u64,
    /// Time at which the wire is free.
    free: Time,
    /// Waiting bytes by queue.
    bytes: BTreeMap<u32, i64>,
}

impl Observer for &mut Counts {
    fn enqueued(&mut self, _: Time, place: Place, packet: &Packet) {
        *self.bytes.entry(place.queue.index() as u32).or_default() += i64::from(packet.length);
    }
    fn dropped(&mut self, _: Time, _: Option<Place>, _: &Packet, _: DropCause) {
        self.dropped += 1;
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        assert!(
            departure.starts >= now && departure.starts >= self.free && departure.ends >= departure.starts
        );
        self.free = departure.ends;
        self.sent += 1;
        let waiting = self.bytes.entry(place.queue.index() as u32).or_default();
        *waiting -= i64::from(packet.length);
    }
}

/// Policies from the examples, the studies and the configurations in the tests.
static POLICIES: LazyLock<Vec<PolicyConfig>> =
    LazyLock::new(|| serde_json::from_str(include_str!("policies.json")).expect("the policies are valid"));

/// Compares a port with a model that counts packets, for the arrivals and polls in `bytes`.
pub fn port(bytes: &[u8]) -> Outcome {
    structured(bytes, check)
}

fn check(input: &Input) -> Outcome {
    let policy = &POLICIES[input.policy % POLICIES.len()];
    let rate = format!("{}kb/s", u32::from(input.kilobits) + 8);
    let wire = WireConfig {
        rate: rate.parse().expect("a rate"),
        framing: Framing::default(),
        headers: HeaderStack::default(),
        ring: RingConfig::default(),
    };
    let streams = Streams::new(7, 0);
    let Ok(mut port) = policy.build_port(&wire, &["in".to_owned()], &streams) else {
        return Outcome::Refused;
    };
    let (mut counts, mut now) = (Counts::default(), Time::ZERO);
    let mut packet = Packet::new(FlowKey::default(), 0);
    for operation in input.operations.iter().take(400) {
        match operation {
            Operation::Arrive { after_ns, length, dscp, color, flow, ecn } => {
                now += Time::from_nanoseconds(u64::from(*after_ns));
                let key = FlowKey { source_port: u16::from(*flow), ..FlowKey::default() };
                let mut arriving = Packet {
                    dscp: Dscp::new(dscp % 64).unwrap_or_default(),
                    color: Color::new(usize::from(*color) % Color::COUNT),
                    marks: if *ecn { Ecn::Capable0 } else { Ecn::NotCapable }.into(),
                    ..Packet::new(key, u32::from(*length).max(20))
                };
                counts.arrived += 1;
                port.enqueue(now, &mut arriving, &mut counts);
            }
            Operation::Sleep => now = port.poll_timeout().unwrap_or(now).max(now),
            Operation::Poll => {}
        }
        while port.poll_transmit(now, &mut packet, &mut counts).is_some() {}
        assert_eq!(counts.arrived, counts.sent + counts.dropped + port.backlog());
        // A packet that is dropped at the head of its queue was enqueued and not dequeued, so its bytes
        // remain in the count.
        assert!(counts.bytes.values().all(|bytes| *bytes >= 0));
    }
    // No packet waits forever. A port that is polled at the requested times sends all its packets.
    for _ in 0..100_000 {
        while port.poll_transmit(now, &mut packet, &mut counts).is_some() {}
        match port.poll_timeout() {
            Some(time) => now = time.max(now + Time::from_picoseconds(1)),
            None => break,
        }
    }
    assert_eq!(port.backlog(), 0, "packets wait, but the port requests no poll");
    assert_eq!(counts.arrived, counts.sent + counts.dropped);
    Outcome::Kept
}
