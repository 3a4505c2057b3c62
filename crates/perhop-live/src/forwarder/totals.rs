//! [`Totals`]: what became of all frames since the start.

use perhop_qos::verdict::DropCause;

use crate::frame::Refusal;

/// The fate of every frame since the start: received = [`ended`](Totals::ended) + held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames that arrived, by whatever device.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that hold no packet that could be forwarded, by [`Refusal::index`].
    pub refused: [u64; Refusal::COUNT],
    /// Came by a device on which nothing is received.
    pub unexpected: u64,
    /// IP packets that no router forwards: for groups, or for the link they came by.
    pub local: u64,
    /// Longer than a slot: segments that an interface was to cut, or jumbo frames.
    pub oversized: u64,
    /// Found every slot taken.
    pub no_slot: u64,
    /// Packets dropped, by [`DropCause::index`].
    pub dropped: [u64; DropCause::COUNT],
    /// Frames handed to the wire.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Of these, frames without an IP packet that went past the ports.
    pub passed: u64,
    /// Frames that a device refused to send.
    pub unsent: u64,
}

impl Totals {
    /// Frames that have ended here, one way or the other.
    pub fn ended(&self) -> u64 {
        let refused: u64 = self.refused.iter().sum();
        let dropped: u64 = self.dropped.iter().sum();
        refused
            + self.unexpected
            + self.local
            + self.oversized
            + self.no_slot
            + dropped
            + self.sent
            + self.unsent
    }
}
