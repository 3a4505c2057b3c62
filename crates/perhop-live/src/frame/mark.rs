//! Marking of frames with a codepoint and a congestion mark.

use perhop_qos::packet::{Dscp, Ecn};

use super::{Layout, Version, updated};

/// Offset of the checksum in the IPv4 header.
const CHECKSUM: std::ops::Range<usize> = 10..12;

impl Layout {
    /// Sets the codepoint `dscp` and the ECN field `ecn` of the packet in `frame`. Writes only bytes that
    /// change.
    #[inline]
    pub fn mark(self, frame: &mut [u8], dscp: Dscp, ecn: Ecn) {
        let header = &mut frame[self.header()..];
        let wanted = dscp.value() << 2 | ecn as u8;
        match self.version() {
            Version::V4 if header[1] != wanted => mark_v4(header, wanted),
            Version::V4 => {}
            Version::V6 => {
                // RFC 8200 §3: version, traffic class, flow label; no checksum covers them.
                header[0] = header[0] & 0xf0 | wanted >> 4;
                header[1] = header[1] & 0x0f | wanted << 4;
            }
        }
    }
}

/// Writes `wanted` into the second byte of an IPv4 header, and updates the checksum.
fn mark_v4(header: &mut [u8], wanted: u8) {
    let before = u16::from_be_bytes([header[0], header[1]]);
    let after = u16::from_be_bytes([header[0], wanted]);
    let checksum = u16::from_be_bytes([header[CHECKSUM.start], header[CHECKSUM.start + 1]]);
    header[1] = wanted;
    header[CHECKSUM].copy_from_slice(&updated(checksum, before, after).to_be_bytes());
}
