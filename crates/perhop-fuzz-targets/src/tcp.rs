//! A TCP connection of any profile over a path that loses, delays, reorders and duplicates any segments.
//! Every byte is delivered once and in order, both directions close, and every segment is permitted by the
//! protocol.

use arbitrary::Arbitrary;
use perhop_qos::QueueSize;
use perhop_qos::units::Time;
use perhop_scenario::tcp::{
    Acknowledgment, CongestionControl, FastRetransmit, Flags, Profile, Recovery, TcpConfig,
};
use perhop_sim::tcp::{Connection, ConnectionEvent, Segment, State};

use pair::{CLIENT, Pair, SERVER};

use crate::outcome::{Outcome, structured};

#[path = "../../perhop-sim/tests/it/pair/mod.rs"]
#[allow(dead_code, reason = "the tests of perhop-sim use more of it")]
mod pair;

#[derive(Debug, Arbitrary)]
struct Input {
    profile: u8,
    rules: [u8; 4],
    switches: [bool; 3],
    window: u8,
    request: u16,
    response: u16,
    /// The fate of each segment on the path: the segment is lost, late by a multiple of 500 µs, or
    /// duplicated.
    fates: Vec<u8>,
    copies: Vec<u8>,
}

fn config(input: &Input) -> TcpConfig {
    fn choose<T: Copy>(all: &[T], number: u8) -> T {
        all[usize::from(number) % all.len()]
    }
    let [recovery, congestion, retransmit, acknowledgment] = input.rules;
    let [timestamps, limited_transmit, ecn] = input.switches;
    let acknowledgments = [
        Acknowledgment::EveryPacket,
        Acknowledgment::Delayed { timeout: Time::from_milliseconds(200), quick: 0 },
        Acknowledgment::Delayed { timeout: Time::from_milliseconds(40), quick: 16 },
        Acknowledgment::Estimated { first: Time::from_milliseconds(330), quick: 1 },
    ];
    TcpConfig {
        recovery: Some(choose(
            &[Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack],
            recovery,
        )),
        congestion: Some(choose(&[CongestionControl::Reno, CongestionControl::Cubic], congestion)),
        fast_retransmit: Some(choose(&[FastRetransmit::Always, FastRetransmit::OncePerWindow], retransmit)),
        acknowledgment: Some(choose(&acknowledgments, acknowledgment)),
        timestamps: Some(timestamps),
        limited_transmit: Some(limited_transmit),
        ecn: Some(ecn),
        window: Some(QueueSize::Packets(u64::from(input.window % 40) + 1)),
        ..TcpConfig::new(choose(&Profile::ALL[1..], input.profile))
    }
}

/// The segments that one end has sent on the wire.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The offset after the last byte sent.
    end: u64,
    acknowledged: u64,
    has_closed: bool,
}

/// Checks `segment`. A sender must send exactly the bytes of its application and must not revoke an
/// acknowledgment. A receiver must acknowledge only data that were sent.
fn look(seen: &mut [Seen; 2], from: usize, segment: &Segment, written: [u64; 2]) {
    let peer = seen[1 - from];
    let own = &mut seen[from];
    let end = segment.sequence + u64::from(segment.length);
    own.has_closed |= segment.flags.contains(Flags::FIN);
    if segment.length == 0 {
        // The FIN counts as one byte.
        let most = written[from] + u64::from(own.has_closed);
        assert!(segment.sequence <= most, "{segment:?} beyond {most}");
    } else {
        assert!(end <= written[from], "{segment:?} of {} bytes", written[from]);
        assert!(segment.sequence <= own.end, "{segment:?} leaves out bytes from {}", own.end);
        own.end = own.end.max(end);
    }
    if segment.flags.contains(Flags::ACK) {
        assert!(segment.acknowledgment >= own.acknowledged, "{segment:?} takes back {}", own.acknowledged);
        own.acknowledged = segment.acknowledgment;
        let most = peer.end + u64::from(peer.has_closed);
        assert!(segment.acknowledgment <= most, "{segment:?} acknowledges more than {most}");
    }
    for (start, end) in segment.sack.iter() {
        assert!(start < end && end <= peer.end + u64::from(peer.has_closed), "{segment:?}");
    }
}

/// Runs a TCP connection over the path that `bytes` describe. Every byte must arrive once and in order.
pub fn tcp(bytes: &[u8]) -> Outcome {
    structured(bytes, check)
}

fn check(input: &Input) -> Outcome {
    let Ok(parameters) = config(input).build() else { return Outcome::Refused };
    let [request, response] = [input.request, input.response].map(u64::from);
    let mut seen = [Seen::default(); 2];
    let mut fates = input.fates.iter().copied().take(300);
    // Of eight segments, about four are on time, three are late, and one is lost.
    let late = |fate: u8| Time::from_microseconds(10_000 + 500 * u64::from(fate >> 3));
    let mut pair = Pair::new(&parameters, |from, segment: &Segment| {
        look(&mut seen, from, segment, [request, response]);
        match fates.next() {
            Some(fate) if fate % 8 == 7 => None,
            Some(fate) if fate % 8 > 3 => Some(late(fate)),
            _ => Some(Time::from_milliseconds(10)),
        }
    });
    let mut copies = input.copies.clone().into_iter();
    pair.doubled = Box::new(move |_| copies.next().filter(|copy| copy % 4 == 3).map(late));
    pair.run(Time::from_seconds(100_000), |end, event, connection: &mut Connection| match (end, event) {
        (CLIENT, ConnectionEvent::Connected) => {
            connection.send(request);
            connection.close();
        }
        (SERVER, ConnectionEvent::PeerClosed) => {
            connection.send(response);
            connection.close();
        }
        _ => {}
    });
    assert_eq!([pair.received(SERVER), pair.received(CLIENT)], [request, response]);
    assert_eq!([pair.acknowledged(CLIENT), pair.acknowledged(SERVER)], [request, response]);
    for end in [CLIENT, SERVER] {
        assert_eq!(pair.events[end].last(), Some(&ConnectionEvent::Closed), "{:?}", pair.events[end]);
        assert_eq!((pair.ends[end].flight(), pair.ends[end].poll_timeout()), (0, None));
    }
    assert_eq!(pair.ends[SERVER].state(pair.now), State::Closed);
    Outcome::Kept
}
