//! [`Flags`]: the control bits of a TCP header.

use std::ops::{BitOr, BitOrAssign};

/// Control bits of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// The segment opens a connection.
    pub const SYN: Flags = Flags(1);
    /// The acknowledgment number is valid.
    pub const ACK: Flags = Flags(2);
    /// The sender has no more data.
    pub const FIN: Flags = Flags(4);
    /// The receiver has seen congestion (RFC 3168).
    pub const ECE: Flags = Flags(8);
    /// The sender has reduced its window (RFC 3168).
    pub const CWR: Flags = Flags(16);
    /// The first of the three flags of accurate ECN (RFC 9768); the others are CWR and ECE.
    pub const AE: Flags = Flags(32);

    /// Encodes the low three bits of a counter as flags (RFC 9768 §3.2.2).
    pub fn of_counter(count: u8) -> Flags {
        let flags = [(4, Flags::AE), (2, Flags::CWR), (1, Flags::ECE)];
        flags.iter().filter(|(bit, _)| count & bit != 0).fold(Flags(0), |all, (_, flag)| all | *flag)
    }
    /// Decodes the counter in the three flags, from 0 to 7.
    pub fn counter(self) -> u8 {
        let bit = |flag: Flags, value| if self.contains(flag) { value } else { 0 };
        bit(Flags::AE, 4) + bit(Flags::CWR, 2) + bit(Flags::ECE, 1)
    }

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
