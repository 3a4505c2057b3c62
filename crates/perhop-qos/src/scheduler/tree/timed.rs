//! Trees with schedulers or shapers whose choices depend on time. All choices are made again before every
//! packet. Bytes are counted by the accounting of the policy.

use super::{Below, Node, Place, SchedulerTree, head_of};
use crate::queue::{Queue, QueueId};
use crate::scheduler::{Scheduler, Selection};
use crate::units::Time;

impl SchedulerTree {
    /// Informs the schedulers above `queue` of a packet. Schedulers above a shaper are not informed until the
    /// shaper lets the packet leave.
    #[inline(never)]
    pub(super) fn enqueued_timed(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let place = self.leaves[id.index()];
        let shaping = self.shaping(place);
        match &shaping.shaper {
            None => {
                let node = &mut self.nodes[place.node];
                node.is_stale |= node.update_tail(place.child, length, queue, self.accounting);
                self.announce(now, place, self.accounting.counted(length));
            }
            // A shaper without a rate delays no packet. The schedulers above are informed at the arrival, so
            // that they see the arrivals of unpaused queues in order.
            Some(shaper) if shaper.is_unlimited() && !shaping.is_paused && !shaping.released => {
                self.announce(now, place, head_of(queue, self.accounting));
            }
            Some(_) => {}
        }
    }

    /// Updates every scheduler whose choice may have changed, inner ones first. Returns the queue to which
    /// the choices lead.
    #[inline(never)]
    pub(super) fn select_timed(&mut self, now: Time, queues: &[Queue]) -> Selection<QueueId> {
        let mut release = Time::MAX;
        for index in (0..self.nodes.len()).rev() {
            for watched in 0..self.nodes[index].watched.len() {
                let child = self.nodes[index].watched[watched];
                let ready_at = self.update_head(now, Place { node: index, child }, queues);
                release = release.min(ready_at.unwrap_or(Time::MAX));
            }
            let node = &mut self.nodes[index];
            if node.is_stale || node.depends_on_time {
                node.choose(now);
            }
            if node.choice.is_none() {
                release = release.min(node.scheduler.held_until().unwrap_or(Time::MAX));
            }
        }
        match self.chosen() {
            Some(queue) => Selection::Serve(queue),
            None if release < Time::MAX => Selection::WaitUntil(release),
            None => Selection::Idle,
        }
    }

    /// Updates the head of the child at `place`. If the child's shaper delays the head, returns the time at
    /// which it may leave.
    #[inline]
    fn update_head(&mut self, now: Time, place: Place, queues: &[Queue]) -> Option<Time> {
        let node = &self.nodes[place.node];
        let length = match node.children[place.child] {
            Below::Queue(queue) => head_of(&queues[queue.index()], self.accounting),
            Below::Node(inner) => self.nodes[usize::from(inner)].head(),
        };
        let shaping = &node.shaping[place.child];
        if length > shaping.covered
            && let Some(shaper) = &shaping.shaper
        {
            let ready_at = if shaping.is_paused { Time::MAX } else { shaper.ready_at(now, length) };
            if ready_at > now {
                self.nodes[place.node].change_head(place.child, 0);
                return Some(ready_at);
            }
            if !shaping.released {
                self.announce(now, place, length);
            }
            self.nodes[place.node].shaping[place.child].covered = length;
        }
        self.nodes[place.node].change_head(place.child, length);
        None
    }

    /// Informs the schedulers above `place` of a packet, up to the next shaper. The others are informed when
    /// that shaper lets the packet leave.
    fn announce(&mut self, now: Time, place: Place, length: u32) {
        let mut next = Some(place);
        while let Some(place) = next {
            let node = &mut self.nodes[place.node];
            node.shaping[place.child].released = true;
            node.scheduler.enqueued(now, place.child, length);
            next = node.parent.filter(|parent| self.shaping(*parent).shaper.is_none());
        }
    }

    /// Records that `queue`, which has number `id`, has sent a packet of `length` IP bytes.
    #[inline(never)]
    pub(super) fn dequeued_timed(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let length = self.accounting.counted(length);
        let mut next = Some(self.leaves[id.index()]);
        // The length of the packet that the child at `place` would send next without a shaper.
        let mut head = head_of(queue, self.accounting);
        while let Some(place) = next {
            if self.shaping(place).shaper.is_some() {
                head = self.spend(now, place, length, head);
            }
            let node = &mut self.nodes[place.node];
            node.sent(now, place.child, length, head);
            node.is_stale = false;
            head = node.head();
            next = node.parent;
        }
    }

    /// Records that the shaped child at `place` has sent a packet that counts `length` bytes. Returns its
    /// head if the head may follow at once.
    ///
    /// Such a head is announced before its predecessor is removed. The scheduler above sees no gap, so the
    /// child keeps its place.
    #[expect(clippy::inline_always, reason = "every shaped packet calls it")]
    #[inline(always)]
    pub(super) fn spend(&mut self, now: Time, place: Place, length: u32, head: u32) -> u32 {
        let shaping = &mut self.nodes[place.node].shaping[place.child];
        (shaping.released, shaping.covered) = (false, 0);
        let Some(shaper) = &mut shaping.shaper else { return head };
        shaper.sent(now, length);
        if head == 0 || shaper.ready_at(now, head) > now {
            return 0;
        }
        shaping.covered = head;
        self.announce(now, place, head);
        head
    }
}

impl Node {
    /// Sets the length of the head of `child`, 0 for none. If it changed, the node must choose again.
    #[inline]
    fn change_head(&mut self, child: usize, length: u32) {
        if self.heads[child] != length {
            self.is_stale = self.set_head(child, length);
        }
    }
}
