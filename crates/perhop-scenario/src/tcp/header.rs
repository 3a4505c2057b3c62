//! The modeled parts of a TCP header: control bits and lengths.

use std::ops::{BitOr, BitOrAssign};

/// Headers of IP and TCP without options, bytes (RFC 791, RFC 9293).
pub const HEADERS: u32 = 40;
/// A TCP header without options, bytes (RFC 9293 §3.1).
pub const TCP_HEADER: u32 = 20;
/// Length of the timestamps option, bytes, including padding (RFC 7323 appendix A).
pub const TIMESTAMPS_OPTION: u32 = 12;

/// Control bits of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Opens a connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgment number is valid.
    pub const ACK: Flags = Flags(2);
    /// The sender has no more data.
    pub const FIN: Flags = Flags(4);
    /// The receiver has seen congestion (RFC 3168).
    pub const ECE: Flags = Flags(8);
    /// The sender has reduced its window (RFC 3168).
    pub const CWR: Flags = Flags(16);

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// Whether any bit of `other` is set.
    pub const fn intersects(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}
