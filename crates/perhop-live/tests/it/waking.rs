//! A forwarder wakes in time for each frame, but not before a frame can leave.

use crate::frames;
use perhop_live::config::ForwarderConfig;
use perhop_live::{DeviceId, Forwarder, TestWire};
use perhop_qos::packet::Protocol;
use perhop_qos::units::Time;

/// Three packets arrive at a port of 10 Gb/s with a propagation delay of 20 ms. The port is polled while they
/// are in flight.
#[test]
fn a_poll_of_a_port_with_packets_in_flight_needs_no_wake_up() {
    let mut config: ForwarderConfig = serde_json::from_str(include_str!("../router/edge.json")).unwrap();
    config.directions[2].delay = "20ms".parse().unwrap();
    let net = config.device("net").unwrap();
    let mut forwarder = Forwarder::build(&config, TestWire::default(), ()).unwrap();
    let frame = frames::ethernet(&frames::packet("10.0.0.2", "10.0.0.1", Protocol::UDP, 1500));
    for _ in 0..3 {
        forwarder.wire().coming.push_back((net, Time::ZERO, frame.clone()));
    }
    forwarder.step().unwrap();
    // 1500 IP bytes are 1538 bytes on the wire, which take 1.2304 µs.
    let arrivals = [20_001_230_400, 20_002_460_800, 20_003_691_200].map(Time::from_picoseconds);
    for arrives in arrivals {
        assert_eq!(forwarder.next_at(), Some(arrives));
        forwarder.wire().clock = arrives;
        forwarder.step().unwrap();
    }
    assert_eq!(forwarder.next_at(), None);
    let sent = &forwarder.wire().sent;
    assert_eq!(sent.iter().map(|(_, at, _)| *at).collect::<Vec<_>>(), arrivals);
    assert!(sent.iter().all(|(device, ..)| *device == DeviceId(0)), "the host's");
}
