//! The headers of a link around an IP packet. The headers are in the order of the link's stack and contain
//! the fields that a receiver checks.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use perhop_qos::framing::{
    Esp, EspMode, GreTunnel, Header, HeaderStack, IpVersion, L2tpTunnel, L2tpVersion, MplsLabels, Multilink,
    MultilinkSequence,
};
use perhop_qos::packet::{FlowKey, Packet, Protocol};

use crate::headers::{Headers, ip_header, time_to_live, udp_checksum};

/// The kind of a unit, which its outermost header determines. The header in front of the unit has a protocol
/// number for this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// An IP packet.
    Packet(IpVersion),
    /// MPLS labels.
    Labeled,
    /// One VLAN tag, or two tags if `twice` is set.
    Tagged { twice: bool },
    /// A PPPoE session header.
    Session,
    /// A multilink header.
    Multilink,
    /// A PPP protocol number.
    PointToPoint,
    /// An Ethernet frame.
    Frame,
    /// An Ethernet frame in AAL5.
    BridgedFrame,
    /// A frame-relay frame.
    FrameRelay,
}

impl Unit {
    /// Returns the outermost unit of packets with these headers. Without headers, it is an IP packet.
    pub(crate) fn outermost(stack: &HeaderStack) -> Unit {
        match stack.headers() {
            [.., Header::Vlan(_), Header::Vlan(_)] => Unit::Tagged { twice: true },
            [.., Header::Vlan(_)] => Unit::Tagged { twice: false },
            [.., Header::Mpls(_)] => Unit::Labeled,
            [.., Header::Mlppp(_)] => Unit::Multilink,
            [.., Header::Pppoe] => Unit::Session,
            [.., Header::Ppp] => Unit::PointToPoint,
            [.., Header::FrameRelay] => Unit::FrameRelay,
            [.., Header::Ethernet] => Unit::Frame,
            [.., Header::Bridged] => Unit::BridgedFrame,
            _ => Unit::Packet(IpVersion::Ipv4),
        }
    }
    /// Returns the `EtherType` of this unit.
    pub(crate) fn ether_type(self) -> [u8; 2] {
        let number: u16 = match self {
            Unit::Packet(IpVersion::Ipv4) => 0x0800,
            Unit::Packet(IpVersion::Ipv6) => 0x86dd,
            Unit::Labeled => 0x8847,
            Unit::Tagged { twice: false } => 0x8100,
            // IEEE 802.1Q table 9-1: the outer of two tags is a service tag.
            Unit::Tagged { twice: true } => 0x88a8,
            Unit::Session => 0x8864,
            Unit::Frame | Unit::BridgedFrame => 0x6558,
            Unit::Multilink | Unit::PointToPoint | Unit::FrameRelay => 0x880b,
        };
        number.to_be_bytes()
    }
    /// Returns the PPP protocol number of this unit (RFC 1332, RFC 5072, RFC 3032 §4.3, RFC 1990 §3).
    pub(crate) fn ppp_number(self) -> [u8; 2] {
        let number: u16 = match self {
            Unit::Packet(IpVersion::Ipv6) => 0x0057,
            Unit::Labeled => 0x0281,
            Unit::Multilink => 0x003d,
            _ => 0x0021,
        };
        number.to_be_bytes()
    }
}

/// A packet with its headers.
pub(crate) struct Encapsulated {
    /// All visible headers, from the first byte on.
    pub(crate) start: Vec<u8>,
    /// The total length, bytes.
    pub(crate) length: usize,
    /// Whether the bytes after `start` are known. Known bytes are zeros.
    pub(crate) has_payload: bool,
    /// The outermost unit.
    pub(crate) unit: Unit,
}

/// The values of header fields that do not depend on the stack.
pub(crate) struct Around<'a> {
    /// The innermost packet, without the headers of the link.
    pub(crate) packet: &'a Packet,
    /// The numbers of the sending and the receiving station, from which addresses are derived.
    pub(crate) stations: [u32; 2],
    /// The number of earlier packets in this direction of the link.
    pub(crate) sequence: u32,
}

/// UDP ports of VXLAN (RFC 7348 §5), L2TP (RFC 2661 §8.1) and ESP (RFC 3948 §2).
const VXLAN_PORT: u16 = 4789;
const L2TP_PORT: u16 = 1701;
const NAT_TRAVERSAL_PORT: u16 = 4500;
/// The first port of the dynamic range (RFC 6335 §6), which VXLAN uses for the flow hash.
const DYNAMIC_PORT: u16 = 49_152;
/// The first label that is not reserved (RFC 3032 §2.1).
const FIRST_LABEL: u32 = 16;
const UDP: u8 = 17;

/// Returns the locally administered Ethernet address of a station (IEEE 802 §8.4). Each end of each link is a
/// station.
pub(crate) fn station_address(station: u32) -> [u8; 6] {
    let [a, b, c, d] = station.to_be_bytes();
    [0x02, 0x00, a, b, c, d]
}

impl Around<'_> {
    /// Adds the headers of `stack` to the packet with these `headers`.
    pub(crate) fn encapsulate(&self, headers: Headers, stack: &HeaderStack) -> Encapsulated {
        let Headers { bytes, length, has_payload } = headers;
        let version = if bytes[0] >> 4 == 4 { IpVersion::Ipv4 } else { IpVersion::Ipv6 };
        let innermost = Encapsulated { start: bytes, length, has_payload, unit: Unit::Packet(version) };
        stack.headers().iter().fold(innermost, |inside, header| self.put_around(inside, *header))
    }

    fn put_around(&self, inside: Encapsulated, header: Header) -> Encapsulated {
        let unit = inside.unit;
        match header {
            Header::Vlan(tag) => {
                let control = u16::from(self.packet.cos().unwrap_or_default().value()) << 13 | tag.id;
                let twice = matches!(unit, Unit::Tagged { .. });
                inside.behind(&[control.to_be_bytes(), unit.ether_type()].concat(), Unit::Tagged { twice })
            }
            Header::Mpls(mpls) => inside.behind(&self.labels(mpls, unit), Unit::Labeled),
            Header::Gre(gre) => {
                let bytes = self.gre(gre, &inside);
                self.in_ip(inside.behind(&bytes, unit), gre.over, Protocol(47))
            }
            Header::IpIp(tunnel) => {
                let protocol = if unit == Unit::Packet(IpVersion::Ipv6) { 41 } else { 4 };
                self.in_ip(inside, tunnel.over, Protocol(protocol))
            }
            Header::Esp(esp) => self.esp(&inside, esp),
            Header::Vxlan(vxlan) => {
                let id = (vxlan.id << 8).to_be_bytes();
                // RFC 7348 §5: the only flag that is set is the flag of a valid network identifier.
                let bytes = [&[0x08, 0, 0, 0][..], &id, &self.ethernet(unit)].concat();
                self.in_udp(inside.behind(&bytes, unit), vxlan.over, [DYNAMIC_PORT, VXLAN_PORT])
            }
            Header::L2tp(l2tp) => self.l2tp(inside, l2tp),
            Header::Mlppp(multilink) => inside.behind(&self.multilink(multilink, unit), Unit::Multilink),
            Header::Pppoe => {
                // RFC 2516 §4: version, type and code, then the session, then the length of the following
                // bytes.
                let length = (inside.length + 2) as u16;
                let bytes = [[0x11, 0], [0, 1], length.to_be_bytes(), unit.ppp_number()].concat();
                inside.behind(&bytes, Unit::Session)
            }
            Header::Ppp => inside.behind(&unit.ppp_number(), Unit::PointToPoint),
            Header::FrameRelay => {
                // RFC 2427 §3: circuit 100, unnumbered information, protocol identifier.
                let protocol = if unit == Unit::Packet(IpVersion::Ipv6) { 0x8e } else { 0xcc };
                inside.behind(&[0x18, 0x41, 0x03, protocol], Unit::FrameRelay)
            }
            Header::Ethernet => inside.behind(&self.ethernet(unit), Unit::Frame),
            Header::Bridged => {
                inside.behind(&[&[0, 0][..], &self.ethernet(unit)].concat(), Unit::BridgedFrame)
            }
        }
    }

    /// Returns the Ethernet header for `inside`.
    fn ethernet(&self, inside: Unit) -> Vec<u8> {
        let [from, to] = self.stations.map(station_address);
        [&to[..], &from, &inside.ether_type()].concat()
    }

    /// Returns the labels. RFC 3032 §2.1: the topmost label is first, and the last label has the bottom bit.
    fn labels(&self, MplsLabels { labels, control_word }: MplsLabels, inside: Unit) -> Vec<u8> {
        let exp = u32::from(self.packet.exp().unwrap_or_default().value());
        let time_to_live = u32::from(time_to_live(self.packet));
        let entry = |place: u16| {
            let bottom = u32::from(place == 0 && inside != Unit::Labeled);
            (FIRST_LABEL + u32::from(place)) << 12 | exp << 9 | bottom << 8 | time_to_live
        };
        let entries = (0..labels).rev().flat_map(|place| entry(place).to_be_bytes());
        entries.chain([0; 4].into_iter().take(if control_word { 4 } else { 0 })).collect()
    }

    /// Returns the GRE header for `inside` (RFC 2784 §2.1, RFC 2890 §2).
    fn gre(&self, gre: GreTunnel, inside: &Encapsulated) -> Vec<u8> {
        let flags = [(gre.checksum, 0x80), (gre.key, 0x20), (gre.sequence, 0x10)];
        let flags = flags.into_iter().filter(|(is_there, _)| *is_there).fold(0, |all, (_, flag)| all | flag);
        let [high, low] = inside.unit.ether_type();
        let mut bytes = vec![flags, 0, high, low];
        if gre.checksum {
            bytes.extend([0; 4]);
        }
        if gre.key {
            bytes.extend(1u32.to_be_bytes());
        }
        if gre.sequence {
            bytes.extend(self.sequence.to_be_bytes());
        }
        if gre.checksum {
            let sum = Sum16BitWords::new().add_slice(&bytes).add_slice(&inside.start);
            bytes[4..6].copy_from_slice(&sum.ones_complement().to_be().to_be_bytes());
        }
        bytes
    }

    /// Returns the multilink header. The packet is not fragmented, so the header has the flags of a first and
    /// of a last fragment (RFC 1990 §3).
    fn multilink(&self, Multilink { sequence, .. }: Multilink, inside: Unit) -> Vec<u8> {
        let header = match sequence {
            MultilinkSequence::Long => (0xc000_0000 | self.sequence & 0x00ff_ffff).to_be_bytes().to_vec(),
            MultilinkSequence::Short => (0xc000 | self.sequence as u16 & 0x0fff).to_be_bytes().to_vec(),
        };
        [&header[..], &inside.ppp_number()].concat()
    }

    fn l2tp(&self, inside: Encapsulated, l2tp: L2tpTunnel) -> Encapsulated {
        let unit = inside.unit;
        let mut bytes = Vec::new();
        match l2tp.version {
            L2tpVersion::V2 => {
                // RFC 2661 §3.1: the header of a data message of tunnel 1, session 1.
                let flags = if l2tp.length { 0x40 } else { 0 } | if l2tp.sequence { 0x08 } else { 0 };
                bytes.extend([flags, 2]);
                let after = 4 + 2 + if l2tp.sequence { 4 } else { 0 };
                if l2tp.length {
                    bytes.extend(((4 + after + 4 + inside.length - 2) as u16).to_be_bytes());
                }
                bytes.extend([0, 1, 0, 1]);
                if l2tp.sequence {
                    bytes.extend((self.sequence as u16).to_be_bytes());
                    bytes.extend([0, 0]);
                }
                bytes.extend([0xff, 0x03]);
                bytes.extend(unit.ppp_number());
                self.in_udp(inside.behind(&bytes, unit), l2tp.over, [L2TP_PORT; 2])
            }
            L2tpVersion::V3 => {
                // RFC 3931 §4.1.1, §4.6: session 1, cookie, and a sublayer with the bit for sequence numbers.
                bytes.extend(1u32.to_be_bytes());
                bytes.extend(vec![0; usize::from(l2tp.cookie)]);
                if l2tp.sequence {
                    bytes.extend((0x4000_0000 | self.sequence & 0x00ff_ffff).to_be_bytes());
                }
                self.in_ip(inside.behind(&bytes, unit), l2tp.over, Protocol(115))
            }
        }
    }

    /// Adds the ESP header. The security parameters index and the sequence number are visible, and the
    /// following bytes are encrypted (RFC 4303 §2).
    fn esp(&self, inside: &Encapsulated, esp: Esp) -> Encapsulated {
        let length = HeaderStack::new(&[Header::Esp(esp)])
            .map_or(inside.length, |stack| stack.bytes(inside.length as u64) as usize);
        // In transport mode, ESP follows the IP header of the packet. The version in the scenario has no
        // effect.
        let header = match (esp.mode, inside.unit) {
            (EspMode::Transport, Unit::Packet(version)) => version.header_bytes() as usize,
            _ => esp.over.header_bytes() as usize,
        };
        // RFC 4303 §2.1: the values 0 to 255 of the security parameters index are reserved. §2.2: the first
        // packet of a sender has the number 1.
        let index = 256 + self.stations[0];
        let visible = [index.to_be_bytes(), self.sequence.wrapping_add(1).to_be_bytes()].concat();
        let payload = Encapsulated {
            start: visible,
            length: length - header - if esp.nat_t { 8 } else { 0 },
            has_payload: true,
            unit: inside.unit,
        };
        let (payload, protocol) = if esp.nat_t {
            (self.behind_udp(payload, esp.over, [NAT_TRAVERSAL_PORT; 2]), UDP)
        } else {
            (payload, 50)
        };
        match esp.mode {
            EspMode::Tunnel => self.in_ip(payload, esp.over, Protocol(protocol)),
            EspMode::Transport => {
                let mut ip = inside.start.get(..header).unwrap_or(&inside.start).to_vec();
                readdress(&mut ip, protocol, length);
                payload.behind(&ip, Unit::Packet(esp.over))
            }
        }
    }

    /// Adds a UDP header and an IP header with the addresses of the tunnel's ends to `inside`.
    fn in_udp(&self, inside: Encapsulated, over: IpVersion, ports: [u16; 2]) -> Encapsulated {
        self.in_ip(self.behind_udp(inside, over, ports), over, Protocol::UDP)
    }

    /// Adds a UDP header (RFC 768) to `inside`. Over IPv4, tunnels send no checksum (RFC 7348 §5, RFC 3948
    /// §2.1).
    fn behind_udp(&self, inside: Encapsulated, over: IpVersion, [from, to]: [u16; 2]) -> Encapsulated {
        let length = inside.length + 8;
        let header = [from.to_be_bytes(), to.to_be_bytes(), (length as u16).to_be_bytes(), [0; 2]].concat();
        let unit = inside.unit;
        let mut datagram = inside.behind(&header, unit);
        if over == IpVersion::Ipv6 {
            let checksum = udp_checksum(&self.outer(over, Protocol::UDP), length as u32, &datagram.start);
            datagram.start[6..8].copy_from_slice(&checksum);
        }
        datagram
    }

    /// Adds an IP header with the addresses of the tunnel's ends to `inside`.
    fn in_ip(&self, inside: Encapsulated, over: IpVersion, protocol: Protocol) -> Encapsulated {
        let header = ip_header(&self.outer(over, protocol), inside.length as u16);
        inside.behind(&header, Unit::Packet(over))
    }

    /// Returns the outer packet, with the codepoint and ECN field of the inner packet (RFC 2983 §3, RFC 6040
    /// §4.1).
    fn outer(&self, over: IpVersion, protocol: Protocol) -> Packet {
        let [source, destination] = self.stations.map(|station| tunnel_end(over, station).into());
        let key = FlowKey { source, destination, protocol, ..FlowKey::default() };
        Packet { dscp: self.packet.dscp, marks: self.packet.marks, ..Packet::new(key, 0) }
    }
}

impl Encapsulated {
    /// Adds `header` in front of the packet. The new outermost unit is `unit`.
    fn behind(self, header: &[u8], unit: Unit) -> Encapsulated {
        let start = [header, &self.start].concat();
        Encapsulated { start, length: self.length + header.len(), unit, ..self }
    }
}

/// Returns the address of an end of a tunnel, from the networks for benchmarks (RFC 2544 appendix C.2.2, RFC
/// 5180 §8).
fn tunnel_end(version: IpVersion, station: u32) -> IpAddr {
    match version {
        IpVersion::Ipv4 => IpAddr::V4(Ipv4Addr::from_bits(0xc612_0000 | (station + 1) & 0x0001_ffff)),
        IpVersion::Ipv6 => IpAddr::V6(Ipv6Addr::from_bits(0x2001_0002 << 96 | u128::from(station + 1))),
    }
}

/// Sets the protocol and the length in the IP header at the start of `ip`.
fn readdress(ip: &mut [u8], protocol: u8, length: usize) {
    let length = length as u16;
    if ip[0] >> 4 == 4 {
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        ip[9] = protocol;
        ip[10..12].fill(0);
        let checksum = Sum16BitWords::new().add_slice(ip).ones_complement();
        ip[10..12].copy_from_slice(&checksum.to_be().to_be_bytes());
    } else {
        ip[4..6].copy_from_slice(&(length - 40).to_be_bytes());
        ip[6] = protocol;
    }
}
