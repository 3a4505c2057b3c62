//! Codepoints and congestion marks are written where they belong, and no checksum is wrong afterwards.

mod frames;

use perhop_live::frame::{LinkLayer, internet_checksum, read};
use perhop_qos::packet::{Dscp, Ecn, Packet, Protocol};
use proptest::prelude::*;

fn ecn(bits: u8) -> Ecn {
    [Ecn::NotCapable, Ecn::Capable1, Ecn::Capable0, Ecn::CongestionExperienced][usize::from(bits)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_ipv4_checksum_stays_what_it_would_be_if_computed_anew(
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
            prop_assert_eq!((marked.dscp, marked.ecn), (dscp, ecn));
        }
        // Nothing else has changed, and the marks that it had bring the frame back.
        found.layout.mark(&mut frame, found.packet.dscp, found.packet.ecn);
        prop_assert_eq!(frame, before);
    }

    #[test]
    fn an_ipv6_header_keeps_its_flow_label(dscp in 0u8..64, bits in 0u8..4, old in 0u8..64, old_bits in 0u8..4) {
        let plain = frames::packet("2001:db8::1", "2001:db8::2", Protocol::UDP, 100);
        let packet = Packet { dscp: Dscp::new(old).unwrap(), ecn: ecn(old_bits), ..plain };
        let mut frame = frames::ethernet(&packet);
        let marked = Packet { dscp: Dscp::new(dscp).unwrap(), ecn: ecn(bits), ..packet };
        read(LinkLayer::Ethernet, &frame).unwrap().layout.mark(&mut frame, marked.dscp, marked.ecn);
        prop_assert_eq!(frame, frames::ethernet(&marked));
    }
}
