//! Packets that are dropped after they have joined a queue. They are not sent, and no class is charged.

use super::{Layout, Place, SchedulerTree, head_of};
use crate::queue::{Queue, QueueId};
use crate::scheduler::Scheduler;
use crate::units::Time;

impl SchedulerTree {
    /// Records that the head of the selected `queue`, a packet of `length` IP bytes, was dropped. `id` is the
    /// number of the queue. All enclosing schedulers count one packet fewer and choose again.
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

    /// Records that `queue`, which has number `id`, has dropped a packet of `length` IP bytes and has others
    /// left. The enclosing schedulers up to the next shaper count one packet fewer. Schedulers above a shaper
    /// are informed of one packet at a time and do not count the dropped one.
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

    /// Records the dropped packet at the child at `place`, whose head is now `head`.
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
            // The enclosing scheduler reads the head when it chooses.
            head = next.map_or(0, |Place { node, child, .. }| self.nodes[node].heads[child]);
        }
        self.mark_stale(leaf);
    }

    /// Does the same as [`dequeued_timed`](SchedulerTree::dequeued_timed), but takes no tokens.
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
