//! [`Heads`]: what befalls packets at the heads of a port's queues.

use super::fragmenter::Fragmenter;
use crate::buffer::{AnyBuffer, BufferManager};

/// What befalls packets at the heads of a port's queues.
#[derive(Clone, Copy, Debug)]
pub(super) enum Heads {
    /// Whatever has joined a queue goes on: all buffer managers decide on arrival.
    Free,
    /// A buffer manager may drop or mark them.
    Judged,
    /// The headers of the wire cut them into fragments.
    InFragments,
}

impl Heads {
    /// Of queues with these buffer managers, before such a fragmenter.
    pub(super) fn of(buffers: &[AnyBuffer], fragmenter: Option<&Fragmenter>) -> Heads {
        if fragmenter.is_some() {
            Heads::InFragments
        } else if buffers.iter().all(BufferManager::decides_on_arrival) {
            Heads::Free
        } else {
            Heads::Judged
        }
    }
}
