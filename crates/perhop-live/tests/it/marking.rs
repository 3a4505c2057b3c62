//! The forwarder writes codepoints, congestion marks, CoS and EXP at the right place, and checksums remain
//! valid.

use crate::frames;
use perhop_live::frame::{Envelope, LinkLayer, Refusal, internet_checksum, read};
use perhop_qos::framing::{Header, HeaderStack, MplsLabels, VlanTag};
use perhop_qos::packet::{Dscp, Ecn, LinkMark, Marks, Packet, Protocol};
use proptest::prelude::*;

fn ecn(bits: u8) -> Ecn {
    [Ecn::NotCapable, Ecn::Capable1, Ecn::Capable0, Ecn::CongestionExperienced][usize::from(bits)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_updated_ipv4_checksum_equals_a_recomputed_one(
        header in prop::collection::vec(any::<u8>(), 60), words in 5usize..=15, tags in 0usize..3, marks in prop::collection::vec((0u8..64, 0u8..4), 1..5),
    ) {
        let mut frame: Vec<u8> = [0x81, 0x00, 0x00, 0x07].repeat(tags);
        frame.splice(0..0, [0; 12]);
        frame.extend([0x08, 0x00]);
        let start = frame.len();
        frame.extend(&header[..4 * words]);
        frame[start] = 0x40 | words as u8;
        let length = (frame.len() - start) as u16;
        frame[start + 2..start + 4].copy_from_slice(&length.to_be_bytes());
        frame[start + 9] = 1;
        let whole = |frame: &[u8]| {
            let mut header = frame[start..].to_vec();
            header[10..12].fill(0);
            internet_checksum(&header).to_be_bytes()
        };
        let checksum = whole(&frame);
        frame[start + 10..start + 12].copy_from_slice(&checksum);
        let before = frame.clone();
        let found = read(LinkLayer::Ethernet, &frame).unwrap();
        for (dscp, bits) in marks {
            let (dscp, ecn) = (Dscp::new(dscp).unwrap(), ecn(bits));
            found.layout.mark(&mut frame, dscp, ecn);
            prop_assert_eq!(&frame[start + 10..start + 12], &whole(&frame)[..]);
            let marked = read(LinkLayer::Ethernet, &frame).unwrap().packet;
            prop_assert_eq!((marked.dscp, marked.marks.ecn()), (dscp, ecn));
        }
        // The rest of the frame is unchanged: with the original marks, the frame is again the original frame.
        found.layout.mark(&mut frame, found.packet.dscp, found.packet.marks.ecn());
        prop_assert_eq!(frame, before);
    }

    #[test]
    fn an_ipv6_header_keeps_its_flow_label(dscp in 0u8..64, bits in 0u8..4, old in 0u8..64, old_bits in 0u8..4) {
        let plain = frames::packet("2001:db8::1", "2001:db8::2", Protocol::UDP, 100);
        let packet = Packet { dscp: Dscp::new(old).unwrap(), marks: ecn(old_bits).into(), ..plain };
        let mut frame = frames::ethernet(&packet);
        let marked = Packet { dscp: Dscp::new(dscp).unwrap(), marks: ecn(bits).into(), ..packet };
        read(LinkLayer::Ethernet, &frame).unwrap().layout.mark(&mut frame, marked.dscp, marked.marks.ecn());
        prop_assert_eq!(frame, frames::ethernet(&marked));
    }
}

fn marked(cos: u8, exp: u8) -> Packet {
    let mut packet = frames::packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 100);
    packet.set_cos(LinkMark::new(cos).unwrap());
    packet.set_exp(LinkMark::new(exp).unwrap());
    packet
}

/// A frame of 100 IP bytes after an Ethernet header that ends with `around`.
fn encapsulated(around: &[u8], source: &str, destination: &str) -> Vec<u8> {
    let plain = frames::ethernet(&frames::packet(source, destination, Protocol::UDP, 100));
    [&plain[..12], around, &plain[14..]].concat()
}

/// A test case: the type, tags and labels of a frame; the CoS and EXP that are read from them; and the type,
/// tags and labels after CoS 6 and EXP 2 are written.
type Case = (&'static [u8], (Option<u8>, Option<u8>), &'static [u8]);

const CASES: [Case; 6] = [
    (&[8, 0], (None, None), &[8, 0]),
    // The drop eligible indicator (0x10) and the VLAN number are unchanged.
    (&[0x81, 0, 0xb0, 7, 8, 0], (Some(5), None), &[0x81, 0, 0xd0, 7, 8, 0]),
    (
        &[0x88, 0xa8, 0x60, 9, 0x81, 0, 0xa0, 7, 8, 0],
        (Some(3), None),
        &[0x88, 0xa8, 0xc0, 9, 0x81, 0, 0xa0, 7, 8, 0],
    ),
    (&[0x88, 0x47, 0, 1, 0x07, 63], (None, Some(3)), &[0x88, 0x47, 0, 1, 0x05, 63]),
    (
        &[0x88, 0x47, 0, 1, 0x1a, 63, 0, 1, 0x07, 62],
        (None, Some(5)),
        &[0x88, 0x47, 0, 1, 0x14, 63, 0, 1, 0x07, 62],
    ),
    (
        &[0x81, 0, 0x20, 7, 0x88, 0x47, 0, 1, 0x07, 63],
        (Some(1), Some(3)),
        &[0x81, 0, 0xc0, 7, 0x88, 0x47, 0, 1, 0x05, 63],
    ),
];

#[test]
fn the_outer_tag_and_the_topmost_label_are_read_and_marked() {
    for (around, (cos, exp), expected) in CASES {
        let mut frame = encapsulated(around, "10.0.0.1", "10.0.0.2");
        let found = read(LinkLayer::Ethernet, &frame).unwrap();
        let value = LinkMark::value;
        assert_eq!((found.packet.cos().map(value), found.packet.exp().map(value)), (cos, exp));
        assert_eq!((found.layout.header(), found.packet.length), (12 + around.len(), 100));
        assert_eq!(found.layout.is_plain(), around.len() == 2);
        // Writing the marks that were read changes nothing.
        let before = frame.clone();
        found.layout.mark_link(&mut frame, found.packet.marks);
        assert_eq!(frame, before);
        found.layout.mark_link(&mut frame, marked(6, 2).marks);
        assert_eq!(frame, encapsulated(expected, "10.0.0.1", "10.0.0.2"));
    }
}

#[test]
fn a_link_puts_its_own_tags_and_labels_around_packets() {
    let headers = |headers: &[Header]| HeaderStack::new(headers).unwrap();
    let vlan = |id| Header::Vlan(VlanTag { id });
    let mpls = |labels| Header::Mpls(MplsLabels { labels, control_word: false });
    for (link, v4, v6) in [
        (headers(&[]), &[8, 0][..], &[0x86, 0xdd][..]),
        (headers(&[vlan(300)]), &[0x81, 0, 0xc1, 0x2c, 8, 0], &[0x81, 0, 0xc1, 0x2c, 0x86, 0xdd]),
        (
            headers(&[vlan(20), vlan(100)]),
            &[0x88, 0xa8, 0xc0, 100, 0x81, 0, 0xc0, 20, 8, 0],
            &[0x88, 0xa8, 0xc0, 100, 0x81, 0, 0xc0, 20, 0x86, 0xdd],
        ),
        (
            headers(&[mpls(2), vlan(1)]),
            &[0x81, 0, 0xc0, 1, 0x88, 0x47, 0, 1, 0x14, 64, 0, 1, 0x05, 64],
            &[0x81, 0, 0xc0, 1, 0x88, 0x47, 0, 1, 0x14, 64, 0, 1, 0x05, 64],
        ),
        // Frames do not contain the headers that only add transmission time.
        (headers(&[Header::Ethernet, mpls(1)]), &[0x88, 0x47, 0, 1, 0x05, 64], &[0x88, 0x47, 0, 1, 0x05, 64]),
    ] {
        for (source, destination, expected) in
            [("10.0.0.1", "10.0.0.2", v4), ("2001:db8::1", "2001:db8::2", v6)]
        {
            let mut envelope = Envelope::new(&link, 2048);
            // The written headers do not depend on the received frame.
            for around in CASES.map(|(around, ..)| around) {
                let is_v6 = source.contains(':');
                let with_type = match around {
                    [before @ .., 8, 0] if is_v6 => [before, &[0x86, 0xdd]].concat(),
                    _ => around.to_vec(),
                };
                let frame = encapsulated(&with_type, source, destination);
                let layout = read(LinkLayer::Ethernet, &frame).unwrap().layout;
                let made = envelope.around(&frame, layout, marked(6, 2).marks).to_vec();
                assert_eq!(made, encapsulated(expected, source, destination), "{link:?} {around:x?}");
                let again = read(LinkLayer::Ethernet, &made).unwrap().packet;
                let carried = link.encapsulation();
                assert_eq!(again.cos().map(LinkMark::value), carried.tag.then_some(6));
                assert_eq!(again.exp().map(LinkMark::value), carried.labels.then_some(2));
            }
        }
    }
}

#[test]
fn a_short_frame_stays_a_frame_without_its_tag() {
    let plain = frames::ethernet(&frames::packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 40));
    let frame = [&plain[..12], &[0x81, 0, 0, 7], &plain[12..56]].concat();
    let layout = read(LinkLayer::Ethernet, &frame).unwrap().layout;
    let made = Envelope::new(&HeaderStack::EMPTY, 2048).around(&frame, layout, Marks::default()).to_vec();
    assert_eq!((made.len(), &made[..54]), (60, &plain[..54]));
}

#[test]
fn labeled_frames_may_carry_other_protocols() {
    let no_packet =
        |around: &[u8]| read(LinkLayer::Ethernet, &encapsulated(around, "10.0.0.1", "10.0.0.2")).unwrap_err();
    // After the labels, the first frame has a control word. The second has an Ethernet frame whose address
    // begins like an IPv4 header. The third has labels without an end.
    assert_eq!(no_packet(&[0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0]), Refusal::NotInternet);
    assert_eq!(no_packet(&[0x88, 0x47, 0, 1, 1, 64, 0x45, 0, 0, 0, 0, 1]), Refusal::NotInternet);
    assert_eq!(no_packet(&[0x88, 0x47].repeat(40)), Refusal::TooManyLabels);
    let short = [&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64]].concat();
    assert_eq!(read(LinkLayer::Ethernet, &short), Err(Refusal::ShortFrame));
    assert_eq!(read(LinkLayer::Ethernet, &[&short[..16], &[1, 64]].concat()), Err(Refusal::ShortFrame));
}
