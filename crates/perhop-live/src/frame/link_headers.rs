//! VLAN tags and MPLS labels between the Ethernet header and an IP packet: search, reading and marking.

use perhop_qos::packet::{LinkMark, Marks, Packet};

use super::layout::{ETHERNET_HEADER, Layout, TYPE_IPV4, TYPE_IPV6, Version, ethernet_type};
use super::refusal::Refusal;

/// The length of a tag and the type after it, bytes.
pub(super) const VLAN_TAG: usize = 4;
/// The length of one entry of a label stack, bytes (RFC 3032 §2.1).
pub(super) const LABEL: usize = 4;
/// The maximum number of VLAN tags, twice the number of tags in IEEE 802.1ad (a customer's tag and a
/// provider's tag).
pub(crate) const MOST_TAGS: usize = 4;
/// Maximum number of MPLS labels: twice the maximum that a link of a scenario can have in one header.
pub(crate) const MOST_LABELS: usize = 16;

/// Tags of IEEE 802.1Q and IEEE 802.1ad, and a proprietary tag that preceded 802.1ad.
const TYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// The Ethernet type of a unicast packet with labels (RFC 3032 §5).
pub(super) const TYPE_MPLS: u16 = 0x8847;

/// The position of the priority in the first byte of a tag (IEEE 802.1Q clause 9.6), and of the traffic class
/// in the third byte of a label (RFC 3032 §2.1, RFC 5462).
pub(super) const PRIORITY_SHIFT: u8 = 5;
pub(super) const TRAFFIC_CLASS_SHIFT: u8 = 1;
const BOTTOM_OF_STACK: u8 = 1;

/// Finds the packet in `frame`, whose Ethernet type `first` is not IP.
#[cold]
pub(super) fn find(frame: &[u8], first: u16) -> Result<Layout, Refusal> {
    let (mut header, mut found) = (ETHERNET_HEADER, first);
    while TYPES_VLAN.contains(&found) {
        header += VLAN_TAG;
        if header > ETHERNET_HEADER + MOST_TAGS * VLAN_TAG {
            return Err(Refusal::TooManyTags);
        }
        found = ethernet_type(frame, header)?;
    }
    let (version, labels) = match found {
        TYPE_IPV4 => (Version::V4, 0),
        TYPE_IPV6 => (Version::V6, 0),
        TYPE_MPLS => behind_labels(&frame[header..])?,
        _ => return Err(Refusal::NotInternet),
    };
    header += labels * LABEL;
    Ok(Layout::new(header, version, labels))
}

/// The number of labels at the beginning of `bytes`, and the version of the packet after them. No field
/// contains the protocol (RFC 3032 §2.2). The first four bits after the labels distinguish IP from the
/// contents of a pseudowire (RFC 4928 §3).
fn behind_labels(bytes: &[u8]) -> Result<(Version, usize), Refusal> {
    let is_bottom = |entry: &[u8]| entry[2] & BOTTOM_OF_STACK != 0;
    let mut entries = bytes.chunks_exact(LABEL).take(MOST_LABELS);
    let Some(above) = entries.position(is_bottom) else {
        let is_long = bytes.len() >= MOST_LABELS * LABEL;
        return Err(if is_long { Refusal::TooManyLabels } else { Refusal::ShortFrame });
    };
    let labels = above + 1;
    match bytes.get(labels * LABEL).ok_or(Refusal::ShortFrame)? >> 4 {
        4 => Ok((Version::V4, labels)),
        6 => Ok((Version::V6, labels)),
        _ => Err(Refusal::NotInternet),
    }
}

impl Layout {
    /// Bytes before the labels, or before the IP header if there are no labels.
    const fn before_labels(self) -> usize {
        self.header() - self.labels() * LABEL
    }
    /// Returns `refusal`, or `NotInternet` after labels. After labels, an apparently invalid IP packet may be
    /// the contents of a pseudowire.
    #[cold]
    pub(super) fn refused_for(self, refusal: Refusal) -> Refusal {
        if self.labels() > 0 { Refusal::NotInternet } else { refusal }
    }
    /// Sets the class of service of `packet` from the outer tag of `frame`, and the traffic class from its
    /// topmost label, if present.
    #[cold]
    pub(crate) fn read_link_marks(self, frame: &[u8], packet: &mut Packet) {
        let topmost = self.before_labels();
        if topmost > ETHERNET_HEADER
            && let Some(cos) = LinkMark::new(frame[ETHERNET_HEADER] >> PRIORITY_SHIFT)
        {
            packet.set_cos(cos);
        }
        if self.labels() > 0
            && let Some(exp) = LinkMark::new(frame[topmost + 2] >> TRAFFIC_CLASS_SHIFT & 7)
        {
            packet.set_exp(exp);
        }
    }
    /// Writes class of service and traffic class into the outer tag and the topmost label of `frame`, if
    /// present; inner tags and labels do not change.
    #[cold]
    pub fn mark_link(self, frame: &mut [u8], marks: Marks) {
        let topmost = self.before_labels();
        if topmost > ETHERNET_HEADER {
            write(&mut frame[ETHERNET_HEADER], PRIORITY_SHIFT, marks.cos());
        }
        if self.labels() > 0 {
            write(&mut frame[topmost + 2], TRAFFIC_CLASS_SHIFT, marks.exp());
        }
    }
}

/// Writes `mark` into the three bits of `byte` that start at `shift`.
fn write(byte: &mut u8, shift: u8, mark: LinkMark) {
    *byte = *byte & !(7 << shift) | mark.value() << shift;
}
