//! Frames: parsing and marking.
//!
//! A frame is parsed once, on arrival: [`read`] returns its [`Packet`], or why it has none ([`Refusal`]). It
//! is written once, on departure: [`Layout::mark`] sets codepoint and congestion mark, and updates the header
//! checksum. What stands between Ethernet header and packet, VLAN tags and MPLS labels, is the matter of
//! `link_headers`, and of [`Envelope`] where a link has its own.
//!
//! The time to live is not decremented: routes of a scenario have no loops, and there is no router to report
//! that it was exceeded.

mod checksum;
mod envelope;
mod internet;
mod layout;
mod link_headers;
mod mark;
mod refusal;
mod transport;

use perhop_qos::packet::Packet;
use serde::{Deserialize, Serialize};

pub use checksum::{internet_checksum, updated};
pub use envelope::Envelope;
pub(crate) use envelope::envelope_bytes;
use layout::{ETHERNET_HEADER, TYPE_IPV4, TYPE_IPV6, ethernet_type};
pub use layout::{Layout, Version};
pub(crate) use link_headers::{MOST_LABELS, MOST_TAGS};
pub use refusal::Refusal;
pub(crate) use transport::finish_checksum;

/// Link-layer header of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayer {
    /// Ethernet II, with or without VLAN tags and MPLS labels.
    #[default]
    Ethernet,
    /// None: frames are IP packets (TUN).
    Bare,
}

/// A parsed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The packet. Its length is that in the IP header, since Ethernet pads short frames. It has the class of
    /// service of the outer tag and the traffic class of the topmost label, where there are such.
    pub packet: Packet,
    /// Where it stands.
    pub layout: Layout,
}

/// Parses `frame`. The packet's color is that of its codepoint; time of arrival and interface have defaults,
/// to be set by the node.
///
/// # Errors
/// Why there is no packet to forward.
pub fn read(link_layer: LinkLayer, frame: &[u8]) -> Result<Frame, Refusal> {
    let mut found = read_packet(link_layer, frame)?;
    if !found.layout.is_plain() {
        found.layout.read_link_marks(frame, &mut found.packet);
    }
    Ok(found)
}

/// As [`read`], without the marks of tags and labels.
#[inline]
pub(crate) fn read_packet(link_layer: LinkLayer, frame: &[u8]) -> Result<Frame, Refusal> {
    let layout = match link_layer {
        LinkLayer::Ethernet => match ethernet_type(frame, ETHERNET_HEADER)? {
            TYPE_IPV4 => Layout::new(ETHERNET_HEADER, Version::V4, 0),
            TYPE_IPV6 => Layout::new(ETHERNET_HEADER, Version::V6, 0),
            other => link_headers::find(frame, other)?,
        },
        LinkLayer::Bare => match frame.first().ok_or(Refusal::ShortFrame)? >> 4 {
            4 => Layout::new(0, Version::V4, 0),
            6 => Layout::new(0, Version::V6, 0),
            _ => return Err(Refusal::WrongVersion),
        },
    };
    let bytes = &frame[layout.header()..];
    let refused = |refusal| layout.refused_for(refusal);
    let packet = match layout.version() {
        Version::V4 => internet::read_v4(bytes).map_err(refused)?,
        Version::V6 => internet::read_v6(bytes).map_err(refused)?,
    };
    Ok(Frame { packet, layout })
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
