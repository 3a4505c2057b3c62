//! A wire that fragments packets, with times computed by hand. One byte takes one microsecond. A fragment of
//! multilink PPP carries 72 bytes after a header of 4 (RFC 1990 §3) and within a framing of 7. A packet
//! begins with its PPP protocol number of 2 bytes.

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

/// A packet on arrival: microseconds, name, length.
type Arrival = (u64, &'static str, u32);

/// Returns the times, in microseconds, at which each packet is on the wire, and the number of packets that
/// the policer dropped. Packets of `voice` are EF and have priority over packets of `rest`. The class of
/// `rest` also has the keys of `more`.
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
    // 70 bytes and the protocol number fill one fragment.
    for (ip, count, last) in [(1, 1, 3), (70, 1, 72), (71, 2, 1), (142, 2, 72), (143, 3, 1), (1500, 21, 62)] {
        assert_eq!((cut.carried(ip), cut.count(ip), cut.last(ip)), (ip + 2, count, last), "{ip} bytes");
    }
    assert_eq!([cut.fragment_bytes(72), cut.fragment_bytes(1), cut.interleaved_bytes(60)], [76, 5, 60]);
}

#[test]
fn urgent_packets_go_between_two_fragments() {
    // 202 bytes make fragments of 83, 83 and 69. The voice packet arrives during the first fragment and is
    // sent after it.
    let one = RingConfig::Packets(1);
    let (sent, _) = send(one, &json!({}), &[(0, "rest", 200), (10, "voice", 60), (20, "rest", 10)]);
    assert_eq!(sent, [(83, 150, 60), (0, 302, 200), (302, 325, 10)]);
    // A ring of two packets already contains the second fragment.
    let (sent, _) = send(RingConfig::Packets(2), &json!({}), &[(0, "rest", 200), (10, "voice", 60)]);
    assert_eq!(sent, [(166, 233, 60), (0, 302, 200)]);
    // Without urgent packets, nothing is interleaved.
    let (sent, _) = send(one, &json!({}), &[(0, "rest", 200), (10, "rest", 60)]);
    assert_eq!(sent, [(0, 235, 200), (235, 308, 60)]);
}

#[test]
fn packets_dropped_by_a_class_policer_are_not_fragmented() {
    let police = json!({"police": {"rate": "8kb/s", "burst": "200B", "when": "always"}});
    let arrivals = [(0, "rest", 200), (1, "rest", 200), (2, "voice", 60), (3, "rest", 200)];
    let (sent, policed) = send(RingConfig::Packets(1), &police, &arrivals);
    assert_eq!((sent, policed), (vec![(83, 150, 60), (0, 302, 200)], 2));
}
