//! Reads files of every kind with every link layer, and damaged files.

use InterfaceDescriptionOption::{IfTsOffset, IfTsResol};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::packet::Ecn;
use perhop_qos::units::{Rate, Time};
use proptest::prelude::*;

use super::*;
use crate::headers::Transport;
use crate::writer::{Frame, Interface, SnapLength, Writer};

/// A UDP packet from 192.0.2.1 port 5004 to 198.51.100.7 port 9 with EF and ECT(0). It has 60 IP bytes, of
/// which the file stores 28.
const PACKET: [u8; 28] = [
    0x45, 0xba, 0, 60, 0, 0, 0x40, 0, 63, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7, 0x13, 0x8c, 0, 9, 0, 40,
    0, 0,
];

/// Creates a pcap file of one frame. The frame arrived at 7 s and `fraction` units and had 74 bytes on the
/// wire.
fn pcap(magic: u32, big: bool, link_type: u32, fraction: u32, frame: &[u8]) -> Vec<u8> {
    let number = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = Vec::new();
    file.extend(number(magic));
    file.extend(half(2));
    file.extend(half(4));
    let length = frame.len() as u32;
    for value in [0, 0, 64, link_type, 7, fraction, length, 74] {
        file.extend(number(value));
    }
    file.extend(frame);
    file
}
fn only(file: &[u8]) -> Observed {
    let capture = read(file).unwrap();
    assert_eq!((capture.packets.len(), capture.others), (1, 0));
    capture.packets[0].clone()
}
fn assert_is_packet(observed: &Observed) {
    let packet = &observed.packet;
    let key = packet.flow_key().to_string();
    assert_eq!(key, "udp 192.0.2.1 port 5004 to 198.51.100.7 port 9");
    assert_eq!(
        (packet.length, packet.dscp.to_string().as_str(), packet.marks.ecn()),
        (60, "ef", Ecn::Capable0)
    );
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_resolutions() {
    for big in [true, false] {
        for (magic, fraction, time) in
            [(0xa1b2_c3d4, 250_000, 7_250_000_000), (0xa1b2_3c4d, 250_000, 7_000_250_000)]
        {
            let observed = only(&pcap(magic, big, 101, fraction, &PACKET));
            assert_eq!(observed.time, time);
            assert_is_packet(&observed);
        }
    }
}

#[test]
fn every_known_link_layer_is_removed() {
    let sll = [0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
    let sll2 = [8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    let macs = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    let ethernet = |rest: &[u8]| [&macs, rest].concat();
    for (link_type, around) in [
        (1, ethernet(&[8, 0])),
        (1, ethernet(&[0x81, 0, 0, 5, 8, 0])),
        (1, ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0])),
        (1, ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 62, 0, 0x21])),
        (113, sll.to_vec()),
        (276, sll2.to_vec()),
        (9, vec![0, 0x21]),
        (9, vec![0xff, 3, 0x21]),
        (50, vec![0xff, 3, 0, 0x21]),
        (104, vec![0x0f, 0, 8, 0]),
        (100, vec![0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
        (101, Vec::new()),
        (228, Vec::new()),
        (0, vec![2, 0, 0, 0]),
    ] {
        let frame = [around.as_slice(), &PACKET].concat();
        assert_is_packet(&only(&pcap(0xa1b2_c3d4, false, link_type, 0, &frame)));
    }
}

#[test]
fn lengths_are_those_of_the_header_or_of_the_wire() {
    let mut packet = PACKET;
    // The sender did not set the length, because a network card splits the packet later.
    packet[2..4].fill(0);
    assert_eq!(only(&pcap(0xa1b2_c3d4, false, 101, 0, &packet)).packet.length, 74);
}

#[test]
fn a_later_fragment_has_no_ports() {
    let mut packet = PACKET;
    packet[7] = 185;
    let key = only(&pcap(0xa1b2_c3d4, false, 101, 0, &packet)).packet.flow_key();
    assert_eq!((key.source_port, key.destination_port), (0, 0));
}

#[test]
fn frames_without_an_ip_packet_are_counted() {
    let arp = [&[0xff; 12][..], &[8, 6], &[0; 28]].concat();
    let capture = read(&pcap(0xa1b2_c3d4, false, 1, 0, &arp)).unwrap();
    assert_eq!((capture.packets.len(), capture.others), (0, 1));
}

#[test]
fn errors_of_a_file_are_reported() {
    let whole = pcap(0xa1b2_c3d4, false, 101, 0, &PACKET);
    for (file, error) in [
        (b"time,size\n".to_vec(), "neither pcap nor pcapng"),
        (Vec::new(), "neither pcap nor pcapng"),
        (whole[..whole.len() - 1].to_vec(), "is truncated after 0 packets"),
        ([whole.as_slice(), &[1, 2, 3]].concat(), "is truncated after 1 packets"),
        (pcap(0xa1b2_c3d4, false, 105, 0, &PACKET), "link type 105"),
    ] {
        let found = read(&file).unwrap_err().to_string();
        assert!(found.contains(error), "{found}");
    }
}

/// Creates a pcapng file with a packet at each of these times. The packets alternate between two interfaces.
fn pcapng(times: &[u64]) -> Vec<u8> {
    let interface = |name: &str, framing| Interface {
        name: name.to_owned(),
        framing,
        headers: HeaderStack::EMPTY,
        rate: Rate::from_bits_per_second(2_000_000),
        stations: [0, 1],
    };
    let interfaces = vec![interface("a->b", Framing::EthernetFrame), interface("b->a", Framing::Ppp)];
    let mut writer = Writer::new(Vec::new(), "a test", interfaces, SnapLength::Headers).unwrap();
    for (index, time) in times.iter().enumerate() {
        let packet =
            Packet { length: 60 + index as u32, ..only(&pcap(0xa1b2_c3d4, false, 101, 0, &PACKET)).packet };
        let comment = (index == 1).then_some("dropped: queue-full");
        writer
            .write(&Frame {
                interface: index % 2,
                time: Time::from_picoseconds(*time),
                packet: &packet,
                transport: &Transport::Plain,
                comment,
            })
            .unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn written_files_are_read_with_nanoseconds_and_interfaces() {
    let capture = read(&pcapng(&[0, 1_999, 2_000_000_000_123_456])).unwrap();
    assert_eq!(capture.interfaces, ["a->b", "b->a"]);
    let read: Vec<_> =
        capture.packets.iter().map(|seen| (seen.time, seen.interface, seen.packet.length)).collect();
    assert_eq!(read, [(0, 0, 60), (1, 1, 61), (2_000_000_000_123, 0, 62)]);
}

#[test]
fn times_of_any_resolution_become_nanoseconds() {
    let interface =
        |options| InterfaceDescriptionBlock { linktype: pcap_file::DataLink::RAW, snaplen: 0, options };
    assert_eq!(time_of(&interface(vec![]), 5), 5_000);
    assert_eq!(time_of(&interface(vec![IfTsResol(9)]), 5), 5);
    assert_eq!(time_of(&interface(vec![IfTsResol(12)]), 5_000), 5);
    assert_eq!(time_of(&interface(vec![IfTsResol(0x80 | 0x0a)]), 512), 500_000_000);
    assert_eq!(time_of(&interface(vec![IfTsResol(0), IfTsOffset(2)]), 1), 3_000_000_000);
}

proptest! {
    #[test]
    fn a_damaged_file_never_panics(
        place in any::<prop::sample::Index>(),
        value in any::<u8>(),
        cut in any::<prop::sample::Index>(),
        ng in any::<bool>(),
    ) {
        let mut file = if ng {
            pcapng(&[0, 1_000_000, 2_000_000])
        } else {
            pcap(0xa1b2_c3d4, false, 1, 0, &[&[0; 12][..], &[8, 0], &PACKET].concat())
        };
        let index = place.index(file.len());
        file[index] = value;
        let _ = read(&file);
        let _ = read(&file[..cut.index(file.len())]);
    }
}

/// Creates a pcapng file of one packet. The lists of options in its blocks end with `opt_endofopt` if `end`
/// is true.
fn optional(big: bool, end: bool) -> Vec<u8> {
    let number = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let option = |code: u16, value: &[u8]| {
        let mut option = [half(code), half(value.len() as u16)].concat();
        option.extend(value);
        option.resize(option.len().next_multiple_of(4), 0);
        option.extend(end.then_some([0; 4]).into_iter().flatten());
        option
    };
    let block = |kind: u32, body: &[u8]| {
        let length = number(12 + body.len() as u32);
        [&number(kind)[..], &length, body, &length].concat()
    };
    let section = [&number(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8], &option(4, b"by hand")].concat();
    let interface = [&half(101)[..], &half(0), &number(0), &option(2, b"eth0")].concat();
    let length = number(PACKET.len() as u32);
    let packet = [&number(0)[..], &number(0), &number(5), &length, &number(60), &PACKET, &option(1, b"no")];
    // The file also contains statistics of the interface, which the reader ignores.
    let statistics = [&number(0)[..], &[0; 8], &half(4), &half(8), &[0; 8]].concat();
    [block(0x0a0d_0d0a, &section), block(1, &interface), block(6, &packet.concat()), block(5, &statistics)]
        .concat()
}

#[test]
fn an_end_of_options_is_optional() {
    for big in [false, true] {
        for end in [false, true] {
            let file = optional(big, end);
            let observed = only(&file);
            assert_eq!((observed.time, observed.interface), (5_000, 0));
            assert_is_packet(&observed);
            assert_eq!(read(&file).unwrap().interfaces, ["eth0"]);
            // An option that is longer than its block is still an error.
            let place = file.windows(4).position(|four| four == b"eth0").unwrap();
            let mut wrong = file.clone();
            wrong[place - 2..place].fill(0x7f);
            assert!(matches!(read(&wrong), Err(Unreadable::Damaged(0, _))));
        }
    }
}

#[test]
fn tags_and_labels_give_their_marks() {
    let macs = [0; 12];
    for (around, cos, exp) in [
        (&[0x81, 0, 0xa0, 5, 8, 0][..], Some(5), None),
        // The CoS is that of the outer tag, regardless of the protocol number of this tag.
        (&[0x88, 0xa8, 0x60, 5, 0x81, 0, 0xe0, 6, 8, 0], Some(3), None),
        (&[0x91, 0, 0x20, 5, 0x81, 0, 0xe0, 6, 8, 0], Some(1), None),
        // If a frame has two labels, the EXP is that of the top label.
        (&[0x88, 0x47, 0, 1, 0x0c, 63, 0, 1, 0x05, 63], None, Some(6)),
        (&[0x81, 0, 0x40, 5, 0x88, 0x47, 0, 1, 0x09, 63], Some(2), Some(4)),
        (&[0x81, 0, 0x40, 5, 0x88, 0x64, 0x11, 0, 0, 1, 0, 62, 0, 0x21], Some(2), None),
        (&[8, 0], None, None),
    ] {
        let observed = only(&pcap(0xa1b2_c3d4, false, 1, 0, &[&macs[..], around, &PACKET].concat()));
        assert_is_packet(&observed);
        let found = (observed.packet.cos(), observed.packet.exp());
        let value = |mark: perhop_qos::packet::LinkMark| mark.value();
        assert_eq!((found.0.map(value), found.1.map(value)), (cos, exp), "{around:x?}");
    }
}
