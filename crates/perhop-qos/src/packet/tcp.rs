//! [`TcpHeader`]: the fields of a TCP header that a queue may read.

/// The fields of a TCP header that determine whether an acknowledgment makes another one redundant. The
/// component that stores the bytes of the packet provides them
/// ([`Observer::tcp_header`](crate::Observer::tcp_header)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// The acknowledgment number.
    pub acknowledgment: u32,
    /// The twelve bits after the length of the header. FIN is the lowest bit.
    pub flags: u16,
    /// Whether data follows the header.
    pub has_payload: bool,
    /// Whether the header has an invalid option, or an option other than timestamps, selective
    /// acknowledgments and MD5.
    pub has_others: bool,
    /// The timestamp of the sender and the echoed timestamp (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// The start and the end of each selectively acknowledged block (RFC 2018). Only the first
    /// [`blocks`](TcpHeader::blocks) entries are valid.
    pub sack: [(u32, u32); TcpHeader::MOST_BLOCKS],
    /// The number of blocks.
    pub blocks: u8,
}

impl TcpHeader {
    /// The largest number of blocks that fit in the options.
    pub const MOST_BLOCKS: usize = 4;
    /// `FIN`.
    pub const FIN: u16 = 0x001;
    /// `SYN`.
    pub const SYN: u16 = 0x002;
    /// `ACK`.
    pub const ACK: u16 = 0x010;
    /// `ECE`.
    pub const ECE: u16 = 0x040;
    /// `CWR`.
    pub const CWR: u16 = 0x080;
    /// `AE` of accurate ECN (RFC 9768), the lowest of the four formerly reserved bits.
    pub const AE: u16 = 0x100;

    /// Adds a block, if there is room for it.
    pub fn push_block(&mut self, start: u32, end: u32) {
        if let Some(block) = self.sack.get_mut(usize::from(self.blocks)) {
            *block = (start, end);
            self.blocks += 1;
        }
    }
    /// The blocks.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.blocks).min(TcpHeader::MOST_BLOCKS)]
    }
}
