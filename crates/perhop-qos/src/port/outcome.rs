//! The results of a port for a packet.

use crate::DropCause;
use crate::units::Time;

/// The times of a packet on the wire. The scheduler has released it, and the times are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The time of its first bit.
    pub starts: Time,
    /// The end of its last bit.
    pub ends: Time,
}

/// The result of sending a packet through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The port was idle: the packet is in the transmit ring.
    Transmitted(Departure),
    /// The packet waits. [`poll_transmit`](super::Port::poll_transmit) returns the next departure, which is
    /// `None` while the [ring](super::Port::ring) has no room.
    Queued,
    /// The packet was dropped.
    Dropped(DropCause),
}
