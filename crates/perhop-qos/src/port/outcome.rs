//! What a port says of a packet that it was given.

use crate::units::Time;

/// When a packet is on the wire: it has left the scheduler's hands, and nothing can change its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its first bit goes out.
    pub starts: Time,
    /// When its last bit has gone out.
    pub ends: Time,
}

/// What became of a packet that was sent through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Nothing stood before it: it is in the transmit ring.
    Transmitted(Departure),
    /// It waits; [`poll_transmit`](super::Port::poll_transmit) says what leaves next, which is nothing as
    /// long as the [ring](super::Port::ring) has no room.
    Queued,
    /// It ends here.
    Dropped,
}
