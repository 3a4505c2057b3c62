//! [`Heads`]: the path of packets from the heads of the queues to the ring.

use super::fragmenter::Fragmenter;
use crate::buffer::{AnyBuffer, BufferManager};
use crate::cake::Cake;

/// The path of packets from the heads of the queues to the ring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Heads {
    /// All packets that have joined a queue are sent, because all buffer managers decide on arrival.
    Free,
    /// A buffer manager can drop or mark the packets at the head.
    Judged,
    /// The headers of the wire fragment packets.
    InFragments,
    /// CAKE stores the packets and selects the next one.
    Cake,
}

impl Heads {
    /// Returns the path for a port with these buffer managers, and possibly with a fragmenter or CAKE.
    pub(super) fn for_buffers(
        buffers: &[AnyBuffer],
        fragmenter: Option<&Fragmenter>,
        cake: Option<&Cake>,
    ) -> Heads {
        if cake.is_some() {
            Heads::Cake
        } else if fragmenter.is_some() {
            Heads::InFragments
        } else if buffers.iter().all(BufferManager::decides_on_arrival) {
            Heads::Free
        } else {
            Heads::Judged
        }
    }
}
