//! Random arrivals, and a port that is driven in different ways.

use perhop_qos::observer::{Observer, Place};
use perhop_qos::packet::{Dscp, Ecn, FlowKey};
use perhop_qos::port::{Departure, Port, Sent};
use perhop_qos::{Color, DropCause, Packet, Time};
use proptest::prelude::*;

/// All events of a port in order. Two ports with equal logs have the same behavior.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log(pub(crate) Vec<String>);

impl Observer for Log {
    fn arrived(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(format!("{now:?} {place:?} at {packet:?}"));
    }
    fn enqueued(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(format!("{now:?} {place:?} in {packet:?}"));
    }
    fn dropped(&mut self, now: Time, place: Option<Place>, packet: &Packet, cause: DropCause) {
        self.0.push(format!("{now:?} {place:?} {cause} {packet:?}"));
    }
    fn marked(&mut self, now: Time, place: Place, packet: &Packet) {
        self.0.push(format!("{now:?} {place:?} marked {packet:?}"));
    }
    fn dequeued(&mut self, now: Time, place: Place, packet: &Packet, departure: Departure) {
        self.0.push(format!("{now:?} {place:?} out {packet:?} {departure:?}"));
    }
}

/// The calls that a driver makes to a port.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// `enqueue`, then `poll_transmit` until it returns `None`, then a sleep until `poll_timeout`.
    Plain,
    /// Like `Plain`, with `send` instead of `enqueue`.
    Straight,
    /// Like `Plain`, with additional polls.
    Restless,
}

/// An arriving packet, and its gap after the previous packet.
pub(crate) type Arrival = (Time, Packet);

/// Up to 150 packets of four codepoints, all colors, four flows, with and without ECN. Most of them arrive in
/// bursts.
pub(crate) fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    // At 8 Mb/s, 1000 bytes are sent in 1000 us, so some packets arrive when the previous packet leaves.
    let gap = prop_oneof![3 => Just(0u64), 2 => Just(1000), 4 => 0..900u64, 1 => 0..9_000u64];
    let length = prop_oneof![2 => Just(1000u32), 1 => Just(40u32), 3 => 40..1500u32];
    let packet = (
        length,
        0..4u8,
        0..Color::COUNT,
        0..4u16,
        prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable0, Ecn::Capable1]),
    );
    prop::collection::vec((gap, packet), 1..150).prop_map(|arrivals| {
        let arrival = |(gap, (length, class, color, flow, ecn)): (u64, (u32, u8, usize, u16, Ecn))| {
            let key = FlowKey { source_port: flow, ..FlowKey::default() };
            let packet = Packet {
                dscp: Dscp::new(8 * class).unwrap(),
                color: Color::new(color),
                marks: ecn.into(),
                ..Packet::new(key, length)
            };
            (Time::from_microseconds(gap), packet)
        };
        arrivals.into_iter().map(arrival).collect()
    })
}

/// Sends `arrivals` through `port` until all packets have left. Returns the events, and the bits of the final
/// averages.
pub(crate) fn replay(mut port: Port, arrivals: &[Arrival], way: Way) -> (Log, Vec<u64>) {
    let (mut log, mut now) = (Log::default(), Time::ZERO);
    for (gap, packet) in arrivals {
        let at = now + *gap;
        sleep(&mut port, now, at, way, &mut log);
        now = at;
        let sent = match way {
            Way::Straight => port.send(now, &mut packet.clone(), &mut log),
            Way::Plain | Way::Restless => {
                port.enqueue(now, &mut packet.clone(), &mut log);
                Sent::Queued
            }
        };
        // The packets before a dropped packet may leave at the same instant.
        if !matches!(sent, Sent::Transmitted(_)) {
            poll(&mut port, now, way, &mut log);
        }
    }
    sleep(&mut port, now, Time::MAX, way, &mut log);
    let mut averages = Vec::new();
    for buffer in port.buffers() {
        averages.extend(buffer.averages().iter().map(|average| average.to_bits()));
    }
    (log, averages)
}

/// Runs `port` until just before `until`, with the polls that are due and the additional polls of
/// [`Way::Restless`].
fn sleep(port: &mut Port, mut now: Time, until: Time, way: Way, log: &mut Log) {
    while let Some(wake) = port.poll_timeout().filter(|wake| *wake < until) {
        if way == Way::Restless && wake > now {
            let between = Time::from_picoseconds(now.as_picoseconds().midpoint(wake.as_picoseconds()));
            assert_eq!(
                port.poll_transmit(between, &mut Packet::default(), &mut *log),
                None,
                "polled too early, a port sends nothing"
            );
        }
        now = wake;
        poll(port, now, way, log);
    }
}

fn poll(port: &mut Port, now: Time, way: Way, log: &mut Log) {
    let mut packet = Packet::default();
    while port.poll_transmit(now, &mut packet, &mut *log).is_some() {}
    if way == Way::Restless {
        assert_eq!(port.poll_transmit(now, &mut packet, log), None, "a second poll finds nothing to send");
    }
}
