//! IP, UDP and TCP headers of simulated packets.

use std::net::{IpAddr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpDscp, IpEcn, IpFragOffset, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, TcpHeader,
    TcpOptionElement, UdpHeader,
};
use perhop_qos::packet::{Address, Packet, Protocol};

/// The time to live of a packet when it leaves its host, as set by Linux and BSD (RFC 1700).
const TIME_TO_LIVE: u8 = 64;

/// The parts of a transport header that are not in the packet descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A UDP datagram, or a packet of another protocol. perhop does not simulate the transport header of
    /// other protocols.
    Plain,
    /// A TCP segment.
    Tcp(TcpFields),
    /// A fragment of an IPv4 datagram.
    Fragment(FragmentFields),
}

/// The fragment fields of an IPv4 header (RFC 791 §3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentFields {
    /// The identification, which is the same in all fragments of a datagram.
    pub identification: u16,
    /// The offset in the datagram's payload, in units of eight bytes.
    pub offset: u16,
    /// Whether more fragments follow.
    pub has_more: bool,
    /// The IP length of the whole datagram, bytes.
    pub datagram: u32,
}

/// The fields of a TCP header (RFC 9293 §3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // the control bits
pub struct TcpFields {
    /// The sequence number of the first payload byte, or of the SYN.
    pub sequence: u32,
    /// The next expected sequence number, if the ACK bit is set.
    pub acknowledgment: Option<u32>,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// ECE (RFC 3168).
    pub ece: bool,
    /// CWR (RFC 3168).
    pub cwr: bool,
    /// AE, the flag of accurate ECN (RFC 9768).
    pub ae: bool,
    /// The receive window, bytes.
    pub window: u16,
    /// The maximum segment size, bytes.
    pub segment_size: Option<u16>,
    /// The timestamp and the echoed timestamp (RFC 7323 §3).
    pub timestamps: Option<(u32, u32)>,
    /// The blocks of a selective acknowledgment, four at most (RFC 2018).
    pub selective: Vec<(u32, u32)>,
}

/// The headers of an IP packet.
pub(crate) struct Headers {
    pub(crate) bytes: Vec<u8>,
    /// The length of the whole packet, IP bytes. This is the length in the descriptor, or the length of the
    /// headers if the headers are longer.
    pub(crate) length: usize,
    /// Whether the bytes after the headers are known. Known bytes are zeros.
    pub(crate) has_payload: bool,
}

/// Returns the headers of `packet` with their checksums. The packet carries `transport` and a payload of
/// zeros.
pub(crate) fn headers(packet: &Packet, transport: &Transport) -> Headers {
    let ends = Ends::from_packet(packet);
    let mut inner = match (transport, packet.protocol) {
        (Transport::Tcp(fields), _) => tcp_header(packet, fields),
        (Transport::Fragment(FragmentFields { offset: 1.., .. }), _) => Vec::new(),
        (Transport::Plain | Transport::Fragment(_), Protocol::UDP) => udp_header(packet),
        (Transport::Plain | Transport::Fragment(_), _) => Vec::new(),
    };
    let least = ends.header_length() + inner.len();
    let length = (packet.length as usize).max(least);
    let carried = length - ends.header_length();
    // The length and the checksum of UDP are in the first fragment. They are valid for the whole datagram.
    let whole = match transport {
        Transport::Fragment(fields) => (fields.datagram as usize).saturating_sub(ends.header_length()),
        _ => carried,
    };
    let place = match (transport, packet.protocol) {
        (Transport::Tcp(_), _) => Some(16),
        (_, Protocol::UDP) if !inner.is_empty() => {
            inner[4..6].copy_from_slice(&(whole as u16).to_be_bytes());
            Some(6)
        }
        _ => None,
    };
    if let Some(place) = place {
        let checksum = ends.checksum(packet.protocol, whole as u32, &inner);
        inner[place..place + 2].copy_from_slice(&checksum);
    }
    let mut bytes = ends.ip_header(packet, carried as u16);
    if let Transport::Fragment(fields) = transport {
        bytes = fragment_header(&bytes, fields).unwrap_or(bytes);
    }
    bytes.append(&mut inner);
    let is_udp = matches!(transport, Transport::Fragment(_)) && packet.protocol == Protocol::UDP;
    Headers { bytes, length, has_payload: place.is_some() || is_udp }
}

/// Returns the IPv4 header `bytes` with the fragment fields.
fn fragment_header(bytes: &[u8], fields: &FragmentFields) -> Option<Vec<u8>> {
    let (mut header, _) = Ipv4Header::from_slice(bytes).ok()?;
    header.identification = fields.identification;
    header.dont_fragment = false;
    header.more_fragments = fields.has_more;
    header.fragment_offset = IpFragOffset::try_new(fields.offset).ok()?;
    header.header_checksum = header.calc_header_checksum();
    Some(header.to_bytes().to_vec())
}

/// Returns the IP header of `packet` with `payload_length` bytes of payload.
pub(crate) fn ip_header(packet: &Packet, payload_length: u16) -> Vec<u8> {
    Ends::from_packet(packet).ip_header(packet, payload_length)
}

/// Returns the checksum of a UDP datagram of `length` bytes in `packet`. The datagram consists of `bytes` and
/// zeros.
pub(crate) fn udp_checksum(packet: &Packet, length: u32, bytes: &[u8]) -> [u8; 2] {
    Ends::from_packet(packet).checksum(Protocol::UDP, length, bytes)
}

/// Returns the time to live of `packet` after the decrements by routers.
pub(crate) fn time_to_live(packet: &Packet) -> u8 {
    TIME_TO_LIVE.saturating_sub(packet.hops)
}

/// Both addresses of a packet. They have the same family.
enum Ends {
    V4([[u8; 4]; 2]),
    V6([[u8; 16]; 2]),
}

impl Ends {
    fn from_packet(packet: &Packet) -> Ends {
        match [packet.source, packet.destination].map(Address::to_ip) {
            [IpAddr::V4(source), IpAddr::V4(destination)] => {
                Ends::V4([source.octets(), destination.octets()])
            }
            // If the families differ, the IPv4 address is mapped to IPv6.
            _ => Ends::V6(
                [packet.source, packet.destination].map(|end| Ipv6Addr::from_bits(end.to_bits()).octets()),
            ),
        }
    }
    fn header_length(&self) -> usize {
        match self {
            Ends::V4(_) => Ipv4Header::MIN_LEN,
            Ends::V6(_) => Ipv6Header::LEN,
        }
    }
    fn ip_header(&self, packet: &Packet, payload_length: u16) -> Vec<u8> {
        let hops = time_to_live(packet);
        let (dscp, ecn) = (packet.dscp.value(), packet.marks.ecn() as u8);
        match *self {
            Ends::V4([source, destination]) => {
                let mut header = Ipv4Header {
                    total_len: Ipv4Header::MIN_LEN as u16 + payload_length,
                    time_to_live: hops,
                    protocol: IpNumber(packet.protocol.0),
                    // RFC 6864 §4.1: a packet that is never fragmented needs no identification.
                    dont_fragment: true,
                    dscp: IpDscp::try_new(dscp).unwrap_or_default(),
                    ecn: IpEcn::try_new(ecn).unwrap_or_default(),
                    source,
                    destination,
                    ..Ipv4Header::default()
                };
                header.header_checksum = header.calc_header_checksum();
                header.to_bytes().to_vec()
            }
            Ends::V6([source, destination]) => {
                let header = Ipv6Header {
                    traffic_class: dscp << 2 | ecn,
                    flow_label: Ipv6FlowLabel::ZERO,
                    payload_length,
                    next_header: IpNumber(packet.protocol.0),
                    hop_limit: hops,
                    source,
                    destination,
                };
                header.to_bytes().to_vec()
            }
        }
    }
    /// Returns the checksum over the pseudo header and the transport header (RFC 9293 §3.1, RFC 768 and RFC
    /// 8200 §8.1). The payload consists of zeros, which do not change the checksum.
    fn checksum(&self, protocol: Protocol, length: u32, header: &[u8]) -> [u8; 2] {
        let sum = match self {
            Ends::V4([source, destination]) => {
                Sum16BitWords::new().add_4bytes(*source).add_4bytes(*destination)
            }
            Ends::V6([source, destination]) => {
                Sum16BitWords::new().add_16bytes(*source).add_16bytes(*destination)
            }
        };
        let sum = sum.add_2bytes([0, protocol.0]).add_4bytes(length.to_be_bytes()).add_slice(header);
        let checksum = if protocol == Protocol::UDP {
            sum.to_ones_complement_with_no_zero()
        } else {
            sum.ones_complement()
        };
        checksum.to_be().to_be_bytes()
    }
}

/// Returns a UDP header. The caller sets the length and the checksum.
fn udp_header(packet: &Packet) -> Vec<u8> {
    let header = UdpHeader {
        source_port: packet.source_port,
        destination_port: packet.destination_port,
        length: 0,
        checksum: 0,
    };
    header.to_bytes().to_vec()
}

/// Returns a TCP header with its options. The caller sets the checksum.
fn tcp_header(packet: &Packet, fields: &TcpFields) -> Vec<u8> {
    let mut header =
        TcpHeader::new(packet.source_port, packet.destination_port, fields.sequence, fields.window);
    header.ack = fields.acknowledgment.is_some();
    header.acknowledgment_number = fields.acknowledgment.unwrap_or(0);
    (header.syn, header.fin) = (fields.syn, fields.fin);
    // RFC 9768 §3.1: AE is the former nonce sum bit.
    (header.ece, header.cwr, header.ns) = (fields.ece, fields.cwr, fields.ae);
    let mut options = Vec::new();
    if let Some(size) = fields.segment_size {
        options.push(TcpOptionElement::MaximumSegmentSize(size));
    }
    if let Some((value, echo)) = fields.timestamps {
        // RFC 7323 appendix A: two bytes of padding precede the option.
        options.extend([
            TcpOptionElement::Noop,
            TcpOptionElement::Noop,
            TcpOptionElement::Timestamp(value, echo),
        ]);
    }
    if let Some((first, others)) = fields.selective.split_first() {
        let others = std::array::from_fn(|index| others.get(index).copied());
        let blocks = TcpOptionElement::SelectiveAcknowledgement(*first, others);
        options.extend([TcpOptionElement::Noop, TcpOptionElement::Noop, blocks]);
    }
    // The header has room for 40 bytes of options. Longer options are omitted.
    let _ = header.set_options(&options);
    header.to_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use etherparse::{NetHeaders, PacketHeaders};
    use perhop_qos::packet::{Ecn, FlowKey};

    use super::*;

    fn packet(source: &str, destination: &str, protocol: Protocol, length: u32) -> Packet {
        let [source, destination] = [source, destination].map(|text| text.parse::<IpAddr>().unwrap().into());
        let key = FlowKey { source, destination, source_port: 49152, destination_port: 9, protocol };
        Packet {
            dscp: "af12".parse().unwrap(),
            marks: Ecn::Capable0.into(),
            hops: 2,
            ..Packet::new(key, length)
        }
    }
    /// Returns the bytes of the packet with a payload of zeros.
    fn packet_of_zeros(packet: &Packet, transport: &Transport) -> Vec<u8> {
        let Headers { mut bytes, length, .. } = headers(packet, transport);
        bytes.resize(length, 0);
        bytes
    }

    #[test]
    fn checksums_agree_with_another_implementation() {
        let fields = TcpFields {
            sequence: 4_000_000_000,
            acknowledgment: Some(7),
            ece: true,
            window: 65_535,
            timestamps: Some((12, 11)),
            selective: vec![(10, 20), (30, 40)],
            ..TcpFields::default()
        };
        for (source, destination) in [("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2")] {
            for (protocol, transport) in
                [(Protocol::UDP, Transport::Plain), (Protocol::TCP, Transport::Tcp(fields.clone()))]
            {
                let bytes = packet_of_zeros(&packet(source, destination, protocol, 500), &transport);
                assert_eq!(bytes.len(), 500);
                let PacketHeaders { net, transport, payload, .. } =
                    PacketHeaders::from_ip_slice(&bytes).unwrap();
                let found = transport.unwrap();
                let mut expected = found.clone();
                match net.unwrap() {
                    NetHeaders::Ipv4(ip, _) => expected.update_checksum_ipv4(&ip, payload.slice()).unwrap(),
                    NetHeaders::Ipv6(ip, _) => expected.update_checksum_ipv6(&ip, payload.slice()).unwrap(),
                    other @ NetHeaders::Arp(_) => panic!("{other:?}"),
                }
                assert_eq!(found, expected, "{source} {protocol}");
            }
        }
    }

    #[test]
    fn an_ip_header_has_codepoint_ecn_and_hops() {
        let bytes = packet_of_zeros(&packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 100), &Transport::Plain);
        let (header, rest) = Ipv4Header::from_slice(&bytes).unwrap();
        assert_eq!((header.dscp.value(), header.ecn.value(), header.time_to_live), (12, 2, 62));
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        assert_eq!((header.total_len, rest.len()), (100, 80));
    }

    /// Another implementation of IP reassembles two fragments of a UDP datagram of 500 bytes.
    #[test]
    fn another_implementation_reassembles_fragments() {
        let fields = FragmentFields { identification: 77, offset: 0, has_more: true, datagram: 520 };
        let first = packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 20 + 304);
        let rest = packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 20 + 196);
        let parts = [
            packet_of_zeros(&first, &Transport::Fragment(fields)),
            packet_of_zeros(
                &rest,
                &Transport::Fragment(FragmentFields { offset: 38, has_more: false, ..fields }),
            ),
        ];
        let mut datagram = Vec::new();
        for bytes in &parts {
            let (header, payload) = Ipv4Header::from_slice(bytes).unwrap();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            assert_eq!((header.identification, header.dont_fragment), (77, false));
            assert_eq!(usize::from(header.fragment_offset.value()) * 8, datagram.len());
            assert_eq!(header.more_fragments, datagram.is_empty());
            datagram.extend(payload);
        }
        let (udp, payload) = UdpHeader::from_slice(&datagram).unwrap();
        assert_eq!((usize::from(udp.length), payload.len()), (500, 492));
        let (ip, _) = Ipv4Header::from_slice(&parts[0]).unwrap();
        assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, payload).unwrap());
    }

    #[test]
    fn a_packet_too_short_for_its_headers_is_as_long_as_they_are() {
        let bytes = packet_of_zeros(&packet("10.0.0.1", "10.0.0.2", Protocol::UDP, 20), &Transport::Plain);
        assert_eq!(bytes.len(), 28);
    }
}
