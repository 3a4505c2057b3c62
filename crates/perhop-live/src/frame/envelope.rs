//! [`Envelope`]: the tags and labels of a link, which are added to the packets that leave over the link.

use perhop_qos::framing::{Header, HeaderStack};
use perhop_qos::packet::Marks;

use super::layout::{Layout, TYPE_IPV4, TYPE_IPV6, Version};
use super::link_headers::{LABEL, PRIORITY_SHIFT, TRAFFIC_CLASS_SHIFT, TYPE_MPLS, VLAN_TAG};

/// The length of the two addresses that begin an Ethernet frame, bytes.
const ADDRESSES: usize = 12;
/// IEEE 802.1Q table 9-1: the types of the customer tag and of the service tag, which is the outer of two
/// tags.
const CUSTOMER_TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
/// The first label that is not reserved (RFC 3032 §2.1), used for the bottom label, as in captures.
const FIRST_LABEL: u32 = 16;
/// The length of the shortest Ethernet frame without its check sequence, bytes (IEEE 802.3 §3.2.8).
const SHORTEST_FRAME: usize = 60;

/// The tags and labels of the frames of one link, with a buffer for one frame. These tags and labels replace
/// those of the received frame.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Numbers of the VLANs, from the outer tag inwards.
    tags: Vec<u16>,
    labels: u32,
    frame: Vec<u8>,
}

impl Envelope {
    /// Creates the envelope of a link with these `headers`, for frames of up to `longest` bytes without the
    /// envelope.
    pub fn new(headers: &HeaderStack, longest: usize) -> Envelope {
        let tag = |header: &Header| match header {
            Header::Vlan(tag) => Some(tag.id),
            _ => None,
        };
        let labels = |header: &Header| match header {
            Header::Mpls(mpls) => u32::from(mpls.labels),
            _ => 0,
        };
        let tags: Vec<u16> = headers.headers().iter().rev().filter_map(tag).collect();
        let labels = headers.headers().iter().map(labels).sum();
        let room = longest + tags.len() * VLAN_TAG + labels as usize * LABEL;
        Envelope { tags, labels, frame: Vec::with_capacity(room.max(SHORTEST_FRAME)) }
    }
    /// Whether the envelope has no tags and no labels, so that a plain frame does not change.
    pub fn is_plain(&self) -> bool {
        self.tags.is_empty() && self.labels == 0
    }
    /// Returns `frame` with the tags and labels of the link instead of its own. All tags and labels contain
    /// the packet's `marks`.
    pub fn around(&mut self, frame: &[u8], layout: Layout, marks: Marks) -> &mut [u8] {
        let Envelope { tags, labels, frame: made } = self;
        made.clear();
        let packet = &frame[layout.header()..];
        made.extend_from_slice(&frame[..ADDRESSES]);
        for (place, id) in tags.iter().enumerate() {
            let kind = if place + 1 < tags.len() { SERVICE_TAG } else { CUSTOMER_TAG };
            let control = u16::from(marks.cos().value()) << (8 + PRIORITY_SHIFT) | id;
            made.extend_from_slice(&kind.to_be_bytes());
            made.extend_from_slice(&control.to_be_bytes());
        }
        let (kind, time_to_live) = match layout.version() {
            Version::V4 => (TYPE_IPV4, packet[8]),
            Version::V6 => (TYPE_IPV6, packet[7]),
        };
        made.extend_from_slice(&if *labels > 0 { TYPE_MPLS } else { kind }.to_be_bytes());
        let exp = u32::from(marks.exp().value()) << (8 + TRAFFIC_CLASS_SHIFT);
        for place in (0..*labels).rev() {
            let bottom = u32::from(place == 0) << 8;
            // RFC 3443 §5.4: the label has the time to live of the packet.
            let entry = (FIRST_LABEL + place) << 12 | exp | bottom | u32::from(time_to_live);
            made.extend_from_slice(&entry.to_be_bytes());
        }
        made.extend_from_slice(packet);
        made.resize(made.len().max(SHORTEST_FRAME), 0);
        made
    }
}

/// The number of bytes of the tags and labels among `headers`.
pub(crate) fn envelope_bytes(headers: &HeaderStack) -> u32 {
    let bytes = |header: &Header| match header {
        Header::Vlan(_) => VLAN_TAG as u32,
        Header::Mpls(mpls) => u32::from(mpls.labels) * LABEL as u32,
        _ => 0,
    };
    headers.headers().iter().map(bytes).sum()
}
