//! [`Blocks`]: the blocks of a pcapng file in order, in the form that the parser accepts.
//!
//! A list of options does not have to end with `opt_endofopt`, because the length of a block also ends the
//! list (draft-ietf-opsawg-pcapng §3.5). `pcap_file` rejects such lists, so [`Blocks`] adds the option.
//! [`Blocks`] passes only blocks that concern packets to `pcap_file`.

use std::borrow::Cow;

use pcap_file::Endianness;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// The length of the fields before a block's body (type and length), bytes. The field after the body has
/// `TAIL` bytes and repeats the length.
const HEAD: usize = 8;
const TAIL: usize = 4;
/// The option `opt_endofopt`: code 0 and length 0.
const END_OF_OPTIONS: [u8; 4] = [0; 4];

/// The blocks of a pcapng file that have not been read.
pub(crate) struct Blocks<'a> {
    rest: &'a [u8],
    order: Endianness,
}

impl<'a> Blocks<'a> {
    /// Starts to read at the first block of `file`.
    pub(crate) fn new(file: &'a [u8]) -> Blocks<'a> {
        Blocks { rest: file, order: Endianness::Little }
    }

    /// Returns the number at `offset` in the unread part of the file.
    fn number(&self, offset: usize) -> Option<u32> {
        number(self.rest, offset, self.order)
    }
    /// Returns the length of the next block. Returns `None` if the block is incomplete.
    fn length(&self) -> Option<usize> {
        self.number(4)
            .map(|length| length as usize)
            .filter(|length| (HEAD + TAIL..=self.rest.len()).contains(length))
    }
    /// Removes the next block from the unread part of the file. Returns the block and its kind.
    fn take(&mut self) -> (u32, Cow<'a, [u8]>) {
        if self.rest.starts_with(&SECTION_HEADER.to_be_bytes()) {
            let is_big = self.rest.get(HEAD..HEAD + 4) == Some(&[0x1a, 0x2b, 0x3c, 0x4d]);
            self.order = if is_big { Endianness::Big } else { Endianness::Little };
        }
        let (Some(kind), Some(length)) = (self.number(0), self.length()) else {
            // The incomplete block is passed on, so that the parser reports the error.
            return (ENHANCED_PACKET, Cow::Borrowed(std::mem::take(&mut self.rest)));
        };
        let (block, rest) = self.rest.split_at(length);
        self.rest = rest;
        (kind, ended(kind, block, self.order))
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Cow<'a, [u8]>;
    /// Returns the next block that concerns packets.
    fn next(&mut self) -> Option<Cow<'a, [u8]>> {
        while !self.rest.is_empty() {
            let (kind, block) = self.take();
            let is_about_packets =
                [SECTION_HEADER, INTERFACE_DESCRIPTION, PACKET, SIMPLE_PACKET, ENHANCED_PACKET]
                    .contains(&kind);
            if is_about_packets {
                return Some(block);
            }
        }
        None
    }
}

fn number(bytes: &[u8], offset: usize, order: Endianness) -> Option<u32> {
    let bytes = *bytes.get(offset..)?.first_chunk()?;
    Some(if order == Endianness::Big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
}

/// Returns `block`. If the list of options of the block lacks `opt_endofopt`, the function adds this option.
fn ended(kind: u32, block: &[u8], order: Endianness) -> Cow<'_, [u8]> {
    let end = block.len() - TAIL;
    match options(kind, block, order).map(|start| lacks_end(&block[..end], start, order)) {
        Some(true) => {
            let length = (block.len() + END_OF_OPTIONS.len()) as u32;
            let length = if order == Endianness::Big { length.to_be_bytes() } else { length.to_le_bytes() };
            Cow::Owned([&block[..4], &length, &block[HEAD..end], &END_OF_OPTIONS, &length].concat())
        }
        _ => Cow::Borrowed(block),
    }
}

/// Returns the offset of the options of a block of this `kind`. Returns `None` if blocks of this kind have no
/// options.
fn options(kind: u32, block: &[u8], order: Endianness) -> Option<usize> {
    match kind {
        SECTION_HEADER => Some(HEAD + 16),
        INTERFACE_DESCRIPTION => Some(HEAD + 8),
        // The options follow the interface, the time (8 bytes), the captured length, the original length, and
        // the data, which are padded to a multiple of 4 bytes.
        PACKET | ENHANCED_PACKET => {
            let captured = number(block, HEAD + 12, order)? as usize;
            Some(HEAD + 20 + captured.checked_next_multiple_of(4)?)
        }
        _ => None,
    }
}

/// Whether the options of `block`, which begin at `start`, end exactly at the end of the block, without
/// `opt_endofopt`.
fn lacks_end(block: &[u8], start: usize, order: Endianness) -> bool {
    let mut at = start;
    while let Some(head) = number(block, at, order) {
        // The code and the length are 2 bytes each.
        let (code, length) = match order {
            Endianness::Big => (head >> 16, head & 0xffff),
            Endianness::Little => (head & 0xffff, head >> 16),
        };
        if code == 0 {
            return false;
        }
        at += 4 + (length as usize).next_multiple_of(4);
    }
    at > start && at == block.len()
}
