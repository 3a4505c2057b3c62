//! Frames: parsing and marking.
//!
//! A frame is parsed once, on arrival: [`read`] returns its [`Packet`], or the reason why the frame has no
//! packet ([`Refusal`]). A frame is written once, on departure: [`Layout::mark`] sets codepoint and
//! congestion mark, and updates the header checksum. `link_headers` processes the VLAN tags and MPLS labels
//! between Ethernet header and packet; [`Envelope`] adds the tags and labels of a link.
//!
//! The time to live is not decremented, because routes of a scenario have no loops, and no router reports an
//! exceeded time to live.

mod checksum;
mod envelope;
mod internet;
mod layout;
mod link_headers;
mod mark;
mod packet;
mod refusal;
mod tcp;
mod transport;

use perhop_qos::packet::Packet;

pub use checksum::{internet_checksum, updated};
pub use envelope::Envelope;
pub(crate) use envelope::envelope_bytes;
pub use layout::{Layout, Version};
pub(crate) use link_headers::{MOST_LABELS, MOST_TAGS};
pub(crate) use packet::read_packet;
pub use packet::{Frame, LinkLayer};
pub use refusal::Refusal;
pub(crate) use tcp::read_tcp;
pub(crate) use transport::finish_checksum;

/// Parses `frame`. The codepoint determines the color of the packet. Time of arrival and interface have
/// default values, which the node replaces.
///
/// # Errors
/// The reason why the frame has no packet to forward.
pub fn read(link_layer: LinkLayer, frame: &[u8]) -> Result<Frame, Refusal> {
    let mut found = read_packet(link_layer, frame)?;
    if !found.layout.is_plain() {
        found.layout.read_link_marks(frame, &mut found.packet);
    }
    Ok(found)
}

/// Whether a router does not forward `packet`, because it is multicast, broadcast or link-local (RFC 1112 §4,
/// RFC 3927 §2.7, RFC 4291 §2.5.6). Kernels send such packets when an interface comes up.
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
