//! Frames: parsing and marking.
//!
//! A frame is parsed once, on arrival: [`read`] returns its [`Packet`], or why it has none ([`Refusal`]). It
//! is written once, on departure: [`Layout::mark`] sets codepoint and congestion mark, and updates the header
//! checksum.
//!
//! The time to live is not decremented: routes of a scenario have no loops, and there is no router to report
//! that it was exceeded.

mod checksum;
mod internet;
mod mark;
mod refusal;

use perhop_qos::packet::Packet;
use serde::{Deserialize, Serialize};

pub use checksum::{internet_checksum, updated};
pub use refusal::Refusal;

/// Link-layer header of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayer {
    /// Ethernet II, with or without VLAN tags.
    #[default]
    Ethernet,
    /// None: frames are IP packets (TUN).
    Bare,
}

/// A parsed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The packet. Its length is that in the IP header, since Ethernet pads short frames.
    pub packet: Packet,
    /// Position of the IP header.
    pub layout: Layout,
}

/// Position and version of the IP header in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Bytes before the IP header.
    pub header: u16,
    /// Version of the IP header.
    pub version: Version,
}

/// Version of the internet protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// RFC 791.
    #[default]
    V4,
    /// RFC 8200.
    V6,
}

/// Destination, source and type.
const ETHERNET_HEADER: usize = 14;
/// Tag and the type after it.
const VLAN_TAG: usize = 4;
/// Limit on VLAN tags: twice those of a customer's tag within a provider's (IEEE 802.1ad).
const MOST_TAGS: usize = 4;

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86dd;
/// Tags of IEEE 802.1Q and IEEE 802.1ad, and a proprietary one that preceded 802.1ad.
const TYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// Parses `frame`. The packet's color is that of its codepoint; time of arrival and interface have defaults,
/// to be set by the node.
///
/// # Errors
/// Why there is no packet to forward.
#[inline]
pub fn read(link_layer: LinkLayer, frame: &[u8]) -> Result<Frame, Refusal> {
    let (header, version) = match link_layer {
        LinkLayer::Ethernet => behind_ethernet(frame)?,
        LinkLayer::Bare => match frame.first().ok_or(Refusal::ShortFrame)? >> 4 {
            4 => (0, Version::V4),
            6 => (0, Version::V6),
            _ => return Err(Refusal::WrongVersion),
        },
    };
    let bytes = &frame[header..];
    let packet = match version {
        Version::V4 => internet::read_v4(bytes)?,
        Version::V6 => internet::read_v6(bytes)?,
    };
    Ok(Frame { packet, layout: Layout { header: header as u16, version } })
}

/// Offset of the IP header in an Ethernet frame.
#[inline]
fn behind_ethernet(frame: &[u8]) -> Result<(usize, Version), Refusal> {
    let mut header = ETHERNET_HEADER;
    loop {
        let ethernet_type = frame.get(header - 2..header).ok_or(Refusal::ShortFrame)?;
        match u16::from_be_bytes([ethernet_type[0], ethernet_type[1]]) {
            TYPE_IPV4 => return Ok((header, Version::V4)),
            TYPE_IPV6 => return Ok((header, Version::V6)),
            tag if TYPES_VLAN.contains(&tag) => header += VLAN_TAG,
            _ => return Err(Refusal::NotInternet),
        }
        if header > ETHERNET_HEADER + MOST_TAGS * VLAN_TAG {
            return Err(Refusal::TooManyTags);
        }
    }
}

/// Whether `packet` is not to be forwarded, since it is multicast, broadcast or link-local (RFC 1112 §4, RFC
/// 3927 §2.7, RFC 4291 §2.5.6). Kernels send such packets when an interface comes up.
pub fn stays_on_link(packet: &Packet) -> bool {
    const IPV4_MAPPED: u128 = 0xffff;
    let destination = packet.destination.to_bits();
    if destination >> 32 == IPV4_MAPPED {
        let address = destination as u32;
        address >> 28 >= 0xe || address >> 16 == 0xa9fe
    } else {
        destination >> 120 == 0xff || destination >> 118 == 0x3fa
    }
}
