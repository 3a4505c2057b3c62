//! Tests of a wire that fragments packets. The times were computed by hand. A byte is sent in one
//! microsecond. A fragment of multilink PPP has up to 72 bytes of the packet, a header of 4 bytes (RFC 1990
//! §3) and a framing of 7 bytes. Each packet begins with 2 bytes of the PPP protocol number.

use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::policy::{PolicyConfig, WireConfig};
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{DropCause, Dscp, FlowKey, Observer, Packet, Rate, Time};
use serde_json::{Value, json};

fn headers() -> HeaderStack {
    serde_json::from_value(json!([{"mlppp": {"fragment": "72B", "interleave": true}}])).unwrap()
}

#[derive(Default)]
struct Policed(u64);

impl Observer for &mut Policed {
    fn dropped(&mut self, _: Time, _: Option<Place>, _: &Packet, cause: DropCause) {
        assert_eq!(cause, DropCause::Policed);
        self.0 += 1;
    }
}

/// An arriving packet: microseconds, name, length.
type Arrival = (u64, &'static str, u32);

/// Returns the start, the end (microseconds) and the length of each packet on the wire, and the number of
/// packets that the policer has dropped. Packets named `voice` are EF and have priority over packets named
/// `rest`. The class of `rest` also has the keys of `more`.
fn send(ring: RingConfig, more: &Value, arrivals: &[Arrival]) -> (Vec<(u64, u64, u32)>, u64) {
    let mut rest = json!({"name": "rest"});
    rest.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let classes = json!([{"name": "voice", "match": {"dscp": "ef"}}, rest]);
    let policy = json!({"queueing": {"scheduler": "priority", "classes": classes}});
    let policy: PolicyConfig = serde_json::from_value(policy).unwrap();
    let rate = Rate::from_bits_per_second(8_000_000);
    let wire = WireConfig { rate, framing: Framing::Ppp, headers: headers(), ring };
    let mut port = policy.build_port(&wire, &[], &Streams::new(1, 0)).unwrap();
    let (mut sent, mut policed, mut next, mut now) = (Vec::new(), Policed::default(), 0, Time::ZERO);
    loop {
        while let Some((_, name, length)) =
            arrivals.get(next).filter(|(at, ..)| Time::from_microseconds(*at) <= now)
        {
            let dscp = if *name == "voice" { Dscp::EF } else { Dscp::DEFAULT };
            let mut packet = Packet { dscp, ..Packet::new(FlowKey::default(), *length) };
            port.enqueue(now, &mut packet, &mut policed);
            next += 1;
        }
        let mut packet = Packet::default();
        while let Some(departure) = port.poll_transmit(now, &mut packet, &mut policed) {
            let [starts, ends] =
                [departure.starts, departure.ends].map(|time| time.as_picoseconds() / 1_000_000);
            sent.push((starts, ends, packet.length));
        }
        let arrival = arrivals.get(next).map(|(at, ..)| Time::from_microseconds(*at));
        match port.poll_timeout().into_iter().chain(arrival).min() {
            Some(at) => now = at,
            None => break,
        }
    }
    assert_eq!((port.backlog(), next), (0, arrivals.len()));
    (sent, policed.0)
}

#[test]
fn a_packet_is_cut_into_full_fragments_and_a_last_one() {
    let cut = headers().fragmentation().unwrap();
    // A packet of 70 bytes and its protocol number fill one fragment.
    for (ip, count, last) in [(1, 1, 3), (70, 1, 72), (71, 2, 1), (142, 2, 72), (143, 3, 1), (1500, 21, 62)] {
        assert_eq!((cut.carried(ip), cut.count(ip), cut.last(ip)), (ip + 2, count, last), "{ip} bytes");
    }
    assert_eq!([cut.fragment_bytes(72), cut.fragment_bytes(1), cut.interleaved_bytes(60)], [76, 5, 60]);
}

#[test]
fn urgent_packets_go_between_two_fragments() {
    // A packet of 202 bytes is divided into fragments of 83, 83 and 69 bytes. The voice packet arrives during
    // the first fragment and is sent after it.
    let single = RingConfig::Packets(1);
    let (sent, _) = send(single, &json!({}), &[(0, "rest", 200), (10, "voice", 60), (20, "rest", 10)]);
    assert_eq!(sent, [(83, 150, 60), (0, 302, 200), (302, 325, 10)]);
    // A ring of two packets contains the second fragment when the voice packet arrives.
    let (sent, _) = send(RingConfig::Packets(2), &json!({}), &[(0, "rest", 200), (10, "voice", 60)]);
    assert_eq!(sent, [(166, 233, 60), (0, 302, 200)]);
    // Without urgent packets, no packet is interleaved.
    let (sent, _) = send(single, &json!({}), &[(0, "rest", 200), (10, "rest", 60)]);
    assert_eq!(sent, [(0, 235, 200), (235, 308, 60)]);
}

#[test]
fn packets_dropped_by_a_class_policer_are_not_fragmented() {
    let police = json!({"police": {"rate": "8kb/s", "burst": "200B", "when": "always"}});
    let arrivals = [(0, "rest", 200), (1, "rest", 200), (2, "voice", 60), (3, "rest", 200)];
    let (sent, policed) = send(RingConfig::Packets(1), &police, &arrivals);
    assert_eq!((sent, policed), (vec![(83, 150, 60), (0, 302, 200)], 2));
}
