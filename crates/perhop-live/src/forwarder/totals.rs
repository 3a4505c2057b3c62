//! [`Totals`]: the numbers of all frames since the start, by outcome.

use perhop_qos::verdict::DropCause;

use crate::frame::Refusal;

/// The numbers of all frames since the start, by outcome. At any time, received = [`ended`](Totals::ended) +
/// held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Frames that arrived on any device.
    pub received: u64,
    /// Bytes of the received frames.
    pub received_bytes: u64,
    /// Frames without a packet to forward, by [`Refusal::index`].
    pub refused: [u64; Refusal::COUNT],
    /// Frames on a device on which no frames are expected.
    pub unexpected: u64,
    /// IP packets that a router does not forward: multicast, broadcast or link-local packets.
    pub local: u64,
    /// Frames longer than a slot: jumbo frames, or buffers that an interface would divide into segments.
    pub oversized: u64,
    /// Frames for which no slot was free.
    pub no_slot: u64,
    /// Packets dropped, by [`DropCause::index`].
    pub dropped: [u64; DropCause::COUNT],
    /// Frames passed to the wire.
    pub sent: u64,
    /// Bytes of these frames.
    pub sent_bytes: u64,
    /// Sent frames without an IP packet that bypassed the ports.
    pub passed: u64,
    /// Frames that a device did not send.
    pub unsent: u64,
}

impl Totals {
    /// The number of frames that have left or were dropped.
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
