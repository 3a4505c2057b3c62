//! [`read`]: the IP packets of a pcap or pcapng file.

use std::fmt;

use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{PcapError, TsResolution};
use perhop_qos::packet::Packet;

use crate::dissector::dissect;
use crate::headers::TcpFields;
use crate::link_layer;

/// An IP packet that a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// When, in nanoseconds since the epoch of the file.
    pub time: u64,
    /// Index of its interface in [`Capture::interfaces`].
    pub interface: usize,
    /// Five-tuple, IP length, codepoint and ECN field.
    pub packet: Packet,
    /// The fixed part of its TCP header, where it has one.
    pub tcp: Option<TcpFields>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The IP packets, in order of time.
    pub packets: Vec<Observed>,
    /// Names of the interfaces that the file describes; empty where it gives none.
    pub interfaces: Vec<String>,
    /// Frames that carry no IP packet.
    pub others: u64,
}

/// Why a file gives no packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is neither pcap nor pcapng.
    Unknown,
    /// It breaks off inside a packet, after so many whole ones.
    Truncated(u64),
    /// It is damaged after so many packets: what is wrong.
    Damaged(u64, String),
    /// The number of a link type that is not known.
    LinkType(u32),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unreadable::Unknown => formatter.write_str("it is neither pcap nor pcapng"),
            Unreadable::Truncated(packets) => write!(formatter, "it is truncated after {packets} packets"),
            Unreadable::Damaged(packets, reason) => {
                write!(formatter, "it is damaged after {packets} packets: {reason}")
            }
            Unreadable::LinkType(number) => write!(formatter, "its link type {number} is unknown"),
        }
    }
}

impl std::error::Error for Unreadable {}

/// First bytes of a pcap file, in either byte order, with microseconds and nanoseconds.
const PCAP: [[u8; 4]; 4] =
    [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];
/// First bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The IP packets in `file`, sorted by time; frames that carry none are counted and passed over.
///
/// # Errors
/// Where the file is of another kind, damaged, or of a link type that is not known.
pub fn read(file: &[u8]) -> Result<Capture, Unreadable> {
    let mut capture = match file.first_chunk() {
        Some(magic) if PCAP.contains(magic) => read_pcap(file)?,
        Some(magic) if *magic == PCAPNG => read_pcapng(file)?,
        _ => return Err(Unreadable::Unknown),
    };
    capture.packets.sort_by_key(|observed| observed.time);
    Ok(capture)
}

fn read_pcap(file: &[u8]) -> Result<Capture, Unreadable> {
    let (mut rest, parser) = PcapParser::new(file).map_err(|error| broken(0, &error))?;
    let header = parser.header();
    // The upper half may say whether frames end in a check sequence.
    let link_type = u32::from(header.datalink) & 0xffff;
    let unit = if header.ts_resolution == TsResolution::NanoSecond { 1 } else { 1000 };
    let mut capture = Capture { interfaces: vec![String::new()], ..Capture::default() };
    let mut frames = 0;
    while !rest.is_empty() {
        let (after, frame) = parser.next_raw_packet(rest).map_err(|error| broken(frames, &error))?;
        let time = u64::from(frame.ts_sec) * 1_000_000_000 + u64::from(frame.ts_frac) * unit;
        capture.take(&Raw { time, interface: 0, link_type, original: frame.orig_len, bytes: &frame.data })?;
        frames += 1;
        rest = after;
    }
    Ok(capture)
}

fn read_pcapng(file: &[u8]) -> Result<Capture, Unreadable> {
    let (mut rest, mut parser) = PcapNgParser::new(file).map_err(|error| broken(0, &error))?;
    let mut capture = Capture::default();
    // Interfaces are numbered anew in each section.
    let mut first = 0;
    let mut frames = 0;
    while !rest.is_empty() {
        let (after, block) = parser.next_block(rest).map_err(|error| broken(frames, &error))?;
        rest = after;
        let (interface, units, original, bytes) = match &block {
            Block::SectionHeader(_) => {
                first = capture.interfaces.len();
                continue;
            }
            Block::InterfaceDescription(interface) => {
                capture.interfaces.push(name_of(interface));
                continue;
            }
            Block::EnhancedPacket(packet) => {
                // The parser takes all times for nanoseconds.
                let units = packet.timestamp.as_nanos() as u64;
                (packet.interface_id as usize, units, packet.original_len, &packet.data)
            }
            Block::Packet(packet) => {
                (usize::from(packet.interface_id), packet.timestamp, packet.original_len, &packet.data)
            }
            Block::SimplePacket(_) => {
                return Err(Unreadable::Damaged(frames, "a simple packet block has no timestamp".to_owned()));
            }
            _ => continue,
        };
        let Some(described) = parser.interfaces().get(interface) else {
            let reason = format!("a packet of interface {interface}, which is not described");
            return Err(Unreadable::Damaged(frames, reason));
        };
        let (time, link_type) = (time_of(described, units), u32::from(described.linktype));
        capture.take(&Raw { time, interface: first + interface, link_type, original, bytes })?;
        frames += 1;
    }
    Ok(capture)
}

fn broken(frames: u64, error: &PcapError) -> Unreadable {
    match error {
        PcapError::IncompleteBuffer => Unreadable::Truncated(frames),
        other => Unreadable::Damaged(frames, other.to_string()),
    }
}

fn name_of(interface: &InterfaceDescriptionBlock) -> String {
    let name = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfName(name) => Some(name.to_string()),
        _ => None,
    });
    name.unwrap_or_default()
}

/// Nanoseconds of a time of `units` at `interface`: by default of microseconds, else of a negative power of
/// ten or, with the first bit set, of two.
fn time_of(interface: &InterfaceDescriptionBlock, units: u64) -> u64 {
    let (mut resolution, mut offset) = (6, 0);
    for option in &interface.options {
        match option {
            InterfaceDescriptionOption::IfTsResol(value) => resolution = *value,
            InterfaceDescriptionOption::IfTsOffset(seconds) => offset = *seconds,
            _ => {}
        }
    }
    let nanoseconds = match resolution {
        binary if binary & 0x80 != 0 => (u128::from(units) * 1_000_000_000) >> (binary & 0x7f),
        decimal if decimal <= 9 => u128::from(units) * 10u128.pow(u32::from(9 - decimal)),
        decimal => u128::from(units) / 10u128.checked_pow(u32::from(decimal - 9)).unwrap_or(u128::MAX),
    };
    (nanoseconds as u64).wrapping_add(offset.wrapping_mul(1_000_000_000))
}

/// A frame of a file.
struct Raw<'a> {
    time: u64,
    interface: usize,
    link_type: u32,
    original: u32,
    bytes: &'a [u8],
}

impl Capture {
    /// Adds the packet that `raw` carries.
    fn take(&mut self, raw: &Raw) -> Result<(), Unreadable> {
        let Raw { time, interface, link_type, original, bytes } = *raw;
        let carried = link_layer::payload(link_type, bytes).map_err(|()| Unreadable::LinkType(link_type))?;
        let found = carried.and_then(|(ether_type, rest)| {
            let around = bytes.len() - rest.len();
            dissect(ether_type, rest, original.saturating_sub(around as u32))
        });
        match found {
            Some((packet, tcp)) => self.packets.push(Observed { time, interface, packet, tcp }),
            None => self.others += 1,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use InterfaceDescriptionOption::{IfTsOffset, IfTsResol};
    use perhop_qos::framing::Framing;
    use perhop_qos::packet::Ecn;
    use perhop_qos::units::{Rate, Time};
    use proptest::prelude::*;

    use super::*;
    use crate::headers::Transport;
    use crate::writer::{Frame, Interface, SnapLength, Writer};

    /// UDP from 192.0.2.1 port 5004 to 198.51.100.7 port 9, EF and ECT(0), 60 IP bytes of which 28 are kept.
    const PACKET: [u8; 28] = [
        0x45, 0xba, 0, 60, 0, 0, 0x40, 0, 63, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7, 0x13, 0x8c, 0, 9, 0,
        40, 0, 0,
    ];

    /// A pcap file of one frame, which came at 7 s and `fraction` units and had 74 bytes on the wire.
    fn pcap(magic: u32, big: bool, link_type: u32, fraction: u32, frame: &[u8]) -> Vec<u8> {
        let number = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut file = Vec::new();
        file.extend(number(magic));
        file.extend(half(2));
        file.extend(half(4));
        let length = frame.len() as u32;
        for value in [0, 0, 64, link_type, 7, fraction, length, 74] {
            file.extend(number(value));
        }
        file.extend(frame);
        file
    }
    fn only(file: &[u8]) -> Observed {
        let capture = read(file).unwrap();
        assert_eq!((capture.packets.len(), capture.others), (1, 0));
        capture.packets[0].clone()
    }
    fn assert_is_packet(observed: &Observed) {
        let packet = &observed.packet;
        let key = packet.flow_key().to_string();
        assert_eq!(key, "udp 192.0.2.1 port 5004 to 198.51.100.7 port 9");
        assert_eq!((packet.length, packet.dscp.to_string().as_str(), packet.ecn), (60, "ef", Ecn::Capable0));
    }

    #[test]
    fn pcap_is_read_in_both_byte_orders_and_resolutions() {
        for big in [true, false] {
            for (magic, fraction, time) in
                [(0xa1b2_c3d4, 250_000, 7_250_000_000), (0xa1b2_3c4d, 250_000, 7_000_250_000)]
            {
                let observed = only(&pcap(magic, big, 101, fraction, &PACKET));
                assert_eq!(observed.time, time);
                assert_is_packet(&observed);
            }
        }
    }

    #[test]
    fn every_known_link_layer_is_taken_off() {
        let sll = [0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
        let sll2 = [8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0];
        let macs = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        let ethernet = |rest: &[u8]| [&macs, rest].concat();
        for (link_type, around) in [
            (1, ethernet(&[8, 0])),
            (1, ethernet(&[0x81, 0, 0, 5, 8, 0])),
            (1, ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0])),
            (1, ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 62, 0, 0x21])),
            (113, sll.to_vec()),
            (276, sll2.to_vec()),
            (9, vec![0, 0x21]),
            (9, vec![0xff, 3, 0x21]),
            (50, vec![0xff, 3, 0, 0x21]),
            (104, vec![0x0f, 0, 8, 0]),
            (100, vec![0xaa, 0xaa, 3, 0, 0, 0, 8, 0]),
            (101, Vec::new()),
            (228, Vec::new()),
            (0, vec![2, 0, 0, 0]),
        ] {
            let frame = [around.as_slice(), &PACKET].concat();
            assert_is_packet(&only(&pcap(0xa1b2_c3d4, false, link_type, 0, &frame)));
        }
    }

    #[test]
    fn lengths_come_from_the_header_and_else_from_the_wire() {
        let mut packet = PACKET;
        // A network card was to fill in the length when it cut the packet into pieces.
        packet[2..4].fill(0);
        assert_eq!(only(&pcap(0xa1b2_c3d4, false, 101, 0, &packet)).packet.length, 74);
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut packet = PACKET;
        packet[7] = 185;
        let key = only(&pcap(0xa1b2_c3d4, false, 101, 0, &packet)).packet.flow_key();
        assert_eq!((key.source_port, key.destination_port), (0, 0));
    }

    #[test]
    fn frames_without_an_ip_packet_are_counted() {
        let arp = [&[0xff; 12][..], &[8, 6], &[0; 28]].concat();
        let capture = read(&pcap(0xa1b2_c3d4, false, 1, 0, &arp)).unwrap();
        assert_eq!((capture.packets.len(), capture.others), (0, 1));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let whole = pcap(0xa1b2_c3d4, false, 101, 0, &PACKET);
        for (file, error) in [
            (b"time,size\n".to_vec(), "neither pcap nor pcapng"),
            (Vec::new(), "neither pcap nor pcapng"),
            (whole[..whole.len() - 1].to_vec(), "is truncated after 0 packets"),
            ([whole.as_slice(), &[1, 2, 3]].concat(), "is truncated after 1 packets"),
            (pcap(0xa1b2_c3d4, false, 105, 0, &PACKET), "link type 105"),
        ] {
            let found = read(&file).unwrap_err().to_string();
            assert!(found.contains(error), "{found}");
        }
    }

    /// A pcapng file of packets at these times, each in two pieces of the network.
    fn pcapng(times: &[u64]) -> Vec<u8> {
        let interface = |name: &str, framing| Interface {
            name: name.to_owned(),
            framing,
            rate: Rate::from_bits_per_second(2_000_000),
            stations: [0, 1],
        };
        let interfaces = vec![interface("a->b", Framing::EthernetFrame), interface("b->a", Framing::Ppp)];
        let mut writer = Writer::new(Vec::new(), "a test", interfaces, SnapLength::Headers).unwrap();
        for (index, time) in times.iter().enumerate() {
            let packet = Packet {
                length: 60 + index as u32,
                ..only(&pcap(0xa1b2_c3d4, false, 101, 0, &PACKET)).packet
            };
            let comment = (index == 1).then_some("dropped: queue-full");
            writer
                .write(&Frame {
                    interface: index % 2,
                    time: Time::from_picoseconds(*time),
                    packet: &packet,
                    transport: &Transport::Plain,
                    comment,
                })
                .unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_was_written_is_read_with_nanoseconds_and_interfaces() {
        let capture = read(&pcapng(&[0, 1_999, 2_000_000_000_123_456])).unwrap();
        assert_eq!(capture.interfaces, ["a->b", "b->a"]);
        let read: Vec<_> =
            capture.packets.iter().map(|seen| (seen.time, seen.interface, seen.packet.length)).collect();
        assert_eq!(read, [(0, 0, 60), (1, 1, 61), (2_000_000_000_123, 0, 62)]);
    }

    #[test]
    fn times_of_any_resolution_become_nanoseconds() {
        let interface =
            |options| InterfaceDescriptionBlock { linktype: pcap_file::DataLink::RAW, snaplen: 0, options };
        assert_eq!(time_of(&interface(vec![]), 5), 5_000);
        assert_eq!(time_of(&interface(vec![IfTsResol(9)]), 5), 5);
        assert_eq!(time_of(&interface(vec![IfTsResol(12)]), 5_000), 5);
        assert_eq!(time_of(&interface(vec![IfTsResol(0x80 | 0x0a)]), 512), 500_000_000);
        assert_eq!(time_of(&interface(vec![IfTsResol(0), IfTsOffset(2)]), 1), 3_000_000_000);
    }

    proptest! {
        #[test]
        fn a_damaged_file_never_panics(
            place in any::<prop::sample::Index>(),
            value in any::<u8>(),
            cut in any::<prop::sample::Index>(),
            ng in any::<bool>(),
        ) {
            let mut file = if ng {
                pcapng(&[0, 1_000_000, 2_000_000])
            } else {
                pcap(0xa1b2_c3d4, false, 1, 0, &[&[0; 12][..], &[8, 0], &PACKET].concat())
            };
            let index = place.index(file.len());
            file[index] = value;
            let _ = read(&file);
            let _ = read(&file[..cut.index(file.len())]);
        }
    }
}
