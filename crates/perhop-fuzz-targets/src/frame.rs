//! Reads arbitrary bytes as a frame on a wire. Its fields must be inside the frame, and a new mark must
//! change only the mark.

use perhop_live::frame::{LinkLayer, read};
use perhop_qos::packet::{Dscp, Ecn};

use crate::outcome::Outcome;

/// Reads `bytes` as a frame, marks the frame and reads it again. Only the mark may change.
pub fn frame(bytes: &[u8]) -> Outcome {
    for link_layer in [LinkLayer::Ethernet, LinkLayer::Bare] {
        let Ok(frame) = read(link_layer, bytes) else { continue };
        assert!(frame.packet.length as usize <= bytes.len());
        let mut marked = bytes.to_vec();
        let dscp = Dscp::new(46).unwrap_or_default();
        frame.layout.mark(&mut marked, dscp, Ecn::CongestionExperienced);
        let again = read(link_layer, &marked).expect("a marked frame is still valid");
        assert_eq!((again.packet.dscp, again.packet.marks.ecn()), (dscp, Ecn::CongestionExperienced));
        assert_eq!(again.packet.flow_key(), frame.packet.flow_key());
        assert_eq!(again.packet.length, frame.packet.length);
    }
    Outcome::Kept
}
