//! Frames with the headers of a link have the length that the simulator counts. The reader reads them with
//! their marks.

use std::net::IpAddr;

use pcap_file::pcapng::{Block, PcapNgParser};
use perhop_capture::reader::{Capture, read};
use perhop_capture::{Frame, Interface, SnapLength, Transport, Writer};
use perhop_qos::framing::{
    Esp, EspCipher, EspIntegrity, EspMode, Framing, GreTunnel, Header, HeaderStack, IpTunnel, IpVersion,
    L2tpTunnel, L2tpVersion, MplsLabels, Multilink, MultilinkSequence, VlanTag, VxlanTunnel,
};
use perhop_qos::packet::{Ecn, FlowKey, LinkMark, Packet, Protocol};
use perhop_qos::units::{Rate, Time};

const V4: [&str; 2] = ["10.0.0.1", "10.0.0.2"];
const V6: [&str; 2] = ["2001:db8::1", "2001:db8::2"];

/// An EF packet of `length` IP bytes, with CoS 5 and EXP 3.
fn packet([source, destination]: [&str; 2], length: u32) -> Packet {
    let [source, destination] = [source, destination].map(|text| text.parse::<IpAddr>().unwrap().into());
    let key =
        FlowKey { source, destination, source_port: 49152, destination_port: 9, protocol: Protocol::UDP };
    let mut packet = Packet {
        dscp: "ef".parse().unwrap(),
        marks: Ecn::Capable0.into(),
        hops: 1,
        ..Packet::new(key, length)
    };
    packet.color = packet.dscp.color();
    packet.set_cos(LinkMark::new(5).unwrap());
    packet.set_exp(LinkMark::new(3).unwrap());
    packet
}

/// Writes a file with the complete frames of `packets` on a link.
fn written(framing: Framing, headers: HeaderStack, packets: &[Packet]) -> Vec<u8> {
    let rate = Rate::from_bits_per_second(1_000_000);
    let interface = Interface { name: "a->b".to_owned(), framing, headers, rate, stations: [4, 5] };
    let mut writer = Writer::new(Vec::new(), "", vec![interface], SnapLength::Bytes(1 << 17)).unwrap();
    for (index, packet) in packets.iter().enumerate() {
        let time = Time::from_milliseconds(index as u64);
        writer
            .write(&Frame { interface: 0, time, packet, transport: &Transport::Plain, comment: None })
            .unwrap();
    }
    writer.finish().unwrap()
}

/// Returns the frames of a file. Each frame must be complete.
fn frames(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut rest, mut parser) = PcapNgParser::new(file).unwrap();
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let (after, block) = parser.next_block(rest).unwrap();
        if let Block::EnhancedPacket(packet) = block {
            assert_eq!(packet.original_len as usize, packet.data.len());
            frames.push(packet.data.into_owned());
        }
        rest = after;
    }
    frames
}

/// Returns every kind of header, with options and without.
fn kinds() -> Vec<Header> {
    let esp = |cipher, integrity, mode, nat_t| {
        Header::Esp(Esp { cipher, integrity, mode, nat_t, over: IpVersion::Ipv4 })
    };
    let l2tp = |version, length, sequence, cookie| {
        Header::L2tp(L2tpTunnel { version, length, sequence, cookie, over: IpVersion::Ipv4 })
    };
    vec![
        Header::Vlan(VlanTag { id: 100 }),
        Header::Mpls(MplsLabels { labels: 2, control_word: false }),
        Header::Mpls(MplsLabels { labels: 1, control_word: true }),
        Header::Gre(GreTunnel { key: true, checksum: true, sequence: true, over: IpVersion::Ipv4 }),
        Header::Gre(GreTunnel { over: IpVersion::Ipv6, ..GreTunnel::default() }),
        Header::IpIp(IpTunnel { over: IpVersion::Ipv4 }),
        Header::IpIp(IpTunnel { over: IpVersion::Ipv6 }),
        esp(EspCipher::AesCbc, EspIntegrity::Sha1, EspMode::Transport, false),
        esp(EspCipher::AesGcm, EspIntegrity::None, EspMode::Tunnel, false),
        esp(EspCipher::TripleDes, EspIntegrity::Sha512, EspMode::Tunnel, true),
        Header::Vxlan(VxlanTunnel { id: 77, over: IpVersion::Ipv4 }),
        Header::Vxlan(VxlanTunnel { id: 77, over: IpVersion::Ipv6 }),
        l2tp(L2tpVersion::V2, true, true, 0),
        l2tp(L2tpVersion::V3, false, true, 8),
        Header::Mlppp(Multilink { sequence: MultilinkSequence::Long, ..Multilink::default() }),
        Header::Mlppp(Multilink { sequence: MultilinkSequence::Short, ..Multilink::default() }),
        Header::Pppoe,
        Header::Ppp,
        Header::FrameRelay,
        Header::Ethernet,
        Header::Bridged,
    ]
}

/// Returns the stacks of up to two headers that are valid on `framing`, and some stacks of three headers.
fn stacks(framing: Framing) -> Vec<HeaderStack> {
    let kinds = kinds();
    let mut found = vec![HeaderStack::EMPTY];
    for a in &kinds {
        found.extend(HeaderStack::new(&[*a]));
        for b in &kinds {
            found.extend(HeaderStack::new(&[*a, *b]));
            let last =
                kinds.iter().filter(|c| matches!(c, Header::Vlan(_) | Header::Esp(_) | Header::Ethernet));
            found.extend(last.filter_map(|c| HeaderStack::new(&[*a, *b, *c])));
        }
    }
    found.retain(|stack| stack.check(framing).is_ok());
    found
}

/// The number of bytes on the wire that a capture omits: FCS, preamble and inter-frame gap of Ethernet, or
/// FCS and flag of PPP and HDLC.
fn left_out(framing: Framing, headers: &HeaderStack) -> u64 {
    let of_framing = match framing {
        Framing::EthernetFrame => 4,
        Framing::EthernetWire => 4 + 8 + 12,
        Framing::Ppp | Framing::Hdlc => 2 + 1,
        Framing::Raw | Framing::EthernetHeader | Framing::Aal5Mux | Framing::Aal5Snap => 0,
    };
    let of_headers = match (headers.headers().last(), framing) {
        (Some(Header::FrameRelay), _) => 2 + 1,
        // A capture omits the padding before a bridged frame, because no link type includes it.
        (Some(Header::Bridged), Framing::Aal5Mux) => 2,
        _ => 0,
    };
    of_framing + of_headers
}

/// The number of bytes that only captures contain: a protocol number before labels, if no other field
/// identifies the labels.
fn announced(framing: Framing, headers: &HeaderStack) -> u64 {
    let is_bare = matches!(framing, Framing::Raw | Framing::Aal5Mux);
    if is_bare && matches!(headers.headers().last(), Some(Header::Mpls(_))) { 2 } else { 0 }
}

/// The number of bytes that a wire counts, without the overhead of ATM cells and the trailer of AAL5.
fn counted(framing: Framing, headers: &HeaderStack, ip: u64) -> u64 {
    let carried = headers.bytes(ip);
    match framing {
        Framing::Aal5Mux => carried,
        Framing::Aal5Snap => carried + 8,
        _ => framing.wire_bytes(carried),
    }
}

#[test]
fn frame_lengths_match_the_wire() {
    let mut seen = 0;
    for framing in Framing::ALL {
        for headers in stacks(framing) {
            let packets: Vec<Packet> =
                [48, 65, 1500].iter().flat_map(|l| [packet(V4, *l), packet(V6, *l)]).collect();
            let found = frames(&written(framing, headers, &packets));
            for (frame, packet) in found.iter().zip(&packets) {
                let bytes = counted(framing, &headers, u64::from(packet.length));
                let expected = bytes + announced(framing, &headers) - left_out(framing, &headers);
                assert_eq!(frame.len() as u64, expected, "{framing:?} {headers:?} {}", packet.length);
            }
            seen += found.len();
        }
    }
    assert!(seen > 3000, "{seen}");
}

/// Whether the reader reads the packet after `header`.
fn is_transparent(header: &Header) -> bool {
    match header {
        Header::Mpls(mpls) => !mpls.control_word,
        Header::Mlppp(multilink) => multilink.sequence == MultilinkSequence::Long,
        Header::Vlan(_) | Header::Pppoe | Header::Ppp | Header::FrameRelay => true,
        _ => false,
    }
}

#[test]
fn tags_labels_and_sessions_are_read_again() {
    let mut seen = 0;
    for framing in Framing::ALL {
        for headers in stacks(framing) {
            if !headers.headers().iter().all(is_transparent) {
                continue;
            }
            for ends in [V4, V6] {
                let sent = packet(ends, 100);
                let Capture { packets, others, .. } = read(&written(framing, headers, &[sent])).unwrap();
                assert_eq!((packets.len(), others), (1, 0), "{framing:?} {headers:?}");
                let carried = headers.encapsulation();
                let found = packets[0].packet;
                assert_eq!(found.cos(), sent.cos().filter(|_| carried.tag), "{framing:?} {headers:?}");
                assert_eq!(found.exp(), sent.exp().filter(|_| carried.labels), "{framing:?} {headers:?}");
                let expected = Packet { marks: found.marks, input: found.input, hops: 0, ..sent };
                assert_eq!((found, found.marks.ecn()), (expected, sent.marks.ecn()));
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn tags_and_labels_are_in_their_positions() {
    let headers = HeaderStack::new(&[
        Header::Mpls(MplsLabels { labels: 2, control_word: false }),
        Header::Vlan(VlanTag { id: 20 }),
        Header::Vlan(VlanTag { id: 100 }),
    ])
    .unwrap();
    let [frame] = frames(&written(Framing::EthernetFrame, headers, &[packet(V4, 100)])).try_into().unwrap();
    let around: [u8; 30] = [
        2, 0, 0, 0, 0, 5, 2, 0, 0, 0, 0, 4, // to, from
        0x88, 0xa8, 0xa0, 100, // service tag: CoS 5, VLAN 100
        0x81, 0x00, 0xa0, 20, // customer tag: CoS 5, VLAN 20
        0x88, 0x47, // MPLS: label 17, EXP 3, TTL 63; then label 16, the bottom
        0x00, 0x01, 0x16, 63, 0x00, 0x01, 0x07, 63,
    ];
    assert_eq!(frame[..30], around);
    assert_eq!(frame[30..34], [0x45, 0xba, 0, 100]);
}

#[test]
fn esp_shows_its_index_and_counts() {
    let esp = Esp {
        cipher: EspCipher::AesGcm,
        integrity: EspIntegrity::None,
        mode: EspMode::Tunnel,
        nat_t: false,
        over: IpVersion::Ipv4,
    };
    let headers = HeaderStack::new(&[Header::Esp(esp)]).unwrap();
    let found = frames(&written(Framing::Raw, headers, &[packet(V4, 100), packet(V4, 100)]));
    for (number, frame) in (1..).zip(&found) {
        // ESP copies the codepoint and the ECN field of the packet (RFC 4301 §5.1.2.1). Its protocol number
        // is 50.
        assert_eq!((frame[0], frame[1], frame[9]), (0x45, 0xba, 50));
        assert_eq!(frame[20..28], [0, 0, 1, 4, 0, 0, 0, number]);
        assert!(frame[28..].iter().all(|byte| *byte == 0), "encrypted fields cannot be read");
    }
}
