//! Pauses of single queues. The schedulers do not see a paused queue, as if its shaper held its head back.

use super::{SchedulerTree, Shaping};
use crate::queue::QueueId;
use crate::units::Time;

impl SchedulerTree {
    /// Holds back all packets of queue `id` until [`resume`](SchedulerTree::resume). Its class must have
    /// `pause`.
    pub fn pause(&mut self, id: QueueId) {
        let shaping = self.pausable(id);
        (shaping.is_paused, shaping.covered) = (true, 0);
    }
    /// Ends the pause of queue `id`.
    pub fn resume(&mut self, id: QueueId) {
        self.pausable(id).is_paused = false;
    }
    /// The shaper of queue `id`.
    fn pausable(&mut self, id: QueueId) -> &mut Shaping {
        // The caller changes it.
        self.valid_until = Time::ZERO;
        let place = self.leaves[id.index()];
        let watched = place.shaped.expect("the class of a paused queue has `pause`");
        &mut self.nodes[place.node].watched[watched as usize].shaping
    }
}
