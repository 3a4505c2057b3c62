//! [`TcpHeader`]: what a queue may ask of a packet's TCP header.

/// What of a TCP header says whether one acknowledgment repeats another. Who has the packet's bytes, or what
/// stands for them, answers for it ([`Observer::tcp_header`](crate::Observer::tcp_header)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// The acknowledgment number.
    pub acknowledgment: u32,
    /// The twelve bits after the header's length, of which FIN is the lowest.
    pub flags: u16,
    /// Whether bytes follow the header.
    pub has_payload: bool,
    /// Whether there are options beyond timestamps and selective acknowledgments (and MD5, which says nothing
    /// of its own), or such that are no good.
    pub has_others: bool,
    /// The sender's timestamp and the one that it echoes (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
    /// Start and end of the blocks that are acknowledged selectively (RFC 2018), the first
    /// [`blocks`](TcpHeader::blocks) of these.
    pub sack: [(u32, u32); TcpHeader::MOST_BLOCKS],
    /// How many blocks there are.
    pub blocks: u8,
}

impl TcpHeader {
    /// No more blocks than these find room in the options.
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
    /// `AE` of accurate ECN (RFC 9768), the lowest of the four that were reserved once.
    pub const AE: u16 = 0x100;

    /// Adds a block, if there is room.
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
