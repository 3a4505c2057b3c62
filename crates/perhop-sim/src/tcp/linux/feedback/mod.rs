//! What acknowledgments tell of marked packets: ECE, or the counter of accurate ECN (RFC 9768).

mod hooks;

use perhop_qos::units::Time;

use super::super::marks::FIRST_COUNT;

/// Segments that were delivered and had arrived marked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback {
    /// `delivered_ce`.
    pub(super) marked: u32,
    /// The counter in the last acknowledgment, and by how much the one under way is more.
    counter: u8,
    more: u8,
    /// The next segment is the ACK of the handshake, which has no counter.
    awaits_greeting: bool,
    /// The latest timestamp that came with a counter.
    latest: Time,
}

impl Default for Feedback {
    fn default() -> Feedback {
        Feedback { marked: 0, counter: FIRST_COUNT, more: 0, awaits_greeting: false, latest: Time::ZERO }
    }
}
