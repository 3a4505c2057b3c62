//! Heads that are dropped after they were selected: nobody sends, and nobody pays.

use super::{Layout, SchedulerTree, head_of};
use crate::queue::{Queue, QueueId};
use crate::scheduler::Scheduler;
use crate::units::Time;

impl SchedulerTree {
    /// The head of `queue`, which was selected by its number `id`, a packet of `length` IP bytes, has left it
    /// and was dropped: all schedulers around it count one packet less, and choose afresh.
    #[inline(never)]
    pub fn dropped(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let (length, head) = (self.accounting.counted(length), head_of(queue, self.accounting));
        match self.layout {
            Layout::Single => {}
            Layout::Flat | Layout::Counting => {
                let node = &mut self.nodes[0];
                node.heads[id.index()] = head;
                node.scheduler.dropped(now, id.index(), length, head);
            }
            Layout::Deep => self.dropped_deep(now, id, length, head),
        }
    }

    /// As [`dequeued_timed`](SchedulerTree::dequeued_timed), and no tokens are spent.
    fn dropped_deep(&mut self, now: Time, id: QueueId, length: u32, mut head: u32) {
        let mut next = Some(self.leaves[id.index()]);
        while let Some(place) = next {
            if self.shaping(place).shaper.is_some() {
                head = self.spend(now, place, 0, head);
            }
            let node = &mut self.nodes[place.node];
            node.heads[place.child] = head;
            node.scheduler.dropped(now, place.child, length, head);
            node.choose(now);
            head = node.head();
            next = node.parent;
        }
    }
}
