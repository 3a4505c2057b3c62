//! The TCP header of a packet, for queues that read it ([`TcpHeader`]).

use perhop_qos::packet::{Protocol, TcpHeader};

use super::internet::{V4_HEADER, transport_of_v6};
use super::layout::Version;

/// The length of the header without options, bytes (RFC 9293 §3.1).
const HEADER: usize = 20;

/// The TCP header of the IP `packet`, which may be followed by padding. `None` if the packet has no TCP
/// header or is a fragment.
pub(crate) fn read_tcp(packet: &[u8], version: Version) -> Option<TcpHeader> {
    let (protocol, begins, ends) = match version {
        Version::V4 => {
            let fixed = packet.get(..V4_HEADER)?;
            if u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff != 0 {
                return None;
            }
            let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
            (Protocol(fixed[9]), usize::from(fixed[0] & 0xf) * 4, total)
        }
        Version::V6 => {
            let (protocol, begins) = transport_of_v6(packet)?;
            (protocol, begins, 40 + usize::from(u16::from_be_bytes([packet[4], packet[5]])))
        }
    };
    if protocol != Protocol::TCP {
        return None;
    }
    let segment = packet.get(begins..ends)?;
    let fixed = segment.get(..HEADER)?;
    let length = usize::from(fixed[12] >> 4) * 4;
    let options = segment.get(HEADER..length)?;
    let mut header = TcpHeader {
        acknowledgment: number(&fixed[8..]),
        flags: u16::from_be_bytes([fixed[12], fixed[13]]) & 0xfff,
        has_payload: segment.len() > length,
        ..TcpHeader::default()
    };
    header.has_others = read_options(options, &mut header).is_none();
    Some(header)
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Reads `options` into `header`; `None` if an option is unknown or has a wrong length.
fn read_options(mut options: &[u8], header: &mut TcpHeader) -> Option<()> {
    while let [kind, rest @ ..] = options {
        let length = match kind {
            // RFC 9293 §3.2: 0 ends the list, and 1 is padding.
            0 => return Some(()),
            1 => {
                options = rest;
                continue;
            }
            _ => usize::from(*rest.first()?),
        };
        let value = options.get(2..length)?;
        match kind {
            // RFC 7323 §3.2: timestamps.
            8 if value.len() == 8 => header.timestamps = Some((number(value), number(&value[4..]))),
            // RFC 2018 §3: SACK blocks.
            5 if value.len() % 8 == 0 => {
                value.chunks_exact(8).for_each(|block| header.push_block(number(block), number(&block[4..])));
            }
            // RFC 2385: the digest covers only this segment, so the option does not prevent a drop of the
            // segment.
            19 => {}
            _ => return None,
        }
        options = &options[length..];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet with a TCP header. `rest` is the header from the acknowledgment number on.
    fn packet(rest: &str) -> Vec<u8> {
        let digits: String = rest.split_whitespace().collect();
        let bytes =
            (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap());
        let mut packet = vec![0u8; 28];
        (packet[0], packet[9]) = (0x45, 6);
        packet.extend(bytes);
        packet[3] = packet.len() as u8;
        packet
    }

    #[test]
    fn header_fields_are_read() {
        // The flags are ACK and ECE, the timestamps 100 and 90. Two fillers and one block from 3000 to 4460
        // follow.
        let text = "000007d0 b050 ffff 0000 0000 0101 080a 00000064 0000005a 0101 050a 00000bb8 0000116c";
        let bytes = packet(text);
        let found = read_tcp(&bytes, Version::V4).unwrap();
        let mut expected = TcpHeader {
            acknowledgment: 2000,
            flags: TcpHeader::ACK | TcpHeader::ECE,
            timestamps: Some((100, 90)),
            ..TcpHeader::default()
        };
        expected.push_block(3000, 4460);
        assert_eq!(found, expected);
        let mut padded = bytes.clone();
        padded.extend([0; 6]);
        assert_eq!(read_tcp(&padded, Version::V4), Some(expected));
        assert_eq!(read_tcp(&bytes[..50], Version::V4), None, "cut off");
    }

    #[test]
    fn data_and_other_options_are_reported() {
        let read = |text: &str| read_tcp(&packet(text), Version::V4).unwrap();
        assert!(read("00000000 5010 ffff 0000 0000 61").has_payload);
        assert!(!read("00000000 5010 ffff 0000 0000").has_payload);
        // The first packet has the option for the maximum segment size, and the second an option with length
        // 0.
        assert!(read("00000000 6012 ffff 0000 0000 02040218").has_others);
        assert!(read("00000000 6010 ffff 0000 0000 08000000").has_others);
        assert!(!read("00000000 6010 ffff 0000 0000 01010101").has_others);
        let mut other = packet("00000000 5010 ffff 0000 0000");
        other[9] = 17;
        assert_eq!(read_tcp(&other, Version::V4), None);
        (other[9], other[6]) = (6, 0x20);
        assert_eq!(read_tcp(&other, Version::V4), None, "a fragment");
    }
}
