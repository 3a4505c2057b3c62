//! Pauses of single queues. For the schedulers, a paused queue has no head, as if a shaper delayed it.

use super::{SchedulerTree, Shaping};
use crate::queue::QueueId;
use crate::units::Time;

impl SchedulerTree {
    /// Delays all packets of queue `id` until [`resume`](SchedulerTree::resume). The class of the queue must
    /// have `pause`.
    pub fn pause(&mut self, id: QueueId) {
        let shaping = self.pausable(id);
        (shaping.is_paused, shaping.covered) = (true, 0);
    }
    /// Ends the pause of queue `id`.
    pub fn resume(&mut self, id: QueueId) {
        self.pausable(id).is_paused = false;
    }
    /// The shaper of queue `id`, for a caller that changes its state.
    fn pausable(&mut self, id: QueueId) -> &mut Shaping {
        // The caller changes the state, so the last choices are no longer valid.
        self.valid_until = Time::ZERO;
        let place = self.leaves[id.index()];
        let watched = place.shaped.expect("the class of a paused queue has `pause`");
        &mut self.nodes[place.node].watched[watched as usize].shaping
    }
}
