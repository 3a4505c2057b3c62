//! Compares `CoDel` at a port packet by packet with the pseudocode of RFC 8289 and, for the law `linux`, with
//! `codel_impl.h` of Linux. The same packets must be dropped, marked and sent.

use crate::plain::codel::{Dequeued, LinuxQueue, Plain, RfcQueue, Settings};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::observer::Place;
use perhop_qos::packet::Ecn;
use perhop_qos::policy::{QueueingConfig, WireConfig};
use perhop_qos::port::Departure;
use perhop_qos::random::Streams;
use perhop_qos::ring::RingConfig;
use perhop_qos::{DropCause, FlowKey, Observer, Packet, Port, Rate, Time};
use proptest::prelude::*;
use serde_json::json;

const RATE: Rate = Rate::from_bits_per_second(8_000_000);

/// The events of a queue, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Happened {
    Dropped(u64, usize),
    Marked(usize),
    Sent(u64, usize),
    Full(usize),
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
        assert_eq!(packet.marks.ecn(), Ecn::CongestionExperienced);
        self.0.push(Happened::Marked(packet.payload as usize));
    }
    fn dequeued(&mut self, now: Time, _: Place, packet: &Packet, _: Departure) {
        self.0.push(Happened::Sent(now.as_picoseconds(), packet.payload as usize));
    }
}

/// Packets, each with the time since the previous packet. There are bursts, and there are pauses in which the
/// queue becomes empty.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32, bool)>> {
    let gap = prop_oneof![4 => Just(0u64), 6 => 0..1_200u64, 1 => 0..20_000u64];
    let length = prop_oneof![2 => Just(1000u32), 1 => Just(40u32), 2 => 40..1500u32];
    prop::collection::vec((gap, length, any::<bool>()), 1..600)
}

fn port(law: &str, settings: &Settings, limit: usize, framing: Framing) -> Port {
    let time = |picoseconds: u64| format!("{}us", picoseconds / 1_000_000);
    let config = json!({"classes": [{"name": "all", "buffer": {"codel": {
        "law": law, "target": time(settings.target), "interval": time(settings.interval),
        "mtu": format!("{}B", settings.mtu), "limit": format!("{limit} packets"),
        "ecn": if settings.marks { "mark" } else { "ignore" },
    }}}]});
    let config: QueueingConfig = serde_json::from_value(config).unwrap();
    let wire = WireConfig { rate: RATE, framing, headers: HeaderStack::EMPTY, ring: RingConfig::Packets(1) };
    Port::build(Some(&config), &wire, &[], &Streams::new(1, 0)).unwrap()
}

/// The events of a port with `arrivals` that is polled only when due.
fn by_port(mut port: Port, arrivals: &[(u64, u32, bool)]) -> Vec<Happened> {
    let (mut log, mut now, mut packet) = (Log::default(), Time::ZERO, Packet::default());
    for (id, (gap, length, is_capable)) in arrivals.iter().enumerate() {
        let at = now + Time::from_microseconds(*gap);
        while let Some(due) = port.poll_timeout().filter(|due| *due < at) {
            while port.poll_transmit(due, &mut packet, &mut log).is_some() {}
        }
        now = at;
        let ecn = if *is_capable { Ecn::Capable0 } else { Ecn::NotCapable };
        let mut arriving =
            Packet { payload: id as u64, marks: ecn.into(), ..Packet::new(FlowKey::default(), *length) };
        port.enqueue(now, &mut arriving, &mut log);
        while port.poll_transmit(now, &mut packet, &mut log).is_some() {}
    }
    while let Some(due) = port.poll_timeout() {
        while port.poll_transmit(due, &mut packet, &mut log).is_some() {}
    }
    assert_eq!(port.backlog(), 0);
    log.0
}

/// A plain queue that is polled for the next packet when the wire is free.
trait Polled {
    fn packets(&mut self) -> &mut std::collections::VecDeque<Plain>;
    fn request(&mut self, now: u64) -> Dequeued;
}

impl Polled for RfcQueue {
    fn packets(&mut self) -> &mut std::collections::VecDeque<Plain> {
        &mut self.packets
    }
    fn request(&mut self, now: u64) -> Dequeued {
        self.dequeue(now)
    }
}

impl Polled for LinuxQueue {
    fn packets(&mut self) -> &mut std::collections::VecDeque<Plain> {
        &mut self.packets
    }
    fn request(&mut self, now: u64) -> Dequeued {
        self.dequeue(now)
    }
}

fn by_plain(
    mut queue: impl Polled,
    arrivals: &[(u64, u32, bool)],
    limit: usize,
    framing: Framing,
) -> Vec<Happened> {
    let (mut happened, mut now, mut free_at) = (Vec::new(), 0, 0);
    let serve = |queue: &mut dyn FnMut(u64) -> Dequeued, at: u64, happened: &mut Vec<Happened>| {
        let Dequeued { dropped, marked, sent } = queue(at);
        happened.extend(dropped.into_iter().map(|id| Happened::Dropped(at, id)));
        happened.extend(marked.map(Happened::Marked));
        sent.map_or(at, |packet| {
            happened.push(Happened::Sent(at, packet.id));
            at + RATE.transmission_time(framing.wire_bytes(packet.length)).as_picoseconds()
        })
    };
    for (id, (gap, length, is_capable)) in arrivals.iter().enumerate() {
        let at = now + gap * 1_000_000;
        while free_at < at && !queue.packets().is_empty() {
            free_at = serve(&mut |at| queue.request(at), free_at.max(now), &mut happened);
        }
        now = at;
        if queue.packets().len() >= limit {
            happened.push(Happened::Full(id));
        } else {
            let packet = Plain { id, length: (*length).into(), joined: now, is_capable: *is_capable };
            queue.packets().push_back(packet);
        }
        // At one instant, the first arrival precedes a departure, and the next arrival follows it.
        if free_at <= now {
            free_at = serve(&mut |at| queue.request(at), now, &mut happened);
        }
    }
    while !queue.packets().is_empty() {
        free_at = serve(&mut |at| queue.request(at), free_at.max(now), &mut happened);
    }
    happened
}

proptest! {
    #[test]
    fn a_port_drops_as_the_pseudocode_does(
        arrivals in arrivals(),
        (target, ratio, mtu, limit) in (50..3_000u64, 2..8u64, 0..1600u64, 5..400usize),
        marks in any::<bool>(),
    ) {
        let settings = || Settings { target: target * 1_000_000, interval: target * ratio * 1_000_000, mtu, marks };
        let port = port("rfc", &settings(), limit, Framing::Raw);
        let plain = by_plain(RfcQueue::new(settings()), &arrivals, limit, Framing::Raw);
        prop_assert_eq!(by_port(port, &arrivals), plain);
    }

    #[test]
    fn a_port_drops_as_linux_does(
        arrivals in arrivals(),
        (target, ratio, mtu, limit) in (50..3_000u64, 2..8u64, 0..1600u64, 5..400usize),
        marks in any::<bool>(),
        framing in prop::sample::select(vec![Framing::Raw, Framing::EthernetHeader]),
    ) {
        let settings = || Settings { target: target * 1_000_000, interval: target * ratio * 1_000_000, mtu, marks };
        let port = port("linux", &settings(), limit, framing);
        let queue = LinuxQueue::new(settings(), framing.queued_header().into());
        prop_assert_eq!(by_port(port, &arrivals), by_plain(queue, &arrivals, limit, framing));
    }
}

/// RFC 8289 §5: the drop rate rises until exactly the excess is dropped. The load is 3000 and the capacity
/// 2000 packets per second, so the excess is a third of the packets.
#[test]
fn a_steady_excess_is_dropped_completely() {
    for law in ["rfc", "linux"] {
        let settings = Settings { target: 5_000_000_000, interval: 100_000_000_000, mtu: 1500, marks: false };
        let port = port(law, &settings, 100_000, Framing::Raw);
        // 8 Mb/s are 2000 packets of 500 bytes per second. 3000 packets per second arrive for two minutes.
        let gaps = (0..360_000u64).map(|k| ((k + 1) * 1_000_000 / 3000 - k * 1_000_000 / 3000, 500, false));
        let arrivals: Vec<_> = gaps.collect();
        let happened = by_port(port, &arrivals);
        let drops_between = |from: u64, until: u64| {
            let seconds = from * 1_000_000_000_000..until * 1_000_000_000_000;
            happened
                .iter()
                .filter(|event| matches!(event, Happened::Dropped(at, _) if seconds.contains(at)))
                .count()
        };
        // The queue grows until the control loop has adapted. This backlog is dropped later.
        let (first, late) = (drops_between(0, 1), drops_between(60, 120));
        assert!(first < 100, "{law}: {first} in the first second, when 1000 are too many");
        assert!((58_000..62_000).contains(&late), "{law}: {late} in a minute, when 60000 are too many");
    }
}
