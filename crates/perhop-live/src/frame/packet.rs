//! [`Frame`]: the packet in a frame, and its position.

use perhop_qos::packet::Packet;
use serde::{Deserialize, Serialize};

use super::layout::{ETHERNET_HEADER, Layout, TYPE_IPV4, TYPE_IPV6, Version, ethernet_type};
use super::refusal::Refusal;
use super::{internet, link_headers};

/// Link-layer header of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayer {
    /// Ethernet II, with or without VLAN tags and MPLS labels.
    #[default]
    Ethernet,
    /// No header. Frames are IP packets (TUN).
    Bare,
}

/// A parsed frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The packet. Its length comes from the IP header, because Ethernet pads short frames. It has the class
    /// of service of the outer tag and the traffic class of the topmost label, if present.
    pub packet: Packet,
    /// The position of the packet in the frame.
    pub layout: Layout,
}

/// Parses `frame` without the marks of tags and labels.
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
