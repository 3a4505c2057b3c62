//! [`Observer`]: how probes, logs and captures see what a port does without the port knowing them.

use crate::packet::Packet;
use crate::port::Transmission;
use crate::queue::{Occupancy, QueueId};
use crate::units::Time;
use crate::verdict::DropCause;

/// Sees every decision of a [`Port`](crate::Port). Every method does nothing by default, and the
/// port is compiled for each observer, so what is not watched costs nothing.
pub trait Observer {
    /// `packet` joined `queue`, whose occupancy now counts it.
    fn enqueued(&mut self, now: Time, queue: QueueId, packet: &Packet, occupancy: &Occupancy) {
        let _ = (now, queue, packet, occupancy);
    }
    /// `packet` was dropped; `queue` is where it would have waited, if that was known.
    fn dropped(&mut self, now: Time, queue: Option<QueueId>, packet: &Packet, cause: DropCause) {
        let _ = (now, queue, packet, cause);
    }
    /// `packet` was given the congestion-experienced codepoint.
    fn marked(&mut self, now: Time, queue: QueueId, packet: &Packet) {
        let _ = (now, queue, packet);
    }
    /// `queue` gave its head to the transmit ring; its occupancy no longer counts it.
    fn dequeued(&mut self, now: Time, queue: QueueId, transmission: &Transmission, occupancy: &Occupancy) {
        let _ = (now, queue, transmission, occupancy);
    }
}

/// The observer that sees nothing.
impl Observer for () {}
