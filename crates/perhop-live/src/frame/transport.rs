//! The checksum of TCP and UDP. If the network card is expected to compute the checksum, a frame between
//! virtual interfaces does not contain it.

use perhop_qos::packet::Protocol;

use super::checksum::{fold, internet_checksum};
use super::internet::{V4_HEADER, V6_HEADER, transport_of_v6};
use super::layout::Version;
use super::packet::{LinkLayer, read_packet};

/// Completes the transport checksum of the packet in `frame`. Returns whether the packet had a checksum to
/// complete.
///
/// The sender has written the sum of the pseudo header into the checksum field (RFC 9293 §3.1, RFC 768, RFC
/// 8200 §8.1), and expects the network card to add the sum of the segment. A field with exactly the sum of
/// the pseudo header is therefore a checksum to complete. A field with any other value is not, for example
/// the checksum of an inner packet.
pub(crate) fn finish_checksum(link_layer: LinkLayer, frame: &mut [u8]) -> bool {
    let Ok(found) = read_packet(link_layer, frame) else { return false };
    let (header, length) = (found.layout.header(), found.packet.length as usize);
    let Some(packet) = frame.get_mut(header..header + length) else { return false };
    let (protocol, begins, addresses) = match found.layout.version() {
        Version::V4 => {
            if u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0 {
                return false; // a fragment, whose checksum covers the whole datagram
            }
            (Protocol(packet[9]), usize::from(packet[0] & 0xf) * 4, 12..V4_HEADER)
        }
        Version::V6 => match transport_of_v6(packet) {
            Some((protocol, begins)) => (protocol, begins, 8..V6_HEADER),
            None => return false,
        },
    };
    let at = match protocol {
        Protocol::TCP => 16,
        Protocol::UDP => 6,
        _ => return false,
    };
    let segment = length - begins;
    if segment < at + 2 {
        return false;
    }
    // The pseudo header consists of addresses, protocol and length.
    let sum_of_addresses = u64::from(!internet_checksum(&packet[addresses]));
    let pseudo = fold(sum_of_addresses + u64::from(protocol.0) + segment as u64);
    let field = begins + at..begins + at + 2;
    if packet[field.clone()] != pseudo.to_be_bytes() {
        return false;
    }
    let checksum = match internet_checksum(&packet[begins..]) {
        // RFC 768: a checksum of 0 is sent as all ones, because 0 means that there is no checksum.
        0 if protocol == Protocol::UDP => 0xffff,
        checksum => checksum,
    };
    packet[field].copy_from_slice(&checksum.to_be_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP from 10.0.0.1 to 10.0.0.2 and UDP between two IPv6 addresses, without their checksums.
    fn finished(version: Version) -> Vec<u8> {
        let text = match version {
            Version::V4 => {
                "0800 45000028 00010000 40060000 0a000001 0a000002 \
                 c0000009 00000001 00000000 50022000 0000 0000"
            }
            Version::V6 => {
                "86dd 60000000 000c1140 20010db8000000000000000000000001 20010db8000000000000000000000002 \
                 c0000009 000c 0000 61626364"
            }
        };
        let digits: String = text.split_whitespace().collect();
        let bytes =
            (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
        let mut frame: Vec<u8> = [0; 12].into_iter().chain(bytes).collect();
        if version == Version::V4 {
            let checksum = internet_checksum(&frame[14..34]);
            frame[24..26].copy_from_slice(&checksum.to_be_bytes());
        }
        frame
    }

    /// The offset of the segment in the frame, the offset of the checksum in the segment, and the pseudo
    /// header.
    fn parts(version: Version) -> (usize, usize, Vec<u8>) {
        match version {
            Version::V4 => (14 + 20, 16, vec![10, 0, 0, 1, 10, 0, 0, 2, 0, 6, 0, 20]),
            Version::V6 => {
                let address = |last| [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
                let mut pseudo = [address(1), address(2)].concat();
                pseudo.extend([0, 0, 0, 12, 0, 0, 0, 17]);
                (14 + 40, 6, pseudo)
            }
        }
    }

    #[test]
    fn a_checksum_is_completed_as_defined() {
        for version in [Version::V4, Version::V6] {
            let (begins, at, pseudo) = parts(version);
            let mut frame = finished(version);
            let whole = internet_checksum(&[&pseudo[..], &frame[begins..]].concat());
            let field = begins + at..begins + at + 2;
            frame[field.clone()].copy_from_slice(&(!internet_checksum(&pseudo)).to_be_bytes());
            // The checksum does not cover padding.
            frame.extend([7; 6]);
            assert!(finish_checksum(LinkLayer::Ethernet, &mut frame));
            assert_eq!(frame[field], whole.to_be_bytes(), "{version:?}");
        }
    }

    #[test]
    fn other_checksums_are_unchanged() {
        for version in [Version::V4, Version::V6] {
            let mut frame = finished(version);
            let (begins, at, _) = parts(version);
            frame[begins + at..begins + at + 2].copy_from_slice(&[0x12, 0x34]);
            let before = frame.clone();
            assert!(!finish_checksum(LinkLayer::Ethernet, &mut frame));
            assert_eq!(frame, before);
            assert!(!finish_checksum(LinkLayer::Ethernet, &mut frame[..30]), "cut off");
        }
        assert!(!finish_checksum(LinkLayer::Ethernet, &mut [0; 60]));
    }
}
