//! [`Heads`]: the treatment of packets at the heads of the queues of a port.

use super::fragmenter::Fragmenter;
use crate::buffer::{AnyBuffer, BufferManager};
use crate::cake::Cake;

/// The treatment of packets at the heads of the queues of a port.
#[derive(Clone, Copy, Debug)]
pub(super) enum Heads {
    /// Every packet that has joined a queue is sent, because all buffer managers decide on arrival.
    Free,
    /// A buffer manager may drop or mark the packets.
    Judged,
    /// The headers of the wire fragment the packets.
    InFragments,
    /// CAKE stores the packets and selects the next one.
    Cake,
}

impl Heads {
    /// Returns the treatment for queues with these buffer managers, before this fragmenter, or in this CAKE.
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
