//! [`Writer`]: writes the packets of one link to a pcapng file.

use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use perhop_qos::framing::{Framing, HeaderStack};
use perhop_qos::{Packet, Rate, Time};

use crate::headers::{Transport, headers};
use crate::link_layer;
use crate::stack::{Around, Encapsulated, Unit};

/// The part of each frame that is stored. The length on the wire is always stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapLength {
    /// Only the headers, because simulated payload is all zeros.
    #[default]
    Headers,
    /// This number of bytes from the start of the frame.
    Bytes(u32),
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The name: `C1->E3`.
    pub name: String,
    /// The framing of the link.
    pub framing: Framing,
    /// The headers between an IP packet and the framing.
    pub headers: HeaderStack,
    /// The rate of the link, bits per second.
    pub rate: Rate,
    /// The numbers of the sending and the receiving station, for Ethernet addresses.
    pub stations: [u32; 2],
}

/// One packet on an [`Interface`].
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    /// The index of the interface.
    pub interface: usize,
    /// The time since the start of the run.
    pub time: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// The transport header.
    pub transport: &'a Transport,
    /// The comment of the frame.
    pub comment: Option<&'a str>,
}

/// Writes frames to a pcapng file. The same frames result in the same bytes on every machine.
pub struct Writer<W: Write> {
    output: PcapNgWriter<W>,
    interfaces: Vec<Interface>,
    /// The number of written frames of each interface.
    written: Vec<u32>,
    snap_length: SnapLength,
    /// The bytes of the current frame. The buffer is reused.
    frame: Vec<u8>,
}

/// The number of decimal digits of fractions of a second. Nine digits are nanoseconds.
const RESOLUTION: u8 = 9;

impl<W: Write> Writer<W> {
    /// Starts a file with these `interfaces` on `output`. `comment` applies to the whole file.
    ///
    /// # Errors
    /// Writing to `output` fails.
    pub fn new(
        output: W,
        comment: &str,
        interfaces: Vec<Interface>,
        snap_length: SnapLength,
    ) -> io::Result<Writer<W>> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::UserApplication(concat!("perhop ", env!("CARGO_PKG_VERSION")).into()),
                SectionHeaderOption::Comment(comment.to_owned().into()),
            ],
            ..SectionHeaderBlock::default()
        };
        let mut output = PcapNgWriter::with_section_header(output, section).map_err(into_io)?;
        for Interface { name, framing, headers, rate, .. } in &interfaces {
            let block = InterfaceDescriptionBlock {
                linktype: DataLink::from(link_layer::link_type(*framing, Unit::outermost(headers))),
                // In pcapng, 0 means that the length is not limited.
                snaplen: match snap_length {
                    SnapLength::Headers => 0,
                    SnapLength::Bytes(bytes) => bytes,
                },
                options: vec![
                    InterfaceDescriptionOption::IfName(name.into()),
                    InterfaceDescriptionOption::IfSpeed(rate.as_bits_per_second()),
                    InterfaceDescriptionOption::IfTsResol(RESOLUTION),
                ],
            };
            output.write_pcapng_block(block).map_err(into_io)?;
        }
        let written = vec![0; interfaces.len()];
        Ok(Writer { output, interfaces, written, snap_length, frame: Vec::new() })
    }

    /// Writes `frame`. Times must not decrease from frame to frame.
    ///
    /// # Errors
    /// Writing to the output fails.
    pub fn write(&mut self, frame: &Frame) -> io::Result<()> {
        let Interface { framing, headers: stack, stations, .. } = &self.interfaces[frame.interface];
        let written = &mut self.written[frame.interface];
        let around = Around { packet: frame.packet, stations: *stations, sequence: *written };
        *written = written.wrapping_add(1);
        let Encapsulated { start, length, has_payload, unit } =
            around.encapsulate(headers(frame.packet, frame.transport), stack);
        self.frame.clear();
        link_layer::write_header(*framing, *stations, unit, &mut self.frame);
        let left_out = link_layer::left_out(*framing, unit);
        let original = link_layer::padded(*framing, self.frame.len() + length - left_out);
        self.frame.extend(&start[left_out..]);
        if let SnapLength::Bytes(kept) = self.snap_length {
            let known = if has_payload { original } else { self.frame.len() };
            self.frame.resize((kept as usize).min(known), 0);
        }
        let comment = frame.comment.map(|comment| EnhancedPacketOption::Comment(comment.into()));
        let block = EnhancedPacketBlock {
            interface_id: frame.interface as u32,
            timestamp: Duration::from_nanos(frame.time.as_picoseconds() / 1000),
            original_len: original as u32,
            data: Cow::Borrowed(&self.frame),
            options: comment.into_iter().collect(),
        };
        self.output.write_pcapng_block(block).map_err(into_io)?;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Writing to the output fails.
    pub fn finish(self) -> io::Result<W> {
        let mut output = self.output.into_inner();
        output.flush()?;
        Ok(output)
    }
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
