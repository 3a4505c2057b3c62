//! [`Layout`]: the position of the packet in a frame.

use super::refusal::Refusal;

/// The position and the version of the IP header in a frame, and the number of labels before this header.
///
/// Every frame has a layout, so it is a single word: bytes before the IP header, number of labels, and
/// version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout(u32);

impl Layout {
    /// The layout of a frame without a packet.
    pub const NO_PACKET: Layout = Layout(u32::MAX);
    /// The maximum number of bytes before the IP header without tags and labels.
    pub(crate) const MOST_PLAIN_BYTES: u8 = ETHERNET_HEADER as u8;
    const LABELS: u32 = 8;
    const VERSION: u32 = 16;

    /// Creates a layout with `header` bytes, at most 255, before the IP header. These bytes end with `labels`
    /// MPLS labels.
    #[inline]
    pub(super) const fn new(header: usize, version: Version, labels: usize) -> Layout {
        Layout(header as u32 | (labels as u32) << Layout::LABELS | (version as u32) << Layout::VERSION)
    }
    /// Whether the frame has a packet.
    #[inline]
    pub const fn has_packet(self) -> bool {
        self.0 != Layout::NO_PACKET.0
    }
    /// Bytes before the IP header.
    #[inline]
    pub const fn header(self) -> usize {
        self.0 as usize & 0xff
    }
    /// Version of the IP header.
    #[inline]
    pub const fn version(self) -> Version {
        if self.0 >> Layout::VERSION == 0 { Version::V4 } else { Version::V6 }
    }
    /// The number of labels directly before the IP header. Tags are between the Ethernet header and these
    /// labels.
    pub const fn labels(self) -> usize {
        (self.0 >> Layout::LABELS) as usize & 0xff
    }
    /// Whether there are no tags or labels before the IP header.
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.header() <= ETHERNET_HEADER
    }
}

/// Version of the internet protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// IPv4 (RFC 791).
    #[default]
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

/// The length of destination, source and type, bytes.
pub(super) const ETHERNET_HEADER: usize = 14;

/// Ethernet types.
pub(super) const TYPE_IPV4: u16 = 0x0800;
pub(super) const TYPE_IPV6: u16 = 0x86dd;

/// The Ethernet type in the last two bytes before `header`.
#[inline]
pub(super) fn ethernet_type(frame: &[u8], header: usize) -> Result<u16, Refusal> {
    let bytes = frame.get(header - 2..header).ok_or(Refusal::ShortFrame)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}
