//! CAKE's ACK filter on frames, which reads the TCP headers of arriving frames.

use crate::frames;
use perhop_live::config::ForwarderConfig;
use perhop_live::{Forwarder, TestWire};
use perhop_qos::packet::{Packet, Protocol};
use perhop_qos::units::Time;
use serde_json::json;

/// IPv4 and IPv6 headers with their TCP header, without options.
const V4: u32 = 40;
const V6: u32 = 60;
const ACK: u8 = 0x10;
const FIN: u8 = 0x01;

/// A frame of `packet` with this acknowledgment number and these flags in its TCP header.
fn segment(packet: &Packet, acknowledgment: u32, flags: u8) -> Vec<u8> {
    const ETHERNET: usize = 14;
    let mut frame = frames::ethernet(packet);
    let tcp = ETHERNET + if packet.source.to_ip().is_ipv4() { 20 } else { 40 };
    frame[tcp + 8..tcp + 12].copy_from_slice(&acknowledgment.to_be_bytes());
    frame[tcp + 12..tcp + 14].copy_from_slice(&[0x50, flags]);
    frame
}

/// Sends the frames `coming` at once through a port of 1 Mb/s, at which frames wait for less than 5 ms.
/// Returns the acknowledgment numbers that leave, and the number of frames that the filter `how` dropped.
fn passed(how: &str, header: usize, coming: Vec<Vec<u8>>) -> (Vec<u32>, u64) {
    let config: ForwarderConfig = serde_json::from_value(json!({
        "node": "home",
        "seed": 1,
        "directions": [{
            "name": "lan->net", "from": "lan", "to": "net", "receives-on": "lan", "sends-on": "net",
            "rate": "1Mb/s",
            "queueing": { "classes": [{ "name": "all", "buffer": { "cake": { "ack-filter": how } } }] },
        }],
    }))
    .unwrap();
    let lan = config.device("lan").unwrap();
    let mut forwarder = Forwarder::build(&config, TestWire::default(), ()).unwrap();
    forwarder.wire().coming.extend(coming.into_iter().map(|frame| (lan, Time::ZERO, frame)));
    forwarder.step().unwrap();
    while let Some(now) = forwarder.next_at() {
        forwarder.wire().clock = now;
        forwarder.step().unwrap();
    }
    let received = forwarder.totals().received;
    assert_eq!(received, forwarder.totals().ended() + forwarder.held());
    let acknowledged = |frame: &[u8]| {
        frame[header + 8..header + 12].iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
    };
    let sent: Vec<_> = forwarder.wire().sent.iter().map(|(.., frame)| acknowledged(frame)).collect();
    let dropped = received - sent.len() as u64;
    (sent, dropped)
}

/// Acknowledgments 1 to 9 of one connection, each with `length` IP bytes.
fn nine(source: &str, destination: &str, length: u32) -> Vec<Vec<u8>> {
    let packet = frames::packet(source, destination, Protocol::TCP, length);
    (1..=9).map(|number| segment(&packet, number, ACK)).collect()
}

#[test]
fn acknowledgments_that_a_later_one_repeats_leave_the_queue() {
    for (source, destination, length, header) in
        [("10.0.0.1", "10.0.0.2", V4, 34), ("2001:db8::1", "2001:db8::2", V6, 54)]
    {
        let coming = || nine(source, destination, length);
        // The first acknowledgment is on the wire before the second arrives.
        assert_eq!(passed("none", header, coming()), ((1..=9).collect(), 0));
        assert_eq!(passed("filter", header, coming()), (vec![1, 8, 9], 6));
        assert_eq!(passed("aggressive", header, coming()), (vec![1, 9], 7));
    }
}

#[test]
fn acknowledgments_with_other_information_stay() {
    let packet = frames::packet("10.0.0.1", "10.0.0.2", Protocol::TCP, V4);
    // Segments with data are not dropped.
    assert_eq!(passed("aggressive", 34, nine("10.0.0.1", "10.0.0.2", V4 + 1)), ((1..=9).collect(), 0));
    // The FIN is not dropped. The acknowledgment before the FIN is not dropped either, because the FIN does
    // not replace it.
    let coming = vec![segment(&packet, 1, ACK), segment(&packet, 2, ACK | FIN), segment(&packet, 3, ACK)];
    assert_eq!(passed("aggressive", 34, coming), (vec![1, 2, 3], 0));
    // Acknowledgments of another connection do not replace these.
    let mut other = packet;
    other.destination_port = 10;
    let coming = vec![segment(&packet, 1, ACK), segment(&packet, 2, ACK), segment(&other, 3, ACK)];
    assert_eq!(passed("aggressive", 34, coming), (vec![1, 2, 3], 0));
}
