//! The link-layer header of an IP packet. The framing of a link determines the header that is written. The
//! link type of a file determines the header that is read.
//!
//! The numbers of link types are defined at <https://www.tcpdump.org/linktypes.html>.

use etherparse::EtherType;
use perhop_qos::framing::Framing;
use perhop_qos::packet::LinkMark;

use crate::stack::{Unit, station_address};

const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const PPP: u32 = 9;
const PPP_HDLC: u32 = 50;
const ATM_RFC1483: u32 = 100;
const RAW: u32 = 101;
const C_HDLC: u32 = 104;
const FRAME_RELAY: u32 = 107;
const LOOP: u32 = 108;
const LINUX_SLL: u32 = 113;
const MPLS: u32 = 219;
const IPV4: u32 = 228;
const IPV6: u32 = 229;
const LINUX_SLL2: u32 = 276;

/// The supported link types, as text.
pub const KNOWN: &str = "Ethernet, PPP, Cisco HDLC, frame relay, MPLS, raw IP, Linux cooked (SLL, SLL2), RFC 1483 and BSD loopback";

const PPPOE_SESSION: EtherType = EtherType(0x8864);
const MPLS_UNICAST: EtherType = EtherType(0x8847);

/// The length of the shortest Ethernet frame without FCS that needs no padding (IEEE 802.3 §3.2.8), bytes.
const LEAST_ETHERNET: usize = 60;
/// The IEEE 802 LLC and SNAP header of a routed PDU, up to the `EtherType` (RFC 2684 §5.1).
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00];
/// The LLC and SNAP header of a bridged Ethernet frame without FCS, up to the padding (RFC 2684 §5.2).
const LLC_BRIDGED: [u8; 8] = [0xaa, 0xaa, 0x03, 0x00, 0x80, 0xc2, 0x00, 0x07];

/// Returns the link type of a capture on a link of this `framing`. The frames of the link carry a `unit`.
pub(crate) fn link_type(framing: Framing, unit: Unit) -> u32 {
    match framing {
        // With VC multiplexing, only a trailer is added to the packet (RFC 2684 §6.1).
        Framing::Raw | Framing::Aal5Mux => match unit {
            // Wireshark has no link type for labels without a header, so a PPP protocol number is added
            // before them.
            Unit::PointToPoint | Unit::Labeled => PPP,
            Unit::Frame | Unit::BridgedFrame => ETHERNET,
            Unit::FrameRelay => FRAME_RELAY,
            _ => RAW,
        },
        Framing::EthernetHeader | Framing::EthernetFrame | Framing::EthernetWire => ETHERNET,
        Framing::Ppp => PPP_HDLC,
        Framing::Hdlc => C_HDLC,
        Framing::Aal5Snap => ATM_RFC1483,
    }
}

/// Returns the number of bytes of a `unit` that a capture omits: the padding of a bridged frame without LLC.
pub(crate) fn left_out(framing: Framing, unit: Unit) -> usize {
    if framing == Framing::Aal5Mux && unit == Unit::BridgedFrame { 2 } else { 0 }
}

/// Appends the header of a `unit` from station `from` to station `to` to `frame`.
pub(crate) fn write_header(framing: Framing, [from, to]: [u32; 2], unit: Unit, frame: &mut Vec<u8>) {
    match framing {
        Framing::Raw | Framing::Aal5Mux if unit == Unit::Labeled => frame.extend(unit.ppp_number()),
        Framing::Raw | Framing::Aal5Mux => {}
        Framing::EthernetHeader | Framing::EthernetFrame | Framing::EthernetWire => {
            frame.extend(station_address(to));
            frame.extend(station_address(from));
            frame.extend(unit.ether_type());
        }
        // RFC 1662 §3.1: all-stations address and unnumbered information. RFC 1661 §2: protocol number.
        Framing::Ppp => {
            frame.extend([0xff, 0x03]);
            frame.extend(unit.ppp_number());
        }
        // The header has the unicast address, then a control field of 0.
        Framing::Hdlc => {
            frame.extend([0x0f, 0x00]);
            frame.extend(unit.ether_type());
        }
        Framing::Aal5Snap if unit == Unit::BridgedFrame => frame.extend(LLC_BRIDGED),
        Framing::Aal5Snap => {
            frame.extend(LLC_SNAP);
            frame.extend(unit.ether_type());
        }
    }
}

/// Returns the length of a frame after padding. `length` is the length before padding, bytes.
pub(crate) fn padded(framing: Framing, length: usize) -> usize {
    match framing {
        Framing::EthernetFrame | Framing::EthernetWire => length.max(LEAST_ETHERNET),
        _ => length,
    }
}

/// The payload of a frame, and the marks in its headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Carried<'a> {
    pub(crate) ether_type: EtherType,
    pub(crate) bytes: &'a [u8],
    /// The class of service of the outermost VLAN tag.
    pub(crate) cos: Option<LinkMark>,
    /// The traffic class of the topmost label.
    pub(crate) exp: Option<LinkMark>,
}

impl<'a> Carried<'a> {
    fn new(ether_type: EtherType, bytes: &'a [u8]) -> Carried<'a> {
        Carried { ether_type, bytes, ..Carried::default() }
    }
    /// Removes VLAN tags, the PPPoE header and labels.
    fn opened(mut self) -> Option<Carried<'a>> {
        loop {
            let bytes = self.bytes;
            (self.ether_type, self.bytes) = match self.ether_type {
                EtherType::VLAN_TAGGED_FRAME
                | EtherType::PROVIDER_BRIDGING
                | EtherType::VLAN_DOUBLE_TAGGED_FRAME => {
                    self.cos = self.cos.or(LinkMark::new(bytes.first()? >> 5));
                    ether_type(bytes, 2)?
                }
                // RFC 2516 §4: the header has six bytes.
                PPPOE_SESSION => point_to_point(bytes.get(6..)?)?,
                MPLS_UNICAST => {
                    // RFC 3032 §2.1: a label stack entry has 20 bits of label, 3 bits of traffic class, 1 bit
                    // for the bottom of the stack, and 8 bits of time to live.
                    let bottom = bytes.chunks_exact(4).position(|entry| entry[2] & 1 == 1)?;
                    self.exp = self.exp.or(LinkMark::new(bytes[2] >> 1 & 7));
                    internet(&bytes[4 * (bottom + 1)..])?
                }
                _ => return Some(self),
            };
        }
    }
}

/// Returns the payload of a `frame` of `link_type`. Returns `None` if the payload is not a network protocol,
/// and an error if the link type is unknown.
pub(crate) fn payload(link_type: u32, frame: &[u8]) -> Result<Option<Carried<'_>>, ()> {
    let found = match link_type {
        ETHERNET => ether_type(frame, 12),
        LINUX_SLL => ether_type(frame, 14),
        LINUX_SLL2 => frame.get(20..).map(|rest| (EtherType(u16::from_be_bytes([frame[0], frame[1]])), rest)),
        C_HDLC => ether_type(frame, 2),
        ATM_RFC1483 if frame.starts_with(&LLC_SNAP) => ether_type(frame, 6),
        ATM_RFC1483 if frame.starts_with(&LLC_BRIDGED) => ether_type(frame, LLC_BRIDGED.len() + 2 + 12),
        ATM_RFC1483 => None,
        PPP | PPP_HDLC => point_to_point(frame.strip_prefix(&[0xff, 0x03]).unwrap_or(frame)),
        MPLS => Some((MPLS_UNICAST, frame)),
        FRAME_RELAY => frame_relay(frame),
        RAW | IPV4 | IPV6 => internet(frame),
        // The frame begins with the address family, in the byte order of the machine that wrote the file.
        NULL | LOOP => frame.get(4..).and_then(internet),
        _ => return Err(()),
    };
    Ok(found.and_then(|(ether_type, bytes)| Carried::new(ether_type, bytes).opened()))
}

/// Returns the `EtherType` at `offset` and the bytes after it.
fn ether_type(frame: &[u8], offset: usize) -> Option<(EtherType, &[u8])> {
    let (number, rest) = frame.get(offset..)?.split_first_chunk()?;
    Some((EtherType(u16::from_be_bytes(*number)), rest))
}
/// Reads the PPP protocol number, which may be compressed to one byte (RFC 1661 §6.5). Also reads a multilink
/// header with long sequence numbers (RFC 1990 §3) if the packet is not fragmented.
fn point_to_point(frame: &[u8]) -> Option<(EtherType, &[u8])> {
    match frame {
        [0x00, 0x21, rest @ ..] | [0x21, rest @ ..] => Some((EtherType::IPV4, rest)),
        [0x00, 0x57, rest @ ..] | [0x57, rest @ ..] => Some((EtherType::IPV6, rest)),
        [0x02, 0x81, rest @ ..] => Some((MPLS_UNICAST, rest)),
        [0x00, 0x3d, 0xc0, _, _, _, rest @ ..] => point_to_point(rest),
        _ => None,
    }
}
/// Reads the payload after the address of two bytes and the protocol identifier (RFC 2427 §3).
fn frame_relay(frame: &[u8]) -> Option<(EtherType, &[u8])> {
    match frame {
        [_, _, 0x03, 0xcc, rest @ ..] => Some((EtherType::IPV4, rest)),
        [_, _, 0x03, 0x8e, rest @ ..] => Some((EtherType::IPV6, rest)),
        _ => None,
    }
}
/// Reads the IP version in the first four bits of `packet`.
fn internet(packet: &[u8]) -> Option<(EtherType, &[u8])> {
    match packet.first()? >> 4 {
        4 => Some((EtherType::IPV4, packet)),
        6 => Some((EtherType::IPV6, packet)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use perhop_qos::framing::IpVersion;

    use super::*;

    #[test]
    fn link_layer_headers_are_read_back() {
        for framing in Framing::ALL {
            for (version, first, ether_type) in
                [(IpVersion::Ipv4, 0x45, EtherType::IPV4), (IpVersion::Ipv6, 0x60, EtherType::IPV6)]
            {
                let unit = Unit::Packet(version);
                let mut frame = Vec::new();
                write_header(framing, [0, 1], unit, &mut frame);
                frame.extend([first, 7]);
                let read = payload(link_type(framing, unit), &frame).unwrap();
                assert_eq!(read, Some(Carried::new(ether_type, &[first, 7])), "{framing:?}");
            }
        }
    }

    #[test]
    fn an_ethernet_header_has_the_receiver_first() {
        let mut frame = Vec::new();
        write_header(Framing::EthernetFrame, [6, 7], Unit::Packet(IpVersion::Ipv4), &mut frame);
        assert_eq!(frame, [2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 6, 8, 0]);
        assert_eq!((padded(Framing::EthernetFrame, 42), padded(Framing::EthernetHeader, 42)), (60, 42));
    }
}
