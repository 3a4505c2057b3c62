//! The number of marked packets that acknowledgments report, by ECE or by the counter of accurate ECN (RFC
//! 9768).

mod hooks;

use perhop_qos::units::Time;

use super::super::marks::FIRST_COUNT;

/// The marks that acknowledgments have reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback {
    /// `delivered_ce`: the number of delivered segments that had arrived marked.
    pub(super) marked: u32,
    /// The counter in the last acknowledgment.
    counter: u8,
    /// The increase of the counter in the current acknowledgment.
    more: u8,
    /// Whether the next segment is the ACK of the handshake, which has no counter.
    awaits_handshake_ack: bool,
    /// The latest timestamp of a segment with a counter.
    latest: Time,
}

impl Default for Feedback {
    fn default() -> Feedback {
        Feedback { marked: 0, counter: FIRST_COUNT, more: 0, awaits_handshake_ack: false, latest: Time::ZERO }
    }
}
