//! [`Segment`]: one TCP segment, with offsets instead of sequence numbers.

use std::fmt;

use perhop_qos::packet::{Ecn, TcpHeader};
use perhop_qos::units::Time;
use perhop_scenario::tcp::{
    Flags, HEADERS, Headers, Parameters, QUIC_HEADERS, QUIC_PACKET, TIMESTAMPS_OPTION,
};

/// Offsets from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Range {
    /// Whether the range has no offsets.
    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// The blocks of a selective acknowledgment, at most four (RFC 2018 §3).
///
/// Most segments never have blocks, so the memory is allocated for the first block. `clear` does not free
/// this memory, so the next segment can use it.
#[derive(Clone, Debug, Default)]
pub struct SackBlocks(Option<Box<Blocks>>);

#[derive(Clone, Debug, Default)]
struct Blocks {
    count: usize,
    blocks: [Range; SackBlocks::MOST],
}

impl SackBlocks {
    /// The largest number of blocks in a header. With timestamps, a header has room for one block less.
    pub const MOST: usize = 4;

    /// Adds the block of offsets from `start` up to but not including `end`, if there is room.
    pub fn push(&mut self, start: u64, end: u64) {
        let Blocks { count, blocks } = &mut **self.0.get_or_insert_default();
        if let Some(block) = blocks.get_mut(*count) {
            *block = Range { start, end };
            *count += 1;
        }
    }
    /// Removes all blocks.
    #[inline]
    pub(super) fn clear(&mut self) {
        if let Some(blocks) = &mut self.0 {
            blocks.count = 0;
        }
    }
    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |blocks| blocks.count)
    }
    /// Whether there are no blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The blocks as (start, end).
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let blocks = self.0.as_ref().map_or(&[][..], |blocks| &blocks.blocks[..blocks.count]);
        blocks.iter().map(|block| (block.start, block.end))
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &SackBlocks) -> bool {
        self.iter().eq(other.iter())
    }
}
impl Eq for SackBlocks {}

/// The timestamps option (RFC 7323 §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed)] // the kind of `Numbering` takes one byte
pub struct Timestamps {
    /// The send time of this segment.
    pub value: Time,
    /// The send time of the segment that this segment answers.
    pub echo: Time,
}

/// The packet number and acknowledgment delay of a QUIC packet (RFC 9000 §17.1, §19.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed)] // the kind of `Numbering` takes one byte
pub struct PacketNumbers {
    /// The number of the packet, if it carries data of the stream.
    pub number: u32,
    /// The time since the packet with the largest acknowledged number arrived, microseconds.
    pub delay: u32,
}

/// Optional fields of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// No optional fields.
    #[default]
    None,
    /// The timestamps option, if the connection uses it.
    Timestamps(Timestamps),
    /// Fields of a QUIC packet, whose blocks are ranges of packet numbers.
    Packet(PacketNumbers),
}

/// One TCP segment, with the ECN field and the number of the packet that carries it. Sequence numbers are
/// offsets in the byte stream.
///
/// A network has many segments, so a segment and its recipient fit into one cache line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)] // without gaps
pub struct Segment {
    /// The offset of the first payload byte. Without payload, the offset of the next byte to be sent.
    pub sequence: u64,
    /// The next offset that the sender of this segment expects to receive.
    pub acknowledgment: u64,
    /// Payload bytes.
    pub length: u32,
    /// The offered window, bytes after `acknowledgment`.
    pub window: u32,
    /// The number of the packet in its flow. The host sets it.
    pub serial: u32,
    /// Control bits.
    pub flags: Flags,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// Timestamps, or the number of a QUIC packet.
    pub numbering: Numbering,
    /// The data that arrived above `acknowledgment`. In QUIC, the numbers of packets that arrived, beginning
    /// with the largest.
    pub sack: SackBlocks,
}

/// The length of the maximum-segment-size option in a SYN, bytes (RFC 9293 §3.2).
const SEGMENT_SIZE_OPTION: u32 = 4;

impl Segment {
    /// The offset after the last payload byte of the segment, including its FIN.
    pub fn end(&self) -> u64 {
        self.sequence + u64::from(self.length) + u64::from(self.has(Flags::FIN))
    }
    /// The timestamps of the segment, if any.
    pub fn timestamps(&self) -> Option<Timestamps> {
        match self.numbering {
            Numbering::Timestamps(timestamps) => Some(timestamps),
            Numbering::None | Numbering::Packet(_) => None,
        }
    }
    /// The QUIC fields of the segment, if it is a QUIC packet.
    pub fn packet(&self) -> Option<PacketNumbers> {
        match self.numbering {
            Numbering::Packet(numbers) => Some(numbers),
            Numbering::None | Numbering::Timestamps(_) => None,
        }
    }
    /// Whether the segment has payload or a FIN.
    pub(super) fn has_text(&self) -> bool {
        self.length > 0 || self.has(Flags::FIN)
    }
    /// Whether every bit of `flags` is set.
    pub fn has(&self, flags: Flags) -> bool {
        self.flags.contains(flags)
    }
    /// Returns the header for a queue that reads TCP headers. Sequence numbers are modulo 2³², and timestamps
    /// are in milliseconds, as in Linux.
    pub fn header(&self) -> TcpHeader {
        let bits = [
            (Flags::FIN, TcpHeader::FIN),
            (Flags::SYN, TcpHeader::SYN),
            (Flags::ACK, TcpHeader::ACK),
            (Flags::ECE, TcpHeader::ECE),
            (Flags::CWR, TcpHeader::CWR),
            (Flags::AE, TcpHeader::AE),
        ];
        let milliseconds = |time: Time| (time.as_picoseconds() / 1_000_000_000) as u32;
        let mut header = TcpHeader {
            acknowledgment: self.acknowledgment as u32,
            flags: bits.iter().filter(|(flag, _)| self.has(*flag)).fold(0, |all, (_, bit)| all | bit),
            has_payload: self.length > 0,
            has_others: self.has(Flags::SYN),
            timestamps: self
                .timestamps()
                .map(|stamps| (milliseconds(stamps.value), milliseconds(stamps.echo))),
            ..TcpHeader::default()
        };
        for (start, end) in self.sack.iter() {
            header.push_block(start as u32, end as u32);
        }
        header
    }
    /// The length of the IP packet, bytes, including options.
    pub fn ip_length(&self) -> u32 {
        let timestamps = if self.timestamps().is_some() { TIMESTAMPS_OPTION } else { 0 };
        let has_rare_options = !self.sack.is_empty() || self.has(Flags::SYN);
        HEADERS + self.length + timestamps + if has_rare_options { self.rare_options() } else { 0 }
    }
    /// The length of the IP packet as `parameters` count it, bytes.
    #[inline]
    pub fn counted_length(&self, parameters: &Parameters) -> u32 {
        match parameters.headers {
            Headers::Included if self.length > 0 => self.length,
            Headers::Added | Headers::Included => self.ip_length(),
            Headers::Quic => self.quic_length(parameters.largest_packet()),
        }
    }
    /// Returns the length of the IP packet of a segment with `payload` bytes and without SYN and SACK blocks,
    /// as `parameters` count it, bytes.
    pub(super) fn plain_ip_length(parameters: &Parameters, payload: u32) -> u32 {
        let numbering = if parameters.timestamps {
            Numbering::Timestamps(Timestamps::default())
        } else {
            Numbering::None
        };
        Segment { length: payload, numbering, ..Segment::default() }.counted_length(parameters)
    }
    /// Returns the length of the IP packet of a QUIC packet, at most `largest` bytes. An acknowledgment does
    /// not change the length of a packet with data.
    fn quic_length(&self, largest: u32) -> u32 {
        if self.has(Flags::SYN) {
            // RFC 9000 §14.1: datagrams with Initial packets have 1200 bytes.
            return largest.min(20 + 8 + 1200);
        }
        if self.has_text() {
            return QUIC_HEADERS + self.length;
        }
        // RFC 9000 §19.3: type 1, largest number 4, delay 2, count 1, first range 2, and 4 for each further
        // range.
        QUIC_PACKET + 10 + 4 * (self.sack.len() as u32).saturating_sub(1)
    }
    /// Returns the length of the options that most segments do not have, bytes.
    #[inline(never)]
    fn rare_options(&self) -> u32 {
        // RFC 2018 §3: 2 bytes and 8 bytes per block, padded to a multiple of 4.
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.len() as u32 };
        let syn = if self.has(Flags::SYN) { SEGMENT_SIZE_OPTION } else { 0 };
        sack + syn
    }
}

/// Writes a readable form: `syn`, `0..1000`, `3000..4000 fin`, `ack 2000 sack 3000..4000`; `ect` is the
/// packet's ECN field.
impl fmt::Display for Segment {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let mut words = Vec::new();
        if self.has(Flags::SYN) {
            words.push("syn".to_owned());
        }
        if self.length > 0 {
            words.push(format!("{}..{}", self.sequence, self.sequence + u64::from(self.length)));
        }
        for (flag, word) in [(Flags::FIN, "fin"), (Flags::CWR, "cwr")] {
            if self.has(flag) {
                words.push(word.to_owned());
            }
        }
        // The acknowledgment of offset 0 on the first data contains no information.
        if self.has(Flags::ACK) && (self.end() == self.sequence || self.acknowledgment > 0) {
            words.push(format!("ack {}", self.acknowledgment));
        }
        if !self.sack.is_empty() {
            words.push("sack".to_owned());
            words.extend(self.sack.iter().map(|(start, end)| format!("{start}..{end}")));
        }
        for (flag, word) in [(Flags::ECE, "ece"), (Flags::AE, "ae")] {
            if self.has(flag) {
                words.push(word.to_owned());
            }
        }
        match self.ecn {
            Ecn::NotCapable => {}
            Ecn::Capable1 => words.push("ect1".to_owned()),
            Ecn::Capable0 | Ecn::CongestionExperienced => words.push("ect".to_owned()),
        }
        formatter.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_the_length_of_headers_options_and_payload() {
        let data = Segment { length: 1460, flags: Flags::ACK, ..Segment::default() };
        assert_eq!(data.ip_length(), 1500);
        let stamped =
            Segment { length: 1448, numbering: Numbering::Timestamps(Timestamps::default()), ..data.clone() };
        assert_eq!(stamped.ip_length(), 1500);
        let mut selective = Segment { length: 0, ..data };
        selective.sack.push(3000, 4000);
        assert_eq!(selective.ip_length(), 52);
        assert_eq!(Segment { flags: Flags::SYN, ..Segment::default() }.ip_length(), 44);
    }

    #[test]
    fn a_fin_takes_an_offset() {
        let last = Segment { sequence: 10, length: 5, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(last.end(), 16);
        assert_eq!(last.to_string(), "10..15 fin");
    }
}
