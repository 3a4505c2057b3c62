//! Nested schedulers whose choices change only when packets join and leave.
//!
//! They count IP bytes. A choice is valid until a head changes. A packet that joins behind a head does not
//! change the choice.

use super::{Below, Place, SchedulerTree, Watched, head_of};
use crate::accounting::Accounting;
use crate::queue::{Queue, QueueId};
use crate::scheduler::Scheduler;
use crate::units::Time;

impl SchedulerTree {
    /// Notifies all schedulers above `queue` of a packet. Schedulers whose choice may have changed become
    /// stale.
    #[inline]
    pub(super) fn enqueued_nested(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let place = self.leaves[id.index()];
        let node = &mut self.nodes[place.node];
        node.scheduler.enqueued(now, place.child, length);
        if node.update_tail(place.child, length, queue, Accounting::IP) {
            self.mark_stale(place);
        }
        let mut next = self.nodes[place.node].parent;
        while let Some(Place { node, child, .. }) = next {
            self.nodes[node].scheduler.enqueued(now, child, length);
            next = self.nodes[node].parent;
        }
    }

    /// Records that the scheduler at `place` and all schedulers that contain it must make a new choice.
    #[inline]
    pub(super) fn mark_stale(&mut self, place: Place) {
        (self.is_stale, self.valid_until) = (true, Time::ZERO);
        let mut next = Some(place);
        while let Some(place) = next {
            self.nodes[place.node].is_stale = true;
            next = self.nodes[place.node].parent;
        }
    }

    #[inline]
    pub(super) fn select_nested(&mut self, now: Time) -> Option<QueueId> {
        if self.is_stale {
            self.update_stale_choices(now);
        }
        self.chosen()
    }

    /// Makes a new choice in each scheduler whose choice may have changed. Inner schedulers come first.
    #[inline(never)]
    fn update_stale_choices(&mut self, now: Time) {
        self.is_stale = false;
        for index in (0..self.nodes.len()).rev() {
            if !self.nodes[index].is_stale {
                continue;
            }
            for watched in 0..self.nodes[index].watched.len() {
                let Watched { child, below, .. } = self.nodes[index].watched[watched];
                if let Below::Node(inner) = below {
                    let head = self.nodes[usize::from(inner)].head();
                    self.nodes[index].set_head(child, head);
                }
            }
            self.nodes[index].choose(now);
        }
    }

    /// Notifies all schedulers above `queue` of a departure. Each of them makes a new choice.
    #[inline(never)]
    pub(super) fn dequeued_nested(&mut self, now: Time, id: QueueId, length: u32, queue: &Queue) {
        let mut next = Some(self.leaves[id.index()]);
        let mut head = head_of(queue, Accounting::IP);
        while let Some(place) = next {
            let node = &mut self.nodes[place.node];
            node.sent(now, place.child, length, head);
            head = node.head();
            next = node.parent;
        }
    }
}
