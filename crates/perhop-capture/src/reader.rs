//! [`read`]: the IP packets of a pcap or pcapng file.

use std::fmt;

use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{PcapError, TsResolution};
use perhop_qos::packet::Packet;

use crate::blocks::Blocks;
use crate::dissector::dissect;
use crate::headers::TcpFields;
use crate::link_layer;

/// An IP packet in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The time in nanoseconds since the epoch of the file.
    pub time: u64,
    /// The index of the interface of the packet in [`Capture::interfaces`].
    pub interface: usize,
    /// The five-tuple, the IP length, the codepoint and the ECN field. The descriptor also contains the CoS
    /// of a frame with a VLAN tag and the EXP of a frame with labels.
    pub packet: Packet,
    /// The fixed part of the TCP header, if any.
    pub tcp: Option<TcpFields>,
}

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The IP packets, in order of time.
    pub packets: Vec<Observed>,
    /// The names of the interfaces that the file describes. A name is empty if the file does not contain the
    /// name.
    pub interfaces: Vec<String>,
    /// The number of frames without an IP packet.
    pub others: u64,
}

/// The reason why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The file is neither pcap nor pcapng.
    Unknown,
    /// The file ends inside a packet, after this number of complete packets.
    Truncated(u64),
    /// The file is damaged after this number of packets. The text is the reason.
    Damaged(u64, String),
    /// The link type with this number is not known.
    LinkType(u32),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unreadable::Unknown => formatter.write_str("the file is neither pcap nor pcapng"),
            Unreadable::Truncated(packets) => {
                write!(formatter, "the file is truncated after {packets} packets")
            }
            Unreadable::Damaged(packets, reason) => {
                write!(formatter, "the file is damaged after {packets} packets: {reason}")
            }
            Unreadable::LinkType(number) => {
                write!(formatter, "the link type {number} of the file is unknown")
            }
        }
    }
}

impl std::error::Error for Unreadable {}

/// The first bytes of a pcap file with microseconds and with nanoseconds, in both byte orders.
const PCAP: [[u8; 4]; 4] =
    [[0xa1, 0xb2, 0xc3, 0xd4], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d], [0x4d, 0x3c, 0xb2, 0xa1]];
/// The first bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Returns the IP packets in `file`, sorted by time. Frames without an IP packet are counted and skipped.
///
/// # Errors
/// The file has another format, is damaged, or has an unknown link type.
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
    // The upper 16 bits may contain a flag for frames that end with an FCS.
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
    let mut blocks = Blocks::new(file);
    let section = blocks.next().unwrap_or_default();
    let (_, mut parser) = PcapNgParser::new(&section).map_err(|error| broken(0, &error))?;
    let mut capture = Capture::default();
    // The numbers of interfaces begin at 0 again in each section.
    let mut first = 0;
    let mut frames = 0;
    for block in blocks {
        let (_, block) = parser.next_block(&block).map_err(|error| broken(frames, &error))?;
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
                // The parser assumes that all times are in nanoseconds, so this value is the number of units.
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

/// Converts a time of `units` at `interface` to nanoseconds. Without a resolution, a unit is a microsecond.
/// Otherwise, the resolution is an exponent: a unit is this negative power of ten, or of two if the first bit
/// is set.
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

/// A frame as stored in a file.
struct Raw<'a> {
    time: u64,
    interface: usize,
    link_type: u32,
    original: u32,
    bytes: &'a [u8],
}

impl Capture {
    /// Adds the IP packet in `raw`, if any.
    fn take(&mut self, raw: &Raw) -> Result<(), Unreadable> {
        let Raw { time, interface, link_type, original, bytes } = *raw;
        let carried = link_layer::payload(link_type, bytes).map_err(|()| Unreadable::LinkType(link_type))?;
        let found = carried.and_then(|carried| {
            let around = bytes.len() - carried.bytes.len();
            dissect(&carried, original.saturating_sub(around as u32))
        });
        match found {
            Some((packet, tcp)) => self.packets.push(Observed { time, interface, packet, tcp }),
            None => self.others += 1,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
