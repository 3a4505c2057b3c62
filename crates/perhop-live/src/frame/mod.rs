//! Frames: what a node reads in them, and what it writes into them.
//!
//! A frame is read once, on arrival: [`read`] makes a [`Packet`] of it, or says why there is none in it
//! ([`Refusal`]). It is written once, on its way out: [`Layout::mark`] puts codepoint and congestion mark
//! where they stand in the header, and keeps the header's checksum true.
//!
//! The time to live stays as it is: this is the path between hosts that a scenario describes, on which no
//! packet goes in circles, and nobody here would answer for one that has lived too long.

mod checksum;
mod internet;
mod mark;

use perhop_qos::packet::{Packet, Protocol};
use serde::{Deserialize, Serialize};

pub use checksum::{internet_checksum, updated};

/// What a device puts before an IP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkLayer {
    /// Ethernet II, with VLAN tags or without.
    #[default]
    Ethernet,
    /// Nothing: frames are IP packets (TUN).
    Bare,
}

/// What was read in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The packet in it. Its length is that of the IP header and no other: Ethernet pads short frames.
    pub packet: Packet,
    /// Where it stands.
    pub layout: Layout,
}

/// Where the IP header stands in a frame, and of which version it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Bytes before the IP header.
    pub header: u16,
    /// Of the IP header.
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

/// Why a frame holds no packet that could be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It holds something other than IP: ARP, LLDP, a spanning tree's message. Nothing is wrong with it.
    NotInternet,
    /// It ends within its Ethernet header or VLAN tags.
    ShortFrame,
    /// It ends before its IP header does.
    ShortHeader,
    /// It ends before its IP packet does.
    ShortPacket,
    /// The version in the IP header is not that of the Ethernet type.
    WrongVersion,
    /// The IP header says of itself that it is shorter than 20 bytes, or longer than the packet.
    BadHeaderLength,
    /// The checksum of the IPv4 header is wrong.
    BadChecksum,
    /// The IP packet ends within an IPv6 extension header, or before the ports that it must have.
    ShortTransport,
    /// An IPv6 packet of more than 65,535 bytes (RFC 2675).
    Jumbogram,
    /// More VLAN tags than a forwarder looks behind.
    TooManyTags,
}

impl Refusal {
    /// Every reason, in the order of their counters.
    pub const ALL: [Refusal; 10] = [
        Refusal::NotInternet,
        Refusal::ShortFrame,
        Refusal::ShortHeader,
        Refusal::ShortPacket,
        Refusal::WrongVersion,
        Refusal::BadHeaderLength,
        Refusal::BadChecksum,
        Refusal::ShortTransport,
        Refusal::Jumbogram,
        Refusal::TooManyTags,
    ];
    /// How many reasons there are.
    pub const COUNT: usize = Refusal::ALL.len();

    /// Its place in [`Refusal::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::NotInternet => "not-internet",
            Refusal::ShortFrame => "short-frame",
            Refusal::ShortHeader => "short-header",
            Refusal::ShortPacket => "short-packet",
            Refusal::WrongVersion => "wrong-version",
            Refusal::BadHeaderLength => "bad-header-length",
            Refusal::BadChecksum => "bad-checksum",
            Refusal::ShortTransport => "short-transport",
            Refusal::Jumbogram => "jumbogram",
            Refusal::TooManyTags => "too-many-tags",
        }
    }
}

/// Destination, source and type.
const ETHERNET_HEADER: usize = 14;
/// Tag and the type after it.
const VLAN_TAG: usize = 4;
/// A customer's tag within a provider's (IEEE 802.1ad), and as many again.
const MOST_TAGS: usize = 4;

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86dd;
/// Tags of IEEE 802.1Q, of IEEE 802.1ad, and of providers before there was that standard.
const TYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// Reads `frame`. The packet has not arrived anywhere yet: what the node itself knows of it (when it came, by
/// which interface, its color) is at its default, its color that of its codepoint.
///
/// # Errors
/// Why there is no packet in it that could be forwarded.
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

/// Where the IP header begins in an Ethernet frame.
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

/// Whether no router forwards `packet`: it is for a group, for everybody, or for this link alone
/// (RFC 1112 §4, RFC 3927 §2.7, RFC 4291 §2.5.6). Kernels send such packets when an interface comes up.
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

/// Whether a packet of `protocol` begins with two ports.
fn has_ports(protocol: Protocol) -> bool {
    matches!(protocol, Protocol::TCP | Protocol::UDP)
}
