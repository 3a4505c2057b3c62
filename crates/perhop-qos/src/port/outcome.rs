//! The results of a port for one packet.

use crate::DropCause;
use crate::units::Time;

/// The times of a packet on the wire. The packet is in the transmit ring, so the times are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The time at which the first bit is sent.
    pub starts: Time,
    /// The time at which the last bit has been sent.
    pub ends: Time,
}

/// The result of sending a packet through a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The port was idle. The packet is in the transmit ring.
    Transmitted(Departure),
    /// The packet waits. [`poll_transmit`](super::Port::poll_transmit) returns the next departure, or `None`
    /// while the [ring](super::Port::ring) has no room.
    Queued,
    /// The packet was dropped.
    Dropped(DropCause),
}
