//! What stands around an IP packet: written as a link's framing says, read as a file's link type says.
//!
//! Numbers are those of <https://www.tcpdump.org/linktypes.html>.

use etherparse::EtherType;
use perhop_qos::framing::Framing;
use perhop_qos::packet::Address;

const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const PPP: u32 = 9;
const PPP_HDLC: u32 = 50;
const ATM_RFC1483: u32 = 100;
const RAW: u32 = 101;
const C_HDLC: u32 = 104;
const LOOP: u32 = 108;
const LINUX_SLL: u32 = 113;
const IPV4: u32 = 228;
const IPV6: u32 = 229;
const LINUX_SLL2: u32 = 276;

/// The link types that are read, for people.
pub const KNOWN: &str =
    "Ethernet, PPP, Cisco HDLC, raw IP, Linux cooked (SLL, SLL2), RFC 1483 and BSD loopback";

/// Length of an Ethernet frame without its FCS that needs no padding (IEEE 802.3 §3.2.8), bytes.
const LEAST_ETHERNET: usize = 60;
/// IEEE 802 LLC and SNAP header of a routed PDU, up to the `EtherType` (RFC 2684 §5.1).
const LLC_SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0x00, 0x00, 0x00];

/// The link type of a capture on a link of this `framing`.
pub fn link_type(framing: Framing) -> u32 {
    match framing {
        // With VC multiplexing nothing but the trailer stands around the packet (RFC 2684 §6.1).
        Framing::Raw | Framing::Aal5Mux => RAW,
        Framing::EthernetHeader | Framing::EthernetFrame | Framing::EthernetWire => ETHERNET,
        Framing::Ppp => PPP_HDLC,
        Framing::Hdlc => C_HDLC,
        Framing::Aal5Snap => ATM_RFC1483,
    }
}

/// Appends to `frame` what stands before an IP packet to `destination` that station `from` sends to station
/// `to`.
pub(crate) fn write_header(
    framing: Framing,
    [from, to]: [u32; 2],
    destination: Address,
    frame: &mut Vec<u8>,
) {
    let ether_type = if destination.to_ip().is_ipv4() { EtherType::IPV4 } else { EtherType::IPV6 };
    let ether_type = ether_type.0.to_be_bytes();
    match framing {
        Framing::Raw | Framing::Aal5Mux => {}
        Framing::EthernetHeader | Framing::EthernetFrame | Framing::EthernetWire => {
            frame.extend(station_address(to));
            frame.extend(station_address(from));
            frame.extend(ether_type);
        }
        // RFC 1662 §3.1: all stations, unnumbered information; RFC 1332 §2, RFC 5072 §2: the protocol.
        Framing::Ppp => {
            frame.extend([0xff, 0x03, 0x00, if ether_type == [0x08, 0x00] { 0x21 } else { 0x57 }]);
        }
        // Unicast, then a control field of 0.
        Framing::Hdlc => frame.extend([0x0f, 0x00, ether_type[0], ether_type[1]]),
        Framing::Aal5Snap => {
            frame.extend(LLC_SNAP);
            frame.extend(ether_type);
        }
    }
}

/// The length that a frame of `length` bytes has once it is padded.
pub(crate) fn padded(framing: Framing, length: usize) -> usize {
    match framing {
        Framing::EthernetFrame | Framing::EthernetWire => length.max(LEAST_ETHERNET),
        _ => length,
    }
}

/// A locally administered address (IEEE 802 §8.4): one for each end of each link.
fn station_address(station: u32) -> [u8; 6] {
    let [a, b, c, d] = station.to_be_bytes();
    [0x02, 0x00, a, b, c, d]
}

/// What a `frame` of `link_type` carries; `None` where that is no network protocol. The error is that the
/// link type is not known.
pub(crate) fn payload(link_type: u32, frame: &[u8]) -> Result<Option<(EtherType, &[u8])>, ()> {
    Ok(match link_type {
        ETHERNET => ether_type(frame, 12).and_then(session),
        LINUX_SLL => ether_type(frame, 14),
        LINUX_SLL2 => frame.get(20..).map(|rest| (EtherType(u16::from_be_bytes([frame[0], frame[1]])), rest)),
        C_HDLC => ether_type(frame, 2),
        ATM_RFC1483 if frame.starts_with(&LLC_SNAP) => ether_type(frame, 6),
        ATM_RFC1483 => None,
        PPP | PPP_HDLC => point_to_point(frame.strip_prefix(&[0xff, 0x03]).unwrap_or(frame)),
        RAW | IPV4 | IPV6 => internet(frame),
        // The address family of the machine that wrote the file, in its byte order.
        NULL | LOOP => frame.get(4..).and_then(internet),
        _ => return Err(()),
    })
}

/// The `EtherType` at `offset`, and what follows it.
fn ether_type(frame: &[u8], offset: usize) -> Option<(EtherType, &[u8])> {
    let (number, rest) = frame.get(offset..)?.split_first_chunk()?;
    Some((EtherType(u16::from_be_bytes(*number)), rest))
}
/// Goes into a `PPPoE` session (RFC 2516 §4: six bytes of header).
fn session((ether_type, rest): (EtherType, &[u8])) -> Option<(EtherType, &[u8])> {
    match ether_type {
        EtherType(0x8864) => rest.get(6..).and_then(point_to_point),
        _ => Some((ether_type, rest)),
    }
}
/// After the PPP protocol number, which may be compressed to one byte (RFC 1661 §6.5).
fn point_to_point(frame: &[u8]) -> Option<(EtherType, &[u8])> {
    match frame {
        [0x00, 0x21, rest @ ..] | [0x21, rest @ ..] => Some((EtherType::IPV4, rest)),
        [0x00, 0x57, rest @ ..] | [0x57, rest @ ..] => Some((EtherType::IPV6, rest)),
        _ => None,
    }
}
/// By the version in the first four bits.
fn internet(packet: &[u8]) -> Option<(EtherType, &[u8])> {
    match packet.first()? >> 4 {
        4 => Some((EtherType::IPV4, packet)),
        6 => Some((EtherType::IPV6, packet)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_around_a_packet_is_read_again() {
        for framing in Framing::ALL {
            for (destination, first, expected) in
                [("10.0.0.2", 0x45, EtherType::IPV4), ("2001:db8::2", 0x60, EtherType::IPV6)]
            {
                let destination = destination.parse::<std::net::IpAddr>().unwrap().into();
                let mut frame = Vec::new();
                write_header(framing, [0, 1], destination, &mut frame);
                frame.extend([first, 7]);
                let read = payload(link_type(framing), &frame).unwrap();
                assert_eq!(read, Some((expected, &[first, 7][..])), "{framing:?}");
            }
        }
    }

    #[test]
    fn an_ethernet_header_has_the_receiver_first() {
        let mut frame = Vec::new();
        write_header(Framing::EthernetFrame, [6, 7], Address::default(), &mut frame);
        assert_eq!(frame, [2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 6, 8, 0]);
        assert_eq!((padded(Framing::EthernetFrame, 42), padded(Framing::EthernetHeader, 42)), (60, 42));
    }
}
