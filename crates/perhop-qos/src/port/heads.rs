//! [`Heads`]: the path that packets take from the heads of the queues to the ring.

use super::fragmenter::Fragmenter;
use crate::buffer::{AnyBuffer, BufferManager};
use crate::cake::Cake;

/// The path that packets take from the heads of the queues to the ring.
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
    /// Returns the path for a port with these buffer managers, and with a fragmenter or CAKE if it has one.
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
