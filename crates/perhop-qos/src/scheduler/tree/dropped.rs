//! Packets that are dropped after they have joined a queue. They are not sent and are not charged to a class.

use super::{Layout, Place, SchedulerTree, head_of};
use crate::queue::{Queue, QueueId};
use crate::scheduler::Scheduler;
use crate::units::Time;

impl SchedulerTree {
    /// Records that the head of the selected `queue`, a packet of `length` IP bytes, was dropped. `id` is the
    /// number of the queue. All schedulers above the queue count one packet less and make a new choice.
    #[inline(never)]
    pub fn dropped(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let (length, head) = (self.accounting.counted(length), head_of(queue, self.accounting));
        match self.layout {
            Layout::Single => {}
            Layout::Flat | Layout::Counting => {
                self.dropped_at(now, self.leaves[id.index()], length, head);
            }
            Layout::Nested | Layout::Timed => self.dropped_deep(now, id, length, head),
        }
    }

    /// Records that `queue`, which has the number `id` and still has packets, has dropped a packet of
    /// `length` IP bytes. The schedulers from the queue up to the next shaper count one packet less.
    /// Schedulers above a shaper are notified of one packet at a time, so they have not counted the dropped
    /// packet.
    #[inline(never)]
    pub fn discarded(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let (length, head) = (self.accounting.counted(length), head_of(queue, self.accounting));
        match self.layout {
            Layout::Single => {}
            Layout::Flat | Layout::Counting => {
                self.dropped_at(now, self.leaves[id.index()], length, head);
            }
            Layout::Nested | Layout::Timed => self.discarded_deep(now, id, length, head),
        }
    }

    /// Records a dropped packet of the child at `place`, whose next head has the length `head`.
    fn dropped_at(&mut self, now: Time, place: Place, length: u32, head: u32) {
        let node = &mut self.nodes[place.node];
        node.heads[place.child] = head;
        node.scheduler.dropped(now, place.child, length, head);
    }

    fn discarded_deep(&mut self, now: Time, id: QueueId, length: u32, mut head: u32) {
        let leaf = self.leaves[id.index()];
        let mut next = Some(leaf);
        while let Some(place) = next.filter(|place| place.shaped.is_none()) {
            self.dropped_at(now, place, length, head);
            next = self.nodes[place.node].parent;
            // The enclosing scheduler reads the new head when it makes a choice.
            head = next.map_or(0, |Place { node, child, .. }| self.nodes[node].heads[child]);
        }
        self.mark_stale(leaf);
    }

    /// Updates the tree like [`dequeued_timed`](SchedulerTree::dequeued_timed), but spends no tokens.
    fn dropped_deep(&mut self, now: Time, id: QueueId, length: u32, mut head: u32) {
        self.valid_until = Time::ZERO;
        let mut next = Some(self.leaves[id.index()]);
        while let Some(place) = next {
            if let Some(watched) = place.shaped {
                head = self.spend(now, place, watched, 0, head);
            }
            self.dropped_at(now, place, length, head);
            let node = &mut self.nodes[place.node];
            node.choose(now);
            head = node.head();
            next = node.parent;
        }
    }
}
