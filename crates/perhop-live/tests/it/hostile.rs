//! Invalid and unusual frames. The forwarder must not fail, and must count every frame.

use crate::frames;
use perhop_live::config::ForwarderConfig;
use perhop_live::frame::{LinkLayer, Refusal, internet_checksum, read};
use perhop_live::{DeviceId, Forwarder, TestWire, Wire, WireError};
use perhop_qos::packet::{Dscp, Ecn, Packet, Protocol};
use perhop_qos::random::{Stream, Streams};
use perhop_qos::units::Time;
use perhop_qos::verdict::DropCause;

use crate::frames::packet;

/// A router between a host and a network. It has four classes, WRED and an output meter. Frames are dropped
/// for every reason, because the router has few slots, a slow wire, and a wire that loses packets.
fn router() -> ForwarderConfig {
    let mut config: ForwarderConfig = serde_json::from_str(include_str!("../router/edge.json")).unwrap();
    config.slots = 160;
    config.directions[1].rate = "10Mb/s".parse().unwrap();
    config.directions[1].delay = "20ms".parse().unwrap();
    config.directions[1].loss = 0.01;
    config
}

/// Inserts the extension headers or options `inserted` at offset `at` of a frame, and corrects lengths and
/// checksum.
fn insert(mut frame: Vec<u8>, at: usize, inserted: &[u8]) -> Vec<u8> {
    frame.splice(at..at, inserted.iter().copied());
    if frame[14] >> 4 == 4 {
        frame[14] += (inserted.len() / 4) as u8;
        let header = 14 + 4 * usize::from(frame[14] & 15);
        let length = frame.len() as u16 - 14;
        frame[16..18].copy_from_slice(&length.to_be_bytes());
        frame[24..26].fill(0);
        let checksum = internet_checksum(&frame[14..header]);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    } else {
        let length = frame.len() as u16 - 54;
        frame[18..20].copy_from_slice(&length.to_be_bytes());
    }
    frame
}

/// Valid frames of several kinds. The tests send them unchanged or damaged.
fn sound_frames() -> Vec<Vec<u8>> {
    let v4 = |protocol, length| frames::ethernet(&packet("10.0.0.1", "10.0.0.2", protocol, length));
    let v6 = |protocol, length| frames::ethernet(&packet("2001:db8::1", "2001:db8::2", protocol, length));
    let mut all = Vec::new();
    for protocol in [Protocol::UDP, Protocol::TCP, Protocol::ICMP, Protocol(47)] {
        for length in [60, 576, 1500] {
            all.push(v4(protocol, length));
            all.push(v6(protocol, length));
        }
    }
    for dscp in [10, 12, 14, 18, 20, 22, 46, 0, 63] {
        for ecn in [Ecn::NotCapable, Ecn::Capable0] {
            let dscp = Dscp::new(dscp).unwrap();
            all.push(frames::ethernet(&Packet {
                dscp,
                marks: ecn.into(),
                ..packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 1000)
            }));
        }
    }
    // Router alert (RFC 2113) and a record route.
    all.push(insert(v4(Protocol::UDP, 100), 34, &[148, 4, 0, 0]));
    all.push(insert(v4(Protocol::TCP, 100), 34, &[7, 7, 4, 0, 0, 0, 0, 0]));
    // A fragment that is not the first.
    let mut fragment = v4(Protocol::UDP, 500);
    fragment[20..22].copy_from_slice(&0x2010_u16.to_be_bytes());
    all.push(insert(fragment, 34, &[]));
    // Hop-by-hop options, routing, fragment (first, later), authentication, destination options.
    for (next, header) in [
        (0, vec![17, 0, 1, 4, 0, 0, 0, 0]),
        (43, vec![17, 2, 0, 0].into_iter().chain([0; 20]).collect()),
        (44, vec![17, 0, 0, 1, 0, 0, 0, 7]),
        (44, vec![17, 0, 0x12, 0x08, 0, 0, 0, 7]),
        (51, vec![17, 4, 0, 0].into_iter().chain([0; 20]).collect()),
        (60, vec![17, 0, 1, 4, 0, 0, 0, 0]),
    ] {
        let mut frame = v6(Protocol::UDP, 200);
        frame[20] = next;
        all.push(insert(frame, 54, &header));
    }
    // A jumbogram, whose length is in an option.
    let mut jumbogram = v6(Protocol::UDP, 200);
    jumbogram[18..21].copy_from_slice(&[0, 0, 0]);
    all.push(jumbogram);
    // Frames with one, two and five VLAN tags, frames with labels, and a frame that is not IP.
    let mut tagged = v4(Protocol::UDP, 300);
    tagged.splice(12..12, [0x81, 0, 0x20, 7]);
    all.push(tagged.clone());
    tagged.splice(12..12, [0x88, 0xa8, 0, 9]);
    all.push(tagged.clone());
    tagged.splice(12..12, [0x81, 0, 0, 9].repeat(3));
    all.push(tagged);
    all.extend(labeled_frames(&v4(Protocol::UDP, 300), &v6(Protocol::TCP, 300)));
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    all.push(arp);
    // Multicast, broadcast, link-local, and an unknown destination.
    for destination in ["224.0.0.1", "255.255.255.255", "169.254.3.4", "192.0.2.1"] {
        all.push(frames::ethernet(&packet("10.0.0.1", destination, Protocol::UDP, 80)));
    }
    for destination in ["ff02::16", "fe80::1", "2001:db8::77"] {
        all.push(frames::ethernet(&packet("2001:db8::1", destination, Protocol::UDP, 80)));
    }
    all
}

/// Frames with labels before IP packets: two labels, labels below a tag, more labels than are parsed, labels
/// before another protocol, and no label where one is expected.
fn labeled_frames(v4: &[u8], v6: &[u8]) -> [Vec<u8>; 6] {
    let labeled = |labels: &[u8], frame: &[u8]| [&frame[..12], &[0x88, 0x47], labels, &frame[14..]].concat();
    let two = labeled(&[0, 1, 0x16, 64, 0, 1, 7, 64], v4);
    [
        [&two[..12], &[0x81, 0, 0xa0, 7], &two[12..]].concat(),
        two,
        labeled(&[0, 1, 1, 64], v6),
        labeled(&[0, 1, 6, 64].repeat(17), v4),
        labeled(&[0, 1, 1, 64, 0, 0, 0, 0], v4),
        labeled(&[], v4),
    ]
}

fn below(stream: &mut Stream, limit: usize) -> usize {
    (stream.uniform() * limit as f64) as usize
}

/// Draws a frame: valid, damaged in some way, or random.
fn draw(stream: &mut Stream, sound: &[Vec<u8>]) -> Vec<u8> {
    let mut frame = sound[below(stream, sound.len())].clone();
    match below(stream, 8) {
        0 => {}
        1 => frame.truncate(below(stream, frame.len() + 1)),
        2 => frame.resize(frame.len() + below(stream, 3000), 0xa5),
        3 => frame = (0..below(stream, 200)).map(|_| below(stream, 256) as u8).collect(),
        // Random bytes after the Ethernet type of IP.
        4 => {
            let length = 14 + below(stream, 120);
            frame.truncate(14);
            frame.resize_with(length.max(frame.len()), || below(stream, 256) as u8);
        }
        // Random bits of the IP header, with a valid checksum.
        5 => {
            for _ in 0..=below(stream, 3) {
                let at = 14 + below(stream, 24).min(frame.len() - 15);
                frame[at] ^= 1 << below(stream, 8);
            }
            repair(&mut frame);
        }
        _ => {
            for _ in 0..=below(stream, 4) {
                let at = below(stream, frame.len());
                frame[at] ^= 1 << below(stream, 8);
            }
        }
    }
    frame
}

/// Corrects the checksum of an IPv4 header, if the frame is long enough.
fn repair(frame: &mut [u8]) {
    let end = 14 + 4 * usize::from(frame[14] & 15);
    if frame[12..14] == [8, 0] && end >= 34 && end <= frame.len() {
        frame[24..26].fill(0);
        let checksum = internet_checksum(&frame[14..end]);
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Checks that a sent frame is as valid as the received ones.
fn assert_sound(frame: &[u8], device: DeviceId) {
    let found =
        read(LinkLayer::Ethernet, frame).unwrap_or_else(|refusal| panic!("{refusal:?}: {frame:02x?}"));
    assert!(found.packet.length as usize + found.layout.header() <= frame.len());
    if device == DeviceId(1) {
        assert_eq!(frame[..6], [2, 0, 0, 0, 0, 0x99], "the neighbor's address");
    }
}

#[test]
fn a_hundred_thousand_hostile_frames_are_all_accounted_for() {
    let config = router();
    let mut forwarder = Forwarder::build(&config, TestWire::default(), ()).unwrap();
    let mut stream = Streams::new(2026, 0).stream();
    let sound = sound_frames();
    let step = Time::from_microseconds(150);
    while forwarder.totals().received < 100_000 {
        let device = DeviceId(u16::from(below(&mut stream, 4) == 0));
        let frame = draw(&mut stream, &sound);
        // For one frame in a hundred, 20 copies arrive at once.
        let copies = if below(&mut stream, 100) == 0 { 20 } else { 1 };
        let wire = forwarder.wire();
        wire.clock += step;
        wire.coming.extend((0..copies).map(|_| (device, wire.clock, frame.clone())));
        let now = wire.clock;
        forwarder.step().unwrap();
        for (device, at, frame) in std::mem::take(&mut forwarder.wire().sent) {
            assert_eq!(at, now);
            assert_sound(&frame, device);
        }
        assert_eq!(forwarder.totals().received, forwarder.totals().ended() + forwarder.held());
    }
    let totals = *forwarder.totals();
    for refusal in Refusal::ALL {
        assert!(totals.refused[refusal.index()] > 0, "no frame was refused as {}", refusal.name());
    }
    for (what, frames) in [
        ("local", totals.local),
        ("oversized", totals.oversized),
        ("no slot", totals.no_slot),
        ("sent", totals.sent),
    ] {
        assert!(frames > 0, "no frame was counted as {what}");
    }
    for cause in [DropCause::QueueFull, DropCause::EarlyRandom, DropCause::NoRoute, DropCause::Lost] {
        assert!(totals.dropped[cause.index()] > 0, "no packet was dropped for {cause}");
    }
    // All frames leave, and no slot remains in use.
    forwarder.wire().clock += Time::from_seconds(10);
    forwarder.step().unwrap();
    let report = forwarder.report();
    assert_eq!((report.frames.held, report.frames.slots_taken), (0, 0));
    assert_eq!(forwarder.totals().received, forwarder.totals().ended());
    let dropped = |report: &perhop_live::Report| -> u64 {
        let of_flows = report.flows.iter().flat_map(|flow| flow.dropped.values());
        of_flows.chain(report.other_flows.values()).map(|count| count.packets).sum()
    };
    assert_eq!(dropped(&report), report.frames.dropped.values().sum::<u64>(), "by flow and by cause");
}

#[test]
fn test_frames_have_the_intended_faults() {
    let read = |frame: &[u8]| read(LinkLayer::Ethernet, frame).map(|found| found.packet);
    let udp = packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 40);
    let frame = frames::ethernet(&udp);
    assert_eq!(frame.len(), 60, "Ethernet pads it");
    assert_eq!(read(&frame).unwrap(), udp, "and the padding does not count");
    let later = {
        let mut frame = frame.clone();
        frame[20..22].copy_from_slice(&0x0005_u16.to_be_bytes());
        repair(&mut frame);
        read(&frame).unwrap()
    };
    assert_eq!((later.source_port, later.destination_port), (0, 0), "later fragments have no ports");
    assert_eq!(later.protocol, Protocol::UDP);
    let mut first = frame.clone();
    first[20..22].copy_from_slice(&0x2000_u16.to_be_bytes());
    repair(&mut first);
    assert_eq!(read(&first).unwrap(), udp, "the first fragment has");

    let v6 = frames::ethernet(&packet("2001:db8::1", "2001:db8::2", Protocol::TCP, 140));
    for (chain, protocol, ports) in [
        (
            vec![(0, vec![60, 0, 0, 0, 0, 0, 0, 0]), (60, vec![6, 0, 0, 0, 0, 0, 0, 0])],
            Protocol::TCP,
            (49152, 9),
        ),
        (vec![(44, vec![6, 0, 0, 9, 0, 0, 0, 1])], Protocol::TCP, (0, 0)),
        (vec![(44, vec![6, 0, 0, 1, 0, 0, 0, 1])], Protocol::TCP, (49152, 9)),
        (vec![(51, vec![6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])], Protocol::TCP, (49152, 9)),
    ] {
        let mut frame = v6.clone();
        frame[20] = chain[0].0;
        let headers: Vec<u8> = chain.into_iter().flat_map(|(_, header)| header).collect();
        let found = read(&insert(frame, 54, &headers)).unwrap();
        assert_eq!((found.protocol, (found.source_port, found.destination_port)), (protocol, ports));
        assert_eq!(found.length as usize, 140 + headers.len());
    }
}

#[test]
fn frames_without_ip_pass_if_configured() {
    let mut config = router();
    config.directions.remove(0);
    config.directions.truncate(1);
    (config.inputs, config.routes) = (Vec::new(), Vec::new());
    config.directions[0].receives_on = Some("lan".to_owned());
    config.directions[0].input = Some(Vec::new());
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    for (others, sent) in
        [(perhop_live::config::OtherFrames::Drop, 0), (perhop_live::config::OtherFrames::Pass, 1)]
    {
        config.directions[0].other_frames = others;
        let mut forwarder = Forwarder::build(&config, TestWire::default(), ()).unwrap();
        let lan = config.device("lan").unwrap();
        forwarder.wire().coming.push_back((lan, Time::ZERO, arp.clone()));
        forwarder.step().unwrap();
        assert_eq!(forwarder.totals().passed, sent);
        assert_eq!(forwarder.wire().sent.iter().filter(|(.., frame)| *frame == arp).count() as u64, sent);
    }
}

/// A wire with a device that was removed.
struct Torn(TestWire);

impl Wire for Torn {
    fn receive(&mut self, each: &mut impl FnMut(DeviceId, Time, &[u8])) -> Result<usize, WireError> {
        self.0.receive(each)
    }
    fn send(&mut self, device: DeviceId, frame: &[u8]) -> Result<(), WireError> {
        if device == DeviceId(1) {
            let error = std::io::Error::from(std::io::ErrorKind::NotConnected);
            return Err(WireError { device: Some(device), error });
        }
        self.0.send(device, frame)
    }
    fn now(&self) -> Time {
        self.0.now()
    }
}

#[test]
fn a_removed_device_loses_only_its_own_frames() {
    let mut config = router();
    config.directions[1].loss = 0.0;
    let mut forwarder = Forwarder::build(&config, Torn(TestWire::default()), ()).unwrap();
    let there = frames::ethernet(&packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 100));
    let back = frames::ethernet(&packet("10.0.0.2", "10.0.0.1", Protocol::UDP, 100));
    let mut failures = 0;
    for _ in 0..100 {
        let wire = &mut forwarder.wire().0;
        wire.clock += Time::from_milliseconds(50);
        wire.coming.push_back((DeviceId(0), wire.clock, there.clone()));
        wire.coming.push_back((DeviceId(1), wire.clock, back.clone()));
        failures += u64::from(forwarder.step().is_err_and(|error| error.device == Some(DeviceId(1))));
    }
    forwarder.wire().0.clock += Time::from_seconds(1);
    failures += u64::from(forwarder.step().is_err());
    let totals = *forwarder.totals();
    assert_eq!((totals.sent, totals.unsent, failures), (100, 100, 100));
    assert_eq!(totals.received, totals.ended());
    assert_eq!(forwarder.report().frames.slots_taken, 0);
}
